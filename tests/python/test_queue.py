"""Goal: queues of the installed package do what their documentation promises, and misuse ends in exceptions.

Method: unittest, on stores in temporary directories. Waits are ended by other threads and by cancelled tasks.
"""
import asyncio
import os
import shutil
import signal
import tempfile
import threading
import unittest
from datetime import datetime, timedelta, timezone

import varve
from varve import Entity, Receipt


class WithQueue(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="varve-python-")
        self.addCleanup(shutil.rmtree, self.directory)
        self.store = varve.open(os.path.join(self.directory, "store"), create=True, durability="buffered")
        self.addCleanup(self.store.close)
        self.store.create_account("shop")
        self.queue = self.store.create_queue("shop", "orders", metadata={"Owner": "Ann"})


class Queues(WithQueue):
    def test_queues_are_created_listed_and_dropped(self):
        self.assertEqual(self.queue.metadata(), {"Owner": "Ann"})
        self.queue.set_metadata({"b": "2", "a": "\u00e4"})
        self.assertEqual(list(self.queue.metadata().items()), [("b", "2"), ("a", "\u00e4")])
        self.queue.set_metadata({})
        self.assertEqual(self.queue.metadata(), {})
        with self.assertRaises(varve.Exists) as caught:
            self.store.create_queue("shop", "orders")
        self.assertEqual(caught.exception.service_error, "QueueAlreadyExists")
        self.store.create_queue("shop", "orders", exist_ok=True).put("x")
        self.assertEqual(self.queue.figures(), varve.QueueFigures(1, 1))
        self.store.create_queue("shop", "mail")
        self.assertEqual(self.store.queues("shop"), ["mail", "orders"])
        self.assertEqual(self.store.queues("shop", "o"), ["orders"])
        self.store.drop_queue("shop", "orders")
        with self.assertRaises(varve.NotFound) as caught:
            self.store.queue("shop", "orders")
        self.assertEqual(caught.exception.service_error, "QueueNotFound")

    def test_a_message_is_held_by_one_consumer_until_it_is_removed(self):
        sent = self.queue.put("\u00e4\U0001f600")
        self.assertEqual(sent.expires - sent.inserted, timedelta(days=7))
        self.assertLess(abs(sent.inserted - datetime.now(timezone.utc)), timedelta(hours=1))
        peeked = self.queue.peek()[0]
        self.assertEqual((peeked.id, peeked.deliveries, peeked.receipt, peeked.visible), (sent.id, 0, None, None))
        message, = self.queue.get(5, hold=timedelta(hours=1))
        self.assertEqual((message.id, message.text, message.deliveries, message.origin),
                         (sent.id, "\u00e4\U0001f600", 1, ""))
        self.assertEqual(self.queue.get(), [])
        with self.assertRaises(varve.NotFound):
            self.queue.remove(sent)  # the get replaced its receipt
        self.assertEqual(Receipt.parse(str(message.receipt)), message.receipt)
        receipt = self.queue.update(message, 0, "changed")
        self.assertEqual(self.queue.peek(32)[0].text, "changed")
        self.queue.remove(message._replace(receipt=receipt))
        self.assertEqual(self.queue.figures().messages, 0)

    def test_options_of_a_put(self):
        self.assertIsNone(self.queue.put("kept", ttl=varve.NEVER, key="k").expires)
        self.assertTrue(self.queue.put("again", key="k").is_duplicate)
        late = self.queue.put("late", delay=3600.5, ttl=timedelta(days=1))
        self.assertEqual(late.visible - late.inserted, timedelta(seconds=3600.5))
        self.assertEqual([message.text for message in self.queue.peek(32)], ["kept"])
        self.queue.clear()
        self.assertEqual(self.queue.figures(), varve.QueueFigures(0, 0))

    def test_dead_letters(self):
        dead = self.store.create_queue("shop", "dead")
        self.queue.put("poison")
        self.queue.update(self.queue.get()[0], 0)
        self.assertEqual(self.queue.get(deliveries_max=1, dead_letter=dead), [])
        self.assertEqual([(message.text, message.origin, message.expires) for message in dead.peek()],
                         [("poison", "orders", None)])

    def test_messages_commit_with_entities(self):
        table = self.store.create_table("shop", "Orders")
        self.queue.put("in")
        message, = self.queue.get()
        with self.store.transaction() as transaction:
            transaction.insert(table, Entity("eu", "1", Total=1.0))
            transaction.put_message(self.queue, "out", delay=5)
            transaction.put_message(self.queue, "second")
            transaction.remove_message(self.queue, message)
        self.assertEqual(len(transaction.sent_messages), 2)
        self.queue.remove(transaction.sent_messages[0])
        self.assertEqual([message.text for message in self.queue.peek(32)], ["second"])
        with self.assertRaises(varve.Conflict) as caught:
            with self.store.transaction() as transaction:
                transaction.insert(table, Entity("eu", "2"))
                transaction.update_message(self.queue, message, 10)
        self.assertEqual((caught.exception.service_error, caught.exception.operation_index), ("MessageNotFound", 1))
        self.assertEqual(transaction.sent_messages, [])
        self.assertIsNone(table.get("eu", "2"))

    def test_a_verification_counts_messages(self):
        self.queue.put("x")
        self.store.close()
        figures = varve.verify(os.path.join(self.directory, "store")).figures
        self.assertEqual((figures["queues"], figures["messages"]), (1, 1))

    def test_a_taken_message_is_removed_or_visible_again(self):
        self.queue.put("work")
        with self.assertRaisesRegex(RuntimeError, "failed"):
            with self.queue.take() as message:
                self.assertEqual(message.deliveries, 1)
                raise RuntimeError("failed")
        with self.queue.take() as message:
            self.assertEqual(message.deliveries, 2)
        with self.queue.take() as message:
            self.assertIsNone(message)
        self.assertEqual(self.queue.figures().messages, 0)


class Waits(WithQueue):
    def wait_in_a_thread(self, **options):
        result = []

        def run():
            try:
                result.append(self.queue.get(**options))
            except varve.VarveError as error:
                result.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        return thread, result

    def test_a_wait_lets_other_threads_run_and_ends_with_a_message(self):
        thread, result = self.wait_in_a_thread(wait=3600)
        self.queue.put("wake")  # the interpreter's lock is free
        thread.join()
        self.assertEqual([message.text for message in result[0]], ["wake"])

    def test_the_main_thread_waits_for_a_message_too(self):
        thread = threading.Thread(target=lambda: self.queue.put("wake"))
        thread.start()
        self.assertEqual(len(self.queue.get(wait=3600)), 1)
        thread.join()
        self.assertEqual(self.queue.get(wait=0.001), [])

    def test_a_signal_ends_the_wait_of_the_main_thread(self):
        class Rang(Exception):
            pass

        def ring(*_):
            raise Rang

        before = signal.signal(signal.SIGUSR1, ring)
        self.addCleanup(signal.signal, signal.SIGUSR1, before)
        thread = threading.Thread(target=lambda: os.kill(os.getpid(), signal.SIGUSR1))
        with self.assertRaises(Rang):
            thread.start()
            self.queue.get(wait=3600)
        thread.join()

    def test_closing_the_store_ends_waits(self):
        thread, result = self.wait_in_a_thread(wait=3600)
        self.store.close()
        thread.join()
        self.assertIsInstance(result[0], varve.Closed)


class Misuse(WithQueue):
    def test_bad_input_is_refused_and_changes_nothing(self):
        self.queue.put("only")
        peeked = self.queue.peek()[0]
        calls = {
            "no text": lambda: self.queue.put(None), "bytes": lambda: self.queue.put(b"x"),
            "half a pair": lambda: self.queue.put("\ud800"), "a control character": lambda: self.queue.put("\x01"),
            "too long": lambda: self.queue.put("x" * 65_537), "negative": lambda: self.queue.put("x", delay=-1),
            "no number": lambda: self.queue.put("x", delay=float("nan")),
            "for ever hidden": lambda: self.queue.put("x", delay=varve.NEVER),
            "no time to live": lambda: self.queue.put("x", ttl=0),
            "long key": lambda: self.queue.put("x", key="k" * 129),
            "durability": lambda: self.queue.put("x", durability="often"),
            "none": lambda: self.queue.get(0), "too many": lambda: self.queue.get(33),
            "no hold": lambda: self.queue.get(hold=0), "long hold": lambda: self.queue.get(hold=timedelta(days=8)),
            "negative wait": lambda: self.queue.get(wait=-1), "peek": lambda: self.queue.peek(0),
            "no queue for them": lambda: self.queue.get(deliveries_max=1),
            "negative deliveries": lambda: self.queue.get(deliveries_max=-1, dead_letter=self.queue),
            "no receipt": lambda: self.queue.remove(peeked),
            "made up": lambda: self.queue.remove(peeked._replace(receipt=Receipt(1, 2, 3))),
            "receipt": lambda: Receipt.parse("none"), "metadata": lambda: self.queue.set_metadata({"1": "x"}),
            "value": lambda: self.queue.set_metadata({"a": 1}),
            "short name": lambda: self.store.create_queue("shop", "ab"),
            "upper case": lambda: self.store.create_queue("shop", "Orders"),
            "limit": lambda: self.store.create_queue("shop", "large", message_bytes_max=2**20 + 1),
            "no limit": lambda: self.store.create_queue("shop", "large", message_bytes_max=0),
        }
        for name, call in calls.items():
            with self.subTest(name), self.assertRaises((varve.InvalidArgument, varve.TooLarge, TypeError)):
                call()
        self.assertEqual(self.store.queues("shop"), ["orders"])
        self.assertEqual([(message.text, message.deliveries) for message in self.queue.peek(32)], [("only", 0)])
        with self.assertRaises(varve.NotFound):
            self.store.create_queue("none", "orders")

    def test_handles_of_a_closed_store(self):
        self.store.close()
        for call in (lambda: self.queue.put("x"), self.queue.get, self.queue.peek, self.queue.clear,
                     self.queue.figures, self.queue.metadata, lambda: self.store.queues("shop")):
            with self.assertRaises(varve.Closed):
                call()


class Asynchronous(unittest.TestCase):
    def test_the_verbs_of_asyncio(self):
        async def run(path):
            async with varve.aio.AsyncStore(path, create=True, threads=2) as store:
                await store.create_account("shop")
                await store.create_queue("shop", "orders")
                queue = await store.queue("shop", "orders")
                waits = [asyncio.create_task(queue.get(wait=3600)) for _ in range(8)]  # more than the pool has threads
                await asyncio.gather(*(queue.put(str(number)) for number in range(8)))
                taken = [messages[0] for messages in await asyncio.gather(*waits)]
                self.assertEqual(sorted(message.text for message in taken), [str(number) for number in range(8)])
                receipt = await queue.update(taken[0], 0, "new")
                self.assertEqual((await queue.peek())[0].text, "new")
                await queue.remove(taken[0]._replace(receipt=receipt))
                self.assertEqual((await queue.figures()).messages, 7)
                await queue.clear()

                cancelled = asyncio.create_task(queue.get(wait=3600))
                await asyncio.sleep(0)
                cancelled.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await cancelled
                await queue.put("for the next one")
                self.assertEqual((await queue.get(wait=3600))[0].text, "for the next one")

        with tempfile.TemporaryDirectory() as directory:
            asyncio.run(run(os.path.join(directory, "store")))


if __name__ == "__main__":
    unittest.main()

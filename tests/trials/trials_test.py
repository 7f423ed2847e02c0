"""Owns: the proof that the trials can fail: ledgers that break each promise, and the parts that decide a verdict.
Must never: start a server, or need a store."""
import pathlib
import re
import sys
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import content  # noqa: E402
import ledger  # noqa: E402
import memory_group  # noqa: E402
import outbox_judge  # noqa: E402
import outbox_plan  # noqa: E402
import slow_streams  # noqa: E402

ONE, TWO = "e000001-000001", "h000002-000002"
SOUND = f"""100 put-begun {ONE} -
200 put {ONE} -
350 got {ONE} 300
360 entity {ONE} there
370 delete-begun {ONE} -
400 deleted {ONE} -
"""


def verdict(text, orders=(ONE,), done=(ONE,), left=0):
    """Returns the promises that the judge calls broken."""
    judge = outbox_judge.Judge()
    judge.take(ledger.records_of(text))
    return {finding[:2] for finding in judge.verdict(set(orders), set(done), left)}


def without(kind):
    return "".join(line for line in SOUND.splitlines(True) if f" {kind} " not in line)


class StreamsTest(unittest.TestCase):
    def test_a_thousand_readers_hold_one_text(self):
        texts = []
        client = mock.Mock(side_effect=lambda *words, download=b"", **more: texts.append(download) or mock.Mock())
        with mock.patch("slow_clients.SlowClient", client):
            slow_streams.Streams(0, 1_000).step(0.0)
        readers = [text for text in texts if text]
        self.assertEqual(len(readers), 500)
        self.assertEqual(len({id(text) for text in readers}), 1)


class JudgeTest(unittest.TestCase):
    def test_a_sound_outbox_is_sound(self):
        self.assertEqual(verdict(SOUND), set())
        self.assertEqual(verdict("", (), ()), set())

    def test_what_was_not_acknowledged_may_be_there_or_not(self):
        self.assertEqual(verdict(f"100 put-begun {ONE} -\n", (), ()), set())
        self.assertEqual(verdict(without("put"), (ONE,), (ONE,)), set())
        self.assertEqual(verdict(without("deleted"), (ONE,), ()), set())

    def test_p1_an_acknowledged_message_is_lost(self):
        self.assertEqual(verdict(f"100 put-begun {TWO} -\n200 put {TWO} -\n", (TWO,), ()), {"P1"})

    def test_p1_a_message_is_lost_after_a_delivery(self):
        self.assertEqual(verdict("".join(SOUND.splitlines(True)[:4]), (ONE,), ()), {"P1"})

    def test_p2_a_message_has_no_entity_when_it_is_delivered(self):
        self.assertEqual(verdict(SOUND.replace("there", "absent")), {"P2"})

    def test_p2_a_message_had_no_entity_at_the_last_look(self):
        self.assertEqual(verdict(without("put"), (), (ONE,)), {"P2"})

    def test_p3_a_delivery_after_the_acknowledged_delete(self):
        self.assertEqual(verdict(SOUND + f"520 got {ONE} 500\n530 entity {ONE} there\n"), {"P3"})

    def test_p3_a_get_that_was_asked_for_before_may_come_later(self):
        self.assertEqual(verdict(SOUND + f"520 got {ONE} 399\n530 superseded {ONE} -\n"), set())

    def test_p3_the_order_of_ledgers_has_no_meaning(self):
        lines = (SOUND + f"520 got {ONE} 500\n").splitlines(True)
        self.assertEqual(verdict("".join(reversed(lines))), {"P3"})

    def test_p3_the_first_acknowledgement_counts(self):
        self.assertEqual(verdict(SOUND + f"520 got {ONE} 450\n530 delete-begun {ONE} -\n600 deleted {ONE} -\n"), {"P3"})

    def test_p4_an_entity_of_one_commit_has_no_message(self):
        self.assertEqual(verdict(f"100 put-begun {ONE} -\n", (ONE,), ()), {"P4"})

    def test_p4_two_requests_may_leave_an_entity_alone(self):
        self.assertEqual(verdict(f"100 put-begun {TWO} -\n", (TWO,), ()), set())

    def test_p5_an_acknowledged_entity_is_gone(self):
        self.assertEqual(verdict(SOUND, ()), {"P2", "P5"})

    def test_p5_the_work_before_an_acknowledged_delete_is_not_done(self):
        self.assertEqual(verdict(SOUND, (ONE,), ()), {"P5"})

    def test_p6_a_message_has_another_text(self):
        self.assertEqual(verdict(SOUND + f"355 wrong-text {ONE} -\n"), {"P6"})

    def test_p6_a_message_that_no_producer_began(self):
        self.assertEqual(verdict("".join(SOUND.splitlines(True)[2:])), {"P6"})

    def test_p6_an_entity_that_no_producer_began(self):
        self.assertEqual(verdict("", (TWO,), ()), {"P6"})

    def test_p6_a_message_that_is_counted_and_never_comes(self):
        self.assertEqual(verdict(SOUND, left=1), {"P6"})

    def test_counts_and_puts_without_an_acknowledgement(self):
        judge = outbox_judge.Judge()
        judge.take(ledger.records_of(SOUND + f"90 put-begun {TWO} -\n95 got {TWO} 93\n"))
        self.assertEqual(judge.counts, {"puts": 1, "deliveries": 2, "deletes": 1})
        self.assertEqual(judge.unacknowledged(), 1)


class LedgerTest(unittest.TestCase):
    def test_a_line_of_another_form_is_refused(self):
        for line in ("100 put", f"x put {ONE} -", f"100 puts {ONE} -", f"100 put {ONE} - -"):
            with self.assertRaises(ValueError):
                ledger.records_of(SOUND + line + "\n")

    def test_some_texts_are_large(self):
        self.assertEqual(ledger.text_of("e000001-000001"), "e000001-000001 x")
        large = ledger.text_of("e000001-000016")
        self.assertEqual((len(large), large[:17]), (ledger.LARGE_TEXT, "e000001-000016 xx"))

    def test_the_producer_in_the_other_language_makes_the_same_texts(self):
        source = pathlib.Path(__file__).with_name("outbox_producer.cc").read_text(encoding="utf-8")
        figures = {name: int(value.replace("'", ""))
                   for name, value in re.findall(r"constexpr \S+ (kLarge\w+) = ([\d']+);", source)}
        self.assertEqual(figures, {"kLargeTextEvery": ledger.LARGE_EVERY, "kLargeText": ledger.LARGE_TEXT})
        for kind in re.findall(r'notes\.add\("([a-z-]+)"', source):
            self.assertIn(kind, ledger.KINDS)


class PlanTest(unittest.TestCase):
    def test_a_plan_follows_from_its_seed(self):
        first, again, other = (outbox_plan.shifts(seed) for seed in (1, 1, 2))
        shifts = [next(first) for _ in range(20)]
        self.assertEqual(shifts, [next(again) for _ in range(20)])
        self.assertNotEqual(shifts, [next(other) for _ in range(20)])

    def test_each_kind_of_process_has_many_of_a_thousand_kills(self):
        kills = dict.fromkeys(outbox_plan.VICTIMS, 0)
        for shift in outbox_plan.shifts(3):
            kills["producer"] += len(shift.lives)
            for kill in shift.kills:
                kills[kill.victim] += 1 if kill.again_ms is None else 2
            for victim in shift.last:
                kills[victim] += 1
            if sum(kills.values()) >= 1_000:
                break
        self.assertGreaterEqual(min(kills.values()), 200, kills)


class ContentTest(unittest.TestCase):
    def test_a_part_is_that_of_the_pieces(self):
        length = 3 * content.PIECE + 5
        made = content.Content(length, 7)
        whole = b"".join(made.piece(number) for number in range(made.pieces()))
        self.assertEqual(len(whole), length)
        for offset, count in ((0, 1), (content.PIECE - 3, 7), (17, 2 * content.PIECE), (length - 5, 5), (length - 5, 9),
                              (length, 1)):
            self.assertEqual(made.part(offset, count), whole[offset:offset + count], (offset, count))

    def test_pieces_differ(self):
        made = content.Content(600 * content.PIECE, 7)
        self.assertEqual(len({made.piece(number) for number in range(0, 600, 60)}), 10)
        self.assertNotEqual(made.piece(0), made.piece(256))
        self.assertNotEqual(made.piece(1), content.Content(made.length, 8).piece(1))


class MemoryTest(unittest.TestCase):
    def test_sizes_have_units(self):
        self.assertEqual([memory_group.size_of(text) for text in ("7", "64M", "512MiB", "10G", "1k")],
                         [7, 64 << 20, 512 << 20, 10 << 30, 1 << 10])
        for text in ("", "0", "G", "1.5G", "-1M", "5X"):
            with self.assertRaises(ValueError):
                memory_group.size_of(text)

    def test_groups_are_looked_for_below_this_one_and_below_the_root(self):
        found = memory_group.parents("4:memory:/a/b\n3:cpu:/\n0::/c\n")
        self.assertEqual([(str(path), version) for path, version in found],
                         [("/sys/fs/cgroup/memory/a/b", 1), ("/sys/fs/cgroup/memory", 1), ("/sys/fs/cgroup/c", 2),
                          ("/sys/fs/cgroup", 2), ("/sys/fs/cgroup/unified/c", 2), ("/sys/fs/cgroup/unified", 2)])

    def test_a_peak_above_the_limit_is_a_failure(self):
        limit = memory_group.Limit.__new__(memory_group.Limit)
        limit.bytes_max, limit.group, limit.peaks = 100, None, {}
        limit.note("one", 100)
        limit.note("one", 50)
        self.assertEqual(limit.peaks, {"one": 100})
        with self.assertRaises(RuntimeError):
            limit.note("two", 101)


if __name__ == "__main__":
    unittest.main()

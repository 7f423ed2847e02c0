"""Goal: containers and blobs of the installed package do what their documentation promises, and misuse ends in exceptions.

Method: unittest, on stores in temporary directories.
"""
import asyncio
import hashlib
import io
import os
import shutil
import tempfile
import threading
import unittest
import zipfile
from datetime import datetime, timedelta, timezone

import varve
from varve import BlobPrefix, BlobProperties, ETag


class WithContainer(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="varve-python-")
        self.addCleanup(shutil.rmtree, self.directory)
        self.store = varve.open(os.path.join(self.directory, "store"), create=True, durability="buffered")
        self.addCleanup(self.store.close)
        self.store.create_account("shop")
        self.photos = self.store.create_container("shop", "photos", metadata={"Owner": "Ann"})

    def names(self, *words, **options):
        return [entry.name for entry in self.photos.list(*words, **options)]


class Containers(WithContainer):
    def test_containers_are_created_listed_and_dropped(self):
        self.assertEqual(self.photos.metadata(), {"Owner": "Ann"})
        self.photos.set_metadata({"b": "2", "a": "\u00e4"})
        self.assertEqual(list(self.photos.metadata().items()), [("b", "2"), ("a", "\u00e4")])
        info = self.photos.info()
        self.assertEqual((info.public_access, info.lease), ("none", "available"))
        with self.assertRaises(varve.Exists) as caught:
            self.store.create_container("shop", "photos")
        self.assertEqual(caught.exception.service_error, "ContainerAlreadyExists")
        self.store.create_container("shop", "photos", exist_ok=True).put("x", b"x")
        self.assertEqual(self.names(), ["x"])
        self.store.create_container("shop", "mail")
        self.assertEqual(self.store.containers("shop"), ["mail", "photos"])
        self.assertEqual(self.store.containers("shop", "p"), ["photos"])
        self.store.drop_container("shop", "photos")
        with self.assertRaises(varve.NotFound) as caught:
            self.store.container("shop", "photos")
        self.assertEqual(caught.exception.service_error, "ContainerNotFound")
        with self.assertRaises(varve.NotFound):
            self.photos.put("y", b"y")
        with self.assertRaises(varve.NotFound):
            "y" in self.photos


class Blobs(WithContainer):
    def test_contents_come_back_with_their_state(self):
        content = bytes(range(256)) * 1000
        properties = BlobProperties("image/jpeg", "gzip", "en", "inline", "no-store", hashlib.md5(content).digest())
        written = self.photos.put("eu/\u00e4", content, properties=properties, metadata={"Owner": "Ann"},
                                  tags={"year": "2026"}, tier="cool")
        self.assertEqual(self.photos.get("eu/\u00e4"), content)
        self.assertEqual(self.photos.state("eu/\u00e4"), written)
        self.assertEqual((written.name, written.kind, written.length), ("eu/\u00e4", "block", len(content)))
        self.assertEqual((written.properties, written.metadata, written.tags, written.tier),
                         (properties, {"Owner": "Ann"}, {"year": "2026"}, "cool"))
        self.assertLess(abs(written.modified - datetime.now(timezone.utc)), timedelta(hours=1))
        self.assertIn("eu/\u00e4", self.photos)
        self.assertNotIn("eu", self.photos)
        for piece in (b"", bytearray(b"array"), memoryview(b"0123456789")[2:4]):
            self.photos.put("piece", piece)
            self.assertEqual(self.photos.get("piece"), bytes(piece))

    def test_conditions_are_judged_with_the_write(self):
        first = self.photos.put("a", b"1", if_none_match=ETag.ANY)
        with self.assertRaises(varve.Exists) as caught:
            self.photos.put("a", b"2", if_none_match=ETag.ANY)
        self.assertEqual(caught.exception.service_error, "BlobAlreadyExists")
        second = self.photos.put("a", b"2", if_match=first.etag)
        for refused in (lambda: self.photos.put("a", b"3", if_match=first.etag),
                        lambda: self.photos.remove("a", if_match=first.etag),
                        lambda: self.photos.open("a", if_match=first.etag),
                        lambda: self.photos.get("a", if_none_match=second.etag),
                        lambda: self.photos.set_tags("a", {}, if_match=first.etag)):
            with self.assertRaises(varve.PreconditionFailed):
                refused()
        self.photos.remove("a", if_match=second.etag)
        with self.assertRaises(varve.NotFound) as caught:
            self.photos.get("a")
        self.assertEqual(caught.exception.service_error, "BlobNotFound")

    def test_a_reader_is_a_file_of_one_state(self):
        self.photos.put("a", b"0123456789")
        snapshot = self.store.snapshot()
        with self.photos.open("a") as reader:
            self.photos.put("a", b"new")
            self.assertEqual((reader.read(3), reader.tell(), reader.read()), (b"012", 3, b"3456789"))
            self.assertEqual((reader.seek(-2, io.SEEK_END), reader.read(5), reader.read(5)), (8, b"89", b""))
            self.assertEqual((reader.seek(100), reader.read()), (100, b""))
            self.assertEqual(reader.read_range(2, 4), b"2345")
            self.assertEqual(reader.read_range(20, 4), b"")
            self.assertEqual(io.BufferedReader(reader, 4).read(20), b"")
        self.assertEqual(self.photos.get("a", snapshot=snapshot), b"0123456789")
        self.assertEqual(self.photos.get("a"), b"new")
        with self.assertRaises(varve.Closed):
            reader.read(1)

    def test_a_writer_is_a_file_that_others_see_whole(self):
        piece = os.urandom(100_000)
        with self.photos.open_writer("a", metadata={"k": "v"}) as writer:
            for _ in range(50):
                self.assertEqual(writer.write(piece), len(piece))
            self.assertEqual(writer.tell(), 50 * len(piece))
            self.assertNotIn("a", self.photos)
        self.assertEqual(writer.state, self.photos.state("a"))
        self.assertEqual((writer.state.length, writer.state.metadata), (50 * len(piece), {"k": "v"}))
        self.assertEqual(self.photos.get("a"), piece * 50)
        with self.assertRaises(ZeroDivisionError):
            with self.photos.open_writer("a") as failing:
                failing.write(b"never")
                1 / 0
        self.photos.open_writer("a").close()
        self.assertEqual(self.photos.state("a"), writer.state)
        with self.assertRaises(varve.Closed):
            writer.write(b"x")
        with self.photos.open_writer("sum") as writer:
            writer.write(b"x")
            writer.publish(properties=BlobProperties(content_md5=hashlib.md5(b"x").digest()))
        self.assertEqual(self.photos.state("sum").properties.content_md5, hashlib.md5(b"x").digest())

    def test_other_libraries_read_and_write_the_files(self):
        with self.photos.open_writer("pages.zip") as writer:
            with zipfile.ZipFile(writer, "w") as archive:
                archive.writestr("one.txt", "1" * 1000)
                archive.writestr("two.txt", "2")
        with self.photos.open("pages.zip") as reader, zipfile.ZipFile(reader) as archive:
            self.assertEqual(archive.namelist(), ["one.txt", "two.txt"])
            self.assertEqual(archive.read("one.txt"), b"1" * 1000)
        with self.photos.open("pages.zip") as source, self.photos.open_writer("copy.zip") as target:
            shutil.copyfileobj(source, target)
        self.assertEqual(self.photos.get("copy.zip"), self.photos.get("pages.zip"))

    def test_listings_fold_and_page(self):
        for name in ("eu/ann", "eu/bob", "us/cem", "zoe"):
            self.photos.put(name, b"x")
        self.assertEqual([blob.name for blob in self.photos], ["eu/ann", "eu/bob", "us/cem", "zoe"])
        self.assertEqual(self.names(page=1), ["eu/ann", "eu/bob", "us/cem", "zoe"])
        self.assertEqual(self.names("eu/"), ["eu/ann", "eu/bob"])
        folded = list(self.photos.list(delimiter="/", page=2))
        self.assertEqual(folded[:2], [BlobPrefix("eu/"), BlobPrefix("us/")])
        self.assertEqual(folded[2], self.photos.state("zoe"))
        snapshot = self.store.snapshot()
        self.photos.remove("zoe")
        self.assertEqual(self.names("z", snapshot=snapshot), ["zoe"])
        self.assertEqual(self.names("z"), [])
        self.assertEqual(self.names(page=1, snapshot=self.store.snapshot()), ["eu/ann", "eu/bob", "us/cem"])
        listing = self.photos.list(page=1, snapshot=snapshot)
        self.assertEqual(next(listing).name, "eu/ann")
        snapshot.close()
        with self.assertRaises(varve.Closed):
            next(listing)

    def test_states_change_and_copies_share(self):
        first = self.photos.put("a", b"content", tags={"k": "v"})
        changed = self.photos.set_properties("a", BlobProperties(content_language="en"))
        self.assertNotEqual(changed.etag, first.etag)
        self.assertEqual(self.photos.set_blob_metadata("a", {"m": "1"}).metadata, {"m": "1"})
        self.assertEqual(self.photos.set_tags("a", {"year": "2026"}).tags, {"year": "2026"})
        self.assertEqual(self.photos.set_tier("a", "cold").tier, "cold")
        archive = self.store.create_container("shop", "archive")
        copy = archive.copy("b", self.photos, "a")
        self.assertEqual((copy.metadata, copy.tags, copy.properties.content_language), ({"m": "1"}, {}, "en"))
        copy = archive.copy("b", self.photos, "a", metadata={}, tags={"c": "1"}, properties=BlobProperties())
        self.assertEqual((copy.metadata, copy.tags, copy.properties), ({}, {"c": "1"}, BlobProperties()))
        with self.assertRaises(varve.Exists):
            archive.copy("b", self.photos, "a", if_none_match=ETag.ANY)
        with self.assertRaises(varve.PreconditionFailed):
            archive.copy("b", self.photos, "a", source_if_match=first.etag)
        self.photos.remove("a")
        self.assertEqual(archive.get("b"), b"content")

    def test_blocks_become_a_content(self):
        self.photos.stage_block("a", b"0001", b"Hello, ")
        self.photos.stage_block("a", b"0002", b"world")
        self.assertEqual(self.names(), [])
        uncommitted, = self.photos.list(with_uncommitted=True)
        self.assertTrue(uncommitted.is_uncommitted)
        self.assertEqual(self.photos.commit_blocks("a", [b"0001", (b"0002", "staged")]).length, 12)
        self.assertEqual(self.photos.get("a"), b"Hello, world")
        self.photos.stage_block("a", b"0003", b"!")
        blocks = self.photos.blocks("a")
        self.assertEqual(blocks.committed, [varve.Block(b"0001", 7), varve.Block(b"0002", 5)])
        self.assertEqual(blocks.staged, [varve.Block(b"0003", 1)])
        with self.assertRaises(varve.InvalidArgument) as caught:
            self.photos.commit_blocks("a", [b"0009"])
        self.assertEqual(caught.exception.service_error, "InvalidBlockList")

    def test_append_blobs_grow(self):
        self.assertEqual(self.photos.create_append_blob("log").kind, "append")
        self.assertEqual(self.photos.append("log", b"one ")[::2], (0, 1))
        self.assertEqual(self.photos.append("log", b"two", position=4).offset, 4)
        for refused in (lambda: self.photos.append("log", b"two", position=4),
                        lambda: self.photos.append("log", b"two", length_max=8)):
            with self.assertRaises(varve.PreconditionFailed):
                refused()
        self.assertEqual(self.photos.get("log"), b"one two")

    def test_a_tail_follows_an_append_blob(self):
        self.photos.create_append_blob("log")
        self.assertEqual(self.photos.tail("log", wait=0.001).content, b"")
        self.photos.append("log", b"one two")
        tail = self.photos.tail("log", 4, wait=10)
        self.assertEqual((tail.content, tail.length), (b"two", 7))
        self.assertEqual(self.photos.tail("log", count=3, creation=tail.creation).content, b"one")
        followed = []
        follow = lambda: followed.append(self.photos.tail("log", 7, wait=60, creation=tail.creation))
        follower = threading.Thread(target=follow)
        follower.start()
        self.photos.append("log", b" three")
        follower.join()
        self.assertEqual(followed[0].content, b" three")
        self.photos.create_append_blob("log")
        with self.assertRaises(varve.PreconditionFailed):
            self.photos.tail("log", creation=tail.creation)
        for refused in (lambda: self.photos.tail("log", 1), lambda: self.photos.tail("log", -1),
                        lambda: self.photos.tail("log", count=0), lambda: self.photos.tail("log", wait=-1)):
            with self.assertRaises(varve.InvalidArgument):
                refused()
        with self.assertRaises(varve.NotFound):
            self.photos.tail("none")


class Misuse(WithContainer):
    def test_a_reader_that_is_not_used_loses_its_state(self):
        self.photos.put("a", bytes(40_000))
        self.store.close()
        path = os.path.join(self.directory, "store")
        with varve.open(path, reader_idle_max=0.001, staged_blocks_age_max=3600) as store:
            reader = store.container("shop", "photos").open("a")
            threading.Event().wait(0.005)
            self.assertRaises(varve.Closed, reader.read_range, 0, 10)
        with self.assertRaises(varve.InvalidArgument):
            varve.open(path, reader_idle_max=0)

    def test_bad_input_changes_nothing(self):
        self.photos.put("a", b"1")
        for refused in (lambda: self.photos.put("", b"x"),
                        lambda: self.photos.put("n" * 1025, b"x"),
                        lambda: self.photos.put("a", b"x", tier="warm"),
                        lambda: self.photos.put("a", b"x", durability="soon"),
                        lambda: self.photos.put("a", b"x", metadata={"1": "x"}),
                        lambda: self.photos.put("a", b"x", tags={"k": "?"}),
                        lambda: self.photos.put("a", b"x", properties=BlobProperties(content_md5=b"short")),
                        lambda: self.photos.commit_blocks("a", [(b"0001", "elsewhere")]),
                        lambda: self.photos.stage_block("a", b"", b"x"),
                        lambda: self.photos.list(page=0),
                        lambda: self.photos.append("a", b"x", position=-1),
                        lambda: self.photos.open("a").seek(-1),
                        lambda: self.photos.open("a").read_range(-1, 1),
                        lambda: self.store.create_container("shop", "Photos")):
            with self.assertRaises(varve.InvalidArgument):
                refused()
        for refused in (lambda: self.photos.put("a", "text"), lambda: self.photos.put("a", b"x", if_match="W/"),
                        lambda: self.photos.put("a", b"x", unknown=1), lambda: self.photos.put(b"a", b"x")):
            with self.assertRaises(TypeError):
                refused()
        with self.assertRaises(varve.Conflict):
            self.photos.append("a", b"x")
        self.assertEqual(self.photos.get("a"), b"1")
        self.assertEqual(self.names(with_uncommitted=True), ["a"])

    def test_handles_outlive_the_store_and_say_that_it_is_closed(self):
        self.photos.put("a", b"1")
        reader, writer = self.photos.open("a"), self.photos.open_writer("b")
        self.store.close()
        for late in (lambda: self.photos.get("a"), lambda: reader.read(1), lambda: writer.write(b"x"),
                     lambda: list(self.photos)):
            with self.assertRaises(varve.Closed):
                late()
        self.assertEqual(reader.state.length, 1)
        reader.close()
        writer.close()

    def test_a_forked_child_frees_what_it_inherits(self):
        self.photos.put("a", b"1")
        reader, writer = self.photos.open("a"), self.photos.open_writer("b")
        writer.write(bytes(3 << 20))
        child = os.fork()
        if child == 0:
            try:
                self.photos.get("a")
            except varve.Locked:
                reader.close()
                writer.close()
                os._exit(0)
            os._exit(1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        writer.publish()
        self.assertEqual(self.photos.state("b").length, 3 << 20)

    def test_threads_read_ranges_of_one_reader(self):
        content = os.urandom(1 << 20)
        self.photos.put("a", content)
        parts = {}
        with self.photos.open("a") as reader:
            def read(at):
                parts[at] = reader.read_range(at, 1 << 18)
            threads = [threading.Thread(target=read, args=(at,)) for at in range(0, 1 << 20, 1 << 18)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(b"".join(parts[at] for at in sorted(parts)), content)


class Asyncio(WithContainer):
    def test_the_pool_runs_the_verbs(self):
        async def work():
            async with varve.aio.AsyncStore(os.path.join(self.directory, "other"), create=True) as store:
                await store.create_account("shop")
                photos = await store.create_container("shop", "photos")
                await asyncio.gather(*(store.run(photos.put, str(n), b"x") for n in range(5)))
                return await store.run(lambda: [blob.name for blob in photos])
        self.assertEqual(asyncio.run(work()), ["0", "1", "2", "3", "4"])

    def test_tails_leave_the_pool_to_others_and_end_with_the_store(self):
        async def work():
            path = os.path.join(self.directory, "other")
            async with varve.aio.AsyncStore(path, create=True, threads=1) as store:
                await store.create_account("shop")
                logs = await store.create_container("shop", "logs")
                await store.run(logs.create_append_blob, "log")
                waits = [asyncio.ensure_future(store.tail(logs, "log", wait=600)) for _ in range(5)]
                waits[0].cancel()
                await store.run(logs.append, "log", b"one")
                told = await asyncio.gather(*waits[1:])
                waits = [asyncio.ensure_future(store.tail(logs, "log", 3, wait=600)) for _ in range(5)]
                await store.run(logs.get, "log")
            return [tail.content for tail in told], await asyncio.gather(*waits, return_exceptions=True)
        told, ended = asyncio.run(work())
        self.assertEqual(told, [b"one"] * 4)
        self.assertTrue(all(isinstance(each, varve.Closed) for each in ended), ended)


if __name__ == "__main__":
    unittest.main()

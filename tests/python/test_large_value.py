"""Goal: large values of entities do in the installed package what its documentation promises, and misuse ends in exceptions.

Method: unittest, on stores in temporary directories.
"""
import asyncio
import io
import os
import shutil
import tempfile
import unittest

import varve
from varve import Entity, ETag, LargeValue


class WithPeople(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="varve-python-")
        self.addCleanup(shutil.rmtree, self.directory)
        self.store = varve.open(os.path.join(self.directory, "store"), create=True, durability="buffered")
        self.addCleanup(self.store.close)
        self.store.create_account("shop")
        self.people = self.store.create_table("shop", "People", large_values=True)

    def insert(self, row, content, **more):
        with self.people.write_large_value() as writer:
            writer.write(content)
            value = writer.finish()
            self.people.insert(Entity("p", row, Photo=value, **more))
        return value

    def photo(self, row, **options):
        with self.people.open_large_value("p", row, "Photo", **options) as reader:
            return reader.readall()


class LargeValues(WithPeople):
    def test_contents_of_any_length_come_back(self):
        for size in (0, 1, 65_536, 3_200_000):
            content = os.urandom(size)
            value = self.insert(str(size), content)
            self.assertEqual(value.length, size)
            self.assertEqual(self.people.get("p", str(size))["Photo"], value)
            self.assertEqual(self.photo(str(size)), content)
            with self.store.open_large_value("shop", value.id) as reader:
                self.assertEqual(reader.value, value)
                self.assertEqual(reader.read_range(size // 2, 100), content[size // 2:size // 2 + 100])
                self.assertIsInstance(reader.crc64(), int)

    def test_a_writer_and_a_reader_are_files(self):
        with self.people.write_large_value() as writer:
            shutil.copyfileobj(io.BytesIO(b"0123456789" * 100_000), writer)
            self.assertEqual(writer.tell(), 1_000_000)
            value = writer.finish()
            self.assertEqual(writer.finish(), value)
            with self.assertRaises(varve.InvalidArgument) as caught:
                writer.write(b"late")
            self.assertEqual(caught.exception.service_error, "InvalidInput")
            self.people.insert(Entity("p", "a", Photo=value))
        with self.assertRaises(varve.Closed):
            writer.finish()
        reader = self.people.open_large_value("p", "a", "Photo")
        self.people.remove("p", "a")  # the reader goes on
        self.assertEqual((reader.read(3), reader.tell(), reader.seek(-2, io.SEEK_END)), (b"012", 3, 999_998))
        self.assertEqual(reader.read(5), b"89")
        self.assertEqual(io.BufferedReader(reader, 16).read(1), b"")
        self.assertTrue(reader.closed)  # the buffer closed it

    def test_entities_share_a_content_until_the_last_one_lets_go(self):
        value = self.insert("a", b"content")
        first = self.people.get("p", "a")
        self.people.insert(Entity("p", "b", Photo=first["Photo"], Name="Bob"))
        with self.store.transaction() as transaction:
            transaction.remove(self.people, "p", "a")
        self.assertEqual(self.photo("b"), b"content")
        self.people.merge(Entity("p", "b", Photo="a text"), ETag.ANY)
        with self.assertRaises(varve.NotFound) as caught:
            self.store.open_large_value("shop", value.id)
        self.assertEqual(caught.exception.service_error, "LargeValueNotFound")
        with self.assertRaises(varve.NotFound) as caught:
            self.people.insert(Entity("p", "c", Photo=value))
        self.assertEqual(caught.exception.service_error, "LargeValueNotFound")

    def test_one_read_returns_an_entity_and_its_contents(self):
        self.insert("a", b"content", Name="Ann")
        snapshot = self.store.snapshot()
        opened = self.people.get_opened("p", "a", ["Photo", "Name", "None"])
        self.people.remove("p", "a")
        self.assertEqual(opened.entity["Name"], "Ann")
        self.assertEqual(opened.readers["Photo"].readall(), b"content")
        self.assertEqual((opened.readers["Name"], opened.readers["None"]), (None, None))
        self.assertIsNone(self.people.get_opened("p", "a", ["Photo"]))
        before = self.people.get_opened("p", "a", ["Photo"], select=["Name"], snapshot=snapshot)
        self.assertEqual(set(before.entity), {"Name", "Photo"})
        self.assertEqual(before.readers["Photo"].read(3), b"con")
        self.assertEqual(self.photo("a", snapshot=snapshot), b"content")

    def test_asyncio_runs_the_verbs_in_the_pool(self):
        async def work():
            async with varve.aio.AsyncStore(os.path.join(self.directory, "other"), create=True) as other:
                await other.create_account("shop")
                people = await other.create_table("shop", "People", large_values=True)
                writer = await other.run(people.table.write_large_value)
                await other.run(writer.write, b"content")
                await people.insert(Entity("p", "a", Photo=await other.run(writer.finish)))
                await other.run(writer.close)
                reader = await other.run(people.table.open_large_value, "p", "a", "Photo")
                return await other.run(reader.readall)

        self.assertEqual(asyncio.run(work()), b"content")


class Misuse(WithPeople):
    def test_bad_input_changes_nothing(self):
        plain = self.store.create_table("shop", "Plain")
        value = self.insert("a", b"content", Name="Ann")
        for refused in (lambda: plain.write_large_value(),
                        lambda: plain.insert(Entity("p", "a", Photo=value)),
                        lambda: self.store.load("shop", "People"),
                        lambda: self.people.open_large_value("p", "a", "Name"),
                        lambda: self.people.insert(Entity("p", "b", Photo=LargeValue(-1, 7))),
                        lambda: self.people.get_opened("p", "a", ["N"] * 256),
                        lambda: self.store.open_large_value("shop", -1)):
            with self.assertRaises(varve.InvalidArgument):
                refused()
        for missing in (lambda: self.people.open_large_value("p", "none", "Photo"),
                        lambda: self.people.open_large_value("p", "a", "None"),
                        lambda: self.people.insert(Entity("p", "b", Photo=LargeValue(value.id, 8))),
                        lambda: self.store.open_large_value("none", value.id)):
            with self.assertRaises(varve.NotFound):
                missing()
        for wrong in (lambda: self.people.get_opened("p", "a", "Photo"),
                      lambda: self.people.write_large_value().write("text")):
            with self.assertRaises(TypeError):
                wrong()
        self.assertEqual(self.photo("a"), b"content")
        self.assertIsNone(self.people.get("p", "b"))

    def test_a_content_without_an_entity_is_gone(self):
        with self.people.write_large_value() as writer:
            writer.write(b"never")
            value = writer.finish()
        with self.assertRaises(varve.NotFound) as caught:
            self.people.insert(Entity("p", "a", Photo=value))
        self.assertEqual(caught.exception.service_error, "LargeValueNotFound")

    def test_handles_outlive_the_store_and_say_that_it_is_closed(self):
        self.insert("a", b"content")
        reader, writer = self.people.open_large_value("p", "a", "Photo"), self.people.write_large_value()
        self.store.close()
        for late in (lambda: reader.read(1), lambda: reader.crc64(), lambda: writer.write(b"x"), writer.finish):
            with self.assertRaises(varve.Closed):
                late()
        self.assertEqual(reader.value.length, 7)
        reader.close()
        writer.close()


if __name__ == "__main__":
    unittest.main()

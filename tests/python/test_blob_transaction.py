"""Goal: transactions of the installed package commit blobs with entities, or neither.

Method: unittest, on stores in temporary directories.
"""
import os
import shutil
import tempfile
import unittest

import varve
from varve import ETag, Entity


class BlobTransactions(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="varve-python-")
        self.addCleanup(shutil.rmtree, self.directory)
        self.store = varve.open(os.path.join(self.directory, "store"), create=True, durability="buffered")
        self.addCleanup(self.store.close)
        self.store.create_account("shop")
        self.photos = self.store.create_container("shop", "photos")
        self.people = self.store.create_table("shop", "People", large_values=True)

    def names(self):
        return [entry.name for entry in self.photos.list()]

    def test_entities_and_blobs_are_committed_together(self):
        self.photos.put("old", b"old photo")
        writer = self.photos.open_writer("ann")
        writer.write(bytes(3_000_000))
        with self.store.transaction() as transaction:
            transaction.insert(self.people, Entity("p", "ann", Photo="ann"))
            transaction.publish_blob(writer)
            self.assertTrue(writer.closed)
            transaction.put_blob(self.photos, "note", b"note", metadata={"k": "v"})
            transaction.copy_blob(self.photos, "new", self.photos, "old")
            transaction.remove_blob(self.photos, "old")
            self.assertEqual(self.names(), ["old"])
        self.assertEqual(self.names(), ["ann", "new", "note"])
        self.assertEqual([blob.length for blob in transaction.written_blobs], [3_000_000, 4, 9])
        self.assertEqual(transaction.written_blobs[1], self.photos.state("note"))
        again = self.photos.open_writer("again")
        again.write(b"content")
        with self.assertRaises(varve.Exists):
            with self.store.transaction() as transaction:
                transaction.publish_blob(again)
                transaction.insert(self.people, Entity("p", "ann"))
        self.assertNotIn("again", self.photos)
        later = self.photos.put("later", b"later")  # The blobs of one transaction have one ETag.
        with self.assertRaises(varve.PreconditionFailed):
            with self.store.transaction() as transaction:
                transaction.remove_blob(self.photos, "note", if_match=later.etag)

    def test_reads_are_checked_again(self):
        self.photos.put("a", b"first")
        with self.people.write_large_value() as writer:
            writer.write(b"content")
            self.people.insert(Entity("p", "r", Photo=writer.finish()))
        with self.assertRaises(varve.Conflict):
            with self.store.transaction() as transaction:
                reader = transaction.read_blob(self.photos, "a")
                self.photos.put("a", b"second")
                self.assertEqual(reader.readall(), b"first")
                transaction.put_blob(self.photos, "b", b"x")
        with self.assertRaises(varve.Conflict):
            with self.store.transaction() as transaction:
                opened = transaction.get_opened(self.people, "p", "r", ["Photo"])
                self.people.remove("p", "r")
                self.assertEqual(opened.readers["Photo"].readall(), b"content")
                transaction.put_blob(self.photos, "b", b"x")
        with self.store.transaction() as transaction:
            self.assertIsNone(transaction.get_opened(self.people, "p", "r", ["Photo"]))
        self.assertNotIn("b", self.photos)

    def test_an_append_of_any_length_is_a_file(self):
        self.photos.create_append_blob("log")
        self.photos.append("log", b"one ")
        with self.photos.open_appender("log", position=4) as writer:
            writer.write(b"two ")
            writer.write(b"three")
        self.assertEqual((writer.state.length, writer.state.append_count), (13, 2))
        self.assertEqual(self.photos.get("log"), b"one two three")
        with self.assertRaises(varve.PreconditionFailed):
            self.photos.open_appender("log", position=4)
        with self.assertRaises(varve.InvalidArgument):
            self.photos.open_appender("log", length_max=-1)
        self.assertEqual(self.photos.state("log", if_match=ETag.ANY).length, 13)


if __name__ == "__main__":
    unittest.main()

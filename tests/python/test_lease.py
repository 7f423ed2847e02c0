"""Goal: leases of blobs and containers do in the installed package what its documentation promises.

Method: unittest, on stores in temporary directories. No test waits for a lease to end.
"""
import os
import shutil
import tempfile
import unittest
from datetime import timedelta
from uuid import UUID, uuid4

import varve
from varve import ETag

FIRST, SECOND = UUID(int=1), UUID(int=2)


class WithContainer(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="varve-python-")
        self.addCleanup(shutil.rmtree, self.directory)
        self.store = varve.open(os.path.join(self.directory, "store"), create=True, durability="buffered")
        self.addCleanup(self.store.close)
        self.store.create_account("shop")
        self.photos = self.store.create_container("shop", "photos")

    def refused(self, service_error, call, kind=varve.PreconditionFailed):
        with self.assertRaises(kind) as caught:
            call()
        self.assertEqual(caught.exception.service_error, service_error)


class Leases(WithContainer):
    def test_each_action_changes_the_lease(self):
        self.photos.put("a", b"x")
        lease = self.photos.lease("a")
        self.assertEqual(lease.acquire(60, id=FIRST), FIRST)
        self.assertEqual(self.photos.state("a").lease, "leased")
        self.refused("LeaseAlreadyPresent", lambda: lease.acquire(15), varve.Conflict)
        self.assertEqual(lease.renew(FIRST), FIRST)
        self.assertEqual(lease.change(FIRST, SECOND), SECOND)
        self.refused("LeaseIdMismatchWithLeaseOperation", lambda: lease.release(FIRST), varve.Conflict)
        self.assertTrue(0 < lease.break_(timedelta(seconds=10)) <= 10)
        self.assertEqual(self.photos.state("a").lease, "breaking")
        self.assertEqual(lease.break_(0), 0)
        self.assertEqual(self.photos.state("a").lease, "broken")
        lease.release(SECOND)
        self.assertEqual(self.photos.state("a").lease, "available")
        made = lease.acquire()
        self.assertNotIn(made, (FIRST, SECOND))
        self.assertEqual(lease.break_(), 0)

    def test_a_write_needs_the_id_of_the_lease(self):
        self.photos.put("a", b"x")
        self.photos.put("source", b"z")
        self.photos.create_append_blob("log")
        mine = self.photos.lease("a").acquire()
        self.photos.lease("log").acquire(id=mine)
        writes = (lambda **o: self.photos.put("a", b"y", **o),
                  lambda **o: self.photos.open_writer("a", **o).close(),
                  lambda **o: self.photos.set_properties("a", varve.BlobProperties(), **o),
                  lambda **o: self.photos.set_blob_metadata("a", {}, **o),
                  lambda **o: self.photos.stage_block("a", b"1", b"x", **o),
                  lambda **o: self.photos.commit_blocks("a", [b"1"], **o),
                  lambda **o: self.photos.append("log", b"x", **o),
                  lambda **o: self.photos.copy("a", self.photos, "source", **o),
                  lambda **o: self.photos.remove("a", **o))
        for write in writes:
            self.refused("LeaseIdMissing", write)
            self.refused("LeaseIdMismatchWithBlobOperation", lambda: write(lease=uuid4()))
        self.assertEqual(self.photos.get("a", lease=mine), b"x")
        self.refused("LeaseIdMismatchWithBlobOperation", lambda: self.photos.get("a", lease=uuid4()))
        for write in writes:
            write(lease=mine)
        self.assertNotIn("a", self.photos)

    def test_a_lease_of_a_container_guards_its_drop(self):
        mine = self.photos.lease().acquire(15)
        self.assertEqual(self.photos.info().lease, "leased")
        self.photos.put("a", b"the blobs are free")
        self.refused("LeaseIdMissing", lambda: self.store.drop_container("shop", "photos"))
        other = "LeaseIdMismatchWithContainerOperation"
        self.refused(other, lambda: self.store.drop_container("shop", "photos", lease=uuid4()))
        self.refused(other, lambda: self.photos.set_metadata({}, lease=uuid4()))
        self.refused(other, lambda: self.photos.info(lease=uuid4()))
        self.photos.set_metadata({"a": "b"}, lease=mine)
        self.assertEqual(self.photos.info(lease=mine).lease, "leased")
        self.store.drop_container("shop", "photos", lease=mine)

    def test_bad_requests_change_nothing(self):
        written = self.photos.put("a", b"x")
        lease = self.photos.lease("a")
        for refused in (lambda: lease.acquire(14), lambda: lease.acquire(61), lambda: lease.acquire(0),
                        lambda: lease.break_(61), lambda: lease.break_(-1)):
            self.refused("InvalidHeaderValue", refused, varve.InvalidArgument)
        for wrong in (lambda: lease.acquire(id="1"), lambda: lease.renew("1"), lambda: lease.acquire(15.5),
                      lambda: self.photos.put("a", b"x", lease="1")):
            with self.assertRaises(TypeError):
                wrong()
        self.refused("BlobNotFound", lambda: self.photos.lease("none").acquire(), varve.NotFound)
        self.photos.set_blob_metadata("a", {})
        self.refused("ConditionNotMet", self.photos.lease("a", if_match=written.etag).acquire)
        with self.assertRaises(varve.InvalidArgument):
            self.photos.lease(if_match=ETag.ANY)
        self.assertEqual(self.photos.state("a").lease, "available")


if __name__ == "__main__":
    unittest.main()

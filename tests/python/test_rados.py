# Goal: Python opens a store at an address on Ceph, and raises what says why it cannot.
# Method: errors come before there is a cluster. With VARVE_CEPH_POOL (and CEPH_CONF), a store of that pool is opened.
import os
import time
import unittest
from unittest import mock

import varve
from varve import Entity


class Addresses(unittest.TestCase):
    def test_one_without_a_store_is_refused(self):
        for address in ("rados:tables", "rados:tables/a/b", "rados:/shop"):
            with self.assertRaises(varve.InvalidArgument):
                varve.open(address, create=True)
        self.assertFalse(os.path.exists("rados:tables"))

    def test_its_choices_are_for_addresses_alone(self):
        for choice in ({"verified_reads": True}, {"read_patience": 1.0}, {"local_cache": ("/tmp", 1 << 22)}, {"owner_wait": 1.0}):
            with self.assertRaises(varve.InvalidArgument):
                varve.open("orders.store", create=True, **choice)
        self.assertFalse(os.path.exists("orders.store"))

    def test_the_cluster_needs_a_configuration(self):
        # Unsupported: the client library of Ceph is not installed here, which is found out first.
        with mock.patch.dict(os.environ, {"CEPH_CONF": "/nowhere/ceph.conf"}):
            with self.assertRaises((varve.InvalidArgument, varve.Unsupported)) as refused:
                varve.open("rados:tables/shop", create=True)
            self.assertRegex(refused.exception.hint, "CEPH_CONF|librados2")


@unittest.skipUnless("VARVE_CEPH_POOL" in os.environ, "VARVE_CEPH_POOL names no pool of a cluster")
class Cluster(unittest.TestCase):
    def test_keeps_what_was_written(self):
        address = f"rados:{os.environ['VARVE_CEPH_POOL']}/python-{time.time_ns()}"
        with varve.open(address, create=True, verified_reads=True, read_patience=30.0) as store:
            with self.assertRaises(varve.Locked):
                varve.open(address)
            store.create_account("shop")
            store.create_table("shop", "Orders").insert(Entity("eu", "0001", Customer="Ann"))
        with varve.open(address) as store:
            self.assertEqual(store.table("shop", "Orders").get("eu", "0001")["Customer"], "Ann")


if __name__ == "__main__":
    unittest.main()

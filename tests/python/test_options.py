"""Goal: a store opens with the limits and the memory that a program chooses, and misuse ends in exceptions.

Method: unittest, on stores in temporary directories. Run by tests/python/run, which installs the wheel.
"""
import asyncio
import os
import shutil
import tempfile
import unittest

import varve
from varve import Entity, Limits, Resources


class WithDirectory(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="varve-python-")
        self.addCleanup(shutil.rmtree, self.directory)
        self.path = os.path.join(self.directory, "store")

    def opened(self, path=None, **options):
        store = varve.open(path or self.path, create=True, durability="buffered", **options)
        self.addCleanup(store.close)
        return store

    def table(self, store):
        store.create_account("shop")
        return store.create_table("shop", "Orders")


class StoreLimits(WithDirectory):
    def test_a_store_keeps_the_limits_that_it_was_created_with(self):
        limits = Limits(custom_properties_max=300, key_code_units_max=2000)
        with self.opened(limits=limits) as store:
            self.table(store).insert(Entity("p", "r" * 2000, {f"P{number}": number for number in range(300)}))
        with varve.open(self.path) as store:
            table = store.table("shop", "Orders")
            self.assertEqual(len(table.get("p", "r" * 2000)), 300)
            with self.assertRaises(varve.TooLarge) as refused:
                table.insert(Entity("p", "r", {f"P{number}": number for number in range(301)}))
            self.assertEqual(refused.exception.service_error, "TooManyProperties")
        with varve.open(self.path, limits=limits):
            pass
        with self.assertRaises(varve.InvalidArgument):
            varve.open(self.path, limits=limits._replace(custom_properties_max=301))

    def test_limits_may_be_below_those_of_the_service(self):
        store = self.opened(limits=Limits(page_entities_max=2, transaction_operations_max=3))
        table = self.table(store)
        with table.transaction() as group:
            for number in range(3):
                group.insert(Entity("p", str(number)))
        self.assertEqual(len(table.scan().page().entities), 2)
        with self.assertRaises(varve.VarveError):
            with table.transaction() as group:
                for number in range(4):
                    group.insert(Entity("q", str(number)))
        self.assertEqual(table.scan().count(), 3)

    def test_limits_that_no_store_can_have_are_refused(self):
        for wrong in (Limits(page_entities_max=-1), Limits(page_entities_max=2**32), Limits(key_code_units_max=3073),
                      Limits(blob_appends_max=2**31), Limits(entity_bytes_max=2**20, transaction_bytes_max=2**19)):
            with self.subTest(wrong), self.assertRaises(varve.InvalidArgument):
                varve.open(self.path, create=True, limits=wrong)
        self.assertFalse(os.path.exists(self.path))

    def test_asyncio_has_the_same_options(self):
        async def work():
            async with varve.aio.AsyncStore(self.path, create=True, limits=Limits(page_entities_max=1)) as store:
                table = await store.run(self.table, store.store)
                for row in ("1", "2"):
                    await store.run(table.insert, Entity("p", row))
                return len((await store.run(table.scan().page)).entities)

        self.assertEqual(asyncio.run(work()), 1)


class Memory(WithDirectory):
    def test_stores_share_resources_that_may_go_before_them(self):
        resources = Resources(write_buffer_bytes=16 << 20, block_cache_bytes=8 << 20)
        stores = [self.opened(os.path.join(self.directory, name), resources=resources) for name in ("one", "two")]
        del resources
        for store in stores:
            self.table(store).insert(Entity("p", "r"))
            figures = store.statistics()
            self.assertEqual((figures["memtable_bytes_max"], figures["cache_bytes_max"]), (16 << 20, 8 << 20))

    def test_a_store_may_have_no_cache(self):
        figures = self.opened(write_buffer_bytes=16 << 20, block_cache=False).statistics()
        self.assertEqual((figures["memtable_bytes_max"], figures["cache_bytes_max"]), (16 << 20, 0))

    def test_misuse_is_refused(self):
        for wrong in ({"resources": Resources(), "write_buffer_bytes": 1 << 20}, {"resources": Resources(), "block_cache": False},
                      {"write_buffer_bytes": -1}, {"block_cache_bytes": 2**64}):
            with self.subTest(wrong), self.assertRaises(varve.InvalidArgument):
                varve.open(self.path, create=True, **wrong)


class Behaviour(WithDirectory):
    def test_the_name_of_a_dropped_table_is_blocked_for_a_while(self):
        store = self.opened(recreation_delay=3600)
        self.table(store)
        store.drop_table("shop", "Orders")
        with self.assertRaises(varve.Busy) as refused:
            store.create_table("shop", "Orders")
        self.assertEqual(refused.exception.service_error, "TableBeingDeleted")
        with self.assertRaises(varve.InvalidArgument):
            varve.open(os.path.join(self.directory, "other"), create=True, recreation_delay=-1)

    def test_pages_end_early(self):
        table = self.table(self.opened())
        rows = [f"{number:02d}" for number in range(50)]
        for row in rows:
            table.insert(Entity("p", row, Text="x" * 100))
        self.assertEqual(len(table.scan(page_bytes=1).page().entities), 1)
        self.assertEqual([entity.row_key for entity in table.scan(page_bytes=1000)], rows)
        self.assertEqual([entity.row_key for entity in table.scan(page_time=0.001)], rows)
        for wrong in ({"page_bytes": -1}, {"page_time": 0}):
            with self.subTest(wrong), self.assertRaises(varve.InvalidArgument):
                table.scan(**wrong).page()

    def test_short_pages_show_each_entity_once(self):
        table = self.table(self.opened(short_pages=True))
        rows = [f"{number:02d}" for number in range(50)]
        for row in rows:
            table.insert(Entity("p", row))
        self.assertGreater(len(list(table.scan().pages())), 1)
        self.assertEqual([entity.row_key for entity in table.scan()], rows)


if __name__ == "__main__":
    unittest.main()

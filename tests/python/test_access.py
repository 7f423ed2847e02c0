"""Goal: access policies, service properties and the options of queues and blobs of the installed package are those of the
library, and misuse ends in exceptions.

Method: unittest, on stores in temporary directories: what is set is read back, also after the store was opened again.
"""
import os
import shutil
import tempfile
import unittest
from datetime import datetime, timedelta, timezone

import varve
from varve import AccessPolicy, CorsRule, DateTime, Logging, Metrics

START = datetime(2026, 1, 1, tzinfo=timezone.utc)


class WithStore(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="varve-python-")
        self.addCleanup(shutil.rmtree, self.directory)
        self.path = os.path.join(self.directory, "store")
        self.store = self.opened(create=True)
        self.store.create_account("shop")

    def opened(self, **options):
        store = varve.open(self.path, **options)
        self.addCleanup(store.close)
        return store


class Policies(WithStore):
    def expect(self, read, set, letters, foreign):
        """Sets policies and reads them back. `foreign` is a permission that the kind of resource does not have."""
        self.assertEqual(list(read()), [])
        policies = [AccessPolicy("all", START, DateTime.from_ticks(639_028_224_000_000_001), letters),
                    AccessPolicy("id alone"), AccessPolicy("nothing", permissions="")]
        set(policies)
        self.assertEqual(list(read()), policies)
        for refused in ([AccessPolicy("a", permissions=foreign)], [AccessPolicy("a"), AccessPolicy("a")],
                        [AccessPolicy("")], [AccessPolicy(str(i)) for i in range(6)],
                        [AccessPolicy("a", datetime(2026, 1, 1))]):  # without a time zone
            with self.assertRaises(varve.InvalidArgument):
                set(refused)
        self.assertEqual(list(read()), policies)
        set([])
        self.assertEqual(list(read()), [])

    def test_policies_of_a_table(self):
        self.store.create_table("shop", "Orders")
        self.expect(lambda: self.store.table_access_policies("shop", "Orders"),
                    lambda policies: self.store.set_table_access_policies("shop", "Orders", policies), "raud", "p")
        with self.assertRaises(varve.NotFound):
            self.store.table_access_policies("shop", "Absent")

    def test_policies_of_a_queue(self):
        queue = self.store.create_queue("shop", "orders")
        self.expect(queue.access_policies, queue.set_access_policies, "raup", "d")

    def test_policies_and_public_access_of_a_container(self):
        photos = self.store.create_container("shop", "photos", public_access="blobs")
        self.assertEqual(photos.info().public_access, "blobs")
        self.expect(photos.access_policies, photos.set_access, "racwdlt", "p!")
        self.assertEqual(photos.info().public_access, "none")
        photos.set_access([AccessPolicy("a")], public_access="container")
        self.assertEqual(photos.info().public_access, "container")
        with self.assertRaises(varve.InvalidArgument):
            photos.set_access([], public_access="all")
        held = photos.lease().acquire()
        photos.set_access([], lease=held)
        self.assertEqual((list(photos.access_policies()), photos.info().public_access), ([], "none"))


class Properties(WithStore):
    def test_a_change_keeps_what_it_leaves_out_and_other_services(self):
        rules = [CorsRule(["https://shop.example"], ["PUT", "GET"], 60, ["x-ms-*"], ["x-ms-meta-a"]), CorsRule(["*"], ["GET"])]
        self.store.set_service_properties("shop", "blobs", logging=Logging(remove=True, retention_days=7), cors_rules=rules,
                                          default_version="2021-12-02")
        self.store.set_service_properties("shop", "blobs", hour_metrics=Metrics(True, True, 3))
        self.store.set_service_properties("shop", "blobs", minute_metrics=Metrics(True))
        self.store.close()
        self.store = self.opened()
        found = self.store.service_properties("shop", "blobs")
        self.assertEqual(found.logging, Logging(False, False, True, 7))
        self.assertEqual((found.hour_metrics, found.minute_metrics), (Metrics(True, True, 3), Metrics(True)))
        self.assertEqual(found.default_version, "2021-12-02")
        self.assertEqual([rule._replace(exposed_headers=tuple(rule.exposed_headers),
                                        allowed_headers=tuple(rule.allowed_headers)) for rule in found.cors_rules],
                         [rule._replace(exposed_headers=tuple(rule.exposed_headers),
                                        allowed_headers=tuple(rule.allowed_headers)) for rule in rules])
        for other in ("tables", "queues"):
            self.assertEqual(self.store.service_properties("shop", other),
                             varve.ServiceProperties(Logging(), Metrics(), Metrics(), [], ""))
        self.store.set_service_properties("shop", "queues", **found._asdict())
        self.assertEqual(self.store.service_properties("shop", "queues"), found)
        self.store.set_service_properties("shop", "queues", cors_rules=[], default_version="")
        self.assertEqual(self.store.service_properties("shop", "queues"), found._replace(cors_rules=[], default_version=""))

    def test_bad_properties_change_nothing(self):
        before = self.store.service_properties("shop")
        for change in ({"hour_metrics": Metrics(False, True)}, {"logging": Logging(retention_days=0)},
                       {"logging": Logging(retention_days=366)}, {"cors_rules": [CorsRule([], ["GET"])]},
                       {"cors_rules": [CorsRule(["*"], ["NONE"])]}, {"cors_rules": [CorsRule(["*"], ["GET"], -1)]},
                       {"default_version": "new"}):
            with self.subTest(change), self.assertRaises(varve.InvalidArgument):
                self.store.set_service_properties("shop", **change)
        with self.assertRaises(varve.InvalidArgument):
            self.store.service_properties("shop", "files")
        with self.assertRaises(varve.NotFound):
            self.store.service_properties("other")
        self.assertEqual(self.store.service_properties("shop"), before)


class Options(WithStore):
    def test_an_open_releases_the_held_messages_of_queues_that_ask_for_it(self):
        for name, releases in (("released", True), ("held", False)):
            queue = self.store.create_queue("shop", name, release_on_open=releases)
            queue.put("x")
            self.assertEqual(len(queue.get(hold=timedelta(hours=1))), 1)
        self.store.close()
        self.store = self.opened()
        self.assertEqual(len(self.store.queue("shop", "released").peek()), 1)
        self.assertEqual(self.store.queue("shop", "held").peek(), [])

    def test_a_content_is_compressed_if_asked_for(self):
        photos = self.store.create_container("shop", "photos")
        content = b"x" * (2 << 20)
        photos.put("put", content, compresses=True)
        photos.stage_block("blocks", b"1", content, compresses=True)
        photos.commit_blocks("blocks", [b"1"])
        with photos.open_writer("stream", compresses=True) as writer:
            writer.write(content)
        self.assertTrue(all(photos.get(name) == content for name in ("put", "blocks", "stream")))
        self.store.compact()
        self.assertLess(self.store.statistics()["value_file_live_bytes"], len(content) // 4)
        photos.put("plain", content)
        self.store.compact()
        self.assertGreaterEqual(self.store.statistics()["value_file_live_bytes"], len(content))


if __name__ == "__main__":
    unittest.main()

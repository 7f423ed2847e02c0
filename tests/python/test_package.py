"""Goal: the installed package does what its documentation promises, and misuse ends in exceptions.

Method: unittest, on stores in temporary directories. Run by tests/python/run, which installs the wheel.
"""
import asyncio
import gc
import importlib.metadata
import math
import os
import shutil
import tempfile
import threading
import unittest
from datetime import datetime, timedelta, timezone
from uuid import UUID

import varve
from varve import Entity, ETag, Int64

UTC = timezone.utc


class WithStore(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="varve-python-")
        self.addCleanup(shutil.rmtree, self.directory)
        self.path = os.path.join(self.directory, "store")
        self.store = varve.open(self.path, create=True, durability="buffered")
        self.addCleanup(self.store.close)
        self.store.create_account("shop")
        self.table = self.store.create_table("shop", "Orders")

    def fill(self, count, partition="p"):
        for number in range(count):
            self.table.insert(Entity(partition, f"{number:06d}", N=number))


class Expiry(WithStore):
    def test_entities_end_by_the_rule_of_their_table(self):
        self.assertIsNone(self.store.table_expiry("shop", "Orders"))
        self.store.set_table_expiry("shop", "Orders", at="Until")
        self.assertEqual(self.store.table_expiry("shop", "Orders"), varve.TableExpiry(at="Until"))
        now = datetime.now(UTC)
        self.table.insert(Entity("p", "past", Until=now - timedelta(hours=1)))
        self.table.insert(Entity("p", "later", Until=now + timedelta(hours=1)))
        self.assertIsNone(self.table.get("p", "past"))
        self.assertIsNotNone(self.table.get("p", "later"))
        self.store.set_table_expiry("shop", "Orders", after=timedelta(minutes=30))
        self.assertEqual(self.store.table_expiry("shop", "Orders"), varve.TableExpiry(after=timedelta(minutes=30)))
        self.store.set_table_expiry("shop", "Orders")
        self.assertIsNone(self.store.table_expiry("shop", "Orders"))
        with self.assertRaises(varve.InvalidArgument):
            self.store.set_table_expiry("shop", "Orders", at="Until", after=1)
        self.store.create_table("shop", "Ruled", ends_at="Until")
        self.assertEqual(self.store.table_expiry("shop", "Ruled"), varve.TableExpiry(at="Until"))
        self.store.create_table("shop", "Aged", ends_after=60)
        self.assertEqual(self.store.table_expiry("shop", "Aged"), varve.TableExpiry(after=timedelta(minutes=1)))
        with self.assertRaises(varve.InvalidArgument):
            self.store.create_table("shop", "Wrong", ends_at="Until", ends_after=1)
        with self.assertRaises(varve.NotFound):
            self.store.table_expiry("shop", "Nothing")


class Indexes(WithStore):
    def test_an_index_is_built_with_progress_and_listed_and_dropped(self):
        self.fill(5)
        with self.assertRaises(varve.Cancelled):
            self.store.create_index("shop", "Orders", "ByN", ["N desc", "RowKey"], progress=lambda *_: False)
        self.assertEqual([index.state for index in self.store.indexes("shop", "Orders")], ["building"])
        with self.assertRaises(ZeroDivisionError):
            self.store.create_index("shop", "Orders", "ByN", ["N desc", "RowKey"], progress=lambda *_: 1 // 0)
        seen = []
        self.store.create_index("shop", "Orders", "ByN", ["N desc", "RowKey"],
                                progress=lambda entities, entries: seen.append(entities))
        self.assertTrue(seen)
        self.assertEqual(self.store.indexes("shop", "Orders"),
                         [varve.Index("ByN", ("N desc", "RowKey"), (), "ready", False, None)])
        plan = self.table.scan("N ge 3", order_by="N").explain()
        self.assertEqual(plan.indexes, [varve.IndexCandidate("ByN", 0, True, 2, True, True)])
        self.assertEqual((plan.order_index, plan.order_components), ("ByN", 1))
        plan = self.table.scan("PartitionKey eq 'p'").explain()
        self.assertEqual((plan.indexes, plan.order_index, plan.order_components), ([], "", 0))
        self.store.create_index("shop", "Orders", "Timed", ["N", "Timestamp"])
        plan = self.table.scan("N eq 3", select=["N"]).explain()
        self.assertEqual([(index.name, index.answers_pages) for index in plan.indexes], [("Timed", True), ("ByN", False)])
        plan = self.table.scan("N ge 3", order_by="N,Timestamp").explain()
        self.assertEqual((plan.order_index, plan.order_components), ("Timed", 2))
        cost = self.table.scan("N eq 3", select=["N"]).page().cost
        self.assertEqual([cost[name] for name in ("index_parts", "first_part_entities", "last_part_entities")], [1, 1, 1])
        self.store.drop_index("shop", "Orders", "Timed")
        with self.assertRaises(varve.Exists):
            self.store.create_index("shop", "Orders", "ByN", ["N"])
        self.store.create_index("shop", "Orders", "One", ["N"], unique=True)
        self.assertTrue(self.store.indexes("shop", "Orders")[1].unique)
        with self.assertRaises(varve.Exists) as refused:
            self.table.insert(Entity("q", "second", N=3))
        self.assertEqual(refused.exception.taken_value, varve.TakenValue("One", "p", "000003"))
        with self.assertRaises(varve.NotFound) as absent:
            self.table.remove("q", "second", varve.ETag.ANY)
        self.assertIsNone(absent.exception.taken_value)
        self.store.drop_index("shop", "Orders", "One")
        for wrong in (["N down"], ["N:desc"], [""]):
            with self.assertRaises(varve.InvalidArgument):
                self.store.create_index("shop", "Orders", "Wrong", wrong)
        with self.assertRaises(TypeError):
            self.store.create_index("shop", "Orders", "Wrong", "N")
        self.store.create_index("shop", "Orders", "Rich", ["N"], carried=["A", "B"])
        self.assertEqual(self.store.indexes("shop", "Orders")[1].carried, ("A", "B"))
        self.store.drop_index("shop", "Orders", "ByN")
        with self.assertRaises(varve.NotFound):
            self.store.drop_index("shop", "Orders", "ByN")

    def test_entities_are_changed_by_filter_in_batches(self):
        self.fill(10)
        self.assertEqual(self.table.delete_where("N lt @n", parameters={"n": 6}, dry_run=True).matched, 6)
        done = self.table.update_where("N ge 8", {"Seen": True}, remove=["N"], partition="p")
        self.assertEqual(done, varve.WhereProgress(2, 2, 0, None))
        self.assertEqual(dict(self.table.get("p", "000009")), {"Seen": True})
        shown = []
        part = self.table.delete_where("N lt 6", batch=2, progress=lambda now: shown.append(now) or False)
        self.assertEqual((part.changed, len(shown), shown[0]), (2, 1, part))
        self.assertIsNotNone(part.continuation)
        with self.assertRaises(ZeroDivisionError):
            self.table.delete_where("N lt 6", batch=2, progress=lambda now: 1 // 0)
        self.assertEqual(self.table.delete_where("N lt 6", continuation=part.continuation).changed, 2)
        with self.assertRaises(varve.InvalidArgument):
            self.table.delete_where()
        with self.assertRaises(varve.InvalidArgument):
            self.table.update_where(all=True)
        with self.assertRaises(varve.InvalidArgument):
            self.table.delete_where(all=True, batch=101)
        self.assertEqual(self.table.delete_where(all=True).changed, 4)
        self.assertEqual(list(self.table), [])

    def test_a_group_transaction_takes_patches(self):
        self.fill(2)
        with self.table.transaction() as group:
            group.patch("p", "000001", {"M": "x"}, increment={"N": 4}, only_if="N eq @n", parameters={"n": 1})
            group.insert(Entity("p", "new", N=7))
            group.patch("p", "made", increment={"N": 2}, insert=True)
        self.assertEqual([dict(entity) for entity in group.patched_entities], [{"N": 5, "M": "x"}, {"N": 2}])
        self.assertEqual(self.table.get("p", "new")["N"], 7)
        with self.assertRaises(varve.PreconditionFailed) as refused:
            with self.table.transaction() as group:
                group.patch("p", "000000", increment={"N": 4}, only_if="N eq 9")
                group.remove("p", "new")
        self.assertEqual(refused.exception.operation_index, 1)
        self.assertEqual(group.patched_entities, [])

    def test_the_verbs_have_forms_for_asyncio(self):
        async def work():
            async with varve.aio.AsyncStore(os.path.join(self.directory, "async"), create=True) as store:
                await store.run(store.store.create_account, "shop")
                table = await store.create_table("shop", "Orders")
                await table.insert(Entity("p", "r", N=1))
                await store.create_index("shop", "Orders", "ByN", ["N"])
                self.assertEqual([index.name for index in await store.indexes("shop", "Orders")], ["ByN"])
                self.assertEqual([index.name for index in (await table.explain("N eq 1")).indexes], ["ByN"])
                self.assertEqual((await table.update_where("N eq 1", {"M": 2})).changed, 1)
                self.assertEqual((await table.delete_where("M eq 2")).changed, 1)
                await store.drop_index("shop", "Orders", "ByN")

        asyncio.run(work())


class Values(WithStore):
    def test_every_type_comes_back_as_it_was_written(self):
        values = {
            "Text": "a\u00e4\U0001f600", "Empty": "", "Zero": "a\0b", "Small": -2**31, "Large": 2**31, "Least": -2**63,
            "Wide": Int64(7), "Half": 0.5, "Huge": 1.7976931348623157e308, "Inf": math.inf, "Yes": True, "No": False,
            "Bytes": b"\0\xff", "When": datetime(2026, 3, 3, 10, 20, 30, 123456, tzinfo=UTC),
            "Ticks": varve.DateTime.from_ticks(639_000_000_000_000_007),
            "Id": UUID("01234567-89ab-cdef-0123-456789abcdef")}
        etag = self.table.insert(Entity("p", "r", values))
        found = self.table.get("p", "r")
        self.assertEqual(dict(found), values)
        self.assertEqual(list(found), list(values))
        self.assertEqual([type(value) for value in found.values()],
                         [Int64 if name in ("Large", "Least") else type(value) for name, value in values.items()])
        self.assertEqual(found.etag, etag)
        self.assertLess(abs(found.timestamp - datetime.now(UTC)), timedelta(hours=1))
        self.assertEqual(found["Ticks"].ticks, 639_000_000_000_000_007)
        self.assertNotEqual(found["Ticks"], varve.DateTime.from_ticks(639_000_000_000_000_006))

    def test_a_read_entity_is_written_back_with_its_types(self):
        self.table.insert(Entity("p", "r", Wide=Int64(7), Ticks=varve.DateTime.from_ticks(639_000_000_000_000_007)))
        self.table.replace(self.table.get("p", "r"))
        found = self.table.get("p", "r")
        self.assertIsInstance(found["Wide"], Int64)
        self.assertEqual(found["Ticks"].ticks, 639_000_000_000_000_007)

    def test_nan_comes_back(self):
        self.table.insert(Entity("p", "r", Number=math.nan))
        self.assertTrue(math.isnan(self.table.get("p", "r")["Number"]))

    def test_times_of_other_zones_are_kept_as_utc_and_times_without_one_are_refused(self):
        zone = timezone(timedelta(hours=5, minutes=30))
        self.table.insert(Entity("p", "r", When=datetime(2026, 1, 1, 12, 0, tzinfo=zone)))
        self.assertEqual(self.table.get("p", "r")["When"], datetime(2026, 1, 1, 6, 30, tzinfo=UTC))
        with self.assertRaisesRegex(varve.InvalidArgument, "time zone"):
            self.table.insert(Entity("p", "naive", When=datetime(2026, 1, 1)))

    def test_values_that_no_property_can_hold_are_refused(self):
        for value, kind in ((2**63, varve.InvalidArgument), (-2**63 - 1, varve.InvalidArgument),
                            ("\ud800", varve.InvalidArgument), (None, TypeError), ([], TypeError), (1j, TypeError),
                            (datetime(1600, 1, 1, tzinfo=UTC), varve.InvalidArgument), ("x" * 32_769, varve.TooLarge)):
            with self.subTest(value=str(value)[:40]), self.assertRaises(kind):
                self.table.insert(Entity("p", "bad", V=value))
        self.assertIsNone(self.table.get("p", "bad"))

    def test_keys_and_names_are_checked(self):
        for entity, kind in ((Entity("\udcff", "r"), varve.InvalidArgument), (Entity("a/b", "r"), varve.InvalidArgument),
                             (Entity("p", "r", {"1x": 1}), varve.InvalidArgument), (Entity(b"p", "r"), TypeError),
                             (Entity("p", "r", {7: 1}), TypeError), ({"PartitionKey": "p"}, TypeError), (7, TypeError)):
            with self.subTest(entity=repr(entity)), self.assertRaises(kind):
                self.table.insert(entity)

    def test_mappings_with_keys_inside_are_entities_too(self):
        self.table.insert({"PartitionKey": "p", "RowKey": "r", "N": 1})
        self.assertEqual(self.table.get("p", "r"), Entity("p", "r", N=1))

    def test_etags_are_texts_of_the_service(self):
        etag = self.table.insert(Entity("p", "r"))
        self.assertEqual(ETag(str(etag)), etag)
        self.assertEqual(str(ETag.ANY), "*")
        self.assertEqual(hash(ETag("*")), hash(ETag.ANY))
        with self.assertRaises(varve.InvalidArgument):
            ETag("nothing")


class Verbs(WithStore):
    def test_writes_follow_their_conditions(self):
        first = self.table.insert(Entity("p", "r", A=1))
        with self.assertRaises(varve.Exists) as caught:
            self.table.insert(Entity("p", "r"))
        self.assertEqual((caught.exception.service_error, caught.exception.code), ("EntityAlreadyExists", 2))
        read = self.table.get("p", "r")
        self.table.merge(Entity("p", "r", B=2), ETag.ANY)
        with self.assertRaises(varve.PreconditionFailed):
            self.table.replace(read)  # its own ETag is the condition
        with self.assertRaises(varve.PreconditionFailed):
            self.table.replace(read, first)
        self.table.replace(read, ETag.ANY)
        with self.assertRaises(varve.InvalidArgument):
            self.table.replace(Entity("p", "r"))  # no condition at all
        with self.assertRaises(TypeError):
            self.table.replace(read, "*")
        self.table.insert_or_merge(Entity("p", "r", C=3))
        self.assertEqual(self.table.get("p", "r"), Entity("p", "r", A=1, C=3))
        self.table.insert_or_replace(Entity("p", "r", D=4), durability="sync", wait=1.5, tag=b"mark")
        self.assertEqual(self.store.last_tag(), b"mark")
        self.table.remove("p", "r")
        with self.assertRaises(varve.NotFound):
            self.table.remove("p", "r")
        with self.assertRaises(varve.InvalidArgument):
            self.table.insert(Entity("p", "r"), durability="sometimes")

    def test_patches_change_single_properties_and_return_the_entity(self):
        self.table.insert(Entity("p", "r", Quantity=7, Note="old"))
        patched = self.table.patch("p", "r", {"State": "sold"}, remove=["Note"], increment={"Quantity": -5, "Sales": 1},
                                   only_if="Quantity ge @least", parameters={"least": 5}, durability="sync")
        self.assertEqual(patched, Entity("p", "r", Quantity=2, State="sold", Sales=1))
        read = self.table.get("p", "r")
        self.assertEqual((read, read.etag), (patched, patched.etag))
        with self.assertRaises(varve.PreconditionFailed) as caught:
            self.table.patch("p", "r", increment={"Quantity": -5}, only_if="Quantity ge 5")
        self.assertEqual(caught.exception.service_error, "ConditionNotMet")
        with self.assertRaises(varve.InvalidArgument) as caught:
            self.table.patch("p", "r", increment={"State": 1})
        self.assertEqual(caught.exception.service_error, "PropertyTypeMismatch")
        with self.assertRaises(varve.TooLarge) as caught:
            self.table.patch("p", "r", increment={"Quantity": 2**31 - 1})
        self.assertEqual(caught.exception.service_error, "IncrementOutOfRange")
        with self.assertRaises(TypeError):
            self.table.patch("p", "r", remove="Note")
        with self.assertRaises(varve.NotFound):
            self.table.patch("p", "new", increment={"Quantity": 1})
        self.assertEqual(self.table.patch("p", "new", increment={"Quantity": 1}, insert=True)["Quantity"], 1)
        with self.store.transaction() as transaction:
            transaction.patch(self.table, "p", "r", increment={"Quantity": 1}, if_match=read.etag)
            transaction.patch(self.table, "p", "new", {"State": "new"})
            self.assertEqual(transaction.patched_entities, [])
        self.assertEqual([e["Quantity"] for e in transaction.patched_entities], [3, 1])
        self.assertEqual({e.etag for e in transaction.patched_entities}, {transaction.etag})

    def test_replaces_merges_and_removes_have_conditions(self):
        self.fill(2)
        one, two = Entity("p", "000000", N=1), Entity("p", "000001", N=9)

        def group(verb, *arguments, **named):
            with self.table.transaction() as writes:
                writes.insert_or_replace(two)
                getattr(writes, verb)(*arguments, **named)

        def transaction(verb, *arguments, **named):
            with self.store.transaction() as writes:
                writes.insert_or_replace(self.table, two)
                getattr(writes, verb)(self.table, *arguments, **named)

        for write in (lambda verb, *arguments, **named: getattr(self.table, verb)(*arguments, **named), group, transaction):
            for verb, arguments in (("replace", (one, ETag.ANY)), ("merge", (one, ETag.ANY)), ("remove", ("p", "000000"))):
                with self.subTest(verb=verb):
                    self.table.insert_or_replace(Entity("p", "000000", N=0, A="O'Hara"))
                    before = self.table.get("p", "000000")
                    with self.assertRaises(varve.PreconditionFailed) as caught:
                        write(verb, *arguments, only_if="N eq 0 and A eq @name", parameters={"name": "Ann"})
                    self.assertEqual(caught.exception.service_error, "ConditionNotMet")
                    self.assertEqual(self.table.get("p", "000000").etag, before.etag)
                    with self.assertRaises(varve.InvalidArgument):
                        write(verb, *arguments, only_if="N eq")
                    with self.assertRaises(TypeError):
                        write(verb, *arguments, only_if=b"true")
                    with self.assertRaises(varve.InvalidArgument):
                        write(verb, *arguments, parameters={"name": "Ann"})
                    self.assertEqual(self.table.get("p", "000000").etag, before.etag)
                    write(verb, *arguments, only_if="N eq 0 and A eq @name", parameters={"name": "O'Hara"})
                    after = self.table.get("p", "000000")
                    self.assertEqual(after and dict(after),
                                     {"replace": {"N": 1}, "merge": {"N": 1, "A": "O'Hara"}, "remove": None}[verb])
        self.assertEqual(self.table.get("p", "000001")["N"], 9)

    def test_group_transactions_are_context_managers(self):
        with self.table.transaction() as group:
            group.insert(Entity("p", "a", N=1))
            group.insert_or_merge(Entity("p", "b"))
        self.assertEqual(self.table.get("p", "a").etag, group.etag)
        with self.assertRaises(varve.NotFound) as caught:
            with self.table.transaction() as group:
                group.remove("p", "a")
                group.remove("p", "none")
        self.assertEqual(caught.exception.operation_index, 1)
        self.assertEqual(caught.exception.service_error, "ResourceNotFound")
        with self.assertRaises(ZeroDivisionError):
            with self.table.transaction() as group:
                group.remove("p", "a")
                1 / 0
        self.assertIsNotNone(self.table.get("p", "a"))

    def test_scans_page_by_themselves(self):
        self.fill(25)
        self.fill(3, "q")
        self.assertEqual([e["N"] for e in self.table.scan(partition="p", page_entities=10)], list(range(25)))
        pages = list(self.table.scan(partition="p", page_entities=10).pages())
        self.assertEqual([len(page.entities) for page in pages], [10, 10, 5])
        self.assertIsNone(pages[-1].continuation)
        self.assertGreaterEqual(pages[0].cost["entities_examined"], 10)
        rest = self.table.scan(partition="p", continuation=pages[0].continuation)
        self.assertEqual([e["N"] for e in rest], list(range(10, 25)))
        self.assertEqual([e["N"] for e in self.table.scan(partition="p", reverse=True, limit=2)], [24, 23])
        by_number = self.table.scan(partition="p", order_by="N desc", page_entities=2, limit=5)
        self.assertEqual([e["N"] for e in by_number], [24, 23, 22, 21, 20])
        self.assertEqual([e["N"] for e in self.table.scan(partition="p", rows=("000003", "000006"))], [3, 4, 5])
        self.assertEqual([e["N"] for e in self.table.scan(partition="p", rows=("000023", None))], [23, 24])
        self.assertEqual([e["N"] for e in self.table.scan(partition="p", row_prefix="00002")], [20, 21, 22, 23, 24])
        self.assertEqual(self.table.scan(partitions=("q", None)).count(), 3)
        self.assertEqual(self.table.scan("N ge 20").count(), 5)
        self.assertEqual(self.table.scan(limit=0).count(), 0)
        rows = self.table.scan("N ge 20").aggregate("count", ("sum", "N"), ("min", "Absent"), group_by=[("RowKey", 5)])
        self.assertEqual([tuple(row) for row in rows], [(("00002",), (5, 110, None))])
        self.assertEqual(self.table.scan("N lt 0").aggregate("count")[0].figures, (0,))
        for wrong in [("median", "N"), ("sum", "")]:
            with self.assertRaises(varve.InvalidArgument):
                self.table.scan().aggregate(wrong)
        self.assertEqual(self.table.scan(select=["M"], limit=1).first(), Entity("p", "000000"))
        self.assertEqual(self.table.scan("PartitionKey eq 'p' and N eq 3").explain().path, "partition")
        self.assertEqual(len(list(self.table)), 28)

    def test_scans_may_bound_orders_and_refuse_what_the_service_lacks(self):
        self.fill(3)
        with self.store.load("shop", "Many") as load:
            for number in range(20_000):
                load.add(Entity("p", f"{number:06d}", N=number))
        many = self.store.table("shop", "Many")
        with self.assertRaises(varve.TooLarge):
            many.scan(order_by="N desc", page_entities=1, order_time=0.001).page()
        page = many.scan(order_by="N desc", page_entities=1, order_time=timedelta(hours=1)).page()
        self.assertEqual([e["N"] for e in page.entities], [19_999])
        with self.assertRaises(varve.InvalidArgument):
            many.scan(order_by="N", order_time=0).page()
        for extension, refused in (("exists(N)", varve.Unsupported), ("N in (1, 2)", varve.InvalidArgument)):
            self.assertGreater(self.table.scan(extension).count(), 0)
            with self.assertRaises(refused):
                self.table.scan(extension, filter_extensions=False).count()
        self.assertEqual(self.table.scan("N ge 1", filter_extensions=False).count(), 2)

    def test_scans_refuse_what_contradicts_itself(self):
        for fields in ({"rows": ("a", "b")}, {"partition": "p", "partitions": ("a", "b")}, {"page_entities": 0},
                       {"limit": -1}, {"filter": "N eq"}, {"partition": "p", "rows": ("a", "b"), "row_prefix": "a"},
                       {"continuation": "no token"}, {"page_entities": 1001}):
            with self.subTest(fields=fields), self.assertRaises(varve.InvalidArgument):
                list(self.table.scan(**fields))
        with self.assertRaises(TypeError):
            list(self.table.scan(select="N"))
        with self.assertRaises(varve.Unsupported):
            list(self.table.scan("tolower(Name) eq 'a'"))

    def test_parameters_become_literals(self):
        values = {"s": "O'Hara or N eq 1", "i": 5, "l": Int64(5), "d": 0.5, "b": True, "y": b"\x01",
                  "t": varve.DateTime.from_ticks(639_000_000_000_000_007),
                  "g": UUID("01234567-89ab-cdef-0123-456789abcdef")}
        self.table.insert(Entity("p", "r", values))
        self.table.insert(Entity("p", "other", N=1))
        text = " and ".join(f"{name} eq @{name}" for name in values)
        self.assertEqual([e.row_key for e in self.table.scan(text, parameters=values)], ["r"])
        self.assertEqual(self.table.scan("s eq '@s'", parameters={}).count(), 0)
        for text in ("contains(s,@s)", "endswith(s, @s) and i in (1, @i)", "startswith(RowKey,@r)", "l in (@l,@d)",
                     "equals_ignoring_case(s,@s) and exists(g)", "l ge i and s ne RowKey"):
            with self.subTest(text=text):
                found = self.table.scan(text, parameters={**values, "r": "r"})
                self.assertEqual([e.row_key for e in found], ["r"])
        with self.assertRaises(varve.InvalidArgument):
            self.table.scan("N eq @missing", parameters={})
        with self.assertRaisesRegex(varve.InvalidArgument, "INF"):
            self.table.scan("d lt @d", parameters={"d": float("inf")})
        self.assertEqual([e.row_key for e in self.table.scan("d lt INF and d gt -INF")], ["r"])

    def test_get_many_keeps_the_order_of_the_keys(self):
        self.fill(3)
        found = self.table.get_many([("p", "000002"), ("p", "none"), ("p", "000000")], select=["N"])
        self.assertEqual([e and e["N"] for e in found], [2, None, 0])
        self.assertEqual(self.table.get_many([]), [])

    def test_snapshots_keep_a_version(self):
        self.fill(1)
        with self.store.snapshot() as snapshot:
            self.fill(1, "q")
            self.assertEqual(self.table.scan(snapshot=snapshot).count(), 1)
            self.assertIsNone(self.table.get("q", "000000", snapshot=snapshot))
            self.assertEqual(snapshot.version.tzinfo, UTC)
        with self.assertRaises(varve.Closed):
            self.table.scan(snapshot=snapshot).count()

    def test_store_transactions_repeat_after_a_conflict(self):
        self.fill(1)
        other = self.store.create_table("shop", "Others")
        calls = []

        def increment(transaction):
            calls.append(1)
            entity = transaction.get(self.table, "p", "000000")
            if len(calls) == 1:  # another writer comes between
                self.table.merge(Entity("p", "000000", M=1), ETag.ANY)
            entity["N"] += 1
            transaction.replace(self.table, entity)
            transaction.insert_or_replace(other, Entity("log", str(entity["N"])))
            return entity["N"]

        self.assertEqual(self.store.transact(increment), 1)
        self.assertEqual(len(calls), 2)
        self.assertEqual(self.table.get("p", "000000"), Entity("p", "000000", N=1, M=1))
        with self.assertRaises(varve.Conflict):
            with self.store.transaction() as transaction:
                transaction.get(self.table, "p", "000000")
                self.table.merge(Entity("p", "000000"), ETag.ANY)
                transaction.remove(other, "log", "1")
        self.assertIsNotNone(other.get("log", "1"))
        with self.store.transaction() as transaction:
            self.assertEqual(len(transaction.scan_page(self.table.scan()).entities), 1)
        with self.assertRaises(varve.Conflict):
            with self.store.transaction() as transaction:
                transaction.scan_page(self.table.scan(partition="p"), checked=True)
                self.table.insert(Entity("p", "phantom"))
                transaction.remove(other, "log", "1")
        self.table.remove("p", "phantom", ETag.ANY)
        with self.assertRaises(varve.InvalidArgument):
            self.store.transact(increment, attempts=0)

    def test_loads_are_all_or_nothing(self):
        with self.store.load("shop", "Loaded") as load:
            for number in range(1000):
                load.add(Entity("p", f"{number:06d}", N=number))
        self.assertEqual(self.store.table("shop", "Loaded").scan().count(), 1000)
        self.assertEqual(self.store.table("shop", "Loaded").get("p", "000007").etag, load.etag)
        with self.assertRaises(ZeroDivisionError):
            with self.store.load("shop", "Never") as load:
                load.add(Entity("p", "r"))
                1 / 0
        with self.assertRaises(varve.NotFound):
            self.store.table("shop", "Never")

    def test_a_load_shows_the_index_that_it_has_not_built(self):
        self.store.create_index("shop", "Orders", "ByN", ["N"])
        load = self.store.load("shop", "Orders")
        load.add(Entity("p", "r", N=1))
        self.assertEqual(load.unbuilt_indexes, [])
        self.assertEqual(load.finish(progress=lambda *_: False), load.etag)
        self.assertEqual([index.name for index in load.unbuilt_indexes], ["ByN"])
        self.assertIsInstance(load.unbuilt_indexes[0].reason, varve.Cancelled)
        self.store.create_table("shop", "Finished")
        with self.store.load("shop", "Finished") as finished:
            finished.add(Entity("p", "r", N=1))
            etag = finished.finish(progress=lambda *_: True)
        self.assertEqual(self.store.table("shop", "Finished").get("p", "r").etag, etag)
        self.store.create_table("shop", "Second")
        self.store.create_index("shop", "Second", "ByN", ["N"])
        second = self.store.load("shop", "Second")
        second.add(Entity("p", "r", N=1))
        with self.assertRaises(ZeroDivisionError):
            second.finish(progress=lambda *_: 1 // 0)
        self.assertIsNotNone(second.etag)
        self.assertEqual(len(second.unbuilt_indexes), 1)

    def test_names_are_listed_and_dropped(self):
        for name in ("Alpha", "Beta"):
            self.store.create_table("shop", name)
        self.store.create_table("shop", "ALPHA", exist_ok=True)
        self.assertEqual(self.store.tables("shop"), ["Alpha", "Beta", "Orders"])
        self.assertEqual(self.store.tables("shop", "be"), ["Beta"])
        self.store.drop_table("shop", "Beta")
        self.store.create_account("other")
        self.assertEqual(self.store.accounts(), ["other", "shop"])
        self.store.drop_account("other")
        with self.assertRaises(varve.NotFound):
            self.store.table("shop", "Beta")

    def test_restricted_tables_may_do_less(self):
        self.fill(3)
        table = self.table.restricted("r", start=("p", "000001"), end=("p", None))
        self.assertEqual([e["N"] for e in table], [1, 2])
        with self.assertRaises(varve.Forbidden):
            table.insert(Entity("p", "x"))
        with self.assertRaises(varve.InvalidArgument):
            self.table.restricted("rx")

    def test_a_store_is_kept_up_checked_and_repaired(self):
        self.fill(10)
        self.store.sync()
        self.store.compact()
        self.assertGreater(self.store.statistics()["commits"], 10)
        copy, repaired = (os.path.join(self.directory, name) for name in ("copy", "repaired"))
        made = self.store.checkpoint(copy)
        self.assertGreater(made["files_linked"] + made["files_copied"], 0)
        self.assertTrue(varve.verify(copy).sound)
        self.assertEqual(varve.repair(copy, repaired).figures["entities"], 10)
        with varve.open(repaired, read_only=True) as store:
            self.assertEqual(store.table("shop", "Orders").scan().count(), 10)
            with self.assertRaises(varve.ReadOnly):
                store.create_account("more")


class Wheel(unittest.TestCase):
    def test_it_has_the_version_of_the_library_its_licence_and_its_types(self):
        self.assertEqual(importlib.metadata.version("varve"), varve.__version__)
        names = {file.name for file in importlib.metadata.files("varve")}
        self.assertLessEqual({"LICENSE", "NOTICE", "py.typed", "_native.pyi"}, names)


class Lifetimes(WithStore):
    def test_a_closed_store_refuses_everything_and_what_was_read_stays(self):
        self.fill(30)
        scan = iter(self.table.scan(page_entities=10))
        first = next(scan)
        pages = self.table.scan(page_entities=10).pages()
        page = next(pages)
        transaction = self.store.transaction()
        loader = self.store.load("shop", "Loaded")
        self.store.close()
        self.store.close()
        self.assertEqual((first["N"], len(page.entities)), (0, 10))
        for call in (lambda: list(scan), lambda: next(pages), lambda: self.table.get("p", "000000"), self.store.sync,
                     lambda: self.store.table("shop", "Orders"), transaction.commit, loader.finish,
                     self.store.statistics):
            with self.assertRaises(varve.Closed):
                call()

    def test_a_second_open_is_refused_until_the_first_ends(self):
        with self.assertRaises(varve.Locked):
            varve.open(self.path)
        self.store.close()
        varve.open(self.path).close()
        with self.assertRaises(varve.NotFound):
            varve.open(os.path.join(self.directory, "none"))
        with self.assertRaises(varve.IoError) as caught:
            varve.open("/sys/kernel/varve", create=True)
        self.assertNotEqual(caught.exception.os_error, 0)

    def test_forgotten_objects_free_their_handles(self):
        from varve._native import lib
        self.fill(5)
        gc.collect()
        before = lib.varve_handle_count()
        for _ in range(10):
            self.store.table("shop", "Orders").get("p", "000000")
            self.store.snapshot()
            self.store.transaction()
            next(iter(self.table.scan(page_entities=1)))
            self.store.load("shop", "Loaded")
            with self.assertRaises(varve.NotFound):
                self.store.table("shop", "None")
        gc.collect()
        self.assertEqual(lib.varve_handle_count(), before)

    def test_a_forked_child_gets_errors_and_the_parent_goes_on(self):
        self.fill(10)
        scan = self.table.scan(page_entities=2).pages()
        next(scan)
        child = os.fork()
        if child == 0:
            try:
                for call in (lambda: self.table.get("p", "000000"), lambda: next(scan), self.store.sync,
                             lambda: self.table.insert(Entity("p", "child"))):
                    try:
                        call()
                    except varve.Locked:
                        continue
                    os._exit(1)
                self.store.close()
                with varve.open(self.path + ".child", create=True) as own:
                    own.create_account("shop")
                os._exit(0)
            finally:
                os._exit(2)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(len(next(scan).entities), 2)
        self.assertEqual(self.table.scan().count(), 10)

    def test_threads_work_side_by_side(self):
        self.fill(200)
        failures = []

        def work(number):
            try:
                for turn in range(20):
                    self.table.insert_or_replace(Entity(f"t{number}", "r", N=turn))
                    if len(list(self.table.scan(partition="p"))) != 200:
                        failures.append("short scan")
            except Exception as error:  # shown below
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_calls_release_the_interpreter(self):
        # close() waits in C for a scan of another thread, whose visitor is Python code. The visitor goes on until the
        # store refuses a call, so close() waits by then. If close() kept the interpreter, both would wait for ever.
        from varve._native import ffi, lib
        self.fill(1)
        inside, refused = threading.Event(), []

        @ffi.callback("void(varve_entity *, void *)")
        def visit(_entity, _context):
            inside.set()
            while not refused:
                try:
                    self.table.get("p", "000000")
                except varve.Closed as error:
                    refused.append(error)

        scan = threading.Thread(target=lambda: lib.varve_table_scan_in_place(
            self.table._handle, ffi.NULL, visit, ffi.NULL, ffi.NULL))
        scan.start()
        inside.wait()
        self.store.close()
        scan.join()
        self.assertEqual(len(refused), 1)


class Asynchronous(unittest.TestCase):
    def test_the_verbs_of_asyncio(self):
        async def run(path):
            async with varve.aio.AsyncStore(path, create=True, threads=2) as store:
                await store.create_account("shop")
                table = await store.create_table("shop", "Orders")
                etags = await asyncio.gather(*(table.insert(Entity("p", f"{n:03d}", N=n)) for n in range(30)))
                self.assertEqual(len(set(etags)), 30)
                self.assertEqual([e["N"] async for e in table.scan(page_entities=7)], list(range(30)))
                self.assertEqual(await table.count("N lt 5"), 5)
                self.assertEqual((await table.get("p", "003"))["N"], 3)
                await table.merge(Entity("p", "003", M=1), ETag.ANY)
                self.assertEqual((await table.patch("p", "003", increment={"N": 4}))["N"], 7)
                self.assertEqual((await table.get_many([("p", "003"), ("p", "x")]))[1], None)
                with self.assertRaises(varve.NotFound):
                    await table.remove("p", "none")
                for verb, *arguments in ((table.replace, Entity("p", "003"), ETag.ANY),
                                         (table.merge, Entity("p", "003"), ETag.ANY), (table.remove, "p", "003")):
                    with self.assertRaises(varve.PreconditionFailed):
                        await verb(*arguments, only_if="N lt @n", parameters={"n": 7})
                await table.merge(Entity("p", "003", M=1), ETag.ANY, only_if="N eq 7")
                self.assertEqual(
                    await store.transact(lambda t: t.get(table.table, "p", "003")["M"]), 1)
                await store.run(store.store.compact)
                async for entity in table.scan(page_entities=2):
                    break  # a scan that is left early

        with tempfile.TemporaryDirectory() as directory:
            asyncio.run(run(os.path.join(directory, "store")))


if __name__ == "__main__":
    unittest.main()

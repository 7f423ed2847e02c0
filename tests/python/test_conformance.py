"""Goal: Python passes the cases that C++ and C pass, too.

Method: each line of tests/conformance/*.jsonl is a case; generate.py there describes the steps.
"""
import glob
import json
import os
import shutil
import struct
import tempfile
import unittest
from uuid import UUID

import varve
from varve import Entity, ETag, Int64
from varve._native import ffi, lib

CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "conformance", "*.jsonl")


def expanded(text):
    """Expands @repeat:TEXT:COUNT, and @bytes:HEX to a str that is no UTF-8."""
    if text.startswith("@repeat:"):
        _, piece, count = text.split(":")
        return piece * int(count)
    if text.startswith("@bytes:"):
        return bytes.fromhex(text[7:]).decode("utf-8", "surrogateescape")
    return text


def datetime_of(text):
    ticks = ffi.new("varve_datetime *")
    raw = text.encode()
    varve.errors.check(lib.varve_datetime_parse((ffi.from_buffer(raw), len(raw)), ticks))
    return varve.DateTime.from_ticks(ticks[0])


VALUES = {
    "binary": bytes.fromhex, "boolean": lambda text: text == "true", "datetime": datetime_of, "double": float,
    "guid": UUID, "int32": int, "int64": lambda text: Int64(int(text)), "string": str}


def properties_of(props):
    found = {}
    for name, kind, text in props:
        if name == "@many":
            found.update((f"P{number:03d}", number) for number in range(int(text)))
        else:
            found[expanded(name)] = VALUES[kind](expanded(text))
    return found


def comparable(value):
    if isinstance(value, float):
        return struct.pack("<d", value) if value == value else "NaN"
    if isinstance(value, varve.DateTime):
        return value.ticks
    if hasattr(value, "tzinfo"):
        return varve.values.ticks_of_microseconds(value)
    return type(value).__name__, value


def same(found, expected):
    return [(name, comparable(value)) for name, value in found.items()] == [
        (name, comparable(value)) for name, value in expected.items()]


class Case:
    """The state that the steps of one case share."""

    def __init__(self, test, store, number):
        self.test = test
        self.store = store
        self.table = self.full = store.create_table("acct", f"Case{number}")
        self.etags = []
        self.transaction = None

    def entity(self, step):
        return Entity(expanded(step["pk"]), expanded(step["rk"]), properties_of(step["props"]))

    def match(self, step):
        name = step.get("match")
        return {"any": ETag.ANY, "first": self.etags and self.etags[0], "last": self.etags and self.etags[-1],
                "foreign": ETag('W/"foreign"'), "none": None, None: None}[name]

    def scan(self, step):
        named = {}
        kind = step.get("range")
        bounds = tuple(expanded(step[side]) if side in step else None for side in ("start", "end"))
        if "partition" in step:
            named["partition"] = step["partition"]
        if kind in ("rows", "partitions"):
            named[kind] = bounds
        if kind == "row_prefix":
            named["row_prefix"] = step["start"]
        return self.table.scan(expanded(step.get("filter", "")), reverse=step.get("backward", False),
                               limit=step.get("take"), page_entities=step.get("page_size"),
                               continuation=step.get("continuation"), order_by=step.get("order_by", ""), **named)

    def run(self, step):
        do = step["do"]
        if do in ("insert", "insert_or_replace", "insert_or_merge"):
            self.etags.append(getattr(self.table, do)(self.entity(step)))
        elif do in ("replace", "merge"):
            self.etags.append(getattr(self.table, do)(self.entity(step), self.match(step), only_if=step.get("only_if", "")))
        elif do == "remove":
            self.table.remove(expanded(step["pk"]), expanded(step["rk"]), self.match(step), only_if=step.get("only_if", ""))
        elif do == "get":
            found = self.table.get(expanded(step["pk"]), expanded(step["rk"]), select=step.get("select"))
            if step["found"] is None:
                self.test.assertIsNone(found)
            else:
                self.test.assertTrue(same(found, properties_of(step["found"])), found)
        elif do in ("get_many", "read"):
            keys = [tuple(key) for key in step["keys"]]
            found = self.transaction.get_many(self.table, keys) if do == "read" else self.table.get_many(keys)
            self.test.assertEqual([one is not None for one in found], step["found"])
            self.test.assertEqual([(one.partition_key, one.row_key) for one in found if one is not None],
                                  [key for key, exists in zip(keys, step["found"]) if exists])
        elif do == "scan":
            found = [f"{one.partition_key}/{one.row_key}" for one in self.scan(step)]
            self.test.assertEqual(found, step["rows"])
        elif do == "check":
            page = self.transaction.scan_page(self.scan(step), checked=True)
            self.test.assertEqual([f"{one.partition_key}/{one.row_key}" for one in page.entities], step["rows"])
        elif do == "count":
            self.test.assertEqual(self.scan(step).count(), step["count"])
        elif do == "execute":
            group = self.table.transaction()
            for one in step["operations"]:
                self.append(one, group)
            group.execute()
        elif do == "begin":
            self.transaction = self.store.transaction()
        elif do == "add":
            self.append(step["operation"], self.transaction, self.table)
        elif do == "commit":
            self.transaction.commit()
        elif do == "restrict":
            start, end = ((step[side][0], step[side][1] if len(step[side]) > 1 else None) if side in step else None
                          for side in ("start", "end"))
            self.table = self.full.restricted(step["permissions"], start=start, end=end)
        elif do == "create_table":
            self.store.create_table("acct", expanded(step["name"]))
        elif do == "open_table":
            self.store.table("acct", step["name"])
        elif do == "drop_table":
            self.store.drop_table("acct", step["name"])
        elif do == "create_account":
            self.store.create_account(expanded(step["name"]))
        elif do == "drop_account":
            self.store.drop_account(expanded(step["name"]))
        elif do == "parse":
            raw, room = step["text"].encode(), ffi.new("char[64]")
            kind = {"etag": "varve_etag", "datetime": "varve_datetime", "guid": "varve_guid"}[step["what"]]
            value = ffi.new(f"{kind} *")
            varve.errors.check(getattr(lib, f"varve_{step['what']}_parse")((ffi.from_buffer(raw), len(raw)), value))
            varve.errors.check(getattr(lib, f"varve_{step['what']}_format")(value[0], room))
            self.test.assertEqual(ffi.string(room).decode(), step["out"])
        else:
            raise AssertionError(f"no such step: {do}")

    def append(self, one, to, *table):
        kind, only_if = one["kind"], one.get("only_if", "")
        if kind == "remove":
            to.remove(*table, expanded(one["pk"]), expanded(one["rk"]), self.match(one), only_if=only_if)
        elif kind in ("replace", "merge"):
            getattr(to, kind)(*table, self.entity(one), self.match(one), only_if=only_if)
        else:
            getattr(to, kind)(*table, self.entity(one))


class Conformance(unittest.TestCase):
    def test_every_case(self):
        directory = tempfile.mkdtemp(prefix="varve-conformance-")
        self.addCleanup(shutil.rmtree, directory)
        store = varve.open(os.path.join(directory, "store"), create=True, durability="buffered")
        self.addCleanup(store.close)
        store.create_account("acct")
        count = 0
        for path in sorted(glob.glob(CASES)):
            with open(path, encoding="ascii") as lines:
                for number, line in enumerate(lines, 1):
                    case = json.loads(line)
                    count += 1
                    state = Case(self, store, count)
                    for at, step in enumerate(case["steps"]):
                        with self.subTest(f"{os.path.basename(path)}:{number} {case['case']}, step {at}"):
                            self.check_step(state, step)
        self.assertGreaterEqual(count, 150)

    def check_step(self, state, step):
        code, error, index = "Ok", "", None
        message = ""
        try:
            state.run(step)
        except varve.VarveError as failed:
            code, error, index, message = type(failed).__name__, failed.service_error, failed.operation_index, str(failed)
        self.assertEqual((code, error), (step.get("code", "Ok"), step.get("error", "")), message)
        if "index" in step:
            self.assertEqual(index, step["index"])


if __name__ == "__main__":
    unittest.main()

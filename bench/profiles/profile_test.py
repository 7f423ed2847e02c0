"""Goal: `tools/dev/profile` asks perf for the row it names, and writes the picture, the table and the page of all that is there.
Method: a `perf` of our own that notes how it was asked and tells a made-up text; pages go to a folder of the test's."""
import contextlib
import io
import json
import os
import pathlib
import re
import stat
import sys
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree

import profile
import stacks_test

FAKE_PERF = """#!/usr/bin/env python3
import pathlib, sys
with open(sys.argv[0] + ".calls", "a") as calls:
    print(*sys.argv[1:], file=calls)
if sys.argv[1] == "record":
    pathlib.Path(sys.argv[sys.argv.index("-o") + 1]).write_text("data")
else:
    assert pathlib.Path(sys.argv[sys.argv.index("-i") + 1]).read_text() == "data"
    print(pathlib.Path(sys.argv[0] + ".text").read_text(), end="")
sys.exit({status})
"""


class ProfileTest(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)
        self.perf = self.place / "perf"
        self.perf.with_name("perf.text").write_text("".join(stacks_test.SCRIPT), encoding="utf-8")
        self.make_perf(0)
        self.home = self.place / "pages"
        self.home.mkdir()
        for patch in (unittest.mock.patch.object(profile, "HOME", self.home),
                      unittest.mock.patch.dict(os.environ, PATH=f"{self.place}:{os.environ['PATH']}")):
            patch.start()
            self.addCleanup(patch.stop)

    def make_perf(self, status):
        self.perf.write_text(FAKE_PERF.replace("{status}", str(status)), encoding="utf-8")
        self.perf.chmod(self.perf.stat().st_mode | stat.S_IXUSR)

    def run_profile(self, *names):
        words = ["profile.py", "--directory", str(self.place / "stores"), *names]
        with unittest.mock.patch.object(sys, "argv", words), contextlib.redirect_stderr(io.StringIO()) as said:
            try:
                return profile.main(), said.getvalue()
            except SystemExit as end:
                return end.code, said.getvalue()

    def test_a_row_is_profiled_and_drawn(self):
        self.assertEqual(self.run_profile("cached-get")[0], 0)
        record = self.perf.with_name("perf.calls").read_text(encoding="utf-8").splitlines()[0]
        self.assertIn("--rows cached get, 1 thread$ --contenders varve", record)
        xml.etree.ElementTree.parse(self.home / "cached-get.svg")
        page = (self.home / "cached-get.md").read_text(encoding="utf-8")
        self.assertIn("2 samples", page)  # of three: the two of the thread and the function that the row names
        self.assertIn("| `engine::Lookup::advance` | 50.0 % |", page)
        self.assertEqual(list((self.place / "stores").rglob("perf.data")), [])

    def test_the_page_keeps_what_was_profiled_before(self):
        (self.home / "durable-put.md").write_text("## durable-put\n\nof another day\n", encoding="utf-8")
        self.assertEqual(self.run_profile("cached-get")[0], 0)
        page = (self.home / "README.md").read_text(encoding="utf-8")
        self.assertLess(page.index("of another day"), page.index("## cached-get"))

    def test_a_name_that_is_none_is_refused_and_nothing_is_asked(self):
        status, said = self.run_profile("cached-get", "nonsense")
        self.assertEqual(status, 2)
        self.assertIn("not a profile: nonsense", said)
        self.assertFalse(self.perf.with_name("perf.calls").exists())

    def test_a_perf_that_fails_writes_no_page(self):
        self.make_perf(3)
        self.assertIn("cached-get: failed with 3: perf record", self.run_profile("cached-get")[0])
        self.assertEqual(list(self.home.iterdir()), [])

    def test_every_profile_names_one_row_of_the_race(self):
        bench = os.environ["VARVE_BENCH"]
        listing = profile.subprocess.run([bench, "--list"], check=True, capture_output=True, text=True).stdout
        rows = {workload["workload"]: workload["rows"] for workload in map(json.loads, listing.splitlines())}
        for one in profile.PROFILES:
            self.assertEqual(len([row for row in rows[one.workload] if re.search(one.row, row)]), 1, one.name)


if __name__ == "__main__":
    unittest.main()

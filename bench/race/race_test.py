"""Owns: the proof that the race keeps, resumes and reports: made-up results in, tables and charts out.
Must never: measure, or need a machine that is quiet."""
import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import charts  # noqa: E402
import figures  # noqa: E402
import foreign  # noqa: E402
import goals  # noqa: E402
import machine  # noqa: E402
import outside  # noqa: E402
import parts  # noqa: E402
import race  # noqa: E402
import report  # noqa: E402
import results  # noqa: E402
import runner  # noqa: E402
import tables  # noqa: E402

ABOUT = {"machine": "a machine", "commit": "0123456789ab", "sources": "trees"}

# Answers like varve-bench, and counts its calls in a file in the same directory.
FAKE_BENCH = """#!/usr/bin/env python3
import json, pathlib, re, sys
words = dict(zip(sys.argv[1::2], sys.argv[2::2]))
calls = pathlib.Path(sys.argv[0] + ".calls")
calls.write_text((calls.read_text() if calls.exists() else "") + words["--workloads"] + words["--first-round"] + " ")
with open(words["--json"], "a") as file:
    for row in ["one, (1) thread", "two"]:
        if re.search(words["--rows"], row):
            outcome = {"value": 10, "unit": "/s", "more_is_better": True, "figures": {}}
            file.write(json.dumps({"row": row, "round": int(words["--first-round"]), "parameters": {"entities": 5},
                                   "contenders": {"varve": outcome}}) + "\\n")
"""

FILES_TABLE = """   files    edit us      cpu    open ms      cpu   close ms      cpu  cpu us/file   bytes a file  once it is read
    1000       20.5     10.0       9.00     8.00       1.00     0.50         8.50           2000             9000
    4000       21.5     10.0      20.00    18.00       5.00     4.00         5.50           2001             9001
   16000       22.5     10.0      60.00    58.00      30.00    25.00         5.10           2002             9002
"""

LISTING = {"alpha": {"rows": ["one, (1) thread", "two"], "in_order": False},
           "beta": {"rows": ["one, (1) thread", "two"], "in_order": True}}


def outcome(value, **told):
    return {"value": value, "unit": told.pop("unit", "/s"), "more_is_better": told.pop("more_is_better", True),
            "figures": told.pop("figures", {"CPU s/M": 2.0}), **told}


def line(row, number, contenders, **told):
    return {"kind": "round", "part": "durable", "row": row, "round": number, "contenders": contenders, "busy": False,
            "words": [], "parameters": {"entities": 1000, "slot_seconds": 2}, "load_average": 0.5, "foreign": 0.01,
            "date": f"2026-01-0{number}T00:00:00+00:00", **ABOUT, **told}


def part(name, **told):
    return parts._part(name, **told)


class Scratch(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.home = pathlib.Path(self.scratch.name)
        self.file = self.home / "results.jsonl"


class ResultsTest(Scratch):
    def test_a_line_that_was_cut_is_not_there_and_the_next_one_takes_its_place(self):
        results.append(self.file, [{"n": 1}, {"n": 2}])
        whole = self.file.read_bytes()
        for length in range(len(whole)):
            self.file.write_bytes(whole[:length])
            kept = results.read(self.file)
            self.assertEqual(kept, [{"n": n + 1} for n in range(whole[:length].count(b"\n"))])
            results.append(self.file, [{"n": 3}])
            self.assertEqual(results.read(self.file), [*kept, {"n": 3}])

    def test_lines_that_do_not_hold_are_moved_away_and_the_others_stay(self):
        results.append(self.file, [{"n": n} for n in range(5)])
        self.file.with_name("results.jsonl.new").write_text('{"n": 99}\n')  # of a call that was killed
        self.assertEqual(results.keep(self.file, lambda line: line["n"] % 2 == 0), 2)
        self.assertEqual([line["n"] for line in results.read(self.file)], [0, 2, 4])
        self.assertEqual(results.keep(self.file, lambda line: line["n"] > 0), 1)
        self.assertEqual([line["n"] for line in results.read(self.file)], [2, 4])
        self.assertEqual([line["n"] for line in results.read(f"{self.file}.old")], [1, 3, 0])
        self.assertEqual(results.keep(self.home / "none", lambda _: True), 0)
        self.assertFalse((self.home / "none").exists())

    def test_a_race_retires_what_other_sources_or_machines_measured(self):
        lines = [{"kind": "round", "n": n, **about} for n, about in enumerate(
            [ABOUT, {**ABOUT, "sources": "older"}, {**ABOUT, "machine": "another"}, {**ABOUT, "commit": "another"}])]
        results.append(self.file, lines)
        race.retire(self.file, ABOUT)
        self.assertEqual([line["n"] for line in results.read(self.file)], [0, 3])

    def test_a_broken_line_among_others_is_refused(self):
        self.file.write_text('{"n": 1}\n{"n": \n{"n": 3}\n')
        with self.assertRaises(ValueError):
            results.read(self.file)


class RunnerTest(Scratch):
    def setUp(self):
        super().setUp()
        self.bench = self.home / "bench"
        self.bench.write_text(FAKE_BENCH)
        self.bench.chmod(self.bench.stat().st_mode | stat.S_IXUSR)

    def runner(self, **changed):
        rules = runner.Rules(**{"rounds": 2, "rows": "", "quick": False, "foreign_max": 0.1, "steal_max": 0.1,
                                "patience": 0, "tries": 3, "keep_busy": True, **changed})
        return runner.Runner(str(self.bench), self.home / "stores", self.file, ABOUT, rules, [])

    def race(self, listed=("alpha", "beta"), **changed):
        racing = self.runner(**changed)
        work = runner.plan([part(name) for name in listed], LISTING, racing.rules, racing.is_there)
        racing.run(work)
        return racing

    def calls(self):
        path = pathlib.Path(str(self.bench) + ".calls")
        return path.read_text().split() if path.exists() else []

    def test_every_row_is_run_once_a_round_and_rounds_come_before_parts(self):
        self.race()
        self.assertEqual(self.calls(), ["alpha1", "beta1", "alpha2", "beta2"])
        kept = [(line["part"], line["row"], line["round"]) for line in results.read(self.file)]
        self.assertEqual(kept, [(name, row, number) for number in (1, 2) for name in ("alpha", "beta")
                                for row in ("one, (1) thread", "two")])
        self.assertEqual(list((self.home / "stores").iterdir()), [])

    def test_what_is_there_is_not_run_again(self):
        self.race()
        self.race()
        self.assertEqual(len(self.calls()), 4)

    def test_after_a_cut_line_only_what_it_told_is_run_again(self):
        self.race()
        whole = self.file.read_bytes()
        self.file.write_bytes(whole[:-20])  # the last row of the last round of beta
        self.race()
        self.assertEqual(self.calls()[4:], ["beta2"])
        kept = [(line["part"], line["row"], line["round"]) for line in results.read(self.file)]
        self.assertEqual(len(kept), 8)
        self.assertEqual(len(set(kept)), 8)

    def test_other_sources_are_measured_anew(self):
        self.race(listed=["alpha"])
        changed = self.runner()
        changed.about = {**ABOUT, "sources": "other trees"}
        self.assertEqual(len(runner.plan([part("alpha")], LISTING, changed.rules, changed.is_there)), 2)

    def test_long_parts_are_run_when_they_are_asked_for(self):
        listed = [part("alpha"), part("beta", long=True)]
        for long, expected in ((False, ["alpha"]), (True, ["alpha", "beta"])):
            racing = self.runner(rounds=1, long=long)
            work = runner.plan(listed, LISTING, racing.rules, racing.is_there)
            self.assertEqual([piece.part.name for piece in work], expected)

    def test_a_part_of_another_program_is_kept_like_any_other(self):
        program = self.home / "varve-files-bench"
        program.write_text("#!/bin/sh\ncat <<'END'\n" + FILES_TABLE + "END\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        racing = self.runner(rounds=1)
        racing.run(runner.plan([part("files", outside=True)], outside.listing(), racing.rules, racing.is_there))
        kept = results.read(self.file)
        self.assertEqual([(line["kind"], line["round"], line["row"]) for line in kept],
                         [("round", 1, row) for row in outside.PROGRAMS["files"].rows()])
        self.assertEqual(runner.plan([part("files", outside=True)], outside.listing(), racing.rules, racing.is_there), [])
        self.assertEqual(racing.failed, [])

    def test_rows_are_chosen_by_part_and_name(self):
        self.race(rows="alpha: one")
        kept = {(line["part"], line["row"]) for line in results.read(self.file)}
        self.assertEqual(kept, {("alpha", "one, (1) thread")})

    def test_a_round_with_foreign_load_is_thrown_away_and_repeated_a_few_times(self):
        racing = self.race(listed=["alpha"], rounds=1, keep_busy=False, foreign_max=-1)
        self.assertEqual(self.calls(), ["alpha1"] * 3)
        self.assertEqual({line["kind"] for line in results.read(self.file)}, {"thrown away"})
        self.assertEqual(len(racing.failed), 1)

    def test_a_part_that_fails_leaves_the_others_alone(self):
        self.bench.write_text("#!/bin/sh\ncase \"$*\" in *alpha*) exit 3;; esac\nexec python3 - \"$@\" <<'END'\n" +
                              FAKE_BENCH.replace("sys.argv[0]", f"'{self.bench}'") + "END\n")
        racing = self.race(rounds=1)
        self.assertEqual(len(racing.failed), 1)
        self.assertEqual({line["part"] for line in results.read(self.file)}, {"beta"})

    def test_stores_of_a_race_that_was_killed_are_removed(self):
        (self.home / "race-scratch-999999999").mkdir()
        (self.home / f"race-scratch-{os.getpid()}").mkdir()
        (self.home / "groups/varve-bench-999999999").mkdir(parents=True)
        runner.remove_leftovers(self.home, [self.home / "groups"])
        self.assertEqual(list((self.home / "groups").iterdir()), [])
        self.assertEqual([path.name for path in self.home.glob("race-scratch-*")], [f"race-scratch-{os.getpid()}"])


class ForeignTest(unittest.TestCase):
    def test_load_is_processors_in_use_by_others_while_it_was_watched(self):
        self.assertEqual(self.watched((100, 70, 5), (103, 75, 5.5)), (1.5, 0.25))  # 2 s; the smaller of both measures
        self.assertEqual(self.watched((100, 70, 5), (103, 71, 5)), (0.5, 0))
        self.assertEqual(self.watched((100, 70, 5), (99, 71, 5)), (0, 0))

    @staticmethod
    def watched(before, after):
        counted, clock = iter([before, after]), iter([50.0, 52.0])
        load = foreign.Watch(lambda: next(counted), lambda: next(clock)).load()
        return load.foreign, load.steal

    def test_what_a_child_does_is_ours_when_it_was_waited_for(self):
        before, ours = foreign._processes()[1], foreign._ours()
        subprocess.run([sys.executable, "-c", "while __import__('time').process_time() < 0.2: pass"], check=True)
        self.assertGreaterEqual(foreign._ours() - ours, 0.2)
        self.assertGreater(before, 0)

    def test_busy_is_above_a_bound(self):
        self.assertTrue(foreign.is_busy(foreign.Load(0.2, 0, 0), 0.1, 0.1))
        self.assertTrue(foreign.is_busy(foreign.Load(0, 0.2, 0), 0.1, 0.1))
        self.assertFalse(foreign.is_busy(foreign.Load(0.05, 0.05, 9), 0.1, 0.1))


class OutsideTest(Scratch):
    def test_the_costs_of_files_are_read_from_the_table(self):
        lines = outside.PROGRAMS["files"].lines(FILES_TABLE, self.home)
        told = [line["contenders"]["varve"] for line in lines]
        self.assertEqual([outcome["value"] for outcome in told], [10, 25, 90])
        self.assertEqual([outcome["figures"]["us a file above 10 ms"] for outcome in told], [0, 3.75, 5])
        self.assertEqual(told[1]["figures"]["bytes a file that was read"], 9001)
        self.assertEqual(told[2]["figures"]["files read"], 16_000)
        with self.assertRaises(ValueError):
            outside.PROGRAMS["files"].lines(FILES_TABLE.replace("edit us", "edits a second"), self.home)
        with self.assertRaises(ValueError):
            outside.PROGRAMS["files"].lines("\n".join(FILES_TABLE.splitlines()[:-1]), self.home)

    def test_answers_of_servers_become_rows(self):
        def measured(cpu):
            return [{"rate": 1e6 / cpu, "cpu_us": cpu, "p50_us": 1, "p99_us": 2, "max_us": 3, "memory_mb": 4}]
        rows = {row: {"varve": measured(20), "azurite": measured(200)} for row in outside.Serve.ROWS}
        rows["gets"]["empty"] = [{"rate": 60000, "cpu_us": 16}]
        rows["tops"]["varve"] = measured(30)
        rows["logged_gets"] = {"varve": [{**measured(20)[0], "of_without": 0.97, "cpu_of_without": 1.03, "logged": 1}]}
        (self.home / "served").write_text(json.dumps({"rows": rows}))
        told = {line["row"]: line["contenders"] for line in outside.PROGRAMS["serve"].lines("", self.home)}
        self.assertEqual(list(told), outside.PROGRAMS["serve"].rows())
        self.assertEqual(told["point gets"]["varve"]["figures"]["CPU, of an empty answer"], 1.25)
        self.assertEqual(told["queries of 10 entities"]["varve"]["figures"]["CPU, of a get"], 1.5)
        self.assertEqual(told["inserts"]["azurite"]["value"], 5000)
        self.assertEqual(told["point gets with logging on"]["varve"]["figures"]["of the rate without"], 0.97)


    def test_a_large_blob_is_judged_by_azurite_or_by_the_loopback(self):
        def measured(rate):
            return [{"rate": rate, "cpu_us": 1, "p50_us": 1, "p99_us": 2, "max_us": 3, "memory_mb": 4}]
        rows = {row: {"varve": measured(30), "azurite": measured(10), "files": measured(20)} for row in outside.ServedBlobs.ROWS}
        rows["large_puts"] = {"varve": measured(30), "azurite": measured(20), "loopback": measured(40)}
        rows["large_gets"] = {"varve": measured(38), "azurite": measured(20), "loopback": measured(40)}
        (self.home / "served").write_text(json.dumps({"rows": rows}))
        told = [line(lines["row"], 1, lines["contenders"], part="serve-blobs")
                for lines in outside.PROGRAMS["serve-blobs"].lines("", self.home)]
        judged = {goal.text: met for goal, met, _ in goals.lines_of(figures.rows_of(told))}
        bound = ", to the lesser of 3 times Azurite and 0.9 of the loopback"
        self.assertFalse(judged["puts of 64 MiB over HTTP" + bound])
        self.assertTrue(judged["gets of 64 MiB over HTTP" + bound])
        self.assertFalse(judged["puts of 100 KiB over HTTP, 16 clients, to a server that syncs files"])
        self.assertFalse(judged["puts of 10 KiB over HTTP, to Azurite"])

    def test_servers_are_measured_without_azurite_where_it_is_missing(self):
        queues = outside.ServedQueues()
        queues.BUILD = self.home
        self.assertIn("varve", queues.command("varve-bench", self.home, True))
        (self.home / "node_modules/azurite").mkdir(parents=True)
        self.assertIn("varve,azurite", queues.command("varve-bench", self.home, True))


class MachineTest(Scratch):
    def test_it_is_described_wherever_it_is(self):
        told = machine.describe(self.home)
        self.assertIn(f"{os.cpu_count()} processors", told)
        self.assertIn("Linux", told)
        self.assertNotIn("unknown file system", told)


class FiguresTest(unittest.TestCase):
    def row(self):
        lines = [line("durable put, 1 thread", number, {"varve": outcome(ours), "rocksdb": outcome(theirs),
                                                        "lmdb": outcome(50)}, device=2 * ours)
                 for number, ours, theirs in ((1, 100, 100), (2, 150, 50), (3, 200, 100))]
        return figures.rows_of(lines)[0]

    def test_ratios_are_those_of_the_rounds(self):
        row = self.row()
        self.assertEqual(row.best_opponent(), "rocksdb")
        self.assertEqual(row.ratio("rocksdb"), 2)  # the median of 1, 3 and 2
        self.assertEqual(row.ratio_to_device(), 0.5)
        self.assertEqual(row.ratio("rocksdb", "CPU s/M"), 1)

    def test_less_is_better_where_it_is_a_time(self):
        row = figures.rows_of([line("drop", 1, {"varve": outcome(2, unit="ms", more_is_better=False),
                                                "rocksdb": outcome(6, unit="ms", more_is_better=False),
                                                "lmdb": outcome(4, unit="ms", more_is_better=False)})])[0]
        self.assertEqual(row.best_opponent(), "lmdb")
        self.assertEqual(row.ratio("lmdb"), 2)

    def test_only_rounds_of_the_newest_sources_count(self):
        lines = [line("put", 1, {"varve": outcome(1)}), line("put", 2, {"varve": outcome(9)}, sources="newer")]
        row = figures.rows_of(lines)[0]
        self.assertEqual(row.values("varve"), [9])

    def test_rows_of_other_machines_and_rows_that_are_gone_do_not_hold(self):
        lines = [line("put", 1, {"varve": outcome(1)}, machine="an older one"), line("put", 2, {"varve": outcome(2)}),
                 line("get", 1, {"varve": outcome(3)}), line("gone", 2, {"varve": outcome(4)})]
        self.assertEqual([(row.name, row.values("varve")) for row in figures.rows_of(lines)],
                         [("put", [2]), ("get", [3]), ("gone", [4])])
        held = figures.holding(lines, {"durable": ["put", "get"]})
        self.assertEqual([told["row"] for told in held], ["put", "get"])

    def test_a_goal_is_judged_by_its_row_and_unknown_without_it(self):
        judged = self.judged([self.row()])
        put = goals.Measured([1, 3, 2], 150, "rocksdb", 100, 300)
        self.assertEqual(judged["durable put, 1 client, to the best opponent"], (True, put))
        self.assertEqual(judged["the same, to the device"], (False, put._replace(values=[0.5] * 3)))
        self.assertEqual(judged["durable put, 16 clients"], (None, None))

    @staticmethod
    def judged(rows):
        return {goal.text: (met, measured) for goal, met, measured in goals.lines_of(rows)}

    def test_a_goal_that_names_no_opponent_shows_the_best_one_of_its_row(self):
        row = line("drop and create again, p99 of 200 times", 1,
                   {"varve": outcome(2, unit="ms", more_is_better=False),
                    "lmdb": outcome(4, unit="ms", more_is_better=False)}, part="drop")
        judged = self.judged(figures.rows_of([row]))
        self.assertEqual(judged["drop and create again, p99, ms"],
                         (False, goals.Measured([2], 2, "lmdb", 4, None)))
        self.assertEqual(judged["space back after a drop of 10 M entities, s"], (None, None))

    def test_a_figure_of_none_is_not_a_goal_met(self):
        row = line("p99.99 of random puts at a fixed load", 1, {"varve": outcome(2, figures={}), "rocksdb": outcome(4)},
                   part="smooth")
        self.assertEqual(self.judged(figures.rows_of([row]))["seconds stalled meanwhile"], (None, None))

    def test_two_rows_are_compared_by_round(self):
        rows = [line("durable insert of 100, checked", number, {"varve": outcome(ours)}, part="checked")
                for number, ours in ((1, 100), (2, 300))]
        rows += [line("durable batch of 100", number, {"rocksdb": outcome(theirs)}) for number, theirs in ((1, 100), (2, 100))]
        met, measured = self.judged(figures.rows_of(rows))["100 inserts under 100 conditions, to RocksDB's unchecked batch"]
        self.assertEqual((met, measured), (True, goals.Measured([1, 3], 200, "rocksdb", 100, None)))

    def test_the_worst_row_is_compared_and_all_must_be_known(self):
        rows = goals.ycsb("")
        told = [line(row, 1, {"varve": outcome(100 + place), "rocksdb": outcome(100)}, part=part)
                for place, (part, row) in enumerate(reversed(rows))]
        text = "YCSB A to F, half in the cache: the worst rate, to RocksDB"
        self.assertEqual(self.judged(figures.rows_of(told))[text], (True, goals.Measured([1], 100, "rocksdb", 100, None)))
        self.assertEqual(self.judged(figures.rows_of(told[1:]))[text], (None, None))

    def test_the_two_limits_of_the_device_are_two_goals(self):
        told = line("durable 1 MB, 1 thread", 1, {"varve": outcome(5, figures={"user MB/s": 300})}, part="large",
                    device=600, device_unwritten=250, device_limits="user MB/s")
        judged = self.judged(figures.rows_of([told]))
        unwritten = judged["durable 1 MB, 1 thread, to the device in unwritten space"]
        written = judged["durable 1 MB, 1 thread, to the device in written space"]
        self.assertEqual(unwritten, (True, goals.Measured([1.2], 300, None, None, 250)))
        self.assertEqual(written, (False, goals.Measured([0.5], 300, None, None, 600)))

    def test_every_goal_has_a_row(self):
        self.assertEqual({goal.name for goal in goals.GOALS},
                         {"cost", "AL-07", "OBJECTS", "QX-17", "QX-18", *(f"P{number}" for number in range(1, 32)),
                          *(f"QG-{number:02}" for number in range(1, 11)),
                          *(f"BO-{number:02}" for number in range(1, 13)), "BX-33",
                          *(f"IX-{number:02}" for number in range(1, 7))})
        self.assertEqual(len({(goal.name, goal.text) for goal in goals.GOALS}), len(goals.GOALS))

    @unittest.skipUnless("VARVE_BENCH" in os.environ, "needs the program that is told by VARVE_BENCH")
    def test_goals_and_parts_name_what_the_program_has(self):
        workloads = race.list_of_workloads(os.environ["VARVE_BENCH"])
        self.assertEqual({part.workload for part in parts.PARTS}, set(workloads))
        copies = {row for told in workloads.values() for row in told["rows"] if row.endswith("(opponents copy)")}
        for row in ("cached get, 1 thread", "cold full scan, in place", "YCSB C: reads", "full scan under a memory limit"):
            self.assertIn(goals.copied(row), copies)
        for goal in goals.GOALS:
            for name, row in goal.measured.of:
                self.assertIn(row, workloads[parts.by_name(name).workload]["rows"])

    def test_a_share_is_ours_of_theirs(self):
        row = line("disk space", 1, {"varve": outcome(60, unit="MB", more_is_better=False),
                                     "rocksdb": outcome(100, unit="MB", more_is_better=False)}, part="space")
        met, measured = self.judged(figures.rows_of([row]))["bytes of tables, of RocksDB's"]
        self.assertEqual((met, measured), (True, goals.Measured([0.6], 60, "rocksdb", 100, None)))

    def test_the_load_on_offer_is_a_share_of_what_the_slower_one_sustained(self):
        sustained = line("puts", 1, {"varve": outcome(300), "rocksdb": outcome(100)}, part="endurance")
        self.assertEqual(parts.seventy_percent([sustained]), 70)
        self.assertIsNone(parts.seventy_percent([]))


class ReportTest(Scratch):
    def test_numbers_have_three_digits(self):
        told = [tables.number(value) for value in (None, 0, 0.1234, 1.234, 12.34, 123.4, 1234, 12345, 1234567)]
        self.assertEqual(told, ["-", "0", "0.123", "1.23", "12.3", "123", "1234", "12.3 k", "1.23 M"])

    def lines(self):
        series = {"p99.9 ms": [1.0, 2.0, 1.5], "puts /s": [100.0, 90.0, 95.0]}
        return [line("durable put, 1 thread", 1, {"varve": outcome(300, series=series), "rocksdb": outcome(100)},
                     device=400),
                line("lost <row>", 1, {"varve": outcome(50), "rocksdb": outcome(100, series=series)}, busy=True),
                {"kind": "thrown away", "part": "durable"}]

    def test_the_page_has_rows_won_and_rows_lost(self):
        report.write(self.lines(), self.home / "out", "results.jsonl", {"durable": "Durable commits."})
        page = (self.home / "out/RESULTS.md").read_text()
        for text in ("a machine", "3.00 (rocksdb)", "0.500 (rocksdb)", "lost <row> (busy machine)", "0.750",
                     "1 rounds of parts were thrown away", "Durable commits."):
            self.assertIn(text, page)

    def test_a_goal_shows_what_stands_behind_it_and_its_range(self):
        lines = [line("durable put, 1 thread", number, {"varve": outcome(ours), "rocksdb": outcome(100)}, device=400)
                 for number, ours in ((1, 100), (2, 200), (3, 300))]
        rows = figures.rows_of(lines)
        told = tables.goal_table(goals.lines_of(rows)).split("\n")
        cells = [[cell.strip() for cell in text.split("|")[1:-1]] for text in told if text]
        self.assertEqual(cells[2][3:], ["2.00 (1.00-3.00)", "met", "200", "100 (rocksdb)", "400", "3"])
        self.assertEqual(cells[4][3:], ["-", "not measured yet", "-", "-", "-", "0"])

    def test_the_page_has_one_machine_and_leaves_the_others_out(self):
        lines = [line("durable insert of 100, checked", 2, {"varve": outcome(30), "rocksdb": outcome(10)}, part="checked"),
                 line("durable batch of 100", 1, {"varve": outcome(30), "rocksdb": outcome(10)}, machine="an older one")]
        report.write(lines, self.home / "out", "results.jsonl", {})
        page = (self.home / "out/RESULTS.md").read_text()
        self.assertIn("The machine: a machine.", page)
        self.assertNotIn("an older one", page)
        judged = FiguresTest.judged(figures.rows_of(lines))
        self.assertEqual(judged["100 inserts under 100 conditions, to RocksDB's unchecked batch"], (None, None))
        self.assertTrue(judged["100 inserts under 100 conditions, to TransactionDB"][0])

    def test_a_smaller_cache_of_a_contender_is_told_beside_its_figures(self):
        told = {"varve": outcome(30), "rocksdb": outcome(10, figures={"CPU s/M": 2.0, "cache MB": 750.0})}
        table = tables.cost_table(figures.rows_of([line("YCSB C, in memory: reads", 1, told, part="ycsb-in-memory")]))
        ends = {cells[2].strip(): cells[-2].strip() for cells in (text.split("|") for text in table.split("\n")[2:]) if cells[1:]}
        self.assertEqual(ends, {"varve": "", "rocksdb": "cache MB 750"})

    def test_both_forms_of_a_long_name_are_told_apart(self):
        name = "ycsb-in-memory: YCSB D, in memory: 95 % reads of the latest, 5 % inserts"
        labels = [charts._label(row) for row in (name, goals.copied(name))]
        self.assertTrue(labels[1].endswith(" (copy)"))
        self.assertNotEqual(*labels)
        self.assertLessEqual(max(map(len, labels)), 52)
        self.assertEqual(charts._label("read: warm full scan"), "read: warm full scan")

    def test_gets_through_a_merge_are_drawn_from_its_begin(self):
        def merged(begun, rates):
            return outcome(5, series={"gets /s": rates}, figures={"merge from s": begun, "merge to s": begun + 1})
        told = line("gets right after a merge of everything", 1,
                    {"varve": merged(1, [9.0, 9.0, 5.0, 8.0]), "rocksdb": merged(2, [4.0, 4.0, 4.0, 1.0, 2.0])},
                    part="merge-gets", parameters={"slot_seconds": 1})
        self.write_charts([told])
        chart = (self.home / "out/charts/merge-gets-gets-through-a-merge.svg").read_text()
        xml.etree.ElementTree.fromstring(chart)
        self.assertEqual(chart.count("<polyline"), 2)
        self.assertEqual(chart.count("stroke-dasharray"), 4)
        self.assertIn("seconds since the merge began", chart)

    def test_charts_are_whole_and_show_every_row_with_an_opponent(self):
        curve = [line("open", 1, {"varve": outcome(20 * size), "rocksdb": outcome(70)}, part=f"curve-{size}",
                      parameters={"curve_entities": size, "slot_seconds": 2}) for size in (1, 10)]
        self.write_charts([*self.lines(), *curve])
        drawn = {path.name: path.read_text() for path in (self.home / "out/charts").iterdir()}
        for chart in drawn.values():
            xml.etree.ElementTree.fromstring(chart)
        ratios = drawn["ratios.svg"]
        for text in ("3.00 rocksdb", "0.500 rocksdb", "lost &lt;row&gt;", "0.286 rocksdb", "2.86 rocksdb"):
            self.assertIn(text, ratios)
        self.assertIn("durable-durable-put-1-thread-p99-9-ms.svg", drawn)
        self.assertEqual(drawn["growth-open.svg"].count("<polyline"), 2)

    def write_charts(self, lines):
        report.write(lines, self.home / "out", "results.jsonl", {})

    def test_charts_of_rows_that_are_gone_are_removed(self):
        self.write_charts(self.lines())
        (self.home / "out/charts/old.svg").write_text("<svg/>")
        self.write_charts(self.lines())
        self.assertFalse((self.home / "out/charts/old.svg").exists())

    def test_without_results_nothing_is_written(self):
        self.assertEqual(report.write([], self.home / "out", "results.jsonl", {}), [])
        self.assertFalse((self.home / "out").exists())


if __name__ == "__main__":
    unittest.main()

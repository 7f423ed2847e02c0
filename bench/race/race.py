"""Owns: the command line of the race.
Must never: put figures of a quick run where those of the race are.

Usage: race.py [--bench PROGRAM] [--quick] [--rows REGEX] [--rounds N] [--report] ...; see tools/race."""
import argparse
import json
import pathlib
import re
import signal
import subprocess
import sys

import figures
import machine
import outside
import parts
import report
import results
import runner

ROOT = pathlib.Path(__file__).resolve().parents[2]


def words():
    parser = argparse.ArgumentParser(prog="tools/race", description="Races Varve with RocksDB, LevelDB and LMDB.")
    parser.add_argument("--bench", default=ROOT / "build/release/varve-bench", help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true",
                        help="run everything once and small; its results go to a separate file")
    parser.add_argument("--rows", default="", type=re.compile, metavar="REGEX", help="run only rows whose 'PART: ROW' matches")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="number of rounds")
    parser.add_argument("--long", action="store_true",
                        help="also run the parts of 50 million entities and of ten minutes, half an hour more")
    parser.add_argument("--report", action="store_true", help="only write tables and charts from the recorded results")
    parser.add_argument("--list", action="store_true", help="list parts, rows and the number of recorded rounds")
    parser.add_argument("--directory", default=ROOT / "build/race", help="directory in which stores are created and removed")
    parser.add_argument("--results", type=pathlib.Path, help="file of recorded results; default: in the directory")
    parser.add_argument("--out", type=pathlib.Path, help="directory for tables and charts; default: bench/race")
    parser.add_argument("--keep-busy", action="store_true", help="keep rounds that ran beside foreign load, and mark them")
    parser.add_argument("--foreign-max", type=float, default=0.1, help="most processors that other programs may use")
    parser.add_argument("--steal-max", type=float, default=0.1, help="most processors that the hypervisor may take")
    parser.add_argument("--patience", type=float, default=600, help="seconds to wait for a quiet machine")
    chosen = parser.parse_args()
    home = pathlib.Path(chosen.directory) / "quick" if chosen.quick else pathlib.Path(chosen.directory)
    chosen.results = chosen.results or home / "results.jsonl"
    chosen.out = chosen.out or (home if chosen.quick else ROOT / "bench/race")
    return chosen


def list_of_workloads(bench):
    """Rows and descriptions by workload."""
    told = subprocess.run([bench, "--list"], capture_output=True, text=True, check=True).stdout
    return {**{line["workload"]: line for line in map(json.loads, told.splitlines())}, **outside.listing()}


def sentence(words):
    return f"{words[:1].upper()}{words[1:]}."


def about_parts(workloads):
    return {part.name: sentence(workloads[part.workload]['about']) for part in parts.PARTS
            if part.workload in workloads}


def show_list(racing, workloads):
    for part in parts.PARTS:
        for row in workloads[part.workload]["rows"]:
            rounds = sum(racing.is_there(part, row, number) for number in range(1, 100))
            print(f"{rounds} rounds  {part.name}: {row}")


def rows_by_part(workloads):
    """None if the program that lists the rows is not built."""
    return {part.name: workloads[part.workload]["rows"] for part in parts.PARTS} if workloads else None


def write_report(chosen, about, listing):
    lines = results.read(chosen.results)
    lines = figures.holding(lines, listing) + [line for line in lines if line["kind"] != "round"]
    written = report.write(lines, chosen.out, chosen.results.name, about)
    if written:
        runner.say(f"wrote {written[-1]} and {len(written) - 1} charts")
    else:
        runner.say(f"nothing is on file in {chosen.results}")


def retire(path, about):
    """Removes rounds of other sources and machines, which do not hold any more."""
    gone = results.keep(path, lambda line: line.get("sources") == about["sources"]
                        and line.get("machine") == about["machine"])
    if gone:
        runner.say(f"removed {gone} lines of other sources or machines from {path}")


def race(chosen, workloads):
    rules = runner.Rules(1 if chosen.quick else chosen.rounds, chosen.rows, chosen.quick, chosen.foreign_max,
                         chosen.steal_max, chosen.patience, 3, chosen.keep_busy or chosen.quick,
                         chosen.long or chosen.quick)
    if chosen.quick and not chosen.list:
        chosen.results.unlink(missing_ok=True)
    pathlib.Path(chosen.directory).mkdir(parents=True, exist_ok=True)
    runner.remove_leftovers(chosen.directory)
    about = {"machine": machine.describe(chosen.directory), "commit": machine.commit(ROOT),
             "sources": machine.sources(ROOT)}
    if not chosen.list:
        retire(chosen.results, about)
    racing = runner.Runner(chosen.bench, chosen.directory, chosen.results, about, rules, parts.QUICK_WORDS)
    if chosen.list:
        show_list(racing, workloads)
        return []
    work = runner.plan(parts.PARTS, workloads, rules, racing.is_there)
    runner.say(f"{about['machine']}; commit {about['commit']}; {sum(len(piece.rows) for piece in work)} rows to run in "
               f"{len(work)} parts")
    racing.run(work)
    return racing.failed


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # an exception, so that cleanup runs
    chosen = words()
    workloads = list_of_workloads(chosen.bench) if pathlib.Path(chosen.bench).exists() else {}
    failed = []
    try:
        if not chosen.report:
            failed = race(chosen, workloads)
    except KeyboardInterrupt:
        runner.say("interrupted; call it again and it goes on where it was")
        return 130
    if not chosen.list:
        write_report(chosen, about_parts(workloads), rows_by_part(workloads))
    for failure in failed:
        runner.say(f"missing: {failure}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

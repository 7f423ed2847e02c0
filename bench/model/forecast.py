"""Owns: the forecast of the race's rows for 16 and 64 processors: counting sections, checking on 1 and 2, the page.
Must never: call a forecast a measurement, or keep a count of a function that is gone.

Usage: forecast.py [--count] [--check] [--directory DIRECTORY]; see tools/dev/forecast."""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import model

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOME = ROOT / "bench/model"
RECORDED = HOME / "counts.json"
CORES = (2, 16, 64)

# functions: what counts as inside, with all that they call. without: functions called in there that run outside of it.
Counted = collections.namedtuple("Counted", ["name", "by", "functions", "without", "at_once", "background"],
                                 defaults=[(), 1, False])
# path: of varve-instructions. check: workload, row and figure of varve-bench on one and on two processors, or None.
# wanted: the goal for 16 processors, a multiple of one, or None. later: paths that background threads do for the
# operation, how often, and the name of the section if one thread at a time does it.
Row = collections.namedtuple("Row", ["name", "path", "sections", "check", "wanted", "later"], defaults=[None, None, ()])

QUEUE = "varve::engine::CommitQueue::"
LEAD = Counted("lead of the commit queue", "leader", [f"{QUEUE}run_turn"],
               [f"{QUEUE}insert", f"{QUEUE}perform", f"{QUEUE}perform_deferred", f"{QUEUE}publish"])
LISTS = Counted("mutex of the commit queue", "lock", [f"{QUEUE}join", f"{QUEUE}publish"], [])

ROWS = [
    Row("cached get", "get, cached", [], (("read", "cached get, 1 thread", None), ("read", "cached get, 2 threads", None)), 13),
    Row("get of an absent key", "get of an absent key", []),
    Row("scan of a partition of 100, in place", "scan of a partition of 100, in place", []),
    Row("buffered put", "put, buffered", [LEAD, LISTS],
        (("two-threads", "buffered puts by 2 threads, beside one", "one thread /s"),
         ("two-threads", "buffered puts by 2 threads, beside one", None)), 4),
    Row("buffered put, its flush and four merges", "put, buffered", [LEAD, LISTS],
        later=[("flush", 1, "flush of a store"), ("flush and merge", 4, None)]),
    Row("durable put", "put, durable", [LEAD, LISTS]),
    Row("transaction of 100 replaces by ETag", "transaction of 100 replaces by ETag", [LEAD, LISTS]),
]


def inclusive(annotated):
    """Instructions by function, with all that it calls, from callgrind_annotate --inclusive=yes."""
    found = {}
    for line in annotated.splitlines():
        told = re.match(r"\s*([\d,]+) \(\s*[\d.]+%\)\s+\S*?:(\S.*?)(?: \[[^\]]*\])?$", line)
        if told:
            name = re.split(r"[('\[]", told.group(2))[0].strip()
            found[name] = max(found.get(name, 0), int(told.group(1).replace(",", "")))
    return found


def section_of(counted, found, operations):
    """Sums the functions. A function that callgrind did not see is an error if it should be inside."""
    gone = [name for name in counted.functions if name not in found]
    if gone:
        raise ValueError(f"{counted.name}: callgrind saw no function {', '.join(gone)}")
    total = sum(found[name] for name in counted.functions) - sum(found.get(name, 0) for name in counted.without)
    return model.Section(counted.name, counted.by, max(total, 0) / operations, counted.at_once, counted.background)


def count(row, program, directory):
    """Runs the row's paths under callgrind."""
    counted = count_path(row.path, row.sections, program, directory)
    for path, times, section in row.later:
        instructions = times * count_path(path, [], program, directory)["instructions"]
        counted["instructions"] += instructions
        if section:
            counted["sections"].append(model.Section(section, "thread", instructions, 1, True)._asdict())
    return counted


def count_path(path, sections, program, directory):
    listed = dict(line.split("\t")[0::2] for line in
                  subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines())
    operations = int(listed[path])
    with tempfile.TemporaryDirectory(dir=directory) as scratch:
        told = pathlib.Path(scratch) / "counts"
        subprocess.run(["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={told}", str(program),
                        path, f"{scratch}/store"], check=True, capture_output=True)
        annotated = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", "--auto=no", str(told)],
                                   capture_output=True, text=True, check=True).stdout
        total = re.search(r"^([\d,]+) \(100.0%\)\s+PROGRAM TOTALS", annotated, re.MULTILINE)
    found = inclusive(annotated)
    return {"instructions": int(total.group(1).replace(",", "")) / operations,
            "sections": [section_of(counted, found, operations)._asdict() for counted in sections]}


def measure(workload, row, figure, cores, bench, directory, seconds):
    """The rate of Varve on the first `cores` processors."""
    words = ["taskset", "-c", f"0-{cores - 1}", str(bench), "--workloads", workload, "--rows", f"^{re.escape(row)}$",
             "--contenders", "varve", "--rounds", "1", "--seconds", str(seconds), "--directory", str(directory)]
    with tempfile.TemporaryDirectory(dir=directory) as scratch:
        told = pathlib.Path(scratch) / "lines"
        subprocess.run([*words, "--json", str(told)], check=True, capture_output=True)
        outcome = json.loads(told.read_text(encoding="utf-8").splitlines()[0])["contenders"]["varve"]
    return outcome["figures"][figure] if figure else outcome["value"]


def work_of(name, recorded):
    return model.check(model.Work(name, recorded["instructions"],
                                  [model.Section(**section) for section in recorded["sections"]]))


def _cells(row, recorded):
    work = work_of(row.name, recorded)
    longest = model.longest_serial(work)
    serial = f"{longest.name} ({longest.by}): {longest.instructions:.0f}" if longest else "none counted"
    cells = [row.name, f"{work.instructions:.0f}", serial]
    for cores in CORES:
        told = model.forecast(work, cores)
        cells.append(f"{told.speedup:.2f}" + (" (bound)" if told.bound else ""))
    measured = recorded.get("measured")
    return [*cells, str(row.wanted or "-"), f"{measured['2'] / measured['1']:.2f}" if measured else "-"]


def page(recorded):
    heads = ["row", "instructions", "longest serial section, instructions", *(f"{cores} processors" for cores in CORES),
             "16, wanted", "2 processors, measured"]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(_cells(row, recorded[row.name])) + " |" for row in ROWS if row.name in recorded]
    return ("# Forecast for many processors\n\nWritten by `tools/dev/forecast`. Rates are multiples of the rate on one processor, "
            "with one client a processor.\nThey are forecasts of [the model](README.md), not measurements, except the last column. "
            "*Bound*: the rate is above four\nfifths of the limit of the longest serial section.\n\n" + "\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(prog="tools/dev/forecast", description="Forecasts rates on 16 and 64 processors.")
    parser.add_argument("--count", action="store_true", help="count the instructions of all rows anew")
    parser.add_argument("--check", action="store_true", help="measure on one and two processors anew")
    parser.add_argument("--seconds", type=float, default=2, help="seconds of each measurement")
    parser.add_argument("--directory", type=pathlib.Path, default=ROOT / "build", help="where stores are made")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    recorded = json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else {}
    for row in ROWS:
        if chosen.count:
            print(f"counting: {row.name}", file=sys.stderr)
            recorded[row.name] = {**recorded.get(row.name, {}), **count(row, chosen.build / "varve-instructions", chosen.directory)}
        if chosen.check and row.check and os.cpu_count() >= 2:
            print(f"measuring: {row.name}", file=sys.stderr)
            rates = {str(cores): measure(*told, cores, chosen.build / "varve-bench", chosen.directory, chosen.seconds)
                     for cores, told in zip((1, 2), row.check)}
            recorded.setdefault(row.name, {})["measured"] = rates
    recorded = {row.name: recorded[row.name] for row in ROWS if row.name in recorded}
    RECORDED.write_text(json.dumps(recorded, indent=1) + "\n", encoding="utf-8")
    (HOME / "FORECAST.md").write_text(page(recorded), encoding="utf-8")
    print(page(recorded))


if __name__ == "__main__":
    sys.exit(main())

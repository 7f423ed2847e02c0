"""Owns: which rows are profiled, how perf is asked, and the page that shows what came of it.
Must never: profile the loading of data where the row is about something else.

Usage: profile.py [--directory DIRECTORY] [NAME...]; see tools/dev/profile."""
import argparse
import collections
import pathlib
import shutil
import subprocess
import sys

import stacks

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOME = ROOT / "bench/profiles"
LINES = 25
DRIVEN = "bench::drive_thread"  # the repeated part of a row, without its preparation

# row: a pattern for one row's name; thread: the names of threads that count (None: the whole process); within: the
# function whose calls count (None: all).
Profile = collections.namedtuple("Profile", ["name", "about", "workload", "row", "seconds", "thread", "within"])
PROFILES = [
    Profile("durable-put", "durable puts by 16 threads", "durable", "durable put, 16 threads", 5, None,
            None),
    Profile("transaction", "durable inserts of 100 entities under 100 conditions", "checked",
            "durable insert of 100, checked", 5, None, None),
    Profile("large", "durable entities of a million bytes by one thread", "large", "durable 1 MB, 1 thread", 5, None,
            None),
    Profile("cached-get", "gets of what the cache holds, one thread", "read", "cached get, 1 thread$", 5,
            "^varve-bench", DRIVEN),
    Profile("partition-scan", "scans of partitions of 100 that the cache holds", "read", "scan of a partition of 100$",
            5, "^varve-bench", DRIVEN),
    Profile("partition-scan-in-place", "the same without making entities", "read", "scan of a partition of 100, in place$", 5,
            "^varve-bench", DRIVEN),
    Profile("cold-batches", "gets in batches of 64 of a table eight times the cache", "cold", "cold get, batches of 64$", 5,
            None, DRIVEN),
    Profile("cold-scan", "full scans of a table eight times the cache", "cold", "cold full scan$", 5, None,
            DRIVEN),
    Profile("loader", "a load by table files, from sorted entities to a table", "load", "bulk load, table files", None,
            None, None),
    Profile("behind", "flushes and merges of random puts, the threads that do them", "random-put", "random put", None,
            "^varve-work", None),
    Profile("random-put", "buffered random puts by one thread, the thread that asks", "random-put", "random put", None,
            "^varve-bench", DRIVEN),
    Profile("mixed-behind", "the mixed tables, the threads that flush and compact, their load included", "mixed",
            "mixed tables, buffered", 20, "^varve-work", None),
]


def bench_words(profile, directory):
    return [str(ROOT / "build/release/varve-bench"), "--directory", str(directory), "--workloads", profile.workload,
            "--rows", profile.row, "--contenders", "varve", "--rounds", "1",
            *(["--seconds", str(profile.seconds)] if profile.seconds else [])]


def record(profile, directory):
    """The stacks of the row."""
    directory.mkdir(parents=True, exist_ok=True)
    data = directory / "perf.data"
    words = ["perf", "record", "-F", "499", "-g", "--call-graph", "dwarf,16384", "-o", str(data), "--",
             *bench_words(profile, directory)]
    run = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"{run.stderr}{profile.name}: failed with {run.returncode}: {' '.join(words)}")
    script = subprocess.Popen(["perf", "script", "--no-inline", "-F", "comm,tid,time,event,ip,sym,dso", "-i", str(data)],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace")
    folded = stacks.fold(script.stdout, profile.thread, profile.within)
    if script.wait() != 0:
        sys.exit("perf script failed")
    data.unlink()
    return folded


def table(heads, lines):
    return "\n".join(["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads),
                      *("| " + " | ".join(line) + " |" for line in lines), ""])


def page_of(profile, folded):
    own, whole = stacks.own_shares(folded)[:LINES], stacks.whole_shares(folded)
    ours = [line for line in whole if "::" in line[0]][:LINES]
    cells = [[f"`{own[i][0]}`", f"{100 * own[i][1]:.1f} %", f"`{ours[i][0]}`", f"{100 * ours[i][1]:.1f} %"]
             for i in range(min(len(own), len(ours)))]
    words = " ".join(bench_words(profile, "DIRECTORY")[1:])
    return (f"## {profile.name}\n\n{profile.about[:1].upper()}{profile.about[1:]}: {sum(folded.values())} samples of "
            f"`varve-bench {words}`.\n\n![{profile.name}]({profile.name}.svg)\n\n"
            + table(["itself", "share", "with what it calls", "share"], cells))


def write_page():
    head = ("# Where the time goes\n\nWritten by `tools/dev/profile`: samples of processor time by perf, 499 a second, on threads that "
            "run; what waits is not seen.\nThe pictures show the whole stacks when they are opened by themselves: a box's width is "
            "its share of the samples, and it stands on who called it.\n")
    parts = [(HOME / f"{profile.name}.md").read_text(encoding="utf-8") for profile in PROFILES
             if (HOME / f"{profile.name}.md").exists()]
    (HOME / "README.md").write_text("\n".join([head, *parts]), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(prog="tools/dev/profile", description="Shows where the time of the main operations goes.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(profile.name for profile in PROFILES))
    parser.add_argument("--directory", type=pathlib.Path, default=ROOT / "build/profiles")
    chosen = parser.parse_args()
    unknown = set(chosen.names) - {profile.name for profile in PROFILES}
    if unknown:
        parser.error(f"not a profile: {', '.join(sorted(unknown))}")
    if shutil.which("perf") is None:
        sys.exit("perf is not installed; run: tools/install-packages profile")
    for profile in PROFILES:
        if chosen.names and profile.name not in chosen.names:
            continue
        print(f"{profile.name}: {profile.about}", file=sys.stderr)
        folded = record(profile, chosen.directory / "data")
        (HOME / f"{profile.name}.svg").write_text(stacks.flame_graph(folded, profile.about), encoding="utf-8")
        (HOME / f"{profile.name}.md").write_text(page_of(profile, folded), encoding="utf-8")
    write_page()
    return 0


if __name__ == "__main__":
    sys.exit(main())

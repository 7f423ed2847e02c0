"""Owns: what is still to be run, and running it: a part and a round at a time, the results kept as they come.
Must never: keep a round that was disturbed without saying so, or run what is there already.

An interruption loses the part under way in that round, and nothing else."""
import collections
import contextlib
import ctypes
import datetime
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import foreign
import outside
import results

PR_SET_PDEATHSIG = 1

# A part of one round, and its missing rows.
Work = collections.namedtuple("Work", ["part", "round", "rows"])
# foreign_max, steal_max: in processors. patience: seconds to wait for a quiet machine. tries: attempts for a round.
Rules = collections.namedtuple("Rules", ["rounds", "rows", "quick", "foreign_max", "steal_max", "patience", "tries",
                                         "keep_busy", "long"], defaults=[False])


def say(text):
    print(f"race: {text}", file=sys.stderr, flush=True)


def end_with_us():
    """In the child: who is killed with SIGKILL ends nobody, so the kernel is asked to."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def words_of(part, quick, quick_words):
    return [*quick_words, *part.quick] if quick else part.words


def exactly(rows):
    """An expression that finds these rows and no others."""
    return "^(" + "|".join(re.sub(r"([.*+?()\[\]{}|^$\\])", r"\\\1", row) for row in rows) + ")$"


def plan(parts, listing, rules, is_there):
    """All rounds of the first, then the second, so that a race that ends early has something of everything."""
    work = []
    for number in range(1, rules.rounds + 1):
        for part in parts:
            if number > part.rounds_max or (part.long and not rules.long):
                continue
            rows = [row for row in listing[part.workload]["rows"]
                    if re.search(rules.rows, f"{part.name}: {row}") and not is_there(part, row, number)]
            if rows and listing[part.workload]["in_order"]:
                rows = listing[part.workload]["rows"]
            if rows:
                work.append(Work(part, number, rows))
    return work


class Runner:
    def __init__(self, bench, directory, results_path, about, rules, quick_words):
        """`about` is what each line says besides: machine, commit, sources."""
        self.bench, self.results_path, self.about, self.rules = bench, results_path, about, rules
        self.quick_words = quick_words
        self.directory = pathlib.Path(directory)
        self.lines = results.read(results_path)
        self.failed = []

    def is_there(self, part, row, number):
        words = words_of(part, self.rules.quick, self.quick_words)
        return number in results.rounds_of(self.lines, part.name, row, self.about, words)

    def run(self, work):
        begun = time.monotonic()
        for done, piece in enumerate(work):
            say(f"{done + 1} of {len(work)}: {piece.part.name}, round {piece.round} of "
                f"{min(self.rules.rounds, piece.part.rounds_max)}, {len(piece.rows)} rows, {self.time_left(work[done:])}")
            self.run_piece(piece)
        say(f"{len(work)} parts in {(time.monotonic() - begun) / 60:.1f} min")

    def time_left(self, work):
        minutes = sum(self.minutes_of(piece.part) for piece in work)
        return f"about {minutes:.0f} min left" if minutes >= 2 else f"about {60 * minutes:.0f} s left"

    def minutes_of(self, part):
        """As long as it took the last time, or as the list says."""
        words = words_of(part, self.rules.quick, self.quick_words)
        for line in reversed(self.lines):
            if line["kind"] == "round" and line["part"] == part.name and line["words"] == words:
                return line["part_seconds"] / 60
        return 0.3 if self.rules.quick else part.minutes

    def run_piece(self, piece):
        for attempt in range(1, self.rules.tries + 1):
            if not self.rules.keep_busy:
                self.wait_for_quiet()
            lines, load, seconds = self.measure(piece)
            if lines is None:
                return
            busy = foreign.is_busy(load, self.rules.foreign_max, self.rules.steal_max)
            about = {**self.about, "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
                     "part": piece.part.name, "round": piece.round, "foreign": round(load.foreign, 3),
                     "steal": round(load.steal, 3), "load_average": round(load.average, 2),
                     "part_seconds": round(seconds, 1), "busy": busy,
                     "words": words_of(piece.part, self.rules.quick, self.quick_words)}
            if not busy or self.rules.keep_busy:
                self.keep([{**line, **about, "kind": "round"} for line in lines])
                return
            say(f"thrown away: {load.foreign:.2f} processors worked for others and {load.steal:.2f} were stolen "
                f"(try {attempt} of {self.rules.tries})")
            self.keep([{**about, "kind": "thrown away", "rows": piece.rows}])
        self.failed.append(f"{piece.part.name}, round {piece.round}: the machine was never quiet")

    def keep(self, lines):
        """Of a part whose rows build on one another some may be there already."""
        lines = [line for line in lines if line["kind"] != "round" or line["round"] not in results.rounds_of(
            self.lines, line["part"], line["row"], self.about, line["words"])]
        results.append(self.results_path, lines)
        self.lines += lines

    def wait_for_quiet(self):
        end = time.monotonic() + self.rules.patience
        told = False
        while True:
            load = foreign.now()
            if not foreign.is_busy(load, self.rules.foreign_max, self.rules.steal_max) or time.monotonic() > end:
                return
            if not told:
                say(f"others use {load.foreign:.2f} processors, {load.steal:.2f} are stolen; waiting up to "
                    f"{self.rules.patience:.0f} s")
                told = True
            time.sleep(5)

    def words_for(self, piece):
        """What this round adds to the part's words; none when it needs results that are not there yet."""
        if piece.part.offered is None:
            return []
        rate = piece.part.offered(self.lines)
        return None if rate is None else ["--offered", f"{rate:.0f}"]

    def measure(self, piece):
        """Lines, load, seconds; no lines if the part failed, which is told and does not end the race."""
        more = self.words_for(piece)
        if more is None:
            self.failed.append(f"{piece.part.name}, round {piece.round}: needs the results of another part first")
            return None, None, None
        scratch = self.directory / f"race-scratch-{os.getpid()}"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        answer = scratch / "lines"
        command = [self.bench, "--workloads", piece.part.workload, "--contenders", ",".join(piece.part.contenders),
                   "--rounds", "1", "--first-round", str(piece.round), "--rows", exactly(piece.rows),
                   "--directory", str(scratch), "--json", str(answer),
                   *words_of(piece.part, self.rules.quick, self.quick_words), *more]
        other = outside.PROGRAMS[piece.part.name] if piece.part.outside else None
        if other:
            command = other.command(self.bench, scratch, self.rules.quick)
        watch, begun = foreign.Watch(), time.monotonic()
        with open(scratch / "output", "wb") as output:
            process = subprocess.Popen(command, stdout=output, start_new_session=True, preexec_fn=end_with_us)
        try:
            status = process.wait()
            load, seconds = watch.load(), time.monotonic() - begun
            if status != 0:
                program = "its program" if other else "varve-bench"
                self.failed.append(f"{piece.part.name}, round {piece.round}: {program} ended with {status}")
                say(self.failed[-1])
                return None, None, None
            if other:
                lines = other.lines((scratch / "output").read_text(encoding="utf-8"), scratch)
                about = {"workload": piece.part.name, "round": piece.round, "parameters": {"slot_seconds": 1}}
                return [{**line, **about} for line in lines if line["row"] in piece.rows], load, seconds
            return results.read(answer), load, seconds
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            shutil.rmtree(scratch, ignore_errors=True)


def remove_leftovers(directory, groups=("/sys/fs/cgroup", "/sys/fs/cgroup/memory")):
    """Stores of a race that was killed, and the control groups of its programs."""
    for path in pathlib.Path(directory).glob("race-scratch-*"):
        if _has_ended(path):
            shutil.rmtree(path, ignore_errors=True)
    for path in (found for group in groups for found in pathlib.Path(group).glob("varve-bench-*")):
        if _has_ended(path):
            with contextlib.suppress(OSError):  # another process is still in it
                path.rmdir()


def _has_ended(path):
    """The process that the path is called after."""
    return not os.path.exists(f"/proc/{path.name.rpartition('-')[2]}")

"""Owns: the parts that other programs than varve-bench measure: their rows, commands and answers.
Must never: change a figure, or invent an answer that a program did not give."""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPEN_COST_MS = 10  # what the goal allows for an open and a close of a store without files


def _outcome(value, unit, more_is_better, figures):
    return {"value": value, "unit": unit, "more_is_better": more_is_better,
            "figures": {name: figure for name, figure in figures.items() if figure is not None}}


class Files:
    """Costs over the number of table files, by varve-files-bench. Only 1,024 files may be open at once."""
    COUNTS = {1000: "1,000", 4000: "4,000", 16000: "16,000"}
    QUICK_COUNTS = {100: "1,000", 200: "4,000", 400: "16,000"}
    about = ("an open and a close of a store of many small table files, with at most 1,024 open files; every file is read "
             "once, and a missing key would end the program")
    HEADS = ["files", "edit us", "cpu", "open ms", "cpu", "close ms", "cpu", "cpu us/file", "bytes a file",
             "once it is read"]

    def rows(self):
        return [f"open and close of a store of {count} files" for count in self.COUNTS.values()]

    def command(self, bench, scratch, quick):
        program = pathlib.Path(bench).parent / "varve-files-bench"
        counts = self.QUICK_COUNTS if quick else self.COUNTS
        return ["sh", "-c", 'ulimit -n 1024; exec "$@"', "sh", str(program), str(scratch), *map(str, counts)]

    def lines(self, output, _scratch):
        """A line for each line of the program's table, in its order."""
        head, *told = [line for line in output.splitlines() if line.strip()]
        if re.split(r"\s{2,}", head.strip()) != self.HEADS:
            raise ValueError(f"varve-files-bench has another table now: {head}")
        lines = []
        for row, text in zip(self.rows(), told, strict=True):
            files, edit, edit_cpu, opened, _, closed, _, cpu, unread, read = map(float, text.split())
            both = opened + closed
            figures = {"open ms": opened, "close ms": closed, "edit us": edit, "edit CPU us": edit_cpu,
                       "us a file above 10 ms": max(both - OPEN_COST_MS, 0) * 1000 / files, "CPU us a file": cpu,
                       "bytes a file": unread, "bytes a file that was read": read, "files read": files}
            lines.append({"row": row, "contenders": {"varve": _outcome(both, "ms", False, figures)}})
        return lines


class Served:
    """A service of `varve serve` beside Azurite, by a program of bench/serve, which measures a round."""
    BUILD = ROOT / "build/race"

    def rows(self):
        return list(self.ROWS.values())

    def command(self, bench, scratch, quick):
        program = pathlib.Path(bench).parent / "varve"
        return [sys.executable, "-B", str(ROOT / "bench/serve" / self.RACER), "--program", str(program),
                "--build", str(self.BUILD), "--rounds", "1", "--seconds", "1" if quick else "2", *self.words(quick),
                "--json", str(scratch / "served")]

    def lines(self, _output, scratch):
        told = json.loads((scratch / "served").read_text(encoding="utf-8"))["rows"]
        return [{"row": title, "contenders": {name: _outcome(told[key][name][0]["rate"], "/s", True,
                                                             self.figures(key, name, told))
                                              for name in ("varve", "azurite", "files") if name in told[key]}}
                for key, title in self.ROWS.items()]

    def figures(self, key, name, told):
        measured = told[key][name][0]
        return {"CPU s/M": measured["cpu_us"], "p50 us": measured["p50_us"], "p99 us": measured["p99_us"],
                "max us": measured["max_us"], "RSS MB": measured["memory_mb"]}

    def contenders(self):
        """Without Azurite varve is measured alone."""
        return ["--contenders", "varve,azurite" if (self.BUILD / "node_modules/azurite").exists() else "varve"]


class Serve(Served):
    """The tables, and servers that do nothing."""
    RACER = "race.py"
    ROWS = {"gets": "point gets", "tops": "queries of 10 entities", "inserts": "inserts",
            "transactions": "transactions of 100 inserts", "pages": "entities by pages of 1,000",
            "logged_gets": "point gets with logging on", "logged_inserts": "inserts with logging on"}
    about = ("`varve serve` beside Azurite by one HTTP client with 32 connections, and the same gets answered by a server that "
             "does nothing on the same HTTP library")

    def words(self, _quick):
        return ["--without-kill"]

    def figures(self, key, name, told):
        measured, figures = told[key][name][0], super().figures(key, name, told)
        if key == "gets":
            figures |= {"empty answers /s": told[key]["empty"][0]["rate"],
                        "empty answer, CPU us": told[key]["empty"][0]["cpu_us"],
                        "CPU, of an empty answer": measured["cpu_us"] / told[key]["empty"][0]["cpu_us"]}
        if key == "tops":
            figures["CPU, of a get"] = measured["cpu_us"] / told["gets"][name][0]["cpu_us"]
        if "of_without" in measured:
            figures |= {"of the rate without": measured["of_without"], "CPU, of that without": measured["cpu_of_without"],
                        "entries, of the requests": measured["logged"]}
        return figures


class ServedQueues(Served):
    RACER = "queue_race.py"
    ROWS = {"puts": "puts of 1 KiB over HTTP", "pairs": "gets and deletes with a backlog over HTTP"}
    about = ("the queue service of `varve serve` beside that of Azurite, by one HTTP client with 16 connections; the backlog "
             "is 20,000 messages")

    def words(self, quick):
        """Azurite takes a minute or more to fill the backlog."""
        return [*self.contenders(), *(["--backlog", "10000"] if quick else [])]


class ServedBlobs(Served):
    RACER = "blob_race.py"
    ROWS = {"small_puts": "puts of 10 KiB over HTTP", "small_gets": "gets of 10 KiB over HTTP",
            "object_puts": "puts of 100 KiB over HTTP, 16 clients", "large_puts": "puts of 64 MiB over HTTP",
            "large_gets": "gets of 64 MiB over HTTP", "pages": "listings of 5,000 names over HTTP"}
    about = ("the blob service of `varve serve` beside that of Azurite, and beside a server that syncs a file for each put, by "
             "one HTTP client; *loopback* is a server that only moves bodies")

    def words(self, _quick):
        return [*self.contenders(), "--slow-clients", "0"]

    def figures(self, key, name, told):
        figures = super().figures(key, name, told)
        if name == "varve" and "loopback" in told[key]:
            limit = told[key]["loopback"][0]["rate"]
            figures |= {"loopback /s": limit, "of the loopback": told[key][name][0]["rate"] / limit}
        return figures


class Messages:
    """Queues, by varve-messages-bench, which prints the recorded form. Peers run where they are installed."""
    ROWS = ["durable put of a message, 1 producer", "durable put of a message, 16 producers",
            "entity and message in one durable commit", "message taken, and deleted durably",
            "get from a queue after many were taken", "get from a queue beside many hidden messages",
            "messages consumed by 16 consumers", "open of a store with many queues",
            "disk of an empty queue that many bytes passed",
            "processor time of ten idle consumers at each of many queues",
            "message from the begin of a put to a thread that waits for it, median"]
    about = ("queues of messages of 1 KiB, beside an insert of an entity of that size, a queue in SQLite, a quorum queue of "
             "RabbitMQ, and a stream of Redis with `appendfsync always`")

    def rows(self):
        return list(self.ROWS)

    def command(self, bench, scratch, quick):
        program = pathlib.Path(bench).parent / "varve-messages-bench"
        return [str(program), str(scratch)] + (["--quick"] if quick else [])

    def lines(self, output, _scratch):
        lines = json.loads(output)
        if [line["row"] for line in lines] != self.ROWS:
            raise ValueError("varve-messages-bench has other rows now")
        return lines


class Goals:
    """A program of bench/blobs/goals_main.h, which writes the recorded form with the goals. Its peers run where they are
    built in."""

    def __init__(self, program, about, rows):
        self.program, self.about, self._rows = program, about, rows

    def rows(self):
        return list(self._rows)

    def command(self, bench, scratch, quick):
        program = pathlib.Path(bench).parent / self.program
        return [str(program), str(scratch), "--json", str(scratch / "goals.json")] + (["--quick"] if quick else [])

    def lines(self, _output, scratch):
        lines = json.loads((scratch / "goals.json").read_text(encoding="utf-8"))
        if [line["row"] for line in lines] != self._rows:
            raise ValueError(f"{self.program} has other rows now")
        return [{"row": line["row"], "contenders": {name: _outcome(**told) for name, told in line["contenders"].items()}}
                for line in lines]


BLOBS = Goals(
    "varve-blobs-bench",
    "blobs, beside plain writes and reads of the device with direct I/O, beside other work of the store, and beside "
    "files with fsync, blobs in SQLite, and values in RocksDB's blob files",
    ["durable write of one stream", "durable write of 16 streams", "cold sequential read",
     "cached sequential read, one thread", "cold random range of 64 KiB, median", "durable put of 100 KiB, 1 client",
     "durable put of 100 KiB, 16 clients", "durable put of 64 KiB, 4 clients",
     "durable append of 200 bytes, 64 clients, a blob each",
     "durable append of 200 bytes, 64 clients, one blob", "first page of a listing with a delimiter",
     "delete of a container", "durable copy of a long blob", "durable insert of an entity with a large value of 1 MiB",
     "checksums of a written stream over HTTP, without MD5", "durable insert during a collection, median"])
INDEXES = Goals(
    "varve-indexes-bench",
    "indexes, ends and groups, beside two keys in RocksDB, which its user must keep equal, and beside SQLite",
    ["durable insert with one index, 16 clients, each in its own partition",
     "durable insert with one index, 16 clients, all in one partition", "cached look-up by an index, one thread",
     "build of an index", "build of an index beside two writers", "space of ended orders returned",
     "get of an order from a table whose orders end", "count and sum by group, with a filter",
     "first 20 orders by total, descending", "look-up of an order by its number, of all orders"])


PROGRAMS = {"files": Files(), "serve": Serve(), "serve-queues": ServedQueues(), "serve-blobs": ServedBlobs(),
            "messages": Messages(), "blobs": BLOBS, "indexes": INDEXES}


def listing():
    """Rows and descriptions by part, in the form of varve-bench --list."""
    return {name: {"rows": program.rows(), "about": program.about, "in_order": True}
            for name, program in PROGRAMS.items()}

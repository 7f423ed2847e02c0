"""Owns: the race of two servers of the blob protocol: its rows, their rounds, the judging of answers, the table.
Must never: print a row of which an answer was an error, or whose blobs are not there afterwards.

Usage: blob_race.py --program PROGRAM --build DIRECTORY [--rounds N] [--seconds S] [--json FILE]
                    [--contenders varve,azurite] [--slow-clients N]
DIRECTORY holds Azurite as tools/race-azurite installs it, and `file_server`, which keeps objects in files and syncs them.
The goals are BO-07, the part of BO-05 that is over HTTP, and BX-44 (--slow-clients, 1,000 unless said otherwise; 0 leaves
the trial out).
"""
import argparse
import collections
import json
import os
import pathlib
import shutil
import statistics
import sys
import tempfile

import blob_wire
import contender
import race
import slow_clients
import wire

HERE = pathlib.Path(__file__).resolve().parent
KIB, MIB = 1 << 10, 1 << 20
SMALL, OBJECT, LARGE = 10 * KIB, 100 * KIB, 64 * MIB
SMALL_BLOBS = 2_000
LISTED = 5_000
LARGE_NAMES = 4  # blobs of 64 MiB that the puts replace in turn
CONNECTIONS, LARGE_CONNECTIONS = 16, 4

# goal, at_least: the bound for the ratio to each rival. beside: contenders of this row alone.
Row = collections.namedtuple("Row", ["title", "goal", "at_least", "beside"])
ROWS = {
    "small_puts": Row("puts of 10 KiB", "BO-07", 10, ()),
    "small_gets": Row("gets of 10 KiB", "BO-07", 10, ()),
    "object_puts": Row("puts of 100 KiB, 16 clients", "BO-05", 3, ("files",)),
    "large_puts": Row("puts of 64 MiB", "BO-07", 3, ("loopback",)),
    "large_gets": Row("gets of 64 MiB", "BO-07", 3, ("loopback",)),
    "pages": Row("listings of 5,000 names", "BO-07", 10, ()),
}


def random_file(scratch, size):
    """A content that does not compress, in a file for wrk."""
    path = scratch / f"content{size}"
    if not path.exists():
        path.write_bytes(os.urandom(size))
    return path


class Emptied:
    """The counterpart of blob_wire.Client for a server without containers."""

    def __init__(self, directory):
        self.directory = directory

    def create(self, container):
        pass

    def drop(self, container):
        for path in self._files(container):
            path.unlink()

    def count(self, container):
        return len(self._files(container))

    def _files(self, container):
        return [path for path in self.directory.iterdir() if f"_{container}_" in path.name] if self.directory else []


class BlobRace:
    def __init__(self, seconds, scratch):
        self.seconds, self.scratch, self.rounds = seconds, scratch, 0

    def fill(self, racer):
        """What gets and listings read. It is checked once, by the client that is not timed."""
        client = blob_wire.Client(racer.port)
        for container, blobs, size in (("small", SMALL_BLOBS, SMALL), ("large", 1, LARGE), ("listed", LISTED, 16)):
            client.create(container)
            content = random_file(self.scratch, size).read_bytes()
            blob_wire.fill(racer.port, container, blobs, content)
            if list(client.names(container)) != [blob_wire.name_of(number) for number in range(blobs)]:
                raise RuntimeError(f"{racer.name}: the container {container} does not list what was put")
            if client.get(container, blob_wire.name_of(blobs - 1)) != content:
                raise RuntimeError(f"{racer.name}: a blob of {container} has another content")

    def run(self, row, racer):
        self.rounds += 1
        figures = getattr(self, row)(racer)
        figures["memory_mb"] = racer.memory_mb()
        return figures

    def drive(self, racer, row, script, words, connections=CONNECTIONS):
        return race.drive(racer, script, self.seconds, [str(word) for word in words], connections=connections,
                          title=ROWS[row].title, units=1)

    def puts(self, racer, row, size):
        """New blobs. What was answered is there, and no more than could be on its way when the client stopped."""
        client = Emptied(self.scratch / racer.name) if racer.name == "files" else blob_wire.Client(racer.port)
        container = f"round{self.rounds}"
        client.create(container)
        words = [container, wire.signature("b"), random_file(self.scratch, size), 0]
        figures = self.drive(racer, row, "blob_puts", words)
        there = client.count(container)
        if not figures["requests"] <= there <= figures["requests"] + CONNECTIONS:
            raise RuntimeError(f"{racer.name}: {figures['requests']} answers to puts, and {there} blobs")
        client.drop(container)
        return figures

    def gets(self, racer, row, container, blobs, size, connections=CONNECTIONS):
        figures = self.drive(racer, row, "blob_gets", [container, wire.signature("b"), blobs], connections)
        if figures["bytes"] < figures["requests"] * size:
            raise RuntimeError(f"{racer.name}: {figures['requests']} answers have only {figures['bytes']} bytes")
        return figures

    def small_puts(self, racer):
        return self.puts(racer, "small_puts", SMALL)

    def object_puts(self, racer):
        return self.puts(racer, "object_puts", OBJECT)

    def small_gets(self, racer):
        return self.gets(racer, "small_gets", "small", SMALL_BLOBS, SMALL)

    def large_gets(self, racer):
        return self.gets(racer, "large_gets", "large", 1, LARGE, LARGE_CONNECTIONS)

    def large_puts(self, racer):
        has_blobs = racer.name != "loopback"
        content = random_file(self.scratch, LARGE)
        client, container = blob_wire.Client(racer.port), f"round{self.rounds}"
        if has_blobs:
            client.create(container)
        words = [container, wire.signature("b"), content, LARGE_NAMES]
        figures = self.drive(racer, "large_puts", "blob_puts", words, LARGE_CONNECTIONS)
        if has_blobs:
            self.check_large(racer, client, container, content.read_bytes(), figures["requests"])
            client.drop(container)
        return figures

    def check_large(self, racer, client, container, content, answers):
        names = list(client.names(container))
        if len(names) < min(answers, LARGE_NAMES) or any(client.get(container, name) != content for name in names):
            raise RuntimeError(f"{racer.name}: {answers} puts of 64 MiB were answered, and {len(names)} blobs are not them")

    def pages(self, racer):
        figures = self.drive(racer, "pages", "blob_pages", ["listed", wire.signature("b")], connections=1)
        name_bytes = len(blob_wire.name_of(0))
        if figures["bytes"] < figures["requests"] * LISTED * name_bytes:
            raise RuntimeError(f"{racer.name}: the listings have only {figures['bytes']} bytes")
        return figures


def varve(program):
    """The server listens for blobs beside tables, so that the start is seen as for tables."""
    def command(directory, port):
        return [program, "serve", "--data", f"{directory}/store", "--listen", f"127.0.0.1:{contender.free_port()}",
                "--listen-blobs", f"127.0.0.1:{port}"]
    return contender.Contender("varve", "", "the device", command)


def azurite(installed):
    main = f"{installed}/node_modules/azurite/dist/src/blob/main.js"
    return contender.Contender("azurite", "", "the page cache", lambda directory, port: [
        "node", main, "--silent", "--disableTelemetry", "--skipApiVersionCheck", "--location", f"{directory}/azurite",
        "--blobPort", str(port)])


def files(installed):
    return contender.Contender("files", "", "the device", lambda directory, port: [
        f"{installed}/file_server", str(port), str(directory)])


def loopback():
    return contender.Contender("loopback", "", "nothing", lambda _directory, port: [
        sys.executable, "-B", str(HERE / "loopback_server.py"), str(port), str(LARGE)])


def medians(results, row, figure):
    return {name: statistics.median(one[figure] for one in told) for name, told in results[row].items() if told}


def judged(row, rates):
    """A row of large blobs is also met at nine tenths of the loopback, which is its limit here."""
    ours = rates["varve"]
    rivals = [name for name in rates if name not in ("varve", "loopback")]
    ratios = [f"{ours / rates[name]:.1f} of {name}" for name in rivals]
    is_met = bool(rivals) and all(ours >= ROWS[row].at_least * rates[name] for name in rivals)
    bound = f"{ROWS[row].goal}, >= {ROWS[row].at_least}"
    if "loopback" in rates:
        ratios.append(f"{ours / rates['loopback']:.2f} of the loopback")
        bound += ", or 0.9 of the loopback"
        is_met = is_met or ours >= 0.9 * rates["loopback"]
    return [", ".join(ratios) or "-", bound, ("met" if is_met else "missed") if rivals else "-"]


def print_table(results):
    names = ["varve", "azurite", "files", "loopback"]
    print("| median (range), a second |", " | ".join(names), "| ratio | goal | | CPU us of varve | of azurite |")
    print("|---|" + "---|" * (len(names) + 5))
    for row, (title, _, _, _) in ROWS.items():
        rates = medians(results, row, "rate")
        if "varve" not in rates:
            continue
        spans = [race.span([one["rate"] for one in results[row].get(name, [])]) if name in rates else "-" for name in names]
        costs = medians(results, row, "cpu_us")
        cpu = [race.short(costs[name]) if name in costs else "-" for name in ("varve", "azurite")]
        print("|", " | ".join([title, *spans, *judged(row, rates), *cpu]), "|")


def rounds_of(runner, racers, besides, count):
    """All rows, a round at a time. The order of the contenders is turned round after each round."""
    results = {row: {} for row in ROWS}
    for number in range(count):
        for row, (title, _, _, beside) in ROWS.items():
            chosen = [*racers, *(besides[name] for name in beside if name in besides)]
            for racer in chosen if number % 2 == 0 else chosen[::-1]:
                figures = runner.run(row, racer)
                results[row].setdefault(racer.name, []).append(figures)
                print(f"round {number + 1}, {title}, {racer.name}: {race.short(figures['rate'])}/s", file=sys.stderr,
                      flush=True)
    return results


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--contenders", default="varve,azurite")
    parser.add_argument("--slow-clients", type=int, default=slow_clients.CLIENTS)
    parser.add_argument("--json", type=pathlib.Path)
    return parser.parse_args()


def main():
    words = parse()
    made = {"varve": lambda: varve(words.program), "azurite": lambda: azurite(words.build)}
    racers = [made[name]() for name in words.contenders.split(",")]
    besides = {"loopback": loopback()}
    if (words.build / "file_server").exists():
        besides["files"] = files(words.build)
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="varve-blob-race-"))
    slow_clients.let_many_files_open(2 * words.slow_clients + 1_000)
    runner = BlobRace(words.seconds, scratch)
    try:
        for racer in (*racers, *besides.values()):
            (scratch / racer.name).mkdir()
            racer.start(scratch / racer.name)
        for racer in racers:
            runner.fill(racer)
        results = rounds_of(runner, racers, besides, words.rounds)
        print_table(results)
        print()
        slow = {racer.name: slow_clients.trial(racer, words.slow_clients) for racer in racers if words.slow_clients}
        for racer in racers if slow else []:
            print(slow_clients.sentence(racer, slow[racer.name]))
        if words.json:
            words.json.write_text(json.dumps({"connections": CONNECTIONS, "seconds": words.seconds, "rows": results,
                                              "slow clients": slow}, indent=1) + "\n", encoding="utf-8")
    finally:
        for racer in (*racers, *besides.values()):
            racer.end()
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()

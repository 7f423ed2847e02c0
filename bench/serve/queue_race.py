"""Owns: the race of two servers of the queue protocol: its rows, their rounds, the judging of answers, the table.
Must never: print a row of which an answer was an error, or whose queue holds another number of messages than it must.

Usage: queue_race.py --program PROGRAM --build DIRECTORY [--rounds N] [--seconds S] [--backlog N] [--json FILE]
                     [--contenders varve,azurite]
DIRECTORY holds Azurite as tools/race-azurite installs it.
"""
import argparse
import concurrent.futures
import http.client
import json
import pathlib
import shutil
import statistics
import sys
import tempfile
import time

import contender
import race
import wire

CONNECTIONS = 16
BACKLOG = 20_000
IDLE_SECONDS_MAX = 1
TEXT = wire.TEXT * 4  # 1 KiB
ROWS = {"puts": "puts of 1 KiB", "pairs": "gets and deletes with a backlog"}


class Client:
    """One connection."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.used = time.monotonic()

    def call(self, verb, resource, query="", body=None, expected=(200, 201, 202, 204)):
        """A server may close a connection that was idle for seconds, so idle ones are not used."""
        if time.monotonic() - self.used > IDLE_SECONDS_MAX:
            self.connection.close()  # the next request connects again
        self.used = time.monotonic()
        headers = {"x-ms-version": wire.VERSION, "Content-Length": str(len(body or ""))}
        target = f"/{wire.ACCOUNT}/{resource}?{wire.signature('q')}" + (f"&{query}" if query else "")
        self.connection.request(verb, target, body, headers)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status not in expected:
            raise RuntimeError(f"{verb} {resource} was answered with {answer.status}: {text[:500]}")
        return answer

    def create(self, queue):
        self.call("PUT", queue)

    def drop(self, queue):
        self.call("DELETE", queue)

    def put(self, queue):
        self.call("POST", f"{queue}/messages", body=f"<QueueMessage><MessageText>{TEXT}</MessageText></QueueMessage>")

    def count(self, queue):
        return int(self.call("GET", queue, "comp=metadata").getheader("x-ms-approximate-messages-count"))


def fill(racer, queue, messages):
    def put(share):
        client = Client(racer.port)
        for _ in range(share):
            client.put(queue)

    shares = [messages // CONNECTIONS] * CONNECTIONS
    with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as pool:
        list(pool.map(put, shares))
    return sum(shares)


class QueueRace:
    def __init__(self, seconds, backlog):
        self.seconds, self.backlog, self.queues = seconds, backlog, 0
        self.put_rates = {}

    def run(self, row, racer):
        client = Client(racer.port)
        self.queues += 1
        queue = f"round{self.queues}"
        client.create(queue)
        figures = getattr(self, row)(racer, client, queue)
        figures["memory_mb"] = racer.memory_mb()
        client.drop(queue)
        return figures

    def drive(self, racer, script, words):
        return race.drive(racer, script, self.seconds, words, connections=CONNECTIONS, title=ROWS[script], units=1)

    def puts(self, racer, client, queue):
        figures = self.drive(racer, "puts", [queue, wire.signature("q"), TEXT])
        there = client.count(queue)
        if not figures["requests"] <= there <= figures["requests"] + CONNECTIONS:
            raise RuntimeError(f"{racer.name}: {figures['requests']} answers to puts, and {there} messages")
        self.put_rates[racer.name] = figures["rate"]
        return figures

    def pairs(self, racer, client, queue):
        """Half of the requests are deletes. The queue has the backlog, or more if that could be used up: no racer takes
        messages faster than it took puts in the row before."""
        filled = fill(racer, queue, max(self.backlog, round(self.put_rates[racer.name] * self.seconds)))
        figures = self.drive(racer, "pairs", [queue, wire.signature("q")])
        gone = filled - client.count(queue)
        pairs = figures["requests"] / 2
        if not abs(gone - pairs) <= 2 * CONNECTIONS:
            raise RuntimeError(f"{racer.name}: {pairs:.0f} pairs were answered, and {gone} messages are gone")
        if gone + CONNECTIONS >= filled:
            raise RuntimeError(f"{racer.name}: the backlog of {filled} is used up; give a larger --backlog")
        figures["rate"] /= 2
        figures["cpu_us"] *= 2
        return figures


def varve(program):
    """The server listens for queues beside tables, so that the start is seen as for tables."""
    def command(directory, port):
        return [program, "serve", "--data", f"{directory}/store", "--listen", f"127.0.0.1:{contender.free_port()}",
                "--listen-queues", f"127.0.0.1:{port}"]
    return contender.Contender("varve", "", "the device", command)


def azurite(installed):
    main = f"{installed}/node_modules/azurite/dist/src/queue/main.js"
    return contender.Contender("azurite", "", "memory, which goes to a file every few seconds", lambda directory, port: [
        "node", main, "--silent", "--disableTelemetry", "--skipApiVersionCheck", "--location", f"{directory}/azurite",
        "--queuePort", str(port)])


def print_table(results, names):
    print("| median (range) | unit |", " | ".join(names), "| ratio | by CPU |")
    print("|---|---|" + "---|" * (len(names) + 2))
    for row, title in ROWS.items():
        medians = {name: {figure: statistics.median(one[figure] for one in results[row][name])
                          for figure in ("rate", "cpu_us")} for name in names}
        cells = [race.span([one["rate"] for one in results[row][name]]) for name in names]
        ratios = ["-", "-"]
        if len(names) == 2:
            ours, theirs = (medians[name] for name in names)
            ratios = [f"{ours['rate'] / theirs['rate']:.1f}", f"{theirs['cpu_us'] / ours['cpu_us']:.1f}"]
        print("|", " | ".join([title, "/s", *cells, *ratios]), "|")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--backlog", type=int, default=BACKLOG)
    parser.add_argument("--contenders", default="varve,azurite")
    parser.add_argument("--json", type=pathlib.Path)
    words = parser.parse_args()
    made = {"varve": lambda: varve(words.program), "azurite": lambda: azurite(words.build)}
    racers = [made[name]() for name in words.contenders.split(",")]
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="varve-queue-race-"))
    runner = QueueRace(words.seconds, words.backlog)
    results = {row: {racer.name: [] for racer in racers} for row in ROWS}
    try:
        for racer in racers:
            (scratch / racer.name).mkdir()
            racer.start(scratch / racer.name)
        for number in range(words.rounds):
            for row in ROWS:
                for racer in racers if number % 2 == 0 else racers[::-1]:
                    figures = runner.run(row, racer)
                    results[row][racer.name].append(figures)
                    print(f"round {number + 1}, {ROWS[row]}, {racer.name}: {race.short(figures['rate'])}/s",
                          file=sys.stderr, flush=True)
        print_table(results, [racer.name for racer in racers])
        if words.json:
            words.json.write_text(json.dumps({"connections": CONNECTIONS, "seconds": words.seconds,
                                              "backlog": words.backlog, "rows": results}, indent=1) + "\n",
                                  encoding="utf-8")
    finally:
        for racer in racers:
            racer.end()
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()

"""Owns: the race of two servers of the same protocol: its rows, their rounds, the judging of answers, the table.
Must never: print a row of which an answer was an error or an acknowledged entity is not there.

Usage: race.py --program PROGRAM --build DIRECTORY [--rounds N] [--seconds S] [--json FILE] [--without-kill]
DIRECTORY holds what tools/race-azurite put there: Azurite as npm installs it, the server that does nothing, and the
one that does nothing on the HTTP library of `varve serve`.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile

import contender
import kill
import logged
import wire

HERE = pathlib.Path(__file__).resolve().parent
CONNECTIONS = 32
ENTITIES = 20_000
PAGES = ENTITIES // 1000
ROWS = {"gets": "point gets", "tops": "queries of 10 entities", "inserts": "inserts", "transactions": "transactions of 100 inserts",
        "pages": "entities by pages of 1,000"}
UNITS = {"gets": 1, "tops": 1, "inserts": 1, "transactions": 1, "pages": 1000}


def drive(racer, script, seconds, words, connections=CONNECTIONS, title=None, units=None):
    """Runs wrk; its figures, which the script prints as the last line, and what they cost the server."""
    before = racer.processor_seconds()
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "60s", "-s", HERE / f"{script}.lua",
               f"http://127.0.0.1:{racer.port}", "--", wire.ACCOUNT, *words]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    figures = json.loads(output.strip().splitlines()[-1])
    if figures["errors"]:
        raise RuntimeError(f"{racer.name}, {title or ROWS[script]}: {figures['errors']} errors")
    if not figures["requests"]:  # the turn was shorter than one request
        return drive(racer, script, 2 * seconds, words, connections, title, units)
    figures["units"] = figures["requests"] * (units or UNITS[script])
    figures["rate"] = figures["units"] / figures["seconds"]
    figures["cpu_us"] = 1e6 * (racer.processor_seconds() - before) / figures["units"]
    return figures


def fill(client):
    client.create_table("Filled")
    for begin in range(0, ENTITIES, 100):
        client.transaction("Filled", f"p{begin // 1000:02d}", [f"{number:08d}" for number in range(begin, begin + 100)])
    found = list(client.walk("Filled"))
    expected = [(f"p{number // 1000:02d}", f"{number:08d}") for number in range(ENTITIES)]
    if found != expected:
        raise RuntimeError(f"of {ENTITIES} entities {len(found)} came back, or in another order")


class Race:
    def __init__(self, seconds, scratch):
        self.seconds, self.scratch, self.tables = seconds, scratch, 0

    def fresh_table(self, client):
        self.tables += 1
        client.create_table(f"Round{self.tables}")
        return f"Round{self.tables}"

    def gets(self, racer, _client):
        return drive(racer, "gets", self.seconds, ["Filled", wire.signature(), str(ENTITIES)])

    def tops(self, racer, _client):
        return drive(racer, "tops", self.seconds, ["Filled", wire.signature(), str(ENTITIES)])

    def pages(self, racer, _client):
        return drive(racer, "pages", self.seconds, ["Filled", wire.signature(), str(PAGES)], connections=1)

    def inserts(self, racer, client):
        table = self.fresh_table(client)
        figures = drive(racer, "inserts", self.seconds, [table, wire.signature(), wire.TEXT])
        return self.counted(figures, client, table, 1)

    def transactions(self, racer, client):
        table = self.fresh_table(client)
        template = self.scratch / "transaction"
        template.write_text(wire.batch_body(table, "@@@@@@@@", [f"{number:03d}" for number in range(100)]), newline="")
        figures = drive(racer, "transactions", self.seconds, [wire.signature(), str(template)])
        return self.counted(figures, client, table, 100)

    def counted(self, figures, client, table, each):
        """What was answered is there, and no more than could be on its way when the client stopped."""
        entities = sum(1 for _ in client.walk(table))
        if not figures["requests"] * each <= entities <= (figures["requests"] + CONNECTIONS) * each:
            raise RuntimeError(f"{figures['requests']} answers for {each} entities each, and {entities} entities")
        client.drop_table(table)
        return figures

    def run(self, row, racer):
        figures = getattr(self, row)(racer, wire.Client(racer.port))
        figures["memory_mb"] = racer.memory_mb()
        return figures


def short(value):
    if value >= 100_000:
        return f"{value / 1000:.0f} k"
    if value >= 10_000:
        return f"{value / 1000:.1f} k"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}"


def span(values):
    return f"{short(statistics.median(values))} ({short(min(values))}-{short(max(values))})"


def print_table(names, results):
    def median(row, name, figure):
        return statistics.median(figures[figure] for figures in results[row][name])

    def print_row(title, cells):
        print("|", " | ".join([title, *cells]), "|")

    ours, theirs = names
    print_row("median (range)", ["unit", ours, theirs, f"{ours} / {theirs}", "by CPU"])
    print("|---|---|---|---|---|---|")
    for row, title in ROWS.items():
        rates = {name: [figures["rate"] for figures in results[row][name]] for name in names}
        ratio = median(row, ours, "rate") / median(row, theirs, "rate")
        by_cpu = median(row, theirs, "cpu_us") / median(row, ours, "cpu_us")
        print_row(title, ["/s", span(rates[ours]), span(rates[theirs]), f"{ratio:.1f}", f"{by_cpu:.1f}"])
    alone = [figures["rate"] for figures in results["gets"]["nothing"]]
    print_row("gets of a server that does nothing", ["/s", span(alone), "-", "-", "-"])
    empty = [figures["rate"] for figures in results["gets"]["empty"]]
    print_row("the same on our HTTP library", ["/s", span(empty), "-", "-", "-"])
    print()
    get = median("gets", ours, "cpu_us")
    print(f"CPU of a get: {get / median('gets', 'empty', 'cpu_us'):.2f} of an empty answer of the HTTP library "
          f"({median('gets', 'empty', 'cpu_us'):.1f} us). A query of 10 entities: "
          f"{median('tops', ours, 'cpu_us') / get:.2f} of a get.")
    print()
    print_row("medians", ["server", "p50 ms", "p99 ms", "max ms", "CPU us of the server", "RSS MB"])
    print("|---|---|---|---|---|---|---|")
    for row, title in ROWS.items():
        for name in names:
            waits = [f"{median(row, name, figure) / 1000:.2f}" for figure in ("p50_us", "p99_us", "max_us")]
            print_row(title, [name, *waits, f"{median(row, name, 'cpu_us'):.1f}", short(median(row, name, "memory_mb"))])


def race(racers, empties, rounds, runner):
    results = {row: {racer.name: [] for racer in racers} for row in ROWS}
    for empty in empties:
        results["gets"][empty.name] = []
    for number in range(rounds):
        for row in ROWS:
            for racer in racers if number % 2 == 0 else racers[::-1]:
                figures = runner.run(row, racer)
                results[row][racer.name].append(figures)
                seen = f"round {number + 1}, {ROWS[row]}, {racer.name}: {short(figures['rate'])}/s"
                print(seen, file=sys.stderr, flush=True)
        for empty in empties:
            results["gets"][empty.name].append(runner.gets(empty, None))
        for row, title in logged.ROWS.items():
            for racer in [racer for racer in racers if racer.logs_port]:
                figures = logged.trial(racer, row, lambda: runner.run(row.removeprefix("logged_"), racer))
                results.setdefault(row, {}).setdefault(racer.name, []).append(figures)
                seen = f"round {number + 1}, {title}, {racer.name}: {short(figures['rate'])}/s"
                print(seen, file=sys.stderr, flush=True)
    return results


def azurite_if_installed(build):
    """One contender or none: tools/race measures what it can without npm."""
    package = build / "node_modules/azurite/package.json"
    if not package.exists():
        print("Azurite is not installed; only varve is measured", file=sys.stderr)
        return []
    version = json.loads(package.read_text(encoding="utf-8"))["version"]
    node = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    return [contender.azurite(build, f"{version}, node {node}")]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--without-kill", action="store_true")
    words = parser.parse_args()
    racers = [contender.varve(words.program), *azurite_if_installed(words.build)]
    empties = [contender.empty(name, words.build / name) for name in ("nothing", "empty")]
    load = os.getloadavg()[0]
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="varve-race-"))
    try:
        for racer in racers:
            (scratch / racer.name).mkdir()
            racer.start(scratch / racer.name)
            fill(wire.Client(racer.port))
        for empty in empties:
            empty.start(scratch)
        results = race(racers, empties, words.rounds, Race(words.seconds, scratch))
        if len(racers) == 2:
            print_table([racer.name for racer in racers], results)
        print()
        for row in logged.ROWS:
            print(logged.sentence(row, results[row]["varve"]))
        for racer in (*racers, *empties):
            racer.end()
        print()
        killed = {}
        for racer in [] if words.without_kill else racers:
            killed[racer.name] = kill.trial(racer, scratch / f"{racer.name}-killed")
            print(kill.sentence(racer, killed[racer.name]))
        report = {"date": datetime.date.today().isoformat(), "processors": os.cpu_count(), "system": platform.platform(),
                  "load": load, "connections": CONNECTIONS, "seconds": words.seconds, "rows": results, "killed": killed,
                  "versions": {racer.name: racer.version for racer in racers},
                  "answered writes have reached": {racer.name: racer.keeps for racer in racers}}
        if words.json:
            words.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    finally:
        for racer in (*racers, *empties):
            racer.end()
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()

"""Owns: what a log of requests costs the server that writes it: turns with and without it, and whether its entries are there.
Must never: print a figure of a turn whose log has no entry."""
import statistics
import time

import blob_wire
import wire

ROWS = {"logged_gets": "point gets with logging on", "logged_inserts": "inserts with logging on"}
OPERATIONS = {"logged_gets": "QueryEntity", "logged_inserts": "InsertEntity"}
TURNS = 2  # with the log, and as many without it
LATE_SECONDS_MAX = 10  # an entry is written at most 5 s after its request


def set_logging(racer, is_on):
    word = "true" if is_on else "false"
    body = (f"<StorageServiceProperties><Logging><Version>1.0</Version><Delete>{word}</Delete><Read>{word}</Read>"
            f"<Write>{word}</Write><RetentionPolicy><Enabled>false</Enabled></RetentionPolicy></Logging>"
            "</StorageServiceProperties>")
    wire.Client(racer.port).call("PUT", "", "restype=service&comp=properties", body, "application/xml", expected=(202,))


def entries(racer, operation):
    client = blob_wire.Client(racer.logs_port)
    mark = f";{operation};".encode()
    return sum(client.get("$logs", name).count(mark) for name in client.names("$logs"))


def entries_at_last(racer, operation, wanted):
    end = time.monotonic() + LATE_SECONDS_MAX
    while True:
        found = entries(racer, operation)
        if found >= wanted or time.monotonic() > end:
            return found
        time.sleep(0.5)


def trial(racer, row, once):
    """`once` measures the row without a word about logs. What disturbs the machine disturbs turns of both kinds.

    Entries are written about two seconds late. So a turn that does not count comes before each one that does, and a turn
    without the log begins when all entries are written."""
    before = entries(racer, OPERATIONS[row])
    turns, requests, logged = {False: [], True: []}, 0, 0
    for number in range(TURNS):
        for is_on in (False, True) if number % 2 == 0 else (True, False):
            set_logging(racer, is_on)
            early, figures = once(), once()
            turns[is_on].append(figures)
            if is_on:
                requests += early["requests"] + figures["requests"]
                logged = entries_at_last(racer, OPERATIONS[row], before + requests) - before
    set_logging(racer, False)
    if logged <= 0:
        raise RuntimeError(f"{racer.name}, {ROWS[row]}: no entry is in the log")

    def shares(figure):
        return statistics.median(on[figure] / off[figure] for off, on in zip(turns[False], turns[True]))

    middle = {name: statistics.median(figures[name] for figures in turns[True]) for name in turns[True][0]}
    return {**middle, "of_without": shares("rate"), "cpu_of_without": shares("cpu_us"), "logged": min(logged / requests, 1)}


def sentence(row, told):
    return (f"{ROWS[row]}: {statistics.median(one['of_without'] for one in told):.3f} of the rate without, "
            f"{statistics.median(one['cpu_of_without'] for one in told):.3f} of the processor time; "
            f"{statistics.median(one['logged'] for one in told):.3f} of the requests are in the log.")

"""Owns: the goals of the race and the figures on file that each is judged by.
Must never: say that a goal is met without a figure."""
import collections

import figures

# measured: a function of all rows that returns Measured, or None while the figure is not known; its attribute `of`
# names its parts and rows. at_least: whether more is better.
Goal = collections.namedtuple("Goal", ["name", "text", "measured", "bound", "at_least"])

# values: the values by round that are compared with the bound. ours, theirs, limit: the medians of Varve, of `rival`
# and of the device, in the unit of the row or of the figure; None if there is none. machine: the machine.
Measured = collections.namedtuple("Measured", ["values", "ours", "rival", "theirs", "limit", "machine"], defaults=[None])


def _measured(values, row, rival, figure=None, limit=None):
    values = [value for value in values if value is not None]
    if not values:
        return None
    theirs = row.median(rival, figure) if rival else None
    return Measured(values, row.median(figures.OURS, figure), rival if theirs is not None else None, theirs, limit)


def _goal_of(*of):
    """Makes of a function of the rows that `of` names one of all rows. Rows of two machines say nothing together."""
    def made(judge):
        def measured(rows):
            found = [figures.find(rows, part, row) for part, row in of]
            if not all(found) or len({row.machine for row in found}) > 1:
                return None
            judged = judge(*found)
            return judged and judged._replace(machine=found[0].machine)
        measured.of = list(of)
        return measured
    return made


def ratio(part, row, opponent=None, figure=None):
    """How many times better we are."""
    @_goal_of((part, row))
    def measured(found):
        rival = opponent or found.best_opponent()
        limit = figures.median(found.device()) if figure == found.limited_figure else None
        return rival and _measured(found.ratios(rival, figure), found, rival, figure, limit)
    return measured


def to_device(part, row):
    @_goal_of((part, row))
    def measured(found):
        figure = found.limited_figure
        return _measured(found.ratios_to_device(), found, found.best_opponent(), figure, figures.median(found.device()))
    return measured


def value(part, row, figure=None, opponent=None):
    """A figure of ours, held against no other."""
    @_goal_of((part, row))
    def measured(found):
        return _measured(found.values(figures.OURS, figure), found, opponent or found.best_opponent(), figure)
    return measured


def across(part, row, other_part, other_row, contender):
    """Our rate in one row against another's in a second row."""
    @_goal_of((part, row), (other_part, other_row))
    def measured(ours, theirs):
        values = figures.ratios(ours.values(figures.OURS), theirs.values(contender), True)
        return values and Measured(values, ours.median(figures.OURS), contender, theirs.median(contender), None)
    return measured


def share(part, row, opponent, figure=None):
    """What we use of what another uses."""
    @_goal_of((part, row))
    def measured(found):
        values = figures.ratios(found.values(opponent, figure), found.values(figures.OURS, figure), False)
        return _measured(values, found, opponent, figure)
    return measured


def to_clean_seek(part, row):
    @_goal_of((part, row))
    def measured(found):
        clean = found.values(figures.OURS, "clean us")
        values = [ms * 1000 / us for ms, us in zip(found.values(figures.OURS), clean) if us]
        return _measured(values, found, found.best_opponent())
    return measured


GOALS = [
    Goal("P1", "durable put, 1 client, to the best opponent", ratio("durable", "durable put, 1 thread"), 1.35, True),
    Goal("P1", "the same, to the device", to_device("durable", "durable put, 1 thread"), 0.85, True),
    Goal("P2", "durable put, 16 clients", ratio("durable", "durable put, 16 threads"), 2.5, True),
    Goal("P2", "durable put, 64 clients", ratio("durable", "durable put, 64 threads"), 2, True),
    Goal("P2", "durable put with completion callbacks, a second", value("durable", "durable put, 1024 in flight, 1 thread"),
         200_000, True),
    Goal("P3", "100 inserts under 100 conditions, to TransactionDB",
         ratio("checked", "durable insert of 100, checked", "rocksdb"), 3, True),
    Goal("P3", "100 replaces by ETag, to TransactionDB", ratio("checked", "durable replace of 100, by ETag", "rocksdb"),
         3, True),
    Goal("P3", "100 inserts under 100 conditions, to RocksDB's unchecked batch",
         across("checked", "durable insert of 100, checked", "durable", "durable batch of 100", "rocksdb"), 1, True),
    Goal("P4", "one hot partition, 16 clients, to TransactionDB",
         ratio("checked", "one hot partition, 16 threads", "rocksdb"), 4, True),
    *(Goal("P5", f"cached get, {threads}, to {name}", ratio("read", f"cached get, {threads}", opponent), bound, True)
      for threads in ("1 thread", "2 threads")
      for name, opponent, bound in (("RocksDB", "rocksdb", 2), ("LevelDB", "leveldb", 1.5), ("LMDB", "lmdb", 0.9))),
    Goal("P6", "cold get, 256 in flight from one thread", ratio("cold", "cold get, 256 in flight, 1 thread"), 4, True),
    Goal("P6", "cold get, 32 in flight, to the device", to_device("cold", "cold get, 32 in flight, 1 thread"), 0.8,
         True),
    Goal("P6", "device reads a cold get", value("cold", "cold get, 32 in flight, 1 thread", "reads/op"), 1.05, False),
    Goal("P6", "cold get, batches of 64", ratio("cold", "cold get, batches of 64"), 4, True),
    Goal("P7", "device reads an insert of an absent key, 10 M entities in the table",
         value("cold-insert", "insert of an absent key, cold", "reads/op"), 0.01, False),
    *(goal for way in ("", ", in place")
      for goal in (Goal("P8", f"scan of a partition of 100{way}, to LevelDB",
                        ratio("read", f"scan of a partition of 100{way}", "leveldb"), 2, True),
                   Goal("P8", f"cold scan{way}, to the device", to_device("cold", f"cold full scan{way}"), 0.75, True),
                   Goal("P8", f"warm full scan{way}, to LevelDB", ratio("read", f"warm full scan{way}", "leveldb"), 1.5,
                        True))),
    Goal("P9", "drop of 10 M entities, ms", value("curve-10M", "drop of as many as the large table has"), 1, False),
    Goal("P9", "drop and create again, p99, ms", value("drop", "drop and create again, p99 of 200 times"), 1, False),
    Goal("P9", "space back after a drop of 10 M entities, s",
         value("curve-10M", "drop of as many as the large table has", "space back s"), 2, False),
    Goal("P9", "gets of a neighbour, p99 from a drop on / before",
         value("drop", "gets of a neighbour, p99 from a drop on / before"), 1.1, False),
    Goal("P10", "tables created a second, 16 clients (100,000 in 10 s)", value("tables", "create tables, 16 threads"),
         10_000, True),
    Goal("P10", "open with 100,000 tables, ms", value("tables", "open with these tables"), 1000, False),
    Goal("P10", "bytes of memory a table", value("tables", "open with these tables", "bytes/table, open"), 1024, False),
    Goal("P11", "first entity behind deletes, to a clean seek",
         to_clean_seek("delete-head", "first entity behind deletes"), 2, False),
    Goal("P12", "p99.99 at 70 % of the sustained rate, to RocksDB",
         ratio("smooth", "p99.99 of random puts at a fixed load", "rocksdb"), 3, True),
    Goal("P12", "seconds stalled meanwhile", value("smooth", "p99.99 of random puts at a fixed load", "stalled s"), 0,
         False),
    *(goal for row in ("durable 64 KiB, 1 thread", "durable 64 KiB, 4 threads", "durable 1 MB, 1 thread")
      for goal in (Goal("P13", row, ratio("large", row), 3, True),
                   Goal("P13", f"{row}, to the device", to_device("large", row), 0.75, True),
                   Goal("P13", f"{row}, bytes written a byte", value("large", row, "written/user"), 1.3, False))),
    Goal("P14", "bytes written a byte of the mixed workload, of RocksDB's",
         share("mixed", "mixed tables, buffered, 4 clients", "rocksdb", "written/user"), 0.6, False),
    Goal("P14", "processor time of background threads in it, of RocksDB's",
         share("mixed", "mixed tables, buffered, 4 clients", "rocksdb", "CPU behind s/M"), 0.5, False),
    *(Goal("cost", f"{row}", value("memory", row), 1.05, False)
      for row in ("memory of random puts, of the budget", "memory of random gets, of the budget",
                  "memory of full scans, of the budget")),
    Goal("P15", "clean open of 14 GB in 50 M entities, ms (the goal is of 50 GB)", value("curve-50M", "open"), 100,
         False),
    Goal("P15", "replay of 200 MB of log, MB/s",
         value("recovery-200", "open after a kill, 200 MB in the log", "log MB/s", "rocksdb"), 500, True),
    Goal("P16", "disk space, of RocksDB's", share("space", "disk space", "rocksdb"), 0.8, False),
    Goal("P16", "filter of 0.1 %, times a full scan",
         value("selective", "filter of 0.1 %, correlated with the keys", "times a full scan"), 20, True),
    Goal("P17", "bulk load by table files, to LMDB", ratio("load", "bulk load, table files", "lmdb"), 1, True),
    Goal("P17", "bulk load by table files, to RocksDB", ratio("load", "bulk load, table files", "rocksdb"), 2, True),
    Goal("P17", "buffered random put, to LevelDB", ratio("random-put", "random put, buffered, 1 thread", "leveldb"), 1,
         True),
    Goal("P20", "gets two seconds after an open, of those before",
         value("warm-restart", "gets two seconds after an open", "of before"), 0.8, True),
    Goal("P26", "100 queues, of one queue's rate", value("queues", "100 queues, beside one", "of one queue"), 0.7, True),
    Goal("P26", "p99 of a read of a head, 10,000 queues, of one queue's",
         value("queues", "10,000 queues, beside one", "p99 / one queue"), 5, False),
    Goal("P29", "buffered puts by two threads, of one thread's",
         value("side-by-side", "buffered put, 2 threads beside one", "of one thread"), 1.3, True),
    Goal("P29", "transfers between partitions by two threads, of one thread's",
         value("transfers", "transfer, 2 threads beside one", "of one thread"), 1.3, True),
    Goal("P30", "scan of 100 keys that are updated all the time, of a scan of quiet ones",
         value("queues", "scan of 100 keys that are updated all the time", "of quiet"), 2, False),
]


def lines_of(rows):
    """Of each goal: whether it is met, None while that is not known, and what was measured."""
    lines = []
    for goal in GOALS:
        measured = goal.measured(rows) or None
        met = None
        if measured:
            held = figures.median(measured.values)
            met = held >= goal.bound if goal.at_least else held <= goal.bound
        lines.append((goal, met, measured))
    return lines

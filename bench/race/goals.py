"""Owns: the goals of the race and the figure on file that each is judged by.
Must never: say that a goal is met without a figure."""
import collections

import figures

# measured: a function of all rows that gives a number, or None while it is not known; at_least: whether more is better.
Goal = collections.namedtuple("Goal", ["name", "text", "measured", "bound", "at_least"])


def ratio(part, row, opponent=None, figure=None):
    def measured(rows):
        found = figures.find(rows, part, row)
        rival = found and (opponent or found.best_opponent())
        return found.ratio(rival, figure) if found and rival else None
    return measured


def to_device(part, row):
    def measured(rows):
        found = figures.find(rows, part, row)
        return found.ratio_to_device() if found else None
    return measured


def value(part, row, figure=None):
    def measured(rows):
        found = figures.find(rows, part, row)
        return found.median(figures.OURS, figure) if found else None
    return measured


def across(part, row, other_part, other_row, contender):
    """Our rate in one row against another's in a second row."""
    def measured(rows):
        ours, theirs = figures.find(rows, part, row), figures.find(rows, other_part, other_row)
        if not ours or not theirs or theirs.median(contender) is None:
            return None
        return ours.median(figures.OURS) / theirs.median(contender)
    return measured


GOALS = [
    Goal("P1", "durable put, 1 client, to the best opponent", ratio("durable", "durable put, 1 thread"), 1.35, True),
    Goal("P1", "the same, to the device", to_device("durable", "durable put, 1 thread"), 0.85, True),
    Goal("P2", "durable put, 16 clients", ratio("durable", "durable put, 16 threads"), 2.5, True),
    Goal("P2", "durable put, 64 clients", ratio("durable", "durable put, 64 threads"), 2, True),
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
    Goal("P8", "scan of a partition of 100, to LevelDB", ratio("read", "scan of a partition of 100", "leveldb"), 2,
         True),
    Goal("P8", "warm full scan, to LevelDB", ratio("read", "warm full scan", "leveldb"), 1.5, True),
    Goal("P11", "first entity behind deletes, to a clean seek", lambda rows: _behind_deletes(rows), 2, False),
    Goal("P17", "bulk load by table files, to LMDB", ratio("load", "bulk load, table files", "lmdb"), 1, True),
    Goal("P17", "bulk load by table files, to RocksDB", ratio("load", "bulk load, table files", "rocksdb"), 2, True),
    Goal("P17", "buffered random put, to LevelDB", ratio("random-put", "random put, buffered, 1 thread", "leveldb"), 1,
         True),
]


def _behind_deletes(rows):
    row = figures.find(rows, "delete-head", "first entity behind deletes")
    if not row:
        return None
    clean = row.median(figures.OURS, "clean us")
    return row.median(figures.OURS) * 1000 / clean if clean else None


def lines_of(rows):
    """Cells of a table: goal, what it is of, what is wanted, what was measured, whether it is met."""
    lines = []
    for goal in GOALS:
        measured = goal.measured(rows)
        wanted = f"{'>=' if goal.at_least else '<='} {goal.bound:g}"
        if measured is None:
            lines.append([goal.name, goal.text, wanted, None, "not measured yet"])
            continue
        met = measured >= goal.bound if goal.at_least else measured <= goal.bound
        lines.append([goal.name, goal.text, wanted, measured, "met" if met else "missed"])
    return lines

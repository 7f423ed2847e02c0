"""Owns: the list of what tools/race runs: each part is a workload of varve-bench with its words.
Must never: give contenders different words.

A part is what one call of varve-bench runs in one round: its rows share a store where the workload says so."""
import collections

import figures

ALL = ["varve", "rocksdb", "leveldb", "lmdb"]

# words, quick: options for varve-bench. rounds_max: very long parts are run less often. minutes: a first estimate for a
# full round. offered: computes the offered load from the recorded lines.
Part = collections.namedtuple("Part", ["name", "workload", "words", "quick", "contenders", "rounds_max", "minutes",
                                       "offered"])


def _part(name, workload=None, words=(), quick=(), contenders=None, rounds_max=99, minutes=2.0, offered=None):
    return Part(name, workload or name, list(words), list(quick), contenders or ALL, rounds_max, minutes, offered)


QUICK_WORDS = ["--entities", "50000", "--seconds", "0.3"]
LSM = ["varve", "rocksdb", "leveldb"]


def seventy_percent(lines):
    """Of what the slower of Varve and RocksDB sustained; none before both did."""
    rows = [row for row in figures.rows_of(lines) if row.part == "endurance"]
    rates = [row.median(name) for row in rows for name in ("varve", "rocksdb") if row.median(name)]
    return 0.7 * min(rates) if len(rates) >= 2 else None


PARTS = [
    _part("durable", minutes=2),
    _part("checked", minutes=1.5),
    _part("large", minutes=1),
    _part("load", minutes=1),
    _part("random-put", minutes=2),
    _part("side-by-side", minutes=1),
    _part("transfers", contenders=["varve", "rocksdb"], minutes=1),
    _part("read", minutes=2),
    _part("cold", minutes=2),
    _part("page-cache", words=["--entities", "4000000"], minutes=4),
    _part("memory", words=["--entities", "4000000"], contenders=LSM, minutes=3),
    _part("cold-insert", words=["--entities", "10000000"], contenders=["varve", "rocksdb"], minutes=3),
    _part("space", minutes=1),
    _part("selective", words=["--entities", "10000000"], minutes=8),
    _part("drop", minutes=2),
    _part("delete-head", minutes=2),
    _part("queues", minutes=3),
    _part("warm-restart", contenders=["varve", "rocksdb"], minutes=1),
    _part("tables", quick=["--tables", "2000"], contenders=["varve"], minutes=1),
    _part("recovery-1", minutes=1),
    _part("recovery-50", minutes=1),
    _part("recovery-200", minutes=1),
    _part("ycsb", words=["--seconds", "10"], minutes=6),
    _part("ycsb-e", words=["--seconds", "10"], minutes=3),
    _part("ycsb-in-memory", words=["--seconds", "10"], minutes=5),
    _part("ycsb-e-in-memory", words=["--seconds", "10"], minutes=3),
    _part("mixed", words=["--seconds", "60"], quick=["--mixed-entities", "5000", "--mixed-tables", "500"],
          contenders=["varve", "rocksdb", "lmdb"], minutes=15),
    _part("curve-1M", "curve", ["--curve-entities", "1000000"], ["--curve-entities", "20000"], minutes=3),
    _part("curve-10M", "curve", ["--curve-entities", "10000000"], ["--curve-entities", "50000"], minutes=15),
    _part("curve-50M", "curve", ["--curve-entities", "50000000"], ["--curve-entities", "100000"],
          contenders=["varve", "rocksdb"], rounds_max=1, minutes=60),
    _part("endurance", words=["--endurance-seconds", "600", "--slot-seconds", "2"],
          quick=["--endurance-seconds", "3", "--slot-seconds", "0.3"], contenders=LSM, rounds_max=1, minutes=31),
    _part("smooth", words=["--endurance-seconds", "600", "--slot-seconds", "2"],
          quick=["--endurance-seconds", "3", "--slot-seconds", "0.3"], contenders=LSM, rounds_max=1, minutes=31,
          offered=seventy_percent),
]


def by_name(name):
    return next(part for part in PARTS if part.name == name)

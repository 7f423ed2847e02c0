"""Owns: the list of what tools/race runs: each part is a workload of varve-bench with its words, or another program.
Must never: give contenders different words.

One call of varve-bench runs a part in one round. Its rows share a store if the workload says so."""
import collections

import figures

ALL = ["varve", "rocksdb", "leveldb", "lmdb"]

# words, quick: options for varve-bench. rounds_max: parts with one answer, or very long ones, are run less often. minutes:
# a first estimate for a full round. offered: computes the offered load from the recorded lines. long: only with --long.
# outside: another program measures the part; see outside.py.
Part = collections.namedtuple("Part", ["name", "workload", "words", "quick", "contenders", "rounds_max", "minutes",
                                       "offered", "long", "outside"])


def _part(name, workload=None, words=(), quick=(), contenders=None, rounds_max=99, minutes=1.0, offered=None, long=False,
          outside=False):
    return Part(name, workload or name, list(words), list(quick), contenders or ALL, rounds_max, minutes, offered, long,
                outside)


QUICK_WORDS = ["--entities", "50000", "--seconds", "0.3"]
LSM = ["varve", "rocksdb", "leveldb"]
PAIR = ["varve", "rocksdb"]


def seventy_percent(lines):
    """Seventy percent of the rate that the slower of Varve and RocksDB sustained; None before both did."""
    rows = [row for row in figures.rows_of(lines) if row.part == "endurance"]
    rates = [row.median(name) for row in rows for name in ("varve", "rocksdb") if row.median(name)]
    return 0.7 * min(rates) if len(rates) >= 2 else None


def _endurance(seconds):
    return {"words": ["--endurance-seconds", str(seconds), "--slot-seconds", "2"],
            "quick": ["--endurance-seconds", "3", "--slot-seconds", "0.3"]}


PARTS = [
    _part("durable", minutes=0.7),
    _part("checked", minutes=0.7),
    _part("large", words=["--seconds", "1.5"], minutes=0.6),
    _part("log-space", contenders=PAIR, minutes=0.4),
    _part("two-threads", words=["--seconds", "1.5"], contenders=PAIR, minutes=0.5),
    _part("load", minutes=0.3),
    _part("load-128", contenders=LSM, minutes=0.2),
    _part("random-put", contenders=LSM, minutes=1.1),
    _part("read", words=["--seconds", "1"], minutes=1.3),
    _part("pages", words=["--seconds", "1.5"], minutes=0.5),
    _part("cold", words=["--seconds", "1.5"], minutes=1),
    _part("page-cache", words=["--entities", "3000000", "--seconds", "1"], minutes=0.9),
    _part("merge-gets", words=["--slot-seconds", "0.25"], quick=["--slot-seconds", "0.1"], contenders=LSM, minutes=1.2),
    _part("space", minutes=0.3),
    _part("space-of-bags", minutes=0.3),
    _part("settled", contenders=LSM, minutes=1.3),
    _part("delete-head", minutes=0.3),
    _part("queues", words=["--entities", "500000"], contenders=PAIR, minutes=1.2),
    _part("warm-restart", contenders=PAIR, minutes=0.4),
    _part("tables", quick=["--tables", "2000"], contenders=["varve"], minutes=0.1),
    _part("files", outside=True, contenders=["varve"], minutes=0.7),
    _part("messages", outside=True, contenders=["varve", "sqlite", "rabbitmq", "redis"], minutes=3),
    _part("blobs", outside=True, contenders=["varve", "files", "sqlite", "rocksdb"], rounds_max=1, minutes=6),
    _part("indexes", outside=True, contenders=["varve", "rocksdb", "sqlite"], rounds_max=1, minutes=9),
    _part("recovery-1", minutes=0.1),
    _part("recovery-50", minutes=0.1),
    _part("recovery-200", minutes=0.1),
    _part("ycsb", words=["--entities", "500000", "--seconds", "3"], minutes=2.2),
    _part("ycsb-in-memory", words=["--entities", "500000", "--seconds", "3"], minutes=2.2),
    _part("mixed", words=["--seconds", "15"], quick=["--mixed-entities", "5000", "--mixed-tables", "500"],
          contenders=["varve", "rocksdb", "lmdb"], minutes=2),
    _part("serve", outside=True, minutes=1.6),
    _part("serve-queues", outside=True, contenders=["varve", "azurite"], rounds_max=1, minutes=3),
    _part("serve-blobs", outside=True, contenders=["varve", "azurite", "files"], rounds_max=1, minutes=1.5),
    _part("memory", words=["--entities", "2000000"], contenders=LSM, rounds_max=1, minutes=1.1),
    _part("cold-insert", words=["--entities", "10000000"], contenders=PAIR, rounds_max=1, minutes=0.8),
    _part("selective", words=["--entities", "4000000"], rounds_max=1, minutes=1.1),
    _part("drop", rounds_max=1, minutes=1),
    _part("curve-1M", "curve", ["--curve-entities", "1000000"], ["--curve-entities", "20000"], contenders=PAIR,
          rounds_max=1, minutes=0.7),
    _part("curve-10M", "curve", ["--curve-entities", "10000000"], ["--curve-entities", "50000"], contenders=PAIR,
          rounds_max=1, minutes=2.5),
    _part("endurance", **_endurance(60), contenders=LSM, rounds_max=1, minutes=3),
    _part("smooth", **_endurance(90), contenders=PAIR, rounds_max=1, minutes=3, offered=seventy_percent),
    _part("curve-50M", "curve", ["--curve-entities", "50000000"], ["--curve-entities", "100000"], contenders=PAIR,
          rounds_max=1, minutes=7, long=True),
    _part("smooth-long", "smooth", **_endurance(600), contenders=PAIR, rounds_max=1, minutes=20, offered=seventy_percent,
          long=True),
]


def by_name(name):
    return next(part for part in PARTS if part.name == name)

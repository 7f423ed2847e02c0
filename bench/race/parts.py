"""Owns: the list of what tools/race runs: each part is a workload of varve-bench with its words.
Must never: give contenders different words.

A part is what one call of varve-bench runs in one round: its rows share a store where the workload says so."""
import collections

ALL = ["varve", "rocksdb", "leveldb", "lmdb"]

# words, quick: for varve-bench; rounds_max: parts that take very long are run less often; minutes: a first estimate for
# a full round; offered: the part, row and share from which the load on offer is taken.
Part = collections.namedtuple("Part", ["name", "workload", "words", "quick", "contenders", "rounds_max", "minutes",
                                       "offered"])


def _part(name, workload=None, words=(), quick=(), contenders=None, rounds_max=99, minutes=2.0, offered=None):
    return Part(name, workload or name, list(words), list(quick), contenders or ALL, rounds_max, minutes, offered)


QUICK_WORDS = ["--entities", "50000", "--seconds", "0.3"]

PARTS = [
    _part("durable"),
    _part("checked"),
    _part("load"),
    _part("random-put"),
    _part("read"),
    _part("cold"),
    _part("drop"),
    _part("delete-head"),
    _part("tables", quick=["--tables", "2000"], contenders=["varve"]),
    _part("recovery-50"),
    _part("recovery-200"),
    _part("ycsb", minutes=3),
    _part("ycsb-e", minutes=2),
    _part("mixed", words=["--seconds", "60"], quick=["--mixed-entities", "5000", "--mixed-tables", "500"],
          contenders=["varve", "rocksdb", "lmdb"], minutes=15),
    _part("curve-1M", "curve", ["--curve-entities", "1000000"], ["--curve-entities", "20000"]),
    _part("curve-10M", "curve", ["--curve-entities", "10000000"], ["--curve-entities", "50000"], minutes=15),
    _part("curve-50M", "curve", ["--curve-entities", "50000000"], ["--curve-entities", "100000"],
          contenders=["varve", "rocksdb"], rounds_max=1, minutes=60),
    _part("endurance", words=["--endurance-seconds", "600", "--slot-seconds", "2"],
          quick=["--endurance-seconds", "3", "--slot-seconds", "0.3"], rounds_max=1, minutes=45),
]


def by_name(name):
    return next(part for part in PARTS if part.name == name)

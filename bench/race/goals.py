"""Owns: the goals of the race, and the recorded figures that each goal is compared with.
Must never: report a goal as met without a figure."""
import collections

import figures

# measured: a function of all rows that returns Measured, or None while the figure is not known. Its attribute `of` has
# its parts and rows. at_least: whether more is better.
Goal = collections.namedtuple("Goal", ["name", "text", "measured", "bound", "at_least"])

# values: the values by round that are compared with the bound. ours, theirs, limit: the medians of Varve, of `rival`
# and of the device, in the unit of the row or of the figure; None if there is none.
Measured = collections.namedtuple("Measured", ["values", "ours", "rival", "theirs", "limit"])


def copied(row):
    """The second form of a row, in which opponents copy an entity's bytes."""
    return f"{row} (opponents copy)"


def _measured(values, row, rival, figure=None, limit=None):
    values = [value for value in values if value is not None]
    if not values:
        return None
    theirs = row.median(rival, figure) if rival else None
    return Measured(values, row.median(figures.OURS, figure), rival if theirs is not None else None, theirs, limit)


def _goal_of(*of):
    """Turns a function of the rows that `of` names into a function of all rows."""
    def made(judge):
        def measured(rows):
            found = [figures.find(rows, part, row) for part, row in of]
            return judge(*found) if all(found) else None
        measured.of = list(of)
        return measured
    return made


def ratio(part, row, opponent=None, figure=None):
    """How many times better Varve is."""
    @_goal_of((part, row))
    def measured(found):
        rival = opponent or found.best_opponent()
        limit = figures.median(found.device()) if figure == found.limited_figure else None
        return rival and _measured(found.ratios(rival, figure), found, rival, figure, limit)
    return measured


def worst_ratio(of, opponent, figure=None):
    """How many times better Varve is in the row where it is worst. `of`: parts and rows."""
    @_goal_of(*of)
    def measured(*found):
        known = [row for row in found if row.ratio(opponent, figure) is not None]
        if len(known) < len(found):
            return None
        worst = min(known, key=lambda row: row.ratio(opponent, figure))
        return _measured(worst.ratios(opponent, figure), worst, opponent, figure)
    return measured


def to_device(part, row, limit="device"):
    @_goal_of((part, row))
    def measured(found):
        return _measured(found.ratios_to_device(limit), found, found.best_opponent(), found.limited_figure,
                         figures.median(found.device(limit)))
    return measured


def value(part, row, figure=None, opponent=None):
    """A figure of Varve, compared with no other."""
    @_goal_of((part, row))
    def measured(found):
        return _measured(found.values(figures.OURS, figure), found, opponent or found.best_opponent(), figure)
    return measured


def across(part, row, other_part, other_row, contender):
    """Varve's rate in one row compared with another's in a second row."""
    @_goal_of((part, row), (other_part, other_row))
    def measured(ours, theirs):
        values = figures.ratios(ours.values(figures.OURS), theirs.values(contender), True)
        return values and Measured(values, ours.median(figures.OURS), contender, theirs.median(contender), None)
    return measured


def share(part, row, opponent, figure=None):
    """What Varve uses as a share of what another uses."""
    @_goal_of((part, row))
    def measured(found):
        values = figures.ratios(found.values(opponent, figure), found.values(figures.OURS, figure), False)
        return _measured(values, found, opponent, figure)
    return measured


def azurite_or_loopback(row, times, least):
    """Meets 1 at so many times Azurite, or at this share of the loopback. The part has one round."""
    @_goal_of((SERVED_BLOBS, row))
    def measured(found):
        met = [*(ratio / times for ratio in found.ratios("azurite")),
               *(share / least for share in found.values(figures.OURS, "of the loopback") if share)]
        return _measured([max(met)], found, "azurite") if met else None
    return measured


def to_clean_seek(part, row):
    @_goal_of((part, row))
    def measured(found):
        clean = found.values(figures.OURS, "clean us")
        values = [ms * 1000 / us for ms, us in zip(found.values(figures.OURS), clean) if us]
        return _measured(values, found, found.best_opponent())
    return measured


def ycsb(memory):
    """The rows of YCSB of one size of memory: `memory` is "" or ", in memory"."""
    part = "ycsb-in-memory" if memory else "ycsb"
    works = ("A", "half reads, half updates"), ("B", "95 % reads, 5 % updates"), ("C", "reads"), \
        ("D", "95 % reads of the latest, 5 % inserts"), ("E", "95 % scans of up to 100, 5 % inserts"), \
        ("F", "half reads, half read-modify-writes")
    return [(part, f"YCSB {letter}{memory}: {work}") for letter, work in works]


MIXED = "mixed tables, buffered, 4 clients"
FILES = "open and close of a store of {} files"
MERGE = "gets right after a merge of everything"
MESSAGES = "messages"
IDLE = "processor time of ten idle consumers at each of many queues"
WOKEN = "message from the begin of a put to a thread that waits for it, median"
BLOBS = "blobs"
SERVED_QUEUES = "serve-queues"
SERVED_BLOBS = "serve-blobs"
INDEXES = "indexes"
STREAM = "durable write of one stream"
STREAMS = "durable write of 16 streams"
RANGE = "cold random range of 64 KiB, median"
APPENDS = "durable append of 200 bytes, 64 clients, {}"
COLLECTION = "durable insert during a collection, median"
MANY_QUEUES = "10,000 queues, beside one"

GOALS = [
    Goal("P1", "durable put, 1 client, to the best opponent", ratio("durable", "durable put, 1 thread"), 1.35, True),
    Goal("P1", "the same, to the device", to_device("durable", "durable put, 1 thread"), 0.85, True),
    Goal("P2", "durable put, 16 clients", ratio("durable", "durable put, 16 threads"), 2.2, True),
    Goal("P2", "durable put, 64 clients", ratio("durable", "durable put, 64 threads"), 2, True),
    Goal("P2", "durable put with completion callbacks, us of processor time a commit",
         value("durable", "durable put, 1024 in flight, 1 thread", "CPU s/M"), 7.6, False),
    Goal("P3", "100 inserts under 100 conditions, to TransactionDB",
         ratio("checked", "durable insert of 100, checked", "rocksdb"), 2.7, True),
    Goal("P3", "100 replaces by ETag, to TransactionDB", ratio("checked", "durable replace of 100, by ETag", "rocksdb"),
         2.7, True),
    Goal("P3", "100 inserts under 100 conditions, to RocksDB's unchecked batch",
         across("checked", "durable insert of 100, checked", "durable", "durable batch of 100", "rocksdb"), 1, True),
    Goal("P4", "one hot partition, 16 clients, to TransactionDB",
         ratio("checked", "one hot partition, 16 threads", "rocksdb"), 4, True),
    *(Goal("P5", f"cached get, {threads}, to {name}", ratio("read", f"cached get, {threads}", opponent), bound, True)
      for threads in ("1 thread", "2 threads")
      for name, opponent, bound in (("RocksDB", "rocksdb", 2), ("LevelDB", "leveldb", 1.5), ("LMDB", "lmdb", 0.9))),
    *(Goal("P5", f"cached get, {threads}, to {name} that copies",
           ratio("read", copied(f"cached get, {threads}"), opponent), bound, True)
      for threads in ("1 thread", "2 threads")
      for name, opponent, bound in (("RocksDB", "rocksdb", 1.5), ("LevelDB", "leveldb", 1.1))),
    Goal("P6", "cold get, 256 in flight from one thread (4 beyond 2 processors)",
         ratio("cold", "cold get, 256 in flight, 1 thread"), 3.4, True),
    Goal("P6", "cold get, batches of 64 (4 beyond 2 processors)", ratio("cold", "cold get, batches of 64"), 3.4, True),
    Goal("P6", "cold get, 32 in flight, to the device", to_device("cold", "cold get, 32 in flight, 1 thread"), 0.8,
         True),
    Goal("P6", "device reads a cold get", value("cold", "cold get, 32 in flight, 1 thread", "reads/op"), 1.05, False),
    Goal("P7", "device reads an insert of an absent key, 10 M entities in the table",
         value("cold-insert", "insert of an absent key, cold", "reads/op"), 0.01, False),
    Goal("P8", "scan of a partition of 100, in place, to LevelDB",
         ratio("read", "scan of a partition of 100, in place", "leveldb"), 2, True),
    Goal("P8", "warm full scan, in place, to LevelDB", ratio("read", "warm full scan, in place", "leveldb"), 2.5, True),
    Goal("P8", "scan of a partition of 100, to LevelDB", ratio("read", "scan of a partition of 100", "leveldb"), 1.5,
         True),
    Goal("P8", "warm full scan, to LevelDB", ratio("read", "warm full scan", "leveldb"), 1.5, True),
    *(Goal("P8", f"cold scan{way}, to the device (0.75 with 4 processors)", to_device("cold", f"cold full scan{way}"),
           0.55, True) for way in ("", ", in place")),
    Goal("P9", "drop of 10 M entities, ms", value("curve-10M", "drop of ten million"), 1, False),
    Goal("P9", "drop and create again, p99, ms", value("drop", "drop and create again, p99 of 200 times"), 1, False),
    Goal("P9", "space back after a drop of 10 M entities, s",
         value("curve-10M", "drop of ten million", "space back s"), 2, False),
    Goal("P9", "gets of a neighbour, p99 from a drop on / before",
         value("drop", "gets of a neighbour, p99 from a drop on / before"), 1.1, False),
    Goal("P10", "tables created a second, 16 clients (100,000 in 10 s)", value("tables", "create tables, 16 threads"),
         10_000, True),
    Goal("P10", "open with 100,000 tables, ms", value("tables", "open with these tables"), 1000, False),
    Goal("P10", "bytes of memory a table", value("tables", "open with these tables", "bytes/table, open"), 1024, False),
    Goal("P11", "first entity after deletes, to a clean seek",
         to_clean_seek("delete-head", "first entity after deletes"), 2, False),
    Goal("P12", "p99.99 at 70 % of the sustained rate, to RocksDB",
         ratio("smooth", "p99.99 of random puts at a fixed load", "rocksdb"), 3, True),
    Goal("P12", "seconds stalled meanwhile", value("smooth", "p99.99 of random puts at a fixed load", "stalled s"), 0,
         False),
    Goal("P12", "the same p99.99 over ten minutes (with --long)",
         ratio("smooth-long", "p99.99 of random puts at a fixed load", "rocksdb"), 3, True),
    *(goal for row in ("durable 64 KiB, 1 thread", "durable 64 KiB, 4 threads", "durable 1 MB, 1 thread")
      for goal in (Goal("P13", row, ratio("large", row), 2, True),
                   Goal("P13", f"{row}, to the device in unwritten space", to_device("large", row, "device_unwritten"),
                        1, True),
                   Goal("P13", f"{row}, to the device in written space", to_device("large", row), 0.9, True),
                   Goal("P13", f"{row}, bytes written a byte", value("large", row, "written/user"), 1.3, False))),
    Goal("P14", "bytes written a byte of the mixed workload, of RocksDB's",
         share("mixed", MIXED, "rocksdb", "written/user"), 0.6, False),
    Goal("P14", "processor time of background threads in it, of RocksDB's",
         share("mixed", MIXED, "rocksdb", "background CPU s/M"), 0.5, False),
    *(Goal("cost", f"{row}", value("memory", row), 1.05, False)
      for row in ("memory of random puts, of the budget", "memory of random gets, of the budget",
                  "memory of full scans, of the budget")),
    Goal("P15", "clean open of 14 GB in 50 M entities, ms (the goal is of 50 GB; with --long)",
         value("curve-50M", "open"), 100, False),
    Goal("P15", "clean open of 3 GB in 10 M entities, ms", value("curve-10M", "open"), 100, False),
    Goal("P15", "replay of 200 MB of log, MB/s",
         value("recovery-200", "open after a kill, 200 MB in the log", "log MB/s", "rocksdb"), 500, True),
    Goal("P16", "bytes of tables, of RocksDB's", share("space", "disk space", "rocksdb"), 0.97, False),
    Goal("P16", "bytes of tables of ten named properties, of RocksDB's",
         share("space-of-bags", "disk space of entities of ten properties", "rocksdb"), 0.8, False),
    Goal("P16", "filter of 0.1 %, times a full scan",
         value("selective", "filter of 0.1 %, correlated with the keys", "times a full scan"), 20, True),
    Goal("P17", "bulk load by table files, to LMDB", ratio("load", "bulk load, table files", "lmdb"), 1, True),
    Goal("P17", "bulk load by table files, to RocksDB", ratio("load", "bulk load, table files", "rocksdb"), 2, True),
    Goal("P17", "bulk load by batches, 128 MB for writes, to RocksDB",
         ratio("load-128", "bulk load, batches of 100, 128 MB for writes", "rocksdb"), 1.2, True),
    Goal("P18", "sustained random puts by 4 threads, to RocksDB (the goal is of 16 processors)",
         ratio("endurance", "random puts for long, with their debt", "rocksdb"), 0.8, True),
    Goal("P19", "device reads a get through a merge of everything", value("merge-gets", MERGE, "reads a get through the merge"),
         0.02, False),
    Goal("P19", "gets right after the merge, of before", value("merge-gets", MERGE, "after, of before"), 0.8, True),
    Goal("P19", "p99 of these gets, of before", value("merge-gets", MERGE, "p99 after, of before"), 5, False),
    Goal("P20", "gets two seconds after an open, of those before",
         value("warm-restart", "gets two seconds after an open", "of before"), 0.8, True),
    *(Goal("P21", f"open and close of {count} files, us a file above 10 ms",
           value("files", FILES.format(count), "us a file above 10 ms"), 5, False) for count in ("4,000", "16,000")),
    Goal("P21", "MB replayed after a clean close",
         value("settled", "directory at rest after everything settled", "replayed MB"), 0, False),
    *(goal for memory, told in (("", "half in the cache"), (", in memory", "in memory"))
      for goal in (Goal("P22", f"YCSB A to F, {told}: the worst rate, to RocksDB", worst_ratio(ycsb(memory), "rocksdb"),
                        1, True),
                   Goal("P22", f"YCSB A to F, {told}: the worst processor time, to RocksDB",
                        worst_ratio(ycsb(memory), "rocksdb", "CPU s/M"), 1, True))),
    Goal("P23", "processor time of a get over HTTP, of an empty answer's",
         value("serve", "point gets", "CPU, of an empty answer"), 1.3, False),
    Goal("P23", "processor time of a query of 10 entities over HTTP, of a get's",
         value("serve", "queries of 10 entities", "CPU, of a get"), 2, False),
    *(Goal("AL-07", f"{row}, of the rate without", value("serve", row, "of the rate without"), 0.95, True)
      for row in ("point gets with logging on", "inserts with logging on")),
    Goal("P24", "bytes of memory a table file that was read",
         value("files", FILES.format("4,000"), "bytes a file that was read"), 20_000, False),
    Goal("P24", "files that were all read under 1,024 descriptors (16,000 are 1 TB)",
         value("files", FILES.format("16,000"), "files read"), 16_000, True),
    Goal("P25", "durable put, 16 clients, us of processor time", value("durable", "durable put, 16 threads", "CPU s/M"),
         15, False),
    Goal("P25", "scan of a partition of 100 in place, us of processor time",
         value("read", "scan of a partition of 100, in place", "CPU s/M"), 10, False),
    Goal("P26", "100 queues, of one queue's rate", value("queues", "100 queues, beside one", "of one queue"), 0.7, True),
    Goal("P26", "p99 of a read of a head, 10,000 queues, of one queue's",
         value("queues", MANY_QUEUES, "p99 / one queue"), 5, False),
    *(Goal("QG-01", f"{row}, to Azurite{told}", ratio(SERVED_QUEUES, row, "azurite", figure), times, True)
      for row, times in (("puts of 1 KiB over HTTP", 20), ("gets and deletes with a backlog over HTTP", 50))
      for told, figure in (("", None), (", by processor time", "CPU s/M"))),
    Goal("QG-02", "durable put of a message, 1 producer: time, of an insert",
         value(MESSAGES, "durable put of a message, 1 producer", "time, of an insert"), 1.1, False),
    Goal("QG-02", "the same, 16 producers",
         value(MESSAGES, "durable put of a message, 16 producers", "time, of an insert"), 1.1, False),
    Goal("QG-03", "entity and message in one commit: time, of the entity alone",
         value(MESSAGES, "entity and message in one durable commit", "time, of the entity alone"), 1.15, False),
    Goal("QG-04", "message taken, and deleted durably: time, of an insert",
         value(MESSAGES, "message taken, and deleted durably", "time, of an insert"), 1.3, False),
    Goal("QG-05", "get after a million messages were taken (ten million are the goal): time, of a short queue's",
         value(MESSAGES, "get from a queue after many were taken", "of a short queue"), 1.5, False),
    Goal("QG-05", "the first get after an open: time, of a short queue's",
         value(MESSAGES, "get from a queue after many were taken", "first after an open, of a short queue's"), 1.5, False),
    Goal("QG-06", "get beside a million hidden messages (ten million are the goal): time, of a queue without",
         value(MESSAGES, "get from a queue beside many hidden messages", "of a queue without"), 1.5, False),
    Goal("QG-07", "16 consumers on two processors, of one consumer's rate",
         value(MESSAGES, "messages consumed by 16 consumers", "of one consumer"), 1.7, True),
    Goal("QG-08", "100,000 queues (a million are the goal), of a tenth of them: create",
         value(MESSAGES, "open of a store with many queues", "create, of a tenth"), 1.1, False),
    Goal("QG-08", "the same: a page of 1,000",
         value(MESSAGES, "open of a store with many queues", "page, of a tenth"), 1.1, False),
    Goal("QG-08", "the same: open", value(MESSAGES, "open of a store with many queues", "of a tenth of them"), 1.1, False),
    Goal("QG-08", "the same: idle memory",
         value(MESSAGES, "open of a store with many queues", "idle memory, of a tenth"), 1.1, False),
    Goal("QG-09", "MB on disk, empty queue that 2 GiB passed (100 GiB are the goal)",
         value(MESSAGES, "disk of an empty queue that many bytes passed"), 256, False),
    Goal("QX-17", "10,000 consumers that wait at 1,000 empty queues, % of a core", value(MESSAGES, IDLE), 1, False),
    Goal("QX-18", "from the begin of a put to a waiting thread, us (the goal is from the publication)",
         value(MESSAGES, WOKEN), 50, False),
    Goal("QX-18", "the same, to a waiting coroutine", value(MESSAGES, WOKEN, "to a coroutine us"), 50, False),
    Goal("QG-10", "durable put of a message, 16 producers, to Redis",
         ratio(MESSAGES, "durable put of a message, 16 producers", "redis"), 1, True),
    Goal("QG-10", "the same, to RabbitMQ",
         ratio(MESSAGES, "durable put of a message, 16 producers", "rabbitmq"), 1, True),
    Goal("QG-10", "durable put of a message, 1 producer, to the best peer",
         ratio(MESSAGES, "durable put of a message, 1 producer"), 1, True),
    Goal("QG-10", "entity and message in one commit, to the best peer",
         ratio(MESSAGES, "entity and message in one durable commit"), 1, True),
    Goal("QG-10", "message taken and deleted, to the best peer",
         ratio(MESSAGES, "message taken, and deleted durably"), 1, True),
    Goal("BO-01", "durable write of a blob of 1 GiB, to the device", value(BLOBS, STREAM, "of the device"), 0.8, True),
    Goal("BO-01", "the same: bytes written a byte", value(BLOBS, STREAM, "bytes written a byte, with the close"), 1.03,
         False),
    Goal("BO-02", "16 streams of 64 MiB, to the device", value(BLOBS, STREAMS, "of the device"), 0.9, True),
    Goal("BO-02", "the same: MiB of memory beyond caches", value(BLOBS, STREAMS, "MiB of memory beyond caches"), 160,
         False),
    Goal("BO-03", "cold sequential read of a blob, to the device", value(BLOBS, "cold sequential read", "of the device"),
         0.85, True),
    Goal("BO-03", "cached sequential read of a blob, to memcpy",
         value(BLOBS, "cached sequential read, one thread", "of memcpy"), 0.5, True),
    Goal("BO-04", "cold range of 64 KiB of 3 GiB (100 GiB are the goal): time, of a raw read",
         value(BLOBS, RANGE, "of a raw read"), 1.2, False),
    Goal("BO-04", "the same: time, of a range of a short blob", value(BLOBS, RANGE, "of the short blob's"), 1.05, False),
    Goal("BO-05", "durable put of 100 KiB: time, of an insert of 60 KiB and the device's time of the rest",
         value(BLOBS, "durable put of 100 KiB, 1 client",
               "time, of an insert of 60 KiB and the device's time of the rest"), 1.2, False),
    Goal("BO-05", "puts of 100 KiB over HTTP, 16 clients, to a server that syncs files",
         ratio(SERVED_BLOBS, "puts of 100 KiB over HTTP, 16 clients", "files"), 3, True),
    Goal("OBJECTS", "durable put of 64 KiB, 4 clients, to the device",
         value(BLOBS, "durable put of 64 KiB, 4 clients", "of the device"), 0.75, True),
    *(Goal("BO-06", f"durable append of 200 bytes, 64 clients, {told}: of the inserts",
           value(BLOBS, APPENDS.format(told), "of the inserts"), 0.8, True) for told in ("a blob each", "one blob")),
    *(Goal("BO-07", f"{row}, to Azurite", ratio(SERVED_BLOBS, row, "azurite"), 10, True)
      for row in ("puts of 10 KiB over HTTP", "gets of 10 KiB over HTTP", "listings of 5,000 names over HTTP")),
    *(Goal("BO-07", f"{row}, to the lesser of 3 times Azurite and 0.9 of the loopback", azurite_or_loopback(row, 3, 0.9), 1,
           True) for row in ("puts of 64 MiB over HTTP", "gets of 64 MiB over HTTP")),
    Goal("BO-08", "first page over a million blobs (ten million are the goal): time, of a listing of 1,000",
         value(BLOBS, "first page of a listing with a delimiter", "of the listing of few blobs"), 1.5, False),
    Goal("BO-09", "delete of a container of 200,000 blobs (a million are the goal): time, of an empty one",
         value(BLOBS, "delete of a container", "of the empty container"), 2, False),
    Goal("BO-10", "copy of a blob of 3 GiB (10 GiB are the goal): time, of a copy of 1 MiB",
         value(BLOBS, "durable copy of a long blob", "of the copy of 1 MiB"), 2, False),
    Goal("BO-11", "entity with a large value of 1 MiB in one commit: time, of the blob alone",
         value(BLOBS, "durable insert of an entity with a large value of 1 MiB", "time, of the blob alone"), 1.1, False),
    Goal("BO-12", "cores at 1 GB/s for checksums, without MD5",
         value(BLOBS, "checksums of a written stream over HTTP, without MD5", "cores at 1 GB/s for checksums"), 0.25,
         False),
    Goal("BX-33", "durable insert during a collection: time, of one at rest",
         value(BLOBS, COLLECTION, "of an insert at rest"), 1.1, False),
    Goal("BX-33", "the same: bytes read, of the content that is kept",
         value(BLOBS, COLLECTION, "bytes read, of the content that is kept"), 1.05, False),
    Goal("IX-01", "durable insert with one index, 16 clients in partitions of their own, to two keys of RocksDB",
         value(INDEXES, "durable insert with one index, 16 clients, each in its own partition", "of RocksDB"), 1.5, True),
    Goal("IX-01", "the same in one partition",
         value(INDEXES, "durable insert with one index, 16 clients, all in one partition", "of RocksDB"), 1.5, True),
    Goal("IX-02", "cached look-up by an index, to two gets of RocksDB",
         value(INDEXES, "cached look-up by an index, one thread", "of RocksDB"), 1.5, True),
    Goal("IX-03", "build over ten million entities: time, of reading them and loading the entries",
         value(INDEXES, "build of an index", "of reading and loading"), 1.3, False),
    Goal("IX-03", "the same beside two writers: time, of the quiet build",
         value(INDEXES, "build of an index beside two writers", "of the quiet build"), 1.5, False),
    Goal("IX-03", "the same: rate of the writers, of that without a build",
         value(INDEXES, "build of an index beside two writers", "of the writers' rate"), 0.67, True),
    Goal("IX-04", "MB rewritten to return the space of five million ended entities",
         value(INDEXES, "space of ended orders returned", "MB rewritten"), 0, False),
    Goal("IX-04", "get from a table whose entities end, of one without ends",
         value(INDEXES, "get of an order from a table whose orders end", "of a table without ends"), 1, True),
    Goal("IX-05", "count and sum by group over ten million entities, times as fast as SQLite",
         value(INDEXES, "count and sum by group, with a filter", "times as fast as SQLite"), 2, True),
    Goal("IX-06", "first 20 of ten million entities by an index: entities examined",
         value(INDEXES, "first 20 orders by total, descending", "entities examined"), 20, False),
    Goal("P27", "directory after everything settled, of RocksDB's",
         share("settled", "directory at rest after everything settled", "rocksdb"), 1.1, False),
    Goal("P28", "sectors that a durable commit of one sector writes", value("log-space", "sectors of a durable commit"),
         1.1, False),
    Goal("P29", "buffered puts by 2 threads, of one thread's rate",
         value("two-threads", "buffered puts by 2 threads, beside one", "of one thread"), 1.3, True),
    Goal("P29", "transfers by 2 threads, of one thread's rate",
         value("two-threads", "transfers by 2 threads, beside one", "of one thread"), 1.3, True),
    Goal("P30", "scan of 100 keys that are updated all the time, of a scan of quiet ones",
         value("queues", "scan of 100 keys that are updated all the time", "of quiet"), 2, False),
    Goal("P31", "an entity in a page of 1,000, us of processor time",
         value("pages", "an entity in a page of 1,000, beside pages of 100"), 0.2, False),
    Goal("P31", "the same, of one in a page of 100",
         value("pages", "an entity in a page of 1,000, beside pages of 100", "of pages of 100"), 1.1, False),
    Goal("P31", "an entity of 200 properties in a page, us of processor time",
         value("pages", "scan of entities of 200 properties", "CPU s/M"), 10, False),
]


def lines_of(rows):
    """Returns for each goal whether it is met (None while that is not known), and what was measured."""
    lines = []
    for goal in GOALS:
        measured = goal.measured(rows) or None
        met = None
        if measured:
            held = figures.median(measured.values)
            met = held >= goal.bound if goal.at_least else held <= goal.bound
        lines.append((goal, met, measured))
    return lines

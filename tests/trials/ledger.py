"""Owns: the ledgers of the outbox trial: the begun and the acknowledged operations of each process, line by line.
Must never: note an operation as begun after it was sent, or as acknowledged before its answer was read.

A line has a moment (nanoseconds of the machine's monotonic clock), a kind, an item, and a value or "-". A line reaches the
file by one write, so that it survives the end of its process. These are the kinds:

  put-begun       a producer begins to put the item: its entity and its message
  put             both are acknowledged
  got             a get returned the item's message; the value is the moment at which the worker asked
  wrong-text      that message has another text than was put
  entity          the worker read the item's entity; the value is "there" or "absent"
  delete-begun    the worker did its work and begins to delete the message
  deleted         the delete is acknowledged
  superseded      the delete was refused, because another get came between

An item is named after its way: "e..." by one commit of a producer that embeds the store, "h..." by two requests over
HTTP, the entity first."""
import collections
import os
import time

Record = collections.namedtuple("Record", ["moment", "kind", "item", "value"])

KINDS = ("put-begun", "put", "got", "wrong-text", "entity", "delete-begun", "deleted", "superseded")
LARGE_EVERY = 16
LARGE_TEXT = 20_000


class Ledger:
    def __init__(self, path):
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def note(self, kind, item, value="-"):
        line = f"{time.monotonic_ns()} {kind} {item} {value}\n".encode()
        if os.write(self.file, line) != len(line):
            raise OSError("a line of the ledger was cut")


def records_of(text):
    """Returns the records of a ledger. Raises ValueError at a line of another form."""
    records = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split(" ")
        if len(words) != 4 or words[1] not in KINDS or not words[0].isdigit():
            raise ValueError(f"line {number} of a ledger is {line!r}")
        records.append(Record(int(words[0]), *words[1:]))
    return records


def text_of(item):
    """Returns the text of the item's message. Some texts are so large that the store keeps them apart from their row."""
    text = item + " x"
    return text.ljust(LARGE_TEXT, "x") if int(item.rpartition("-")[2]) % LARGE_EVERY == 0 else text


def partition_of(item):
    return item[-1]

"""Owns: the processes of the outbox trial that are clients of the server: a worker, and a producer by two requests.
Must never: end because the server was killed; they try again until they are killed themselves.

Usage: outbox_http.py worker LEDGER TABLES-PORT QUEUES-PORT
       outbox_http.py producer LEDGER TABLES-PORT QUEUES-PORT NAME [--lies]
NAME begins the names of the producer's items. With --lies, it notes acknowledgements that it did not get."""
import http.client
import json
import os
import pathlib
import sys
import time
import urllib.parse
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "serve"))

import ledger  # noqa: E402
import wire  # noqa: E402

QUEUE = "work"
HOLD_SECONDS = 1  # the shortest that the service takes, so that the message of a killed worker is soon delivered again
MESSAGES_OF_GET = 8
RETRY_SECONDS = 0.01
PAUSE_SECONDS = 0.02
TIMEOUT_SECONDS = 60


class Queue:
    """One connection to the service of queues."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_SECONDS)

    def call(self, verb, resource, query="", body=None, expected=(200, 201, 204)):
        """Returns the status, the headers and the text of the answer."""
        headers = {"x-ms-version": wire.VERSION, "Content-Length": str(len(body or b""))}
        target = f"/{wire.ACCOUNT}/{resource}?{wire.signature('q')}" + (f"&{query}" if query else "")
        self.connection.request(verb, target, body, headers)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status == 503:
            raise http.client.HTTPException("the server is busy")
        if answer.status not in expected:
            raise RuntimeError(f"{verb} {resource} was answered with {answer.status}: {text[:500]}")
        return answer.status, answer.headers, text

    def create(self):
        """The queue may be there."""
        self.call("PUT", QUEUE, expected=(201, 204))

    def put(self, text):
        body = f"<QueueMessage><MessageText>{text}</MessageText></QueueMessage>".encode()
        self.call("POST", f"{QUEUE}/messages", body=body)

    def get(self):
        """Returns the id, the receipt and the text of each message."""
        _, _, text = self.call("GET", f"{QUEUE}/messages",
                               f"numofmessages={MESSAGES_OF_GET}&visibilitytimeout={HOLD_SECONDS}")
        return [tuple(message.findtext(name) for name in ("MessageId", "PopReceipt", "MessageText"))
                for message in xml.etree.ElementTree.fromstring(text.decode("utf-8-sig"))]

    def remove(self, message, receipt):
        """Returns whether the message was deleted. Otherwise the receipt is no longer the last one."""
        query = f"popreceipt={urllib.parse.quote(receipt, safe='')}"
        status, _, text = self.call("DELETE", f"{QUEUE}/messages/{message}", query, expected=(204, 400, 404))
        if status != 204 and b"PopReceiptMismatch" not in text and b"MessageNotFound" not in text:
            raise RuntimeError(f"a delete was answered with {status}: {text[:500]}")
        return status == 204

    def count(self):
        return int(self.call("GET", QUEUE, "comp=metadata")[1]["x-ms-approximate-messages-count"])


class Tables(wire.Client):
    """One connection to the service of tables, which may be busy."""

    def call(self, verb, resource, query="", body=None, content="application/json", expected=(200, 201, 202, 204)):
        answer, text = super().call(verb, resource, query, body, content, (*expected, 503))
        if answer.status == 503:
            raise http.client.HTTPException("the server is busy")
        return answer, text

    def create(self, table):
        """The table may be there."""
        self.call("POST", "Tables", body=json.dumps({"TableName": table}), expected=(201, 204, 409))

    def insert(self, table, partition, row):
        self.call("POST", table, body=json.dumps({"PartitionKey": partition, "RowKey": row}), expected=(201, 204))

    def put(self, table, partition, row):
        self.call("PUT", place_of(table, partition, row), body="{}", expected=(204,))

    def has(self, table, partition, row):
        return self.call("GET", place_of(table, partition, row), expected=(200, 404))[0].status == 200

    def rows(self, table):
        return {row for _, row in self.walk(table)}


def place_of(table, partition, row):
    return f"{table}(PartitionKey='{partition}',RowKey='{row}')"


class Worker:
    """Gets messages, notes the work of each in the table Done, and deletes it."""

    def __init__(self, notes, tables, queue):
        self.notes, self.tables, self.queue = notes, tables, queue

    def step(self):
        asked = time.monotonic_ns()
        messages = self.queue.get()
        for message, receipt, text in messages:
            self._work_on(message, receipt, text, asked)
        if not messages:
            time.sleep(PAUSE_SECONDS)

    def _work_on(self, message, receipt, text, asked):
        item = text.split(" ", 1)[0]
        self.notes.note("got", item, asked)
        if text != ledger.text_of(item):
            self.notes.note("wrong-text", item)
        partition = ledger.partition_of(item)
        self.notes.note("entity", item, "there" if self.tables.has("Orders", partition, item) else "absent")
        self.tables.put("Done", partition, item)
        self.notes.note("delete-begun", item)
        self.notes.note("deleted" if self.queue.remove(message, receipt) else "superseded", item)


class Producer:
    """Inserts an entity, and then puts its message. If the first has no answer, the item is given up."""

    def __init__(self, notes, tables, queue, name, lies):
        self.notes, self.tables, self.queue, self.name, self.lies = notes, tables, queue, name, lies
        self.made = 0

    def step(self):
        item = f"{self.name}-{self.made:06d}"
        self.made += 1
        self.notes.note("put-begun", item)
        if self.lies:
            self.notes.note("put", item)
        self.tables.insert("Orders", ledger.partition_of(item), item)
        self.queue.put(ledger.text_of(item))
        if not self.lies:
            self.notes.note("put", item)
        time.sleep(PAUSE_SECONDS)


def run(make, tables_port, queues_port):
    """Makes steps with connections that are made again when the server is gone. Ends with the process that started it."""
    parent = os.getppid()
    actor = make(None, None)
    while os.getppid() == parent:
        try:
            actor.tables, actor.queue = Tables(tables_port), Queue(queues_port)
            while os.getppid() == parent:
                actor.step()
        except (OSError, http.client.HTTPException):
            time.sleep(RETRY_SECONDS)


def main(words):
    role, path, tables_port, queues_port = words[:4]
    notes = ledger.Ledger(path)
    if role == "worker":
        run(lambda tables, queue: Worker(notes, tables, queue), int(tables_port), int(queues_port))
    else:
        run(lambda tables, queue: Producer(notes, tables, queue, words[4], "--lies" in words), int(tables_port),
            int(queues_port))


if __name__ == "__main__":
    main(sys.argv[1:])

"""Owns: what the race says over HTTP by itself: tables made and dropped, entities filled in, walks that count them.
Must never: be the client that is timed; that is wrk, for all contenders."""
import base64
import hashlib
import hmac
import http.client
import json
import urllib.parse

ACCOUNT = "devstoreaccount1"
# The public key of the development account.
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
VERSION = "2019-02-02"
TEXT = "".join(f"{hashlib.sha256(b'%d' % i).hexdigest()}" for i in range(4))  # 256 characters


def signature(service="t"):
    """An account's signature for all that the race does, as the query of a URL. `service`: t for tables, q for queues, b for
    blobs."""
    permissions = {"t": "rwdlau", "q": "rwdlaup", "b": "rwdlac"}[service]
    said = {"sp": permissions, "ss": service, "srt": "sco", "st": "", "se": "2099-01-01T00:00:00Z", "sip": "", "spr": "",
            "sv": VERSION}
    text = "\n".join([ACCOUNT, *said.values(), ""])
    said["sig"] = base64.b64encode(hmac.digest(base64.b64decode(KEY), text.encode(), "sha256")).decode()
    return urllib.parse.urlencode({name: value for name, value in said.items() if value})


def entity(partition, row):
    return json.dumps({"PartitionKey": partition, "RowKey": row, "Customer": "Ann", "Lines": 3, "Note": TEXT})


def batch_body(table, partition, rows):
    """A transaction of inserts, as client libraries write it."""
    lines = ["--batch_race", "Content-Type: multipart/mixed; boundary=changeset_race", ""]
    for row in rows:
        lines += ["--changeset_race", "Content-Type: application/http", "Content-Transfer-Encoding: binary", "",
                  f"POST http://127.0.0.1/{ACCOUNT}/{table} HTTP/1.1", "Accept: application/json;odata=minimalmetadata",
                  "Content-Type: application/json", "Prefer: return-no-content", "DataServiceVersion: 3.0", "",
                  entity(partition, row)]
    return "\r\n".join(lines + ["--changeset_race--", "--batch_race--", ""])


class Client:
    """One connection."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def call(self, verb, resource, query="", body=None, content="application/json", expected=(200, 201, 202, 204)):
        headers = {"x-ms-version": VERSION, "Accept": "application/json;odata=nometadata", "DataServiceVersion": "3.0",
                   "Prefer": "return-no-content", "Content-Type": content}
        target = f"/{ACCOUNT}/{resource}?{signature()}" + (f"&{query}" if query else "")
        self.connection.request(verb, target, body, headers if body is not None else {**headers, "Content-Length": "0"})
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status not in expected:
            raise RuntimeError(f"{verb} {resource} was answered with {answer.status}: {text[:500]}")
        return answer, text

    def create_table(self, table):
        self.call("POST", "Tables", body=json.dumps({"TableName": table}))

    def drop_table(self, table):
        self.call("DELETE", f"Tables('{table}')")

    def insert(self, table, partition, row):
        self.call("POST", table, body=entity(partition, row), expected=(204,))

    def transaction(self, table, partition, rows):
        body = batch_body(table, partition, rows)
        _, text = self.call("POST", "$batch", body=body, content="multipart/mixed; boundary=batch_race", expected=(202,))
        if text.count(b"HTTP/1.1 204") != len(rows):
            raise RuntimeError(f"a transaction was refused: {text[:500]}")

    def walk(self, table):
        """The keys of all entities, page after page."""
        query = "$select=PartitionKey,RowKey"
        while query is not None:
            answer, text = self.call("GET", f"{table}()", query)
            for found in json.loads(text)["value"]:
                yield found["PartitionKey"], found["RowKey"]
            following = {name: answer.getheader(f"x-ms-continuation-{name}") for name in ("NextPartitionKey", "NextRowKey")}
            following = {name: value for name, value in following.items() if value}
            query = f"$select=PartitionKey,RowKey&{urllib.parse.urlencode(following)}" if following else None

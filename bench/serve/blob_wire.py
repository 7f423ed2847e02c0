"""Owns: what the race of blobs says over HTTP by itself: containers made and dropped, blobs filled in, read and counted.
Must never: be the client that is timed; that is wrk, for all contenders."""
import concurrent.futures
import http.client
import re
import time
import urllib.parse

import wire

IDLE_SECONDS_MAX = 1
FILLERS = 16


class Client:
    """One connection."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.used = time.monotonic()

    def call(self, verb, resource, query="", body=None, headers=None, expected=(200, 201, 202)):
        """A server may close a connection that was idle for seconds, so idle ones are not used."""
        if time.monotonic() - self.used > IDLE_SECONDS_MAX:
            self.connection.close()  # the next request connects again
        sent = {"x-ms-version": wire.VERSION, "Content-Length": str(len(body or b"")), **(headers or {})}
        self.connection.request(verb, target(resource, query), body, sent)
        answer = self.connection.getresponse()
        content = answer.read()
        self.used = time.monotonic()
        if answer.status not in expected:
            raise RuntimeError(f"{verb} {resource} was answered with {answer.status}: {content[:500]}")
        return content

    def create(self, container):
        self.call("PUT", container, "restype=container")

    def drop(self, container):
        self.call("DELETE", container, "restype=container")

    def put(self, container, name, content):
        self.call("PUT", f"{container}/{name}", body=content, headers=PUT_HEADERS)

    def get(self, container, name):
        return self.call("GET", f"{container}/{name}")

    def names(self, container):
        """The names of all blobs, page after page."""
        marker = ""
        while True:
            page = self.call("GET", container, "restype=container&comp=list&maxresults=5000" + marker).decode()
            yield from re.findall(r"<Blob>\s*<Name>([^<]*)</Name>", page)
            following = re.search("<NextMarker>([^<]+)</NextMarker>", page)
            if following is None:
                return
            marker = "&marker=" + urllib.parse.quote(following.group(1), safe="")

    def count(self, container):
        return sum(1 for _ in self.names(container))


PUT_HEADERS = {"x-ms-blob-type": "BlockBlob", "Content-Type": "application/octet-stream"}


def target(resource, query=""):
    """The path and the query of a request, with the signature of the account."""
    return f"/{wire.ACCOUNT}/{resource}?{wire.signature('b')}" + (f"&{query}" if query else "")


def name_of(number):
    return f"{number:08d}"


def fill(port, container, blobs, content):
    """Puts this many blobs of one content, by several clients."""
    def put(first):
        client = Client(port)
        for number in range(first, blobs, FILLERS):
            client.put(container, name_of(number), content)

    with concurrent.futures.ThreadPoolExecutor(FILLERS) as pool:
        list(pool.map(put, range(FILLERS)))

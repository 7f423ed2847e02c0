"""Owns: the trial by clients that move a byte a second (BX-44): the memory of the server meanwhile, and the space of the
uploads that they give up.
Must never: pass without the connections that it promises, or with a blob that was not written whole.

Usage: slow_streams.py --program PROGRAM [--clients 1000] [--seconds 60] [--memory 512M] [--directory DIR]
Half of the clients upload: 1.5 MiB as fast as the server takes it, and then a byte a second of a blob of 64 MiB. The others
read a blob at a byte a second. A client that the server cuts off comes back, and so does each one after a while. Meanwhile
another client writes and reads a small blob every second, and must have its answers.
Exit codes: 0 all is right; 1 a finding; 2 the command line."""
import argparse
import http.client
import pathlib
import re
import shutil
import sys
import tempfile
import time

import large_object
import memory_group
import served
from large_object import Finding, expect

import blob_wire  # after served, which knows where its modules are
import slow_clients

STATED = 64 << 20  # of each upload
READ_TIMES = 3  # the read blob, of the bytes that an upload sends at once
HEAD_MAX = 4_096
LIFE_SECONDS = 25  # the server cuts off such a client after 18 seconds, and a reader does not see that
SOURCES = [f"127.0.0.{number}" for number in range(2, 6)]  # one address may have a part of the connections only
FILES_OF_CLIENT, FILES_BESIDE = 4, 1_024
LOOK_SECONDS = 5
CONNECTIONS_PART = 0.9
SPACE_SECONDS_MAX = 180


class Streams:
    """The slow clients. Each has a place, in which it is replaced by a new one."""

    def __init__(self, port, count):
        self.port, self.burst = port, slow_clients.content()
        self.upload = self.burst + self.burst[:HEAD_MAX]
        # All readers share one text. The system counts this process's memory into the peak of each program that it starts.
        self.download = self.burst * READ_TIMES
        self.cut_off = self.refused = self.made = 0
        self.places = [None] * count
        self.ends = [0.0] * count

    def step(self, now):
        for place, client in enumerate(self.places):
            if client is not None and not client.has_ended and now < self.ends[place]:
                client.step(1)
            else:
                self._replace(place, client, now)

    def _replace(self, place, client, now):
        if client is not None:
            self.cut_off += client.has_ended
            self.refused += client.status() == 503
            client.socket.close()
        self.places[place] = self._new(place)
        self.ends[place] = now + LIFE_SECONDS

    def _new(self, place):
        self.made += 1
        source = SOURCES[place % len(SOURCES)]
        if place % 2 == 0:
            head = slow_clients.head_of("PUT", blob_wire.name_of(self.made), blob_wire.PUT_HEADERS, STATED)
            client = slow_clients.SlowClient(self.port, head, upload=self.upload, source=source)
            client.step(len(head) + len(self.burst))
        else:
            client = slow_clients.SlowClient(self.port, slow_clients.head_of("GET", "read", {}),
                                             download=self.download, source=source)
            client.step(HEAD_MAX)
        return client

    def uploaded(self):
        """Returns the bytes that the present clients have sent."""
        return sum(client.sent for client in self.places if client is not None and client.upload)

    def close(self):
        for client in self.places:
            if client is not None:
                client.socket.close()


class Trial:
    def __init__(self, words, limit, directory):
        self.words, self.limit = words, limit
        self.store = large_object.Program(words.program, directory / "store", limit)
        self.server = served.Server(words.program, directory / "store", ("tables", "blobs", "metrics"),
                                    directory / "server.log", ("--memory", str(words.memory)), limit)
        self.connections = 0
        self.slowest = 0.0

    def metric(self, name):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.ports["metrics"], timeout=60)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
        return float(re.search(rf"^{name} (\S+)$", text, re.MULTILINE).group(1))

    def client(self):
        return blob_wire.Client(self.server.ports["blobs"])

    def run(self):
        try:
            self.server.start()
            self.client().create(slow_clients.CONTAINER)
            self.server.end()
            self.store.whole("compact")
            before = self.store.figures()["allocated_bytes"]
            self.server.start()
            self.slow_time()
            self.space(before)
        finally:
            self.server.close()

    def slow_time(self):
        self.client().put(slow_clients.CONTAINER, "read", slow_clients.content() * READ_TIMES)
        at_rest = self.server.peak_bytes()
        streams = Streams(self.server.ports["blobs"], self.words.clients)
        uploaded = 0
        try:
            begun = time.monotonic()
            for second in range(self.words.seconds):
                streams.step(time.monotonic())
                self.other_client()
                if second % LOOK_SECONDS == 0:
                    self.connections = max(self.connections, int(self.metric("varve_connections")))
                    uploaded = max(uploaded, streams.uploaded())
                time.sleep(max(0.0, begun + second + 1 - time.monotonic()))
            self.connections = max(self.connections, int(self.metric("varve_connections")))
        finally:
            streams.close()
        peak = self.server.peak_bytes()
        self.limit.note("varve serve", peak)
        print(f"{self.words.clients:,} clients for {self.words.seconds} s, {streams.made:,} connections, "
              f"{self.connections:,} open together; {streams.cut_off:,} were ended by the server, of which {streams.refused:,} "
              f"were refused. Together, uploads had sent {memory_group.mebibytes(uploaded)}. Peak of the memory: "
              f"{memory_group.mebibytes(at_rest)} at rest, {memory_group.mebibytes(peak)} with the clients, "
              f"{(peak - at_rest) / (1 << 20) / self.words.clients:.3f} MiB a client (BX-03: 8). Slowest answer to another "
              f"client: {self.slowest:.2f} s")
        expect(self.connections >= self.words.clients * CONNECTIONS_PART,
               f"only {self.connections:,} connections were open together")
        expect(uploaded > 0, "no upload sent anything")

    def other_client(self):
        """Each answer of an error raises."""
        begun = time.monotonic()
        client = self.client()
        client.put(slow_clients.CONTAINER, "small", b"some bytes")
        expect(client.get(slow_clients.CONTAINER, "small") == b"some bytes", "a small blob has other bytes")
        client.connection.close()
        self.slowest = max(self.slowest, time.monotonic() - begun)

    def space(self, allocated_before):
        """Nothing of the uploads is a blob, and their space comes back: at rest, and whole after a compaction."""
        names = sorted(self.client().names(slow_clients.CONTAINER))
        expect(names == ["read", "small"], f"there are blobs that were not written whole: {names}")
        for name in names:
            self.client().call("DELETE", f"{slow_clients.CONTAINER}/{name}")
        begun = time.monotonic()
        while True:
            allocated = allocated_bytes(self.store.store)
            if allocated <= allocated_before + large_object.BESIDE_MAX:
                break
            expect(time.monotonic() - begun < SPACE_SECONDS_MAX,
                   f"at rest, the store has {memory_group.mebibytes(allocated)} after {SPACE_SECONDS_MAX} s; "
                   f"{memory_group.mebibytes(allocated_before)} before")
            time.sleep(1)
        seconds = time.monotonic() - begun
        self.server.end()
        back = self.store.space_is_back(allocated_before)
        print(f"The uploads left {memory_group.mebibytes(allocated)} at rest after {seconds:,.0f} s "
              f"({memory_group.mebibytes(allocated_before)} before), and no byte of content after compactions of {back:,.1f} s")


def allocated_bytes(directory):
    """Files may be removed meanwhile."""
    total = 0
    for path in directory.iterdir():
        try:
            total += path.lstat().st_blocks * 512
        except FileNotFoundError:
            pass
    return total


def parse_words():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True, type=pathlib.Path)
    parser.add_argument("--clients", type=int, default=1_000)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--memory", type=memory_group.size_of, default="512M")
    parser.add_argument("--directory", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()))
    return parser.parse_args()


def main():
    words = parse_words()
    directory = pathlib.Path(tempfile.mkdtemp(prefix="varve-slow-streams-", dir=words.directory))
    limit = memory_group.Limit(words.memory)
    try:
        slow_clients.let_many_files_open(words.clients * FILES_OF_CLIENT + FILES_BESIDE)
        Trial(words, limit, directory).run()
        limit.judge()
    except (Finding, RuntimeError, OSError, http.client.HTTPException) as error:
        print(f"finding: {error}\nThe store and the log of the server are kept in {directory}", file=sys.stderr)
        return 1
    finally:
        limit.end()
    shutil.rmtree(directory)
    print(f"Within {memory_group.mebibytes(words.memory)} of memory, of which slow clients had their part.")
    return 0


if __name__ == "__main__":
    sys.exit(main())

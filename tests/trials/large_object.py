"""Owns: the trial of a large object in little memory: written, killed, resumed, read, read by ranges, verified, deleted.
Must never: count an object as right whose bytes were not all compared, or pass above the limit of memory.

Usage: large_object.py --program PROGRAM [--bytes 10G] [--memory 512M] [--route program|server|both] [--seed N]
                       [--directory DIR]
The object is written by `varve blob put` into a store, and then over HTTP into the store of a server. It is generated and
compared on the way, so the disk holds it once. The limit of memory is that of a control group. The peak of each program is
measured beside that.
Exit codes: 0 all is right; 1 a finding; 2 the command line, or a disk that is too small."""
import argparse
import base64
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse

import memory_group
import served
from content import PIECE, Content

import blob_wire  # after served, which knows where its modules are
import wire

CONTAINER, NAME = "objects", "big"
BLOCK = 8 << 20  # of an upload over HTTP
PUT_MAX = 256 << 20  # the longest blob of one request in this version of the protocol
RANGES = 20
RANGE_MAX = 3 << 20
SPACE_SECONDS_MAX = 120
LIVE_MAX = 1 << 20  # of contents that are left when every object is gone
BESIDE_MAX = 256 << 20  # a store at rest may have so much dead space, whatever it holds
FREE_PARTS, FREE_BESIDE = 1.7, 1 << 30
HTTP_SECONDS_MAX = 600
STREAMS = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


class Finding(Exception):
    """Something that must hold does not hold."""


def expect(condition, sentence):
    if not condition:
        raise Finding(sentence)


def rate(count, seconds):
    return f"{memory_group.mebibytes(count)} in {seconds:,.1f} s, {count / (1 << 20) / max(seconds, 1e-9):,.0f} MiB/s"


class Program:
    """Lines of the program, each a process within the limit of memory."""

    def __init__(self, program, store, limit):
        self.program, self.store, self.limit = program, store, limit

    def start(self, words, **streams):
        command = self.limit.wrap([str(self.program), *words[:2], str(self.store), *words[2:]])
        return subprocess.Popen(command, **streams)

    def end(self, process, name):
        """Waits for the end and notes the peak. That of a small program is at least the peak of the process that started
        it, as the system counts. Returns the exit code."""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.limit.note(name, usage.ru_maxrss * 1024)
        return process.returncode

    def run(self, *words):
        """Runs a verb on blobs or containers. Returns the exit code and the standard output."""
        code, out, _ = self._outcome(self.start(words, **STREAMS), f"varve {words[0]} {words[1]}")
        return code, out

    def whole(self, verb, *words):
        """Runs a verb on the whole store. Returns its output. Raises if it fails."""
        process = subprocess.Popen(self.limit.wrap([str(self.program), verb, str(self.store), *words]), **STREAMS)
        code, out, said = self._outcome(process, f"varve {verb}")
        expect(code == 0, f"varve {verb} ended with {code}: {said}")
        return out

    def _outcome(self, process, name):
        """The program writes so little that no pipe fills up."""
        out, said = process.stdout.read().decode(), process.stderr.read().decode()
        process.stdout.close()
        process.stderr.close()
        return self.end(process, name), out, said

    def figures(self):
        return json.loads(self.whole("stats", "--json"))

    def space_is_back(self, allocated_before):
        """Waits until no content is left, and compacts. Returns the seconds."""
        begun = time.monotonic()
        while True:
            self.whole("compact")
            figures = self.figures()
            is_back = (figures["value_file_live_bytes"] <= LIVE_MAX and figures["value_file_bytes"] <= LIVE_MAX and
                       figures["allocated_bytes"] <= allocated_before + BESIDE_MAX)
            if is_back:
                return time.monotonic() - begun
            expect(time.monotonic() - begun < SPACE_SECONDS_MAX,
                   f"the space is not back after {SPACE_SECONDS_MAX} s: {figures}; {allocated_before} bytes before")
            time.sleep(0.5)


class ByProgram:
    """The object by `varve blob`, which opens the store itself."""

    def __init__(self, words, content, limit, directory):
        self.content, self.chance = content, random.Random(words.seed)
        self.varve = Program(words.program, directory / "store", limit)

    def run(self):
        expect(self.varve.run("container", "create", CONTAINER)[0] == 0, "the container could not be created")
        self.varve.whole("compact")
        before = self.varve.figures()["allocated_bytes"]
        self.killed_put([], 0.4)
        expect(self.varve.run("blob", "list", CONTAINER, "--uncommitted") == (0, ""), "a killed put left a name")
        print(f"a put that was killed left nothing; its space was back after {self.varve.space_is_back(before):,.1f} s")
        self.killed_put(["--resume"], 0.5)
        expect(self.varve.run("blob", "list", CONTAINER) == (0, ""), "a killed put --resume published a blob")
        expect(self.varve.run("blob", "list", CONTAINER, "--uncommitted") == (0, NAME + "\n"), "no block was kept")
        self.resumed_put()
        expect(json.loads(self.varve.run("blob", "show", CONTAINER, NAME, "--json")[1])["length"] == self.content.length,
               "the blob has another length")
        self.whole_get()
        for _ in range(RANGES):
            self.range_get()
        begun = time.monotonic()
        self.varve.whole("verify")
        print(f"verify: {rate(self.content.length, time.monotonic() - begun)}")
        expect(self.varve.run("blob", "delete", CONTAINER, NAME)[0] == 0, "the blob could not be deleted")
        print(f"the space of the deleted blob was back after {self.varve.space_is_back(before):,.1f} s")

    def put(self, words, stderr=None):
        return self.varve.start(["blob", "put", CONTAINER, NAME, "-", *words], stdin=subprocess.PIPE,
                                stdout=subprocess.DEVNULL, stderr=stderr)

    def feed(self, process, pieces):
        try:
            for number in range(pieces):
                process.stdin.write(self.content.piece(number))
        except BrokenPipeError:
            pass  # the exit code says why
        return process

    def killed_put(self, words, part):
        process = self.feed(self.put(words), max(1, int(self.content.pieces() * part)))
        process.kill()
        code = self.varve.end(process, "varve blob put")
        try:
            process.stdin.close()
        except BrokenPipeError:
            pass  # its last bytes have no reader
        expect(code == -9, f"a put ended by itself with {code}")
        expect(self.varve.run("blob", "show", CONTAINER, NAME)[0] == 1, "a killed put published a blob")

    def resumed_put(self):
        begun = time.monotonic()
        process = self.put(["--resume"], subprocess.PIPE)
        self.feed(process, self.content.pieces())
        try:
            process.stdin.close()
        except BrokenPipeError:
            pass
        said = process.stderr.read().decode()
        process.stderr.close()
        code = self.varve.end(process, "varve blob put --resume")
        expect(code == 0, f"the resumed put ended with {code}: {said}")
        expect("were in the store already" in said, f"the resumed put wrote everything again: {said}")
        kept = re.search(r"([\d.]+ \w+) of ([\d.]+ \w+) were in the store", said)
        print(f"put, resumed after {kept.group(1) if kept else 'a part'}: "
              f"{rate(self.content.length, time.monotonic() - begun)}")

    def whole_get(self):
        begun = time.monotonic()
        process = self.varve.start(["blob", "get", CONTAINER, NAME], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        wrong = next((number for number in range(self.content.pieces())
                      if process.stdout.read(PIECE) != self.content.piece(number)), None)
        rest = process.stdout.read(1)
        process.stdout.close()
        code = self.varve.end(process, "varve blob get")
        expect(wrong is None, f"the blob has other bytes from {wrong} MiB on")
        expect(code == 0 and rest == b"", f"the get ended with {code}, after {len(rest)} bytes too many")
        print(f"get: {rate(self.content.length, time.monotonic() - begun)}")

    def range_get(self):
        offset, count = some_range(self.chance, self.content.length)
        process = self.varve.start(["blob", "get", CONTAINER, NAME, "--range", f"{offset}-{offset + count - 1}"],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        got = process.stdout.read()
        process.stdout.close()
        code = self.varve.end(process, "varve blob get --range")
        expect(code == 0 and got == self.content.part(offset, count), f"{count} bytes at {offset} are wrong (exit code {code})")


def some_range(chance, length):
    offset = chance.randrange(length)
    return offset, chance.randint(1, min(RANGE_MAX, length - offset))


def block_id(number):
    return base64.b64encode(f"{number:08d}".encode()).decode()


class ByServer:
    """The object over HTTP. The server is killed during a put of one request, and during the upload of a block."""

    def __init__(self, words, content, limit, directory):
        self.content, self.chance, self.limit = content, random.Random(words.seed + 1), limit
        self.store = Program(words.program, directory / "store", limit)
        self.server = served.Server(words.program, directory / "store", ("tables", "blobs"), directory / "server.log",
                                    ("--memory", str(words.memory)), limit)
        self.blocks = -(-content.length // BLOCK)

    def run(self):
        try:
            self.steps()
        finally:
            self.server.close()

    def steps(self):
        self.start()
        self.client().create(CONTAINER)
        self.stop()
        self.store.whole("compact")
        before = self.store.figures()["allocated_bytes"]
        self.killed_put()
        self.stop()
        print(f"a put that lost its server left nothing; its space was back after {self.store.space_is_back(before):,.1f} s")
        self.start()
        self.blocks_with_kill()
        self.whole_get()
        for _ in range(RANGES):
            self.range_get()
        self.client().call("DELETE", f"{CONTAINER}/{NAME}")
        self.stop()
        print(f"the space of the deleted blob was back after {self.store.space_is_back(before):,.1f} s")

    def start(self):
        self.server.start()

    def stop(self):
        self.limit.note("varve serve", self.server.peak_bytes())
        self.server.end()

    def kill(self):
        self.limit.note("varve serve", self.server.peak_bytes())
        expect(self.server.kill() == -9, "the server ended by itself")

    def client(self):
        return blob_wire.Client(self.server.ports["blobs"])

    def begin_request(self, verb, query, headers, length):
        """Returns a connection that has sent the head of a request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.ports["blobs"], timeout=HTTP_SECONDS_MAX)
        connection.putrequest(verb, blob_wire.target(f"{CONTAINER}/{NAME}", query))
        for name, value in {"x-ms-version": wire.VERSION, "Content-Length": str(length), **headers}.items():
            connection.putheader(name, value)
        connection.endheaders()
        return connection

    def expect_no_blob(self):
        self.client().call("GET", f"{CONTAINER}/{NAME}", expected=(404,))
        expect(list(self.client().names(CONTAINER)) == [], "a blob is listed that was not published")

    def killed_put(self):
        length = min(self.content.length, PUT_MAX)
        self.start()
        connection = self.begin_request("PUT", "", blob_wire.PUT_HEADERS, length)
        for number in range(max(1, length // PIECE * 3 // 4)):
            connection.send(self.content.piece(number))
        self.kill()
        connection.close()
        self.start()
        self.expect_no_blob()

    def block(self, number):
        return self.content.part(number * BLOCK, BLOCK)

    def put_block(self, client, number):
        query = f"comp=block&blockid={urllib.parse.quote(block_id(number), safe='')}"
        client.call("PUT", f"{CONTAINER}/{NAME}", query, self.block(number), expected=(201,))

    def blocks_with_kill(self):
        begun = time.monotonic()
        client, done = self.client(), max(1, self.blocks * 2 // 5)
        for number in range(done):
            self.put_block(client, number)
        connection = self.begin_request("PUT", f"comp=block&blockid={urllib.parse.quote(block_id(done), safe='')}", {},
                                        BLOCK)
        connection.send(self.block(done)[:BLOCK // 2])
        self.kill()
        connection.close()
        self.start()
        client = self.client()
        self.expect_no_blob()
        listed = client.call("GET", f"{CONTAINER}/{NAME}", "comp=blocklist&blocklisttype=uncommitted").decode()
        expect(sorted(re.findall("<Name>([^<]+)</Name>", listed)) == sorted(block_id(number) for number in range(done)),
               "the acknowledged blocks are not those that are there after the kill")
        for number in range(done, self.blocks):
            self.put_block(client, number)
        latest = "".join(f"<Latest>{block_id(number)}</Latest>" for number in range(self.blocks))
        body = f'<?xml version="1.0" encoding="utf-8"?><BlockList>{latest}</BlockList>'.encode()
        client.call("PUT", f"{CONTAINER}/{NAME}", "comp=blocklist", body, expected=(201,))
        print(f"put over HTTP, with {done:,} of {self.blocks:,} blocks before a kill of the server: "
              f"{rate(self.content.length, time.monotonic() - begun)}")

    def whole_get(self):
        begun = time.monotonic()
        connection = self.begin_request("GET", "", {}, 0)
        answer = connection.getresponse()
        expect(answer.status == 200 and int(answer.headers["Content-Length"]) == self.content.length,
               f"the get was answered with {answer.status} and {answer.headers['Content-Length']} bytes")
        for number in range(self.content.pieces()):
            expect(answer.read(PIECE) == self.content.piece(number), f"the blob has other bytes from {number} MiB on")
        connection.close()
        print(f"get over HTTP: {rate(self.content.length, time.monotonic() - begun)}")

    def range_get(self):
        offset, count = some_range(self.chance, self.content.length)
        got = self.client().call("GET", f"{CONTAINER}/{NAME}", headers={"Range": f"bytes={offset}-{offset + count - 1}"},
                                 expected=(206,))
        expect(got == self.content.part(offset, count), f"{count} bytes at {offset} are wrong over HTTP")


ROUTES = {"program": (ByProgram,), "server": (ByServer,), "both": (ByProgram, ByServer)}


def parse_words():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True, type=pathlib.Path)
    parser.add_argument("--bytes", type=memory_group.size_of, default="10G")
    parser.add_argument("--memory", type=memory_group.size_of, default="512M")
    parser.add_argument("--route", choices=sorted(ROUTES), default="both")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--directory", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()))
    return parser.parse_args()


def run(words, limit):
    content = Content(words.bytes, words.seed)
    for route in ROUTES[words.route]:
        directory = pathlib.Path(tempfile.mkdtemp(prefix="varve-large-object-", dir=words.directory))
        print(f"-- {route.__doc__}", flush=True)
        try:
            route(words, content, limit, directory).run()
        except BaseException:
            print(f"the store is kept in {directory}", file=sys.stderr)
            raise
        shutil.rmtree(directory)


def main():
    words = parse_words()
    if shutil.disk_usage(words.directory).free < words.bytes * FREE_PARTS + FREE_BESIDE:
        print(f"{words.directory} has not enough free space for {memory_group.mebibytes(words.bytes)}", file=sys.stderr)
        return 2
    limit = memory_group.Limit(words.memory)
    try:
        run(words, limit)
        limit.judge()
    except (Finding, RuntimeError, OSError, http.client.HTTPException) as error:
        print(f"finding, seed {words.seed}: {error}", file=sys.stderr)
        return 1
    finally:
        limit.end()
    peaks = ", ".join(f"{name} {memory_group.mebibytes(peak)}" for name, peak in sorted(limit.peaks.items()))
    print(f"An object of {memory_group.mebibytes(words.bytes)} within {memory_group.mebibytes(words.memory)} of memory. Peaks: "
          f"{peaks}. All bytes were right.")
    return 0


if __name__ == "__main__":
    sys.exit(main())

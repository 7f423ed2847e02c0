"""Owns: the trial by slow clients: many uploads and downloads at once, each slow, and the memory of the server meanwhile.
Must never: count a transfer whose content was not complete and right, or hold back a client that may go on."""
import errno
import resource
import socket
import time

import blob_wire
import wire

CLIENTS = 1_000
BYTES = 3 << 19  # of each transfer: 1.5 MiB, more than the part of a content that the store gathers
STEP = 32 << 10  # what a client moves in a step
STEP_SECONDS = 0.5
SECONDS_MAX = 120
BUFFER = 16 << 10  # of the kernel, for the answers of a slow reader
MEBIBYTES_OF_STREAM_MAX = 8  # BX-03
UPLOADS_MIN = 256  # BH-07: at once; the others may be refused
CONTAINER = "slow"


def content():
    """The bytes of every transfer."""
    return (wire.TEXT.encode() * (BYTES // len(wire.TEXT) + 1))[:BYTES]


class SlowClient:
    """One connection with one request. Of the request and of the answer it moves at most `allowed` bytes each."""

    def __init__(self, port, head, upload=b"", download=b"", source="127.0.0.1"):
        """`source`: the address of this machine that the client has."""
        self.head, self.upload, self.download = memoryview(head), memoryview(upload), memoryview(download)
        self.allowed, self.sent, self.received = 0, 0, 0
        self.answer, self.left = b"", None  # the head of the answer; the bytes of its body that are missing
        self.has_ended, self.is_same = False, True
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
        self.socket.bind((source, 0))
        self.socket.connect(("127.0.0.1", port))
        self.socket.setblocking(False)

    def step(self, more=STEP):
        """Moves the next bytes, `more` at most, and those that an earlier step could not move."""
        self.allowed += more
        try:
            if self._send():
                self._receive()
        except BlockingIOError:
            return  # the server is busy; the next step takes this one's bytes too
        except OSError as error:
            if error.errno not in (errno.EPIPE, errno.ECONNRESET):
                raise
            self._receive_what_is_there()

    def _send(self):
        """Returns whether the whole request was sent."""
        end = len(self.head) + len(self.upload)
        while self.sent < min(self.allowed, end):
            if self.sent < len(self.head):
                piece = self.head[self.sent:self.allowed]
            else:
                piece = self.upload[self.sent - len(self.head):self.allowed - len(self.head)]
            self.sent += self.socket.send(piece)
        return self.sent == end

    def _receive(self):
        while self.received < self.allowed and not self.has_ended:
            more = self.socket.recv(self.allowed - self.received)
            self.received += len(more)
            self._take(more)
            self.has_ended = not more or self.left == 0

    def _receive_what_is_there(self):
        """A server that refuses an upload may have answered before it closed the connection."""
        try:
            self._receive()
        except OSError:
            pass
        self.has_ended = True

    def _take(self, more):
        if self.left is None:
            head, found, more = (self.answer + more).partition(b"\r\n\r\n")
            self.answer = head
            if not found:
                return
            lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
            self.left = int(lengths[0].split(b":")[1]) if lengths else 0
            if self.download and self.left != len(self.download):
                self.is_same = False
        if self.download:
            begin = len(self.download) - self.left
            self.is_same = self.is_same and self.download[begin:begin + len(more)] == more
        self.left -= len(more)

    def status(self):
        """The status of the answer, or 0 if there is none."""
        words = self.answer[:32].split()
        return int(words[1]) if len(words) > 1 else 0

    def is_right(self):
        """Whether the upload was acknowledged, or the whole download was right."""
        return self.left == 0 and self.is_same and self.status() == (200 if self.download else 201)


def head_of(verb, name, headers, length=0):
    lines = [f"{verb} {blob_wire.target(f'{CONTAINER}/{name}')} HTTP/1.1", "Host: 127.0.0.1", f"x-ms-version: {wire.VERSION}",
             f"Content-Length: {length}", "Connection: close", *(f"{key}: {value}" for key, value in headers.items())]
    return "\r\n".join(lines + ["", ""]).encode()


def clients_of(port, count):
    """Half of the clients write a blob of their own, and half read one blob."""
    body = content()
    for number in range(count // 2):
        head = head_of("PUT", blob_wire.name_of(number), blob_wire.PUT_HEADERS, len(body))
        yield SlowClient(port, head, upload=body)
        yield SlowClient(port, head_of("GET", "read", {}), download=body)


def let_many_files_open(count):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < count:
        raise RuntimeError(f"the trial needs {count} open files, and the limit is {hard}")
    if soft != resource.RLIM_INFINITY and soft < count:
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))


def run_all(racer, clients):
    """Steps all clients until they have ended, and returns the most memory that the server held."""
    deadline = time.monotonic() + SECONDS_MAX
    peak = racer.memory_mb()
    while any(not client.has_ended for client in clients) and time.monotonic() < deadline:
        next_step = time.monotonic() + STEP_SECONDS
        for client in clients:
            if not client.has_ended:
                client.step()
        peak = max(peak, racer.memory_mb())
        time.sleep(max(0, next_step - time.monotonic()))
    return peak


def trial(racer, count=CLIENTS):
    """The server is running. It keeps the blobs of the trial in a container that is dropped afterwards."""
    helper = blob_wire.Client(racer.port)
    helper.create(CONTAINER)
    helper.put(CONTAINER, "read", content())
    before = racer.memory_mb()
    clients = list(clients_of(racer.port, count))
    try:
        peak = run_all(racer, clients)
    finally:
        for client in clients:
            client.socket.close()
    helper = blob_wire.Client(racer.port)
    right = sum(1 for client in clients if client.is_right())
    written = sum(1 for client in clients if client.upload and client.is_right())
    kept = sum(1 for name in helper.names(CONTAINER) if name != "read" and helper.get(CONTAINER, name) == content())
    if kept < written:
        raise RuntimeError(f"{racer.name}: {written} slow uploads were acknowledged, and {kept} blobs are whole")
    helper.drop(CONTAINER)
    return {"clients": len(clients), "complete": right, "written": written,
            "refused": sum(1 for one in clients if one.status() == 503), "before_mb": before, "peak_mb": peak, "mebibytes_a_client": (peak - before) * 1e6 / 2**20 / len(clients)}


def sentence(racer, outcome):
    """One line for people. The goal BX-44 is that of Varve alone."""
    is_met = (outcome["mebibytes_a_client"] <= MEBIBYTES_OF_STREAM_MAX and
              outcome["written"] >= min(UPLOADS_MIN, outcome["clients"] // 2))
    judged = (f" (BX-44, goal <= {MEBIBYTES_OF_STREAM_MAX}, and {UPLOADS_MIN} uploads at once: "
              f"{'met' if is_met else 'missed'})")
    return (f"{outcome['clients']:,} slow clients of {racer.name}: {outcome['complete']:,} transfers were complete and right, "
            f"{outcome['written']:,} of them uploads, {outcome['refused']:,} were refused. "
            f"Memory rose from {outcome['before_mb']:.0f} to {outcome['peak_mb']:.0f} MB, "
            f"{outcome['mebibytes_a_client']:.2f} MiB a client{judged if racer.name == 'varve' else ''}.")

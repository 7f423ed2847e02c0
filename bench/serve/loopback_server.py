"""Owns: a server that moves bodies and does nothing else: it shows the rate of the loopback under the client of the race.
Must never: be used as a real server.

Usage: loopback_server.py PORT BYTES
It answers each GET with so many bytes, and each PUT when its body has come to the end."""
import socket
import sys
import threading

PIECE = 1 << 18


def header_of(connection, pending):
    """The next header, and the bytes after it. None at the end of the connection."""
    while b"\r\n\r\n" not in pending:
        more = connection.recv(PIECE)
        if not more:
            return None, b""
        pending += more
    header, _, rest = pending.partition(b"\r\n\r\n")
    return header, rest


def length_of(header):
    for line in header.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0


def skip(connection, count, scratch):
    while count > 0:
        got = connection.recv_into(scratch, min(count, len(scratch)))
        if got == 0:
            return
        count -= got


def serve(connection, content):
    scratch = bytearray(PIECE)
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(content)}\r\n\r\n".encode()
    pending = b""
    while True:
        header, pending = header_of(connection, pending)
        if header is None:
            return
        skip(connection, length_of(header) - len(pending), scratch)
        pending = b""  # the client waits for an answer before the next request
        if header.startswith(b"GET"):
            connection.sendall(head)
            connection.sendall(content)
        else:
            connection.sendall(b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")


def serve_until_it_ends(connection, content):
    try:
        with connection:
            serve(connection, content)
    except OSError:
        return  # the client has gone, as it does at the end of a row


def main():
    port, length = map(int, sys.argv[1:])
    content = bytes(length)
    with socket.create_server(("127.0.0.1", port), backlog=128) as listener:
        while True:
            connection, _ = listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=serve_until_it_ends, args=(connection, content), daemon=True).start()


if __name__ == "__main__":
    main()

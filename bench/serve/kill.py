"""Owns: the trial by `kill -9`: entities are inserted, the server is killed, and what it had acknowledged is looked for.
Must never: count an entity as acknowledged before its answer was read."""
import signal
import threading
import time

import wire

WRITERS = 8
SECONDS = 8


def insert_until_refused(port, writer, acknowledged):
    client = wire.Client(port)
    try:
        for number in range(10**9):
            client.insert("Killed", f"w{writer}", f"{number:08d}")
            acknowledged.append((f"w{writer}", f"{number:08d}"))
    except (OSError, wire.http.client.HTTPException):
        return  # the server has ended, as expected


def trial(racer, directory):
    directory.mkdir()
    racer.start(directory)
    wire.Client(racer.port).create_table("Killed")
    acknowledged = [[] for _ in range(WRITERS)]
    writers = [threading.Thread(target=insert_until_refused, args=(racer.port, writer, acknowledged[writer]))
               for writer in range(WRITERS)]
    for writer in writers:
        writer.start()
    time.sleep(SECONDS)
    racer.end(signal.SIGKILL)
    for writer in writers:
        writer.join()
    racer.start(directory)
    found = set(wire.Client(racer.port).walk("Killed"))
    racer.end()
    wanted = {key for keys in acknowledged for key in keys}
    return {"acknowledged": len(wanted), "lost": len(wanted - found), "seconds": SECONDS}


def sentence(racer, outcome):
    return (f"Killed with `kill -9` under inserts, after {outcome['seconds']} s, {racer.name} had acknowledged "
            f"{outcome['acknowledged']:,} entities; {outcome['lost']:,} of them were lost.")

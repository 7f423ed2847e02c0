#!/usr/bin/env python3
# Owns: a seeded plan of faults on a real cluster, with writers, takeovers, and a ledger outside of the store.
# Must never: count a write as acknowledged that no answer acknowledged, or end a process that it did not start.
#
# Usage: tests/ceph/faults.py DIR PROGRAM SECONDS SEED [lies]
#   DIR      a cluster of tests/ceph/cluster with three OSDs and three monitors; its pool `varve` gets a store of its own
#   PROGRAM  the program varve
#   lies     writers note acknowledgements that no server gave, and the end must be 1
# Three slots each keep a server of the store running. One of them has the store, the others wait for it. Writers insert
# each key once, into any server, until an answer acknowledges it. A key that is acknowledged twice was in the hands of two
# owners. The plan has each kind of fault once before any of them again. The last lines of the output have the counts.
# Exit status: 0, or 1 if an acknowledged write was lost, doubled or changed, or an owner had no successor in a minute.
import base64
import hashlib
import hmac
import http.client
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from email.utils import formatdate

from strays import strays

ACCOUNT = "devstoreaccount1"
KEY = base64.b64decode(
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==")
WRITERS = 4

directory, program, seconds, seed = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])
lies = sys.argv[5:] == ["lies"]
here = os.path.dirname(os.path.abspath(__file__))
store = f"rados:varve/ledger-{seed}"
environment = dict(os.environ, CEPH_CONF=f"{directory}/ceph.conf", CEPH_ARGS="")
plan = random.Random(seed)
begun = time.monotonic()
over = threading.Event()
ledger = {}  # key -> acknowledged value
doubled = []
lock = threading.Lock()
counts = {"acknowledged": 0, "failed": 0, "takeovers": 0}
struck = {}  # kind of fault -> how often
findings = []


def note(text):
    print(f"{time.monotonic() - begun:7.1f} s  {text}", flush=True)


def cluster(*words):
    subprocess.run([f"{here}/cluster", words[0], directory, *words[1:]], check=True, timeout=120)


class Slot:
    """A place for a server, which is started again and again until it has the store."""

    def __init__(self, port):
        self.port = port
        self.process = None
        self.is_serving = False
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not over.is_set():
            log = open(f"{directory}/server-{self.port}.log", "ab")
            process = subprocess.Popen(
                [program, "serve", "--data", store, "--listen", f"127.0.0.1:{self.port}"], env=environment,
                stdout=subprocess.PIPE, stderr=log)
            self.process = process
            for line in process.stdout:  # A server that waits for the store says so first.
                if line.startswith(b"varve: serving rados:"):
                    with lock:
                        counts["takeovers"] += 1
                    self.is_serving = True
                    note(f"the server at {self.port} has the store")
            process.wait()
            self.is_serving = False
            over.wait(0.3)

    def signal(self, number):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)


def request(port, method, path, body=None, time_max=8):
    date = formatdate(usegmt=True)
    text = f"{date}\n/{ACCOUNT}/{ACCOUNT}/{path}"
    signature = base64.b64encode(hmac.new(KEY, text.encode(), hashlib.sha256).digest()).decode()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=time_max)
    try:
        connection.request(method, f"/{ACCOUNT}/{path}", body=json.dumps(body) if body is not None else None, headers={
            "Date": date, "Authorization": f"SharedKeyLite {ACCOUNT}:{signature}", "x-ms-version": "2019-02-02",
            "Content-Type": "application/json", "Accept": "application/json;odata=nometadata"})
        answer = connection.getresponse()
        answer.read()
        return answer.status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()


def write(number, slots):
    choose = random.Random(seed * 100 + number)
    row = 0
    while not over.is_set():
        row += 1
        key, attempt, acknowledged = f"{row:08}", 0, 0
        if lies and row % 10 == 0:
            with lock:
                ledger[(str(number), key)] = "a lie"
            continue
        while not over.is_set() and acknowledged == 0:
            attempt += 1
            slot = choose.choice([s for s in slots if s.is_serving] or slots)
            value = f"{number}-{row}-{attempt}-" + "x" * choose.choice([10, 10, 10, 3000])
            entity = {"PartitionKey": str(number), "RowKey": key, "Value": value}
            status = request(slot.port, "POST", "Ledger", entity)
            if status == 201:
                with lock:
                    counts["acknowledged"] += 1
                    ledger[(str(number), key)] = value
                acknowledged += 1
            elif status == 409 and attempt > 1:
                acknowledged += 1  # an attempt without an answer had succeeded; any of its values may be there
            else:
                with lock:
                    counts["failed"] += 1
                time.sleep(0.05)
        # The other server, if it answers at all, must not take the key again.
        if acknowledged and choose.random() < 0.05:
            for slot in slots:
                again = request(slot.port, "POST", "Ledger", {"PartitionKey": str(number), "RowKey": key, "Value": "again"}, 3)
                if again == 201:
                    doubled.append((number, key))


def serving(slots):
    ready = [slot for slot in slots if slot.is_serving]
    return ready[-1] if ready else None


def await_takeover(slots, what, began):
    while time.monotonic() < began + 60:
        if any(slot.is_serving for slot in slots):
            note(f"taken over after {time.monotonic() - began:.1f} s")
            return
        time.sleep(0.05)
    findings.append(what)
    note(f"FINDING: {what}: no server took the store over")


def strike_kill(slot, slots):
    """The owner dies."""
    began = time.monotonic()
    slot.signal(signal.SIGKILL)
    slot.is_serving = False
    await_takeover(slots, "kill", began)


def strike_kill_twice(slot, slots):
    """The owner dies, and its successor as soon as it has the store."""
    strike_kill(slot, slots)
    successor = serving(slots)
    if successor is not None:
        strike_kill(successor, slots)


def strike_freeze(slot, slots):
    """The owner hangs, and goes on after its successor has the store."""
    began = time.monotonic()
    slot.signal(signal.SIGSTOP)
    slot.is_serving = False
    await_takeover([other for other in slots if other is not slot], "freeze", began)
    slot.signal(signal.SIGCONT)
    slot.is_serving = True  # the writers try it, and must be refused
    time.sleep(plan.uniform(0.5, 2))
    slot.is_serving = False
    slot.signal(signal.SIGKILL)


def strike_blocklist(slot, slots):
    """The owner loses its connection for good, as by an operator."""
    began = time.monotonic()
    root = subprocess.run(["rados", "-p", "varve", "-N", "varve", "getxattr", f"{store.split('/')[1]}/root", "owner"],
                          env=environment, capture_output=True, text=True, timeout=60)
    words = root.stdout.split(" ")
    if len(words) == 3:
        for address in words[1].split(","):
            subprocess.run(["ceph", "osd", "blocklist", "add", address.strip("[]").split("v2:")[-1]],
                           env=environment, capture_output=True, timeout=60)
        time.sleep(1)
    slot.signal(signal.SIGKILL)
    slot.is_serving = False
    await_takeover(slots, "blocklist", began)


def freeze(daemons, how_long):
    for daemon in daemons:
        cluster("freeze", daemon)
    time.sleep(how_long)
    for daemon in daemons:
        cluster("thaw", daemon)


def strike_osd(_slot, _slots):
    """An OSD hangs, and is back before the cluster has noticed, or after."""
    freeze([f"osd.{plan.randrange(3)}"], plan.choice([3, 12]))


def strike_two_osds(_slot, _slots):
    """Fewer OSDs than min_size are left. Nothing may be acknowledged, and nothing may be lost."""
    freeze([f"osd.{osd}" for osd in plan.sample(range(3), 2)], 10)


def lose(daemon, how_long):
    cluster("kill", daemon)
    time.sleep(how_long)
    cluster("launch", daemon)
    time.sleep(2)


def strike_osd_lost(_slot, _slots):
    """An OSD and its disk are lost. The next loss must wait for the copies, or the cluster itself would lose data."""
    cluster("clean")
    lose(f"osd.{plan.randrange(3)}", 4)
    cluster("clean")


def strike_monitor_lost(slot, slots):
    """One of three monitors is lost and returns, and the owner dies meanwhile."""
    monitor = f"mon.{plan.choice('abc')}"
    cluster("kill", monitor)
    time.sleep(1)
    strike_kill(slot, slots)
    cluster("launch", monitor)


def strike_monitors(slot, slots):
    """The monitors have no majority, and the owner dies meanwhile. Its successor is connected, and needs none of them."""
    hung = [f"mon.{name}" for name in plan.sample("abc", 2)]
    for monitor in hung:
        cluster("freeze", monitor)
    time.sleep(1)
    strike_kill(slot, slots)
    time.sleep(3)
    for monitor in hung:
        cluster("thaw", monitor)


def strike_full(_slot, _slots):
    """The pool is full, and is freed."""
    cluster("fill")
    time.sleep(4)
    cluster("free")


KINDS = {
    "kill": strike_kill,
    "kill-twice": strike_kill_twice,
    "freeze": strike_freeze,
    "blocklist": strike_blocklist,
    "osd": strike_osd,
    "two-osds": strike_two_osds,
    "osd-lost": strike_osd_lost,
    "monitor-lost": strike_monitor_lost,
    "monitors": strike_monitors,
    "full": strike_full,
}


def kinds():
    while True:
        round_of_all = list(KINDS)
        plan.shuffle(round_of_all)
        yield from round_of_all


def strike(kind, slots):
    began = time.monotonic()
    while serving(slots) is None and time.monotonic() < began + 60:
        time.sleep(0.1)
    slot = serving(slots)
    if slot is None:
        findings.append(f"before {kind}")
        note("FINDING: no server has the store")
        return
    note(f"fault: {kind}, the server at {slot.port} has the store")
    struck[kind] = struck.get(kind, 0) + 1
    KINDS[kind](slot, slots)


def tool(*words):
    return subprocess.run([program, *words], env=environment, capture_output=True, text=True, timeout=300)


def judge():
    """Returns the number of acknowledged writes that are lost or changed, and the number of entities."""
    exported = tool("export", store, "Ledger")
    if exported.returncode != 0:
        sys.exit(f"the store could not be read: {exported.stderr}")
    found = {}
    for line in exported.stdout.splitlines():
        entity = json.loads(line)
        found[(entity["PartitionKey"], entity["RowKey"])] = entity["Value"]
    wrong = [key for key, value in ledger.items() if found.get(key) != value]
    for key in wrong[:10]:
        note(f"WRONG {key}: acknowledged {ledger[key][:40]}, found {str(found.get(key))[:40]}")
    verified = tool("verify", store)
    if verified.returncode != 0:
        sys.exit(f"the store does not verify: {verified.stdout}{verified.stderr}")
    return len(wrong), len(found)


def main():
    made = tool("table", "create", store, "Ledger", "--account", ACCOUNT)
    if made.returncode != 0:
        sys.exit(f"the table could not be made: {made.stdout}{made.stderr}")
    first = 10000 + seed % 3000 * 3
    slots = [Slot(first + number) for number in range(3)]
    for slot in slots:
        slot.thread.start()
    writers = [threading.Thread(target=write, args=(number, slots)) for number in range(WRITERS)]
    try:
        await_takeover(slots, "start", time.monotonic())
        for writer in writers:
            writer.start()
        for kind in kinds():
            time.sleep(plan.uniform(2, 5))
            if time.monotonic() - begun >= seconds:
                break
            strike(kind, slots)
        time.sleep(3)
    finally:
        over.set()
        for writer in writers:
            if writer.ident is not None:
                writer.join()
        for slot in slots:
            slot.signal(signal.SIGCONT)
            slot.signal(signal.SIGTERM)
            slot.thread.join(30)
            slot.signal(signal.SIGKILL)
    wrong, found = judge()
    _, lost = strays(directory)
    for name in lost[:10]:
        note(f"object without an entry: {name}")
    print("faults: " + ", ".join(f"{kind} {struck.get(kind, 0)}" for kind in KINDS))
    print(f"seed {seed}: {counts['takeovers']} openings, {counts['acknowledged']} acknowledged writes, "
          f"{counts['failed']} without an acknowledgement, {found} entities; lost or changed {wrong}, "
          f"doubled {len(doubled)}, objects without an entry {len(lost)}, not taken over {len(findings)}")
    sys.exit(1 if wrong or doubled or lost or findings else 0)


main()

#!/usr/bin/env python3
# Owns: a seeded plan of faults on a real cluster, with writers, takeovers, and a ledger outside of the store.
# Must never: count a write as acknowledged that no answer acknowledged, or end a process that it did not start.
#
# Usage: tests/ceph/faults.py DIR PROGRAM SECONDS SEED [lies] [resends]
#   DIR      a cluster of tests/ceph/cluster with three OSDs and three monitors; its pool `varve` gets a store of its own
#   PROGRAM  the program varve
#   lies     writers note acknowledgements that no server gave. The end must be 1.
#   resends  connections of the servers break and are slow, so that they send operations again.
# Three slots each keep a server of the store running, the third with a local cache and little memory. One of them has the
# store, the others wait for it. Writers insert each key once, into any server, until an answer acknowledges it. A key that
# is acknowledged twice was in the hands of two owners. A reader asks for acknowledged keys. The plan has each kind of
# fault once before any of them again. The last lines of the output have the counts.
# Exit status: 0, or 1 if an acknowledged write was lost, doubled or changed, or an owner had no successor in time. It is 1
# also if another promise that a fault checks was broken. A takeover may last 5 seconds, and 15 while monitors are lost too.
# Delays of this program itself, for want of a processor, are allowed beyond that.
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import threading
import time

from strays import strays
from table_client import ACCOUNT, figure, request

RESENDS = "--ms_inject_socket_failures 300 --ms_inject_delay_type osd --ms_inject_delay_probability 0.01"
WRITERS = 4
TAKEOVER_MAX = 5
MONITORLESS_TAKEOVER_MAX = 15
END_MAX = 15  # until a server that lost its store has ended

directory, program, seconds, seed = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])
lies, resends = ("lies" in sys.argv[5:]), ("resends" in sys.argv[5:])
here = os.path.dirname(os.path.abspath(__file__))
store = f"rados:varve/ledger-{seed}"
environment = dict(os.environ, CEPH_CONF=f"{directory}/ceph.conf", CEPH_ARGS="")
of_server = dict(environment, CEPH_ARGS=RESENDS if resends else "")
plan = random.Random(seed)
begun = time.monotonic()
over = threading.Event()
ledger = {}  # key -> acknowledged value
written = []  # its keys
doubled = []
lock = threading.Lock()
counts = {"acknowledged": 0, "failed": 0, "takeovers": 0, "read": 0, "from the local cache": 0}
struck = {}  # kind of fault -> how often
findings = []


def note(text):
    print(f"{time.monotonic() - begun:7.1f} s  {text}", flush=True)


def command(*words):
    """Returns the output of a command of Ceph, which must succeed."""
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def cluster(*words):
    subprocess.run([f"{here}/cluster", words[0], directory, *words[1:]], check=True, timeout=120)


def find(text):
    findings.append(text)
    note(f"FINDING: {text}")


class Sleeper(threading.Thread):
    """Adds up how much too late it wakes. A program that the machine keeps waiting is no slower than this."""
    NAP = 0.02

    def __init__(self):
        super().__init__(daemon=True)
        self.late = 0

    def run(self):
        while True:
            before = time.monotonic()
            time.sleep(self.NAP)
            self.late += time.monotonic() - before - self.NAP


sleeper = Sleeper()


class Loss:
    """The loss of an owner. It is made before that, and begins then, or at the last call of begin()."""
    times = []

    def __init__(self, what, time_max=TAKEOVER_MAX):
        self.what, self.time_max, self.openings = what, time_max, counts["takeovers"]
        self.begin()

    def begin(self):
        self.began, self.late = time.monotonic(), sleeper.late

    def await_successor(self):
        while counts["takeovers"] == self.openings and time.monotonic() < self.began + 60:
            time.sleep(0.02)
        taken, late = time.monotonic() - self.began, sleeper.late - self.late
        if counts["takeovers"] == self.openings:
            find(f"{self.what}: no server took the store over")
            return
        self.times.append(taken)
        note(f"taken over after {taken:.1f} s, of which the machine was late {late:.1f} s")
        if taken - late > self.time_max:
            find(f"{self.what}: the takeover lasted longer than {self.time_max} s")


class Slot:
    """A place for a server, which is started again and again until it has the store."""

    def __init__(self, port, *options):
        self.port, self.options = port, options
        self.process = None
        self.is_serving = False
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not over.is_set():
            log = open(f"{directory}/server-{self.port}.log", "ab")
            process = subprocess.Popen(
                [program, "serve", "--data", store, "--listen", f"127.0.0.1:{self.port}", *self.options], env=of_server,
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
            value = f"{number}-{row}-{attempt}-" + choose.randbytes(choose.choice([5, 5, 5, 8000])).hex()
            entity = {"PartitionKey": str(number), "RowKey": key, "Value": value}
            status, _ = request(slot.port, "POST", "Ledger", entity)
            if status == 201:
                with lock:
                    counts["acknowledged"] += 1
                    ledger[(str(number), key)] = value
                    written.append((str(number), key))
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
                entity = {"PartitionKey": str(number), "RowKey": key, "Value": "again"}
                again, _ = request(slot.port, "POST", "Ledger", entity, 3)
                if again == 201:
                    doubled.append((number, key))


def read(slots):
    """Reads what was acknowledged, the oldest most often. A server that answers has it."""
    choose = random.Random(seed)
    while not over.is_set():
        slot = serving(slots)
        if slot is None or not written:
            time.sleep(0.1)
            continue
        key = written[int(choose.random() ** 3 * len(written))]
        status, body = request(slot.port, "GET", f"Ledger(PartitionKey='{key[0]}',RowKey='{key[1]}')")
        if status == 200:
            counts["read"] += 1
        if status == 404 or (status == 200 and json.loads(body)["Value"] != ledger[key]):
            find(f"a read of {key} was answered with {status} {body[:80]}")
            return
        time.sleep(0.005)


def watch_cache(slot):
    """Adds up what the local caches of the servers of this slot answered."""
    process, hits = None, 0
    while not over.wait(0.5):
        seen = figure(slot.port + 1, "varve_cluster_local_cache_hits_total")
        if seen is None:
            continue
        if slot.process is not process:
            process, hits = slot.process, 0
        counts["from the local cache"] += max(0, seen - hits)
        hits = seen


def serving(slots):
    ready = [slot for slot in slots if slot.is_serving]
    return ready[-1] if ready else None


def await_owner(slots):
    began = time.monotonic()
    while serving(slots) is None and time.monotonic() < began + 60:
        time.sleep(0.1)
    return serving(slots)


def strike_kill(slot, _slots, time_max=TAKEOVER_MAX):
    """The owner dies."""
    loss = Loss("kill", time_max)
    slot.signal(signal.SIGKILL)
    slot.is_serving = False
    loss.await_successor()


def strike_kill_twice(slot, slots):
    """The owner dies, and its successor as soon as it has the store."""
    strike_kill(slot, slots)
    successor = serving(slots)
    if successor is not None:
        strike_kill(successor, slots)


def strike_freeze(slot, _slots):
    """The owner hangs, and goes on after its successor has the store."""
    loss = Loss("freeze")
    slot.signal(signal.SIGSTOP)
    slot.is_serving = False
    loss.await_successor()
    slot.signal(signal.SIGCONT)
    slot.is_serving = True  # the writers try it, and must be refused
    time.sleep(plan.uniform(0.5, 2))
    slot.is_serving = False
    slot.signal(signal.SIGKILL)


def strike_blocklist(slot, _slots):
    """The owner loses its connection for good, as by an operator. It notices that, and ends with an error by itself."""
    owner = command("rados", "-p", "varve", "-N", "varve", "getxattr", f"{store.split('/')[1]}/root", "owner")
    process, loss = slot.process, Loss("blocklist")
    for address in owner.split(" ")[1].split(","):
        command("ceph", "osd", "blocklist", "add", address.strip("[]").split("v2:")[-1])
    loss.begin()
    loss.await_successor()
    try:
        status = process.wait(END_MAX)
        note(f"the blocklisted server ended with {status} after {time.monotonic() - loss.began:.1f} s")
        if status != 4:
            find(f"blocklist: the server ended with {status}, expected 4")
    except subprocess.TimeoutExpired:
        find("blocklist: the server did not end")
        process.kill()


def freeze(daemons, how_long):
    for daemon in daemons:
        cluster("freeze", daemon)
    time.sleep(how_long)
    for daemon in daemons:
        cluster("thaw", daemon)
    cluster("clean")


def strike_osd(_slot, _slots):
    """An OSD hangs, and is back before the cluster has noticed, or after."""
    freeze([f"osd.{plan.randrange(3)}"], plan.choice([3, 12]))


def strike_two_osds(_slot, _slots):
    """Fewer OSDs than min_size are left: two hang, or are lost with their disks. Nothing may be acknowledged meanwhile."""
    away, back = plan.choice([("freeze", "thaw"), ("kill", "launch")])
    osds = [f"osd.{osd}" for osd in plan.sample(range(3), 2)]
    note(f"{away} {osds}")
    for osd in osds:
        cluster(away, osd)
    time.sleep(2)  # for answers under way
    before = counts["acknowledged"]
    time.sleep(8)
    acknowledged = counts["acknowledged"] - before
    for osd in osds:
        cluster(back, osd)
    if acknowledged > 0:
        find(f"two-osds: {acknowledged} writes were acknowledged without enough copies")
    cluster("clean")


def lose(daemon, how_long):
    cluster("kill", daemon)
    time.sleep(how_long)
    cluster("launch", daemon)
    time.sleep(2)


def strike_osd_lost(_slot, _slots):
    """An OSD is lost, with its disk if that is memory. The next loss must wait for the copies, or the cluster itself would lose data."""
    lose(f"osd.{plan.randrange(3)}", 4)
    cluster("clean")


def strike_monitor_lost(slot, slots):
    """One of three monitors is lost and returns, and the owner dies meanwhile."""
    monitor = f"mon.{plan.choice('abc')}"
    cluster("kill", monitor)
    time.sleep(1)
    strike_kill(slot, slots, MONITORLESS_TAKEOVER_MAX)
    cluster("launch", monitor)
    command("ceph", "mon", "stat")  # It waits for a majority.


def strike_monitors(slot, slots):
    """The monitors have no majority, or all of them hang, and the owner dies meanwhile. Its successor is connected, and
    needs none of them."""
    hung = [f"mon.{name}" for name in plan.sample("abc", plan.choice([2, 3]))]
    note(f"freeze {hung}")
    for monitor in hung:
        cluster("freeze", monitor)
    time.sleep(1)
    strike_kill(slot, slots, MONITORLESS_TAKEOVER_MAX)
    time.sleep(3)
    for monitor in hung:
        cluster("thaw", monitor)
    command("ceph", "mon", "stat")


def await_that(is_so, seconds_max):
    end = time.monotonic() + seconds_max
    while not is_so() and time.monotonic() < end:
        time.sleep(0.05)
    return is_so()


def strike_full(slot, _slots):
    """The pool is full, and is freed. What needs a new object is refused for lack of space, and a drop is not."""
    table = f"Side{struck['full']}"
    log = f"{directory}/server-{slot.port}.log"
    made, _ = request(slot.port, "POST", "Tables", {"TableName": table})
    cluster("fill")
    begin = os.path.getsize(log)

    def is_refused():
        entity = {"PartitionKey": "0", "RowKey": str(time.monotonic_ns()), "Value": plan.randbytes(15000).hex()}
        status, _ = request(slot.port, "POST", table, entity)
        with open(log, "rb") as lines:
            lines.seek(begin)
            return status == 503 and b"failed: NoSpace: writes are refused until there is room" in lines.read()

    if not await_that(is_refused, 30):
        find("full: no write was refused for lack of space")
    dropped, _ = request(slot.port, "DELETE", f"Tables('{table}')")
    if (made, dropped) != (201, 204):
        find(f"full: a table was made with {made}, and dropped with {dropped} while the pool was full")
    opened = tool("put", f"rados:varve/full-{seed}", "Orders", "eu", "1", "Lines=2")
    if opened.returncode != 4 or "NoSpace" not in opened.stderr:
        find(f"full: a new store ended with {opened.returncode} {opened.stderr}")
    cluster("free")
    before = counts["acknowledged"]
    if not await_that(lambda: counts["acknowledged"] > before, 20):
        find("full: no write was acknowledged when there was room again")


def strike_reserve(slot, slots):
    """The OSDs are full beyond their last reserve, and are freed. A write that they dropped never has an answer, so the
    server is ended then."""
    cluster("overfill")
    time.sleep(5)
    cluster("free")
    strike_kill(slot, slots)


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
    "reserve": strike_reserve,
}


def kinds():
    while True:
        round_of_all = list(KINDS)
        plan.shuffle(round_of_all)
        yield from round_of_all


def strike(kind, slots):
    slot = await_owner(slots)
    if slot is None:
        find(f"before {kind}: no server has the store")
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
    sleeper.start()
    first = 10000 + seed % 3000 * 4
    cached = Slot(first + 2, "--local-cache", f"{directory}:64MiB", "--memory", "52MiB",
                  "--metrics", f"127.0.0.1:{first + 3}")
    slots = [Slot(first), Slot(first + 1), cached]
    for slot in slots:
        slot.thread.start()
    clients = [threading.Thread(target=write, args=(number, slots)) for number in range(WRITERS)]
    clients += [threading.Thread(target=read, args=(slots,)), threading.Thread(target=watch_cache, args=(cached,))]
    try:
        if await_owner(slots) is None:
            sys.exit("no server opened the store")
        for client in clients:
            client.start()
        for kind in kinds():
            time.sleep(plan.uniform(2, 5))
            if time.monotonic() - begun >= seconds:
                break
            strike(kind, slots)
        time.sleep(3)
    finally:
        over.set()
        for client in clients:
            if client.ident is not None:
                client.join()
        for slot in slots:
            slot.signal(signal.SIGCONT)
            slot.signal(signal.SIGTERM)
            slot.thread.join(30)
            slot.signal(signal.SIGKILL)
    wrong, found = judge()
    _, _, lost = strays(directory)
    for name in lost[:10]:
        note(f"object without an entry: {name}")
    print("faults: " + ", ".join(f"{kind} {struck.get(kind, 0)}" for kind in KINDS))
    print(f"seed {seed}: {counts['takeovers']} openings, {counts['acknowledged']} acknowledged writes, "
          f"{counts['failed']} without an acknowledgement, {counts['read']} reads, "
          f"{counts['from the local cache']:.0f} blocks from a local cache, {found} entities; lost or changed {wrong}, "
          f"doubled {len(doubled)}, objects without an entry {len(lost)}, other findings {len(findings)}; "
          f"longest takeover {max(Loss.times, default=0):.1f} s, median {statistics.median(Loss.times or [0]):.1f} s")
    for text in findings:
        print(f"FINDING: {text}")
    sys.exit(1 if wrong or doubled or lost or findings else 0)


main()

"""Owns: the outbox trial: producers, workers and the server in processes of their own, SIGKILL by a plan, the judge's looks.
Must never: end well after a finding, or count a kill of a process that had ended by itself.

Usage: outbox_soak.py --producer PROGRAM --program PROGRAM [--kills N] [--seed N] [--directory DIR] [--lies]
The producer is varve-outbox-producer. With --lies, the producer over HTTP notes acknowledgements that it did not get: the
trial must then find a loss, and end with 1.
Exit codes: 0 nothing was broken; 1 a finding, with the seed and the directory; 2 the command line."""
import argparse
import http.client
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

import ledger
import outbox_judge
import outbox_plan
import served

import outbox_http  # after served, which knows where its modules are

HERE = pathlib.Path(__file__).resolve().parent
ITEMS_OF_LIFE = 100
SHIFTS_OF_LOOK = 8  # the judge looks after so many shifts
QUIET_SECONDS = 30  # a queue that does not shrink for so long is not emptied any more
KILLED = -9


class Finding(Exception):
    """A broken promise, or a process that ended otherwise than by the plan."""


class Actor:
    """A process of the trial with its ledger. Each start has a new one."""

    def __init__(self, trial, role, words):
        """`words` makes the command of the ledger's path and the number of the life."""
        self.trial, self.role, self.words = trial, role, words
        self.process, self.path = None, None

    def start(self):
        self.trial.lives += 1
        self.path = self.trial.directory / "ledgers" / f"{self.trial.lives:06d}"
        self.process = subprocess.Popen([str(word) for word in self.words(self.path, f"{self.trial.lives:06d}")],
                                        stdin=subprocess.DEVNULL)

    def kill(self):
        """Kills the process, counts the kill, and takes the ledger. Returns the exit code."""
        code = served.killed(self.process)
        self.process = None
        self.trial.take(self.path)
        if code == KILLED:
            self.trial.kills[self.role] += 1
        return code

    def must_be_killed(self):
        code = self.kill()
        if code != KILLED:
            raise Finding(f"a {self.role} ended by itself with {code}")

    def close(self):
        if self.process is not None:
            served.killed(self.process)


class Trial:
    def __init__(self, words, directory):
        self.words, self.directory, self.store = words, directory, directory / "store"
        (directory / "ledgers").mkdir()
        self.judge = outbox_judge.Judge()
        self.kills = {"producer": 0, "worker": 0, "server": 0}
        self.lives = self.looks = self.clean_ends = 0
        self.server = served.Server(words.program, self.store, ("tables", "queues"), directory / "server.log")
        ports = [self.server.ports["tables"], self.server.ports["queues"]]
        script = [sys.executable, "-B", HERE / "outbox_http.py"]
        lies = ["--lies"] if words.lies else []
        self.workers = [Actor(self, "worker", lambda path, _life: [*script, "worker", path, *ports])
                        for _ in range(outbox_plan.WORKERS)]
        self.producer = Actor(self, "producer",
                              lambda path, life: [*script, "producer", path, *ports, f"h{life}", *lies])
        self.embedded = None

    # -- The ledgers and the judge ------------------------------------------------------------------------------------

    def take(self, path):
        """Takes the ledger of a process that has ended. The process may have been killed before it made one."""
        if not path.exists():
            return
        try:
            self.judge.take(ledger.records_of(path.read_text(encoding="ascii")))
        except ValueError as error:
            raise Finding(f"{path}: {error}") from None

    def look(self):
        """Lets the workers empty the queue, ends all processes, and asks the judge."""
        queue = outbox_http.Queue(self.server.ports["queues"])
        self.producer.must_be_killed()
        left = self.emptied(queue)
        for worker in self.workers:
            worker.must_be_killed()
        tables = outbox_http.Tables(self.server.ports["tables"])
        found = self.judge.verdict(tables.rows("Orders"), tables.rows("Done"), left)
        self.server.end()
        verified = subprocess.run([str(self.words.program), "verify", str(self.store)], capture_output=True, text=True,
                                  check=False)
        if verified.returncode != 0:
            found.append(f"verify ended with {verified.returncode}: {verified.stderr or verified.stdout}")
        if found:
            raise Finding(f"{len(found)} broken promises:\n  " + "\n  ".join(found[:20]))
        self.looks += 1

    @staticmethod
    def emptied(queue):
        """Waits until the queue counts no message, or does not shrink any more. Returns its count."""
        count, changed = queue.count(), time.monotonic()
        while count > 0 and time.monotonic() - changed < QUIET_SECONDS:
            time.sleep(0.2)
            now = queue.count()
            if now != count:
                count, changed = now, time.monotonic()
        return count

    # -- The shifts ---------------------------------------------------------------------------------------------------

    def embedded_shift(self, lives):
        for life in lives:
            self.embedded = Actor(self, "producer", lambda path, name, life=life: [
                self.words.producer, self.store, path, f"e{name}", ITEMS_OF_LIFE, life.seed, life.durability])
            self.embedded.start()
            time.sleep(life.milliseconds / 1000)
            code = self.embedded.kill()
            if code == 0:
                self.clean_ends += 1
            elif code != KILLED:
                raise Finding(f"a producer that embeds the store ended by itself with {code}")

    def begin_service(self):
        self.server.start()
        outbox_http.Queue(self.server.ports["queues"]).create()
        tables = outbox_http.Tables(self.server.ports["tables"])
        for table in ("Orders", "Done"):
            tables.create(table)
        for actor in (*self.workers, self.producer):
            actor.start()

    def kill_server(self):
        code = self.server.kill()
        if code != KILLED:
            raise Finding(f"the server ended by itself with {code}; see {self.server.log}")
        self.kills["server"] += 1

    def served_kill(self, kill):
        if kill.victim == "server":
            self.kill_server()
            if kill.again_ms is not None:
                self.server.start(waits=False)
                time.sleep(kill.again_ms / 1000)
                self.kill_server()
            self.server.start()
        else:
            actor = self.producer if kill.victim == "producer" else self.workers[kill.worker]
            actor.must_be_killed()
            actor.start()

    def served_shift(self, shift, looks):
        self.begin_service()
        for kill in shift.kills:
            time.sleep(kill.milliseconds / 1000)
            self.served_kill(kill)
        if looks:
            self.look()
            return
        workers = iter(self.workers)
        for name in shift.last:
            if name == "server":
                self.kill_server()
            else:
                (self.producer if name == "producer" else next(workers)).must_be_killed()

    def run(self):
        """Works until there were enough kills, and ends with a look."""
        for number, shift in enumerate(outbox_plan.shifts(self.words.seed), 1):
            self.embedded_shift(shift.lives)
            is_last = sum(self.kills.values()) + len(shift.kills) >= self.words.kills
            self.served_shift(shift, is_last or number % SHIFTS_OF_LOOK == 0)
            print(f"shift {number}: {self.summary()}", file=sys.stderr, flush=True)
            if is_last:
                break
        if min(self.judge.counts.values()) == 0:
            raise Finding("the trial shows nothing: no put, no delivery or no delete was acknowledged")

    def summary(self):
        kills, counts = self.kills, self.judge.counts
        return (f"{sum(kills.values()):,} kills ({kills['producer']:,} of producers, {kills['worker']:,} of workers, "
                f"{kills['server']:,} of servers), {self.clean_ends:,} clean ends of producers; {counts['puts']:,} "
                f"acknowledged puts, {self.judge.unacknowledged():,} that happened without an acknowledgement, "
                f"{counts['deliveries']:,} deliveries, {counts['deletes']:,} acknowledged deletes; {self.looks:,} looks")

    def close(self):
        for actor in (self.embedded, self.producer, *self.workers):
            if actor is not None:
                actor.close()
        self.server.close()


def parse_words():
    parser = argparse.ArgumentParser()
    parser.add_argument("--producer", required=True, type=pathlib.Path)
    parser.add_argument("--program", required=True, type=pathlib.Path)
    parser.add_argument("--kills", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000_000))
    parser.add_argument("--directory", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()))
    parser.add_argument("--lies", action="store_true")
    return parser.parse_args()


def main():
    words = parse_words()
    directory = pathlib.Path(tempfile.mkdtemp(prefix="varve-outbox-", dir=words.directory))
    print(f"seed {words.seed}, {words.kills:,} kills, in {directory}", file=sys.stderr, flush=True)
    trial = Trial(words, directory)
    begun = time.monotonic()
    try:
        trial.run()
    except (Finding, RuntimeError, OSError, http.client.HTTPException) as error:
        print(f"finding, seed {words.seed}: {error}\n{trial.summary()}\nThe store and the ledgers are kept in {directory}",
              file=sys.stderr)
        return 1
    finally:
        trial.close()
    print(f"{trial.summary()}; {time.monotonic() - begun:,.0f} s, seed {words.seed}. No promise was broken.")
    shutil.rmtree(directory)
    return 0


if __name__ == "__main__":
    sys.exit(main())

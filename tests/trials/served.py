"""Owns: `varve serve` as a process of a trial: started, killed, started again on the same ports, and measured.
Must never: leave the process, or count a kill of a process that had ended before."""
import pathlib
import random
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "serve"))

# The system takes ports of outgoing connections above. A client that asks again and again for a server that was killed
# could otherwise get the server's port as its own, and be connected to itself.
PORTS = range(20_000, 30_000)
START_SECONDS_MAX = 60
END_SECONDS_MAX = 60


def free_ports(count):
    """Returns different ports that no process uses at the moment."""
    found = []
    for port in random.SystemRandom().sample(PORTS, len(PORTS)):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        found.append(port)
        if len(found) == count:
            return found
    raise RuntimeError("there are not enough free ports")


def killed(process):
    """Kills a process. Returns its exit code: -9, or another one if it had ended by itself."""
    process.send_signal(signal.SIGKILL)
    return process.wait()


def peak_of(pid):
    """Returns the most bytes of memory that a process has held so far."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")) * 1024


class Server:
    """The services: tables, queues, blobs, metrics."""

    OPTIONS = {"tables": "--listen", "queues": "--listen-queues", "blobs": "--listen-blobs", "metrics": "--metrics"}

    def __init__(self, program, store, services, log, words=(), limit=None):
        """`log` is the file that receives what the server reports. `limit`: a memory_group.Limit."""
        self.ports = dict(zip(services, free_ports(len(services))))
        listens = [word for service, port in self.ports.items() for word in (self.OPTIONS[service], f"127.0.0.1:{port}")]
        self.command = [str(program), "serve", "--data", str(store), "--status-page", "off", *listens, *words]
        self.log, self.limit, self.process = log, limit, None

    def start(self, waits=True):
        command = self.limit.wrap(self.command) if self.limit else self.command
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        if waits:
            self.wait()

    def wait(self):
        """Returns when all services listen. Raises if the server ended."""
        deadline = time.monotonic() + START_SECONDS_MAX
        for port in self.ports.values():
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=1).close()
                    break
                except OSError:
                    if self.process.poll() is not None:
                        raise RuntimeError(f"the server ended by itself with {self.process.returncode}; see {self.log}") from None
                    if time.monotonic() > deadline:
                        raise RuntimeError(f"the server does not listen after {START_SECONDS_MAX} s; see {self.log}") from None
                    time.sleep(0.005)

    def peak_bytes(self):
        return peak_of(self.process.pid)

    def kill(self):
        """Returns the exit code, as killed() does."""
        process, self.process = self.process, None
        return killed(process)

    def end(self):
        """Ends the server by SIGTERM. Raises if it does not end well."""
        process, self.process = self.process, None
        process.send_signal(signal.SIGTERM)
        try:
            code = process.wait(END_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            killed(process)
            raise RuntimeError(f"the server did not end in {END_SECONDS_MAX} s") from None
        if code != 0:
            raise RuntimeError(f"the server ended with {code}; see {self.log}")

    def close(self):
        """Kills the server if it runs. For the end of a trial that found something."""
        if self.process is not None:
            self.kill()

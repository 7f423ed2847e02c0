"""Owns: the processes of the race: started with data in a directory of their own, ended, killed, their time read.
Must never: leave a process behind, or set one contender up better than the other."""
import os
import signal
import socket
import subprocess
import time


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Contender:
    def __init__(self, name, version, keeps, command):
        """`command` makes a command line of a directory and a port; `keeps` says what an answered write has reached."""
        self.name, self.version, self.keeps, self.command = name, version, keeps, command
        self.process, self.port, self.logs_port = None, None, None

    def start(self, directory):
        self.port = free_port()
        self.process = subprocess.Popen(self.command(directory, self.port), stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while True:
            try:
                return socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"{self.name} does not listen") from None
                time.sleep(0.02)

    def end(self, how=signal.SIGTERM):
        if self.process:
            self.process.send_signal(how)
            self.process.wait()
            self.process = None

    def processor_seconds(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_mb(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) / 1000


def varve(program):
    """It listens for blobs too, so that its log of requests can be read."""
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    logs_port = free_port()
    made = Contender("varve", version, "the device", lambda directory, port: [
        program, "serve", "--data", f"{directory}/store", "--listen", f"127.0.0.1:{port}",
        "--listen-blobs", f"127.0.0.1:{logs_port}"])
    made.logs_port = logs_port
    return made


def azurite(installed, version):
    main = f"{installed}/node_modules/azurite/dist/src/table/main.js"
    return Contender("azurite", version, "memory, which goes to a file every 5 s", lambda directory, port: [
        "node", main, "--silent", "--disableTelemetry", "--location", f"{directory}/azurite", "--tablePort", str(port)])


def empty(name, program):
    """Answers each request with the same bytes: what the client can do, or what the HTTP library costs."""
    return Contender(name, "", "nothing", lambda _, port: [program, str(port)])

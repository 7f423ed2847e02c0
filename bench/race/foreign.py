"""Owns: how much the machine did for others while a part of the race ran.
Must never: take for foreign what the kernel does for us, or overlook a process because it was short.

It is counted in two ways, and the smaller one is believed. What the processors did besides us, the kernel's own threads and
interrupts (these write back and complete what we ask for) holds whatever came and went; but it is sampled by the timer, which
is unfair to work in short bursts. What all other processes used is exact, with that of their ended children; who ended
without a parent that asked is missing there."""
import collections
import glob
import os
import resource
import time

KERNEL_THREAD = 0x00200000  # of the flags in /proc/PID/stat
SECONDS_A_TICK = 1 / os.sysconf("SC_CLK_TCK")

# Numbers of processors: 0.1 is a tenth of one.
Load = collections.namedtuple("Load", ["foreign", "steal", "average"])
# Seconds since the machine started.
Counters = collections.namedtuple("Counters", ["by_processors", "by_processes", "stolen"])


def _processors():
    """Seconds of all processors together: in use but for interrupts, and stolen by other machines."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _idle, _wait, _irq, _soft, steal, *_ = map(int, file.readline().split()[1:])
    return (user + nice + system) * SECONDS_A_TICK, steal * SECONDS_A_TICK


def _processes():
    """Seconds of the kernel's threads, and of all other processes but this one with their ended children."""
    kernel = others = 0
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                pid, _, rest = file.read().partition(" ")
        except OSError:
            continue  # the process has ended
        fields = rest.rpartition(")")[2].split()
        alone, with_children = sum(map(int, fields[11:13])), sum(map(int, fields[11:15]))
        if int(fields[6]) & KERNEL_THREAD:
            kernel += alone * SECONDS_A_TICK
        elif int(pid) != os.getpid():
            others += with_children * SECONDS_A_TICK
    return kernel, others


def _ours():
    total = 0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        usage = resource.getrusage(who)
        total += usage.ru_utime + usage.ru_stime
    return total


def counters():
    used, stolen = _processors()
    kernel, others = _processes()
    return Counters(used - kernel - _ours(), others, stolen)


class Watch:
    """From its making to load(); children count as ours once they were waited for."""

    def __init__(self, read=counters, clock=time.monotonic):
        self.read, self.clock = read, clock
        self.begun, self.before = self.clock(), self.read()

    def load(self):
        seconds = max(self.clock() - self.begun, 0.01)
        after = self.read()
        by_processors, by_processes, steal = (max((now - then) / seconds, 0)
                                              for now, then in zip(after, self.before))
        return Load(min(by_processors, by_processes), steal, os.getloadavg()[0])


def now(seconds=1.0):
    """The load while we do nothing."""
    watch = Watch()
    time.sleep(seconds)
    return watch.load()


def is_busy(load, foreign_max, steal_max):
    return load.foreign > foreign_max or load.steal > steal_max

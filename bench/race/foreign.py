"""Owns: how much the machine did for others while a part of the race ran.
Must never: take for foreign what the kernel does for us, or overlook a process because it was short.

Foreign is what the processors did besides our children, the kernel's own threads and interrupts: these write back and
complete what we ask for. Whoever came and went meanwhile is in the processors' counters all the same."""
import collections
import glob
import os
import resource
import time

KERNEL_THREAD = 0x00200000  # of the flags in /proc/PID/stat
SECONDS_A_TICK = 1 / os.sysconf("SC_CLK_TCK")

# In processors: 0.1 is a tenth of one.
Load = collections.namedtuple("Load", ["foreign", "steal", "average"])


def _processors():
    """Seconds of all processors together: in use but for interrupts, and stolen by other machines."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _idle, _wait, _irq, _soft, steal, *_ = map(int, file.readline().split()[1:])
    return (user + nice + system) * SECONDS_A_TICK, steal * SECONDS_A_TICK


def _kernel_threads():
    seconds = 0
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        if int(fields[6]) & KERNEL_THREAD:
            seconds += (int(fields[11]) + int(fields[12])) * SECONDS_A_TICK
    return seconds


def _ours():
    total = 0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        usage = resource.getrusage(who)
        total += usage.ru_utime + usage.ru_stime
    return total


def processor_seconds():
    """Foreign ones and stolen ones, since the machine began."""
    used, stolen = _processors()
    return used - _kernel_threads() - _ours(), stolen


class Watch:
    """From its making to load(); children count as ours once they were waited for."""

    def __init__(self, counters=None, clock=time.monotonic):
        self.counters, self.clock = counters or processor_seconds, clock
        self.begun, self.before = self.clock(), self.counters()

    def load(self):
        seconds = max(self.clock() - self.begun, 0.01)
        after = self.counters()
        foreign, steal = ((now - then) / seconds for now, then in zip(after, self.before))
        return Load(max(foreign, 0), max(steal, 0), os.getloadavg()[0])


def now(seconds=1.0):
    """The load while we do nothing."""
    watch = Watch()
    time.sleep(seconds)
    return watch.load()


def is_busy(load, foreign_max, steal_max):
    return load.foreign > foreign_max or load.steal > steal_max

"""Owns: a process whose memory the kernel limits, as a container's: a control group, and the peaks that it measures.
Must never: count a limit as given that the kernel did not take.

The group is made below that of this process, or below the root: version 2 if it has the memory controller, otherwise
version 1. Making one needs the rights of root."""
import os
import pathlib
import re


class MemoryGroup:
    def __init__(self, directory, version):
        self.directory, self.version = directory, version

    @classmethod
    def make(cls, bytes_max):
        """Returns the group. Raises OSError with the reasons if no group can be made here."""
        refusals = []
        for parent, version in parents(pathlib.Path("/proc/self/cgroup").read_text(encoding="utf-8")):
            group = cls(parent / f"varve-trial-{os.getpid()}", version)
            try:
                if version == 2:
                    (parent / "cgroup.subtree_control").write_text("+memory", encoding="utf-8")
                group.directory.mkdir()
            except OSError as error:
                refusals.append(str(error))
                continue
            try:
                limit = "memory.max" if version == 2 else "memory.limit_in_bytes"
                (group.directory / limit).write_text(str(bytes_max), encoding="utf-8")
                return group
            except OSError as error:
                refusals.append(str(error))
                group.directory.rmdir()
        raise OSError("; ".join(refusals) or "there are no control groups")

    def wrap(self, command):
        """Returns the command that runs another one in the group."""
        return ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', str(self.directory), *command]

    def kills(self):
        """Returns how often the kernel killed a process of the group because of its memory."""
        name = "memory.events" if self.version == 2 else "memory.oom_control"
        found = re.search(r"^oom_kill (\d+)$", (self.directory / name).read_text(encoding="utf-8"), re.MULTILINE)
        return int(found.group(1)) if found else 0

    def remove(self):
        """Its processes must have ended."""
        self.directory.rmdir()


def parents(lines):
    """Returns the directories in which a group can be made, with the version of each. `lines`: /proc/self/cgroup."""
    found = []
    for line in lines.splitlines():
        number, controllers, path = line.split(":", 2)
        below = path.strip("/")
        if number == "0":
            for mount in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified"):
                found += [(pathlib.Path(mount) / below, 2), (pathlib.Path(mount), 2)]
        elif "memory" in controllers.split(","):
            found += [(pathlib.Path("/sys/fs/cgroup/memory") / below, 1), (pathlib.Path("/sys/fs/cgroup/memory"), 1)]
    return found


class Limit:
    """A limit of memory for the programs of a trial. The peak of each program is measured. The kernel enforces the limit
    where a group can be made."""

    def __init__(self, bytes_max):
        self.bytes_max, self.group, self.peaks = bytes_max, None, {}
        try:
            self.group = MemoryGroup.make(bytes_max)
            print(f"the kernel limits the programs to {mebibytes(bytes_max)}, with the page cache", flush=True)
        except OSError as error:
            print(f"no control group can be made here ({error}); the peak of each program is measured alone", flush=True)

    def wrap(self, command):
        return self.group.wrap(command) if self.group else list(command)

    def note(self, name, peak_bytes):
        """Notes the peak of a program. Raises if it is above the limit."""
        self.peaks[name] = max(self.peaks.get(name, 0), peak_bytes)
        if peak_bytes > self.bytes_max:
            raise RuntimeError(f"{name} held {mebibytes(peak_bytes)}, above the limit of {mebibytes(self.bytes_max)}")

    def judge(self):
        """Raises if the kernel killed a program because of its memory."""
        kills = self.group.kills() if self.group else 0
        if kills:
            raise RuntimeError(f"the kernel killed {kills} programs because of their memory")

    def end(self):
        """Removes the group. All programs should have ended."""
        try:
            if self.group is not None:
                self.group.remove()
        except OSError as error:
            print(f"the control group stays: {error}", flush=True)
        self.group = None


def mebibytes(count):
    return f"{count / (1 << 20):,.1f} MiB"


def size_of(text):
    """Parses a size such as 64M, 512MiB or 10G. Units are powers of 1,024. Raises ValueError."""
    found = re.fullmatch(r"(\d+)([KMGT]?)(i?B)?", text, re.IGNORECASE)
    if not found or int(found.group(1)) == 0:
        raise ValueError(f"{text!r} is not a size; give one such as 64M or 10G")
    return int(found.group(1)) << (10 * " KMGT".index(found.group(2).upper() or " "))

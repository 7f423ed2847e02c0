"""Owns: what a line of results says of the machine and of the sources that were measured.
Must never: fail where something is not known; it then says so."""
import os
import platform
import subprocess

# The folders that our figures depend on. If a commit changes none of them, earlier figures stay valid.
CORE = ["api", "engine", "format", "io"]


def _first_line(path, prefix):
    try:
        with open(path, encoding="utf-8") as file:
            return next(line.partition(":")[2].strip() for line in file if line.startswith(prefix))
    except (OSError, StopIteration):
        return "unknown"


def _file_system(directory):
    path = os.path.realpath(directory)
    try:
        with open("/proc/self/mounts", encoding="utf-8") as file:
            mounts = [line.split()[1:3] for line in file]
    except OSError:
        return "unknown file system"
    below = [(len(point), kind) for point, kind in mounts if os.path.commonpath([path, point]) == point]
    return max(below, default=(0, "unknown file system"))[1]


def describe(directory):
    """The machine in a line, as it stays from day to day; `directory` is where stores are made."""
    memory_kib = _first_line("/proc/meminfo", "MemTotal").split()[0]
    gib = f"{int(memory_kib) / (1 << 20):.0f} GiB" if memory_kib.isdigit() else "unknown memory"
    return ", ".join([f"{os.cpu_count()} processors", _first_line("/proc/cpuinfo", "model name"), gib,
                      _file_system(directory), f"Linux {platform.release()}"])


def _git(root, *words):
    found = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=False)
    return found.stdout.strip() if found.returncode == 0 else ""


def commit(root):
    return _git(root, "rev-parse", "--short=12", "HEAD") or "unknown"


def sources(root):
    """Names the sources of the core, so that rounds of other sources are not mixed with these."""
    trees = _git(root, "rev-parse", *[f"HEAD:{directory}" for directory in CORE]).split()
    name = "-".join(tree[:7] for tree in trees) or "unknown"
    return name + ("-changed" if _git(root, "status", "--porcelain", "--", *CORE) else "")

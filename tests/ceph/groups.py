#!/usr/bin/env python3
# Owns: what the OSDs of a cluster say of the placement groups of the pool `varve`: their copies and their scrubs.
# Must never: change a group, or take an OSD that does not answer for one that found nothing.
#
# Usage: tests/ceph/groups.py clean|scrubs DIR
#   DIR      a cluster of tests/ceph/cluster
#   clean    waits until each object has all of its copies
#   scrubs   waits until each group has been scrubbed deeply once more, and prints how often that was so since the cluster
#            was made
# Exit status: 0, or 1 if that is not so in time, or a scrub found copies that differ or damaged ones.
import glob
import json
import re
import socket
import struct
import sys
import time

GROUPS = [f"1.{number:x}" for number in range(16)]
CLEAN_MAX = 120
SCRUB_MAX = 180


def ask(path, **command):
    """Asks an OSD by its socket. There is no manager that would know."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(5)
        try:
            connection.connect(path)
            connection.sendall(json.dumps(command).encode() + b"\0")
            stream = connection.makefile("rb")
            return json.loads(stream.read(struct.unpack(">I", stream.read(4))[0]))
        except (OSError, ValueError, struct.error):
            return {}  # one that was killed, or is no primary


def state_of(directory, group):
    """Returns what the primary says of the group, or an empty answer if there is none at this time."""
    for path in glob.glob(f"{directory}/osd.*.asok"):
        answer = ask(path, prefix="pg", pgid=group, cmd="query")
        if answer:
            return answer
    return {}


def await_all(is_done, seconds_max):
    """Waits until it is so for all groups. Returns those of which it is not."""
    end = time.monotonic() + seconds_max
    waiting = GROUPS
    while waiting and time.monotonic() < end:
        waiting = [group for group in waiting if not is_done(group)]
        time.sleep(0.2 if waiting else 0)
    return waiting


def clean(directory):
    waiting = await_all(lambda group: state_of(directory, group).get("state") == "active+clean", CLEAN_MAX)
    sys.exit(f"groups: not clean: {waiting}" if waiting else 0)


def scrubs(directory):
    before, errors = {}, {}

    def is_scrubbed(group):
        stats = state_of(directory, group).get("info", {}).get("stats")
        if not stats:
            return False
        errors[group] = stats["stat_sum"]["num_scrub_errors"]
        return stats["last_deep_scrub_stamp"] > before.setdefault(group, stats["last_deep_scrub_stamp"])

    waiting = await_all(is_scrubbed, SCRUB_MAX)
    if waiting:
        sys.exit(f"groups: not scrubbed: {waiting}")
    done, found = 0, []
    for path in glob.glob(f"{directory}/osd.*.log"):
        with open(path, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                done += bool(re.search(r" : 1\.[0-9a-f]+ deep-scrub ok", line))
                if "log_channel(cluster) log [ERR]" in line and "full status failsafe" not in line:
                    found.append(line.strip())
    for line in found[:10]:
        print(line)
    print(f"{done} deep scrubs of {len(GROUPS)} groups, errors {max(sum(errors.values()), len(found))}")
    sys.exit(1 if any(errors.values()) or found or done < len(GROUPS) else 0)


{"clean": clean, "scrubs": scrubs}[sys.argv[1]](sys.argv[2])

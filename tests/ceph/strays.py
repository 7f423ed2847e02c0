#!/usr/bin/env python3
# Owns: finding the objects of stores on a cluster that no entry of a root names.
# Must never: change an object, or count an object as named because its store is unknown.
#
# Usage: tests/ceph/strays.py DIR   while no store of the pool `varve` is open
#   DIR      a cluster of tests/ceph/cluster
# Prints each such object, and the counts, also that of the leases that processes left. Exit status: 0, or 1 if there is an
# object without an entry.
import os
import re
import subprocess
import sys
import tempfile


def strays(directory):
    """Returns the numbers of stores and of leases in the pool, and the objects that lack an entry."""
    environment = dict(os.environ, CEPH_CONF=f"{directory}/ceph.conf", CEPH_ARGS="")

    def rados(*words):
        done = subprocess.run(["rados", "-p", "varve", "-N", "varve", *words], env=environment, capture_output=True,
                              text=True, timeout=120, check=True)
        return done.stdout

    objects = rados("ls").splitlines()
    roots = [name for name in objects if name.endswith("/root")]
    named = set()
    for root in roots:
        store = rados("getxattr", root, "id").strip()
        for key in rados("listomapkeys", root).splitlines():
            if key.startswith("p/"):  # an id that the next owner removes
                named.add(f"{store}/{key[2:]}")
                continue
            with tempfile.NamedTemporaryFile() as entry:
                rados("getomapval", root, key, entry.name)
                named.add(f"{store}/{entry.read().decode().split(' ')[1]}")
    of_files = [name for name in objects if re.fullmatch(r"[0-9a-f]{32}/[0-9]+\.[0-9]+\.[0-9]+", name)]
    leases = sum(name.endswith("/lease") for name in objects)
    return len(roots), leases, [name for name in of_files if name.rsplit(".", 1)[0] not in named]


def main():
    stores, leases, lost = strays(sys.argv[1])
    for name in lost[:10]:
        print(f"object without an entry: {name}")
    print(f"{stores} stores, {leases} leases, objects without an entry {len(lost)}")
    sys.exit(1 if lost or stores == 0 else 0)


if __name__ == "__main__":
    main()

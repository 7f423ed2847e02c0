# Owns: the comparison of two ways to iterate over a table from Python: the package varve, and the SDK of Azure Tables
# through HTTP against `varve serve` on this machine.
# Must never: compare different work. Both read the same entities of one store, with all properties, and sum one of them.
#
# Usage: build/python/environment/bin/python bench/python/iterate.py [ENTITIES]
#   The environment is that of tests/python/run. The SDK is Debian's python3-azure (tools/install-packages python-client).
import os
import subprocess
import sys
import tempfile
import time

import varve
from azure.core.credentials import AzureNamedKeyCredential
from azure.data.tables import TableServiceClient

ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
PROGRAM = os.path.join(os.path.dirname(__file__), "..", "..", "build", "release", "varve")


def rate(name, entities):
    """Iterates once and prints entities a second."""
    begun = time.perf_counter()
    total = sum(entity["N"] for entity in entities)
    seconds = time.perf_counter() - begun
    assert total == COUNT * (COUNT - 1) // 2, "not all entities were read"
    print(f"{name:28} {COUNT / seconds:12,.0f} entities/s")
    return COUNT / seconds


def main():
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "store")
        with varve.open(path, create=True) as store:
            store.create_account(ACCOUNT)
            with store.load(ACCOUNT, "Rows") as load:
                for number in range(COUNT):
                    load.add(varve.Entity("p", f"{number:09d}", N=number, Name=f"name {number}", Total=number / 2,
                                          Paid=number % 2 == 0, Text="text of some length"))
            table = store.table(ACCOUNT, "Rows")
            ours = max(rate("package varve", table) for _ in range(3))
        server = subprocess.Popen([PROGRAM, "serve", "--data", path, "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE,
                                  text=True)
        try:
            url = server.stdout.readline().split()[-1]
            client = TableServiceClient(url + ACCOUNT, credential=AzureNamedKeyCredential(ACCOUNT, KEY))
            theirs = max(rate("SDK of Azure through HTTP", client.get_table_client("Rows").list_entities())
                         for _ in range(3))
        finally:
            server.terminate()
            server.wait()
    print(f"ratio {ours / theirs:.1f}")


main()

"""Goal: the functions of a program receive log lines and changes of health, whatever they do, and no longer than they may.

Method: unittest, on stores in temporary directories whose files are damaged or taken away. Processes of their own show
what happens at the end of the interpreter and after a fork. Run by tests/python/run, which installs the wheel.
"""
import contextlib
import gc
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest
import weakref

import varve
from varve import Entity, Health, Resources

ROWS = 20_000


def take_log_away(path):
    """The next durable write of the store finds that its file has lost its name."""
    for log in glob.glob(os.path.join(path, "*.wal")):
        os.rename(log, log + ".away")


def damage_tables(path):
    """Changes a byte of many data blocks. The first rows of each file, and the indexes at its end, stay whole."""
    for name in glob.glob(os.path.join(path, "*.sst")):
        with open(name, "r+b") as file:
            for offset in range(200_000, os.path.getsize(name) // 2, 4096):
                file.seek(offset)
                byte = file.read(1)
                file.seek(offset)
                file.write(bytes([byte[0] ^ 0x10]))


def close_poisoned(store):
    with contextlib.suppress(varve.VarveError):
        store.close()


class WithStores(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="varve-python-")
        self.addCleanup(shutil.rmtree, self.directory)
        self.path = os.path.join(self.directory, "store")

    def make(self, path=None, **options):
        store = varve.open(path or self.path, create=True, **options)
        store.create_account("shop")
        return store, store.create_table("shop", "Orders")

    def make_damaged(self):
        store, table = self.make()
        with store.load("shop", "Numbers") as load:
            for number in range(ROWS):
                load.add(Entity("p", f"{number:06d}", Text=os.urandom(30)))
        store.compact()
        store.close()
        damage_tables(self.path)

    def merge(self, store):
        """Lets a compaction read the damaged file. The store logs that it does not use it any more."""
        table = store.table("shop", "Numbers")
        for number in range(0, ROWS, 100):
            table.insert_or_replace(Entity("p", f"{number:06d}-more"))  # reads nothing
        with self.assertRaises(varve.Corruption):
            store.compact()

    def poison(self, path, store, table):
        take_log_away(path)
        with self.assertRaises(varve.StoreError):
            table.insert(Entity("p", "refused"), durability="sync")
        close_poisoned(store)


class Lines(WithStores):
    def test_a_log_line_has_the_path_of_its_store(self):
        self.make_damaged()
        lines = []
        with varve.open(self.path, log=lambda path, line: lines.append((path, line))) as store:
            self.merge(store)
        self.assertTrue(lines)
        self.assertEqual({path for path, _ in lines}, {self.path})
        self.assertTrue(all(isinstance(line, str) and line and "\n" not in line for _, line in lines))
        self.assertTrue(any(".sst" in line for _, line in lines), lines)

    def test_an_exception_is_printed_and_the_store_goes_on(self):
        self.make_damaged()
        program = f"""
            import varve
            def fail(path, line):
                raise LookupError("of the program")
            with varve.open({self.path!r}, log=fail) as store:
                table = store.table("shop", "Numbers")
                for number in range(0, {ROWS}, 100):
                    table.insert_or_replace(varve.Entity("p", f"{{number:06d}}-more"))
                try:
                    store.compact()
                except varve.Corruption:
                    print("refused")
                table.insert_or_replace(varve.Entity("q", "r"))
            print("closed")
        """
        ended = run(program)
        self.assertEqual((ended.returncode, ended.stdout.split()), (0, ["refused", "closed"]), ended.stderr)
        self.assertIn("LookupError: of the program", ended.stderr)


class Changes(WithStores):
    def test_a_change_has_its_cause(self):
        changes = []
        store, table = self.make(health=lambda *change: changes.append(change))
        table.insert(Entity("p", "r"), durability="sync")
        self.assertEqual(changes, [])
        take_log_away(self.path)
        with self.assertRaises(varve.StoreError):
            table.insert(Entity("p", "refused"), durability="sync")
        self.assertEqual(store.statistics()["health"], Health.POISONED)
        [(path, health, cause)] = changes
        self.assertEqual((path, health), (self.path, Health.POISONED))
        self.assertIsInstance(health, Health)
        self.assertIsInstance(cause, varve.Fenced)
        self.assertTrue(str(cause))
        close_poisoned(store)

    def test_stores_that_share_resources_share_their_functions(self):
        changes = []
        resources = Resources(write_buffer_bytes=16 << 20, health=lambda path, health, _: changes.append((path, health)))
        paths = [os.path.join(self.directory, name) for name in ("one", "two")]
        made = [self.make(path, resources=resources) for path in paths]
        del resources
        gc.collect()
        for path, (store, table) in zip(paths, made):
            self.poison(path, store, table)
        self.assertEqual(changes, [(path, Health.POISONED) for path in paths])

    def test_a_store_keeps_its_functions_and_no_longer(self):
        class Keeper:
            def __init__(self):
                self.changes = []

            def note(self, *change):
                self.changes.append(change)

        keeper = Keeper()
        store, table = self.make(health=keeper.note)
        ended = weakref.ref(keeper)
        changes = keeper.changes
        del keeper
        gc.collect()
        self.assertIsNotNone(ended())
        self.poison(self.path, store, table)
        self.assertEqual(len(changes), 1)
        del store, table
        gc.collect()
        self.assertIsNone(ended())

    def test_a_function_may_keep_its_store(self):
        kept = []
        store, table = self.make(health=lambda *_, kept=kept: kept[0])
        kept.append(store)
        ended = weakref.ref(store)
        del store, table, kept
        gc.collect()
        self.assertIsNone(ended())
        varve.open(self.path).close()

    def test_a_function_of_health_does_not_listen_to_lines(self):
        self.make_damaged()
        with varve.open(self.path, health=lambda *_: self.fail("the store is healthy")) as store:
            self.merge(store)

    def test_two_sources_of_functions_are_refused(self):
        for wrong in ({"log": print}, {"health": print}):
            with self.subTest(wrong), self.assertRaises(varve.InvalidArgument):
                varve.open(self.path, create=True, resources=Resources(), **wrong)
        self.assertFalse(os.path.exists(self.path))


class Ends(WithStores):
    def test_a_thread_that_listens_at_the_end_of_the_interpreter_harms_nothing(self):
        """The end waits for the function that runs. Afterwards, no thread of the store calls Python."""
        program = f"""
            import glob, os, threading
            import varve
            begun = threading.Event()
            def slow(*change):
                begun.set()
                sum(range(3_000_000))
                print("heard", flush=True)
            store = varve.open({self.path!r}, create=True, health=slow)
            store.create_account("shop")
            table = store.create_table("shop", "Orders")
            for log in glob.glob(os.path.join({self.path!r}, "*.wal")):
                os.rename(log, log + ".away")
            def write():
                try:
                    table.insert(varve.Entity("p", "r"), durability="sync")
                except varve.StoreError:
                    pass
            threading.Thread(target=write, daemon=True).start()
            begun.wait()
        """
        for _ in range(5):
            ended = run(program)
            self.assertEqual((ended.returncode, ended.stdout.split()), (0, ["heard"]), ended.stderr)
            shutil.rmtree(self.path)

    def test_a_child_of_a_fork_has_functions_of_its_own(self):
        """The fork happens while a function runs in the parent. The child can listen, and end."""
        program = f"""
            import glob, os, threading
            import varve
            begun, may_end = threading.Event(), threading.Event()
            def wait(*change):
                begun.set()
                may_end.wait()
            def poison(path, health):
                store = varve.open(path, create=True, health=health)
                store.create_account("shop")
                table = store.create_table("shop", "Orders")
                for log in glob.glob(os.path.join(path, "*.wal")):
                    os.rename(log, log + ".away")
                try:
                    table.insert(varve.Entity("p", "r"), durability="sync")
                except varve.StoreError:
                    pass
            thread = threading.Thread(target=poison, args=({self.path!r}, wait))
            thread.start()
            begun.wait()
            child = os.fork()
            if child == 0:
                poison({self.path + "-child"!r}, lambda path, health, cause: print("child", health.name, flush=True))
                raise SystemExit(7)
            ended = os.waitpid(child, 0)[1]
            may_end.set()
            thread.join()
            print(os.waitstatus_to_exitcode(ended))
        """
        ended = run(program)
        self.assertEqual((ended.returncode, ended.stdout.split()), (0, ["child", "POISONED", "7"]), ended.stderr)


def run(program):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=300)


if __name__ == "__main__":
    unittest.main()

"""The same verbs for asyncio. Each call runs in a thread of the store's pool, so the event loop never waits for a disk.

The calls release the interpreter's lock, so a pool of threads is enough. A cancelled task stops waiting; a write that has
begun still happens.
"""
from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, AsyncIterator, Callable, Iterable, Optional, TypeVar

from .store import Key, Page, Path, Record, Scan, Store, Table, Transaction
from .values import ETag, Entity

T = TypeVar("T")


class AsyncStore:
    """A store for asyncio. ``async with varve.aio.AsyncStore(path, create=True) as store: ...``"""

    def __init__(self, path: Path, *, threads: int = 4, **options: Any) -> None:
        """Remembers how to open the store; ``async with`` or open() opens it. `options` are those of Store."""
        self._make: Callable[[], Store] = partial(Store, path, **options)
        self._pool = ThreadPoolExecutor(threads, "varve")
        self._store: Optional[Store] = None

    async def run(self, call: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """Runs any call in a thread of the pool."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, partial(call, *arguments, **named))

    @property
    def store(self) -> Store:
        """The store itself, for the verbs that this class lacks: ``await s.run(s.store.compact)``."""
        if self._store is None:
            raise RuntimeError("the store is not open; use async with")
        return self._store

    async def open(self) -> AsyncStore:
        """Opens the store."""
        self._store = await self.run(self._make)
        return self

    async def close(self) -> None:
        """Closes the store, and ends the threads."""
        try:
            if self._store is not None:
                await self.run(self._store.close)
        finally:
            self._pool.shutdown(wait=False)

    async def __aenter__(self) -> AsyncStore:
        return await self.open()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def create_account(self, account: str) -> None:
        """As Store.create_account()."""
        await self.run(self.store.create_account, account)

    async def create_table(self, account: str, table: str, *, exist_ok: bool = False) -> AsyncTable:
        """As Store.create_table()."""
        return AsyncTable(self, await self.run(self.store.create_table, account, table, exist_ok=exist_ok))

    async def table(self, account: str, table: str) -> AsyncTable:
        """As Store.table()."""
        return AsyncTable(self, await self.run(self.store.table, account, table))

    async def transact(self, body: Callable[[Transaction], T], *, attempts: int = 16) -> T:
        """As Store.transact(). `body` is an ordinary function, and runs in a thread of the pool."""
        return await self.run(self.store.transact, body, attempts=attempts)


class AsyncTable:
    """A table for asyncio."""

    def __init__(self, store: AsyncStore, table: Table) -> None:
        self._store = store
        #: The table itself, for AsyncStore.run() and transactions.
        self.table = table

    async def insert(self, entity: Record, **options: Any) -> ETag:
        """As Table.insert()."""
        return await self._store.run(self.table.insert, entity, **options)

    async def replace(self, entity: Record, if_match: Optional[ETag] = None, **options: Any) -> ETag:
        """As Table.replace()."""
        return await self._store.run(self.table.replace, entity, if_match, **options)

    async def merge(self, entity: Record, if_match: Optional[ETag] = None, **options: Any) -> ETag:
        """As Table.merge()."""
        return await self._store.run(self.table.merge, entity, if_match, **options)

    async def insert_or_replace(self, entity: Record, **options: Any) -> ETag:
        """As Table.insert_or_replace()."""
        return await self._store.run(self.table.insert_or_replace, entity, **options)

    async def insert_or_merge(self, entity: Record, **options: Any) -> ETag:
        """As Table.insert_or_merge()."""
        return await self._store.run(self.table.insert_or_merge, entity, **options)

    async def remove(self, partition_key: str, row_key: str, if_match: ETag = ETag.ANY, **options: Any) -> None:
        """As Table.remove()."""
        await self._store.run(self.table.remove, partition_key, row_key, if_match, **options)

    async def get(self, partition_key: str, row_key: str, **options: Any) -> Optional[Entity]:
        """As Table.get()."""
        return await self._store.run(self.table.get, partition_key, row_key, **options)

    async def get_many(self, keys: Iterable[Key], **options: Any) -> list[Optional[Entity]]:
        """As Table.get_many()."""
        return await self._store.run(self.table.get_many, list(keys), **options)

    async def scan(self, filter: str = "", **options: Any) -> AsyncIterator[Entity]:
        """As Table.scan(): ``async for entity in table.scan(...)``. Each page is read in a thread of the pool."""
        async for page in self.pages(filter, **options):
            for entity in page.entities:
                yield entity

    async def pages(self, filter: str = "", **options: Any) -> AsyncIterator[Page]:
        """As Scan.pages()."""
        scan: Scan = self.table.scan(filter, **options)
        pages = scan.pages()
        try:
            while (page := await self._store.run(lambda: next(pages, None))) is not None:
                yield page
        finally:
            pages.close()

    async def count(self, filter: str = "", **options: Any) -> int:
        """As Scan.count()."""
        return await self._store.run(self.table.scan(filter, **options).count)

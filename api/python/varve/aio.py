"""The same verbs for asyncio. Each call runs in a thread of the store's pool, so the event loop never waits for a disk.

The calls release the interpreter's lock, so a pool of threads is enough. A cancelled task stops waiting; a write that has
begun still happens.
"""
from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, AsyncIterator, Callable, Iterable, Mapping, Optional, TypeVar, Union

from .blobs import BlobTail, Container
from .indexes import Index, WhereProgress
from .queues import Message, Queue, QueueFigures, Receipt, Seconds, SentMessage, _Stop
from .store import AggregateRow, Key, Page, Path, Plan, Record, Scan, Store, Table, Transaction
from .values import ETag, Entity, Value

T = TypeVar("T")


class AsyncStore:
    """A store for asyncio. ``async with varve.aio.AsyncStore(path, create=True) as store: ...``"""

    def __init__(self, path: Path, *, threads: int = 4, **options: Any) -> None:
        """Remembers how to open the store; ``async with`` or open() opens it. `options` are those of Store."""
        self._make: Callable[[], Store] = partial(Store, path, **options)
        self._pool = ThreadPoolExecutor(threads, "varve")
        # Each wait for a message or an append has a thread of its own.
        self._waiting = ThreadPoolExecutor(256, "varve-wait")
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
        """Closes the store, which ends every wait, and ends the threads."""
        try:
            if self._store is not None:  # in a thread of its own, since all of the pool may be in long calls
                await asyncio.to_thread(self._store.close)
        finally:
            self._pool.shutdown(wait=False)
            self._waiting.shutdown(wait=False)

    async def __aenter__(self) -> AsyncStore:
        return await self.open()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def create_account(self, account: str) -> None:
        """As Store.create_account()."""
        await self.run(self.store.create_account, account)

    async def create_index(self, account: str, table: str, name: str, components: Iterable[str],
                           **options: Any) -> None:
        """As Store.create_index(). A thread of the pool calls `progress`."""
        await self.run(self.store.create_index, account, table, name, components, **options)

    async def indexes(self, account: str, table: str) -> list[Index]:
        """As Store.indexes()."""
        return await self.run(self.store.indexes, account, table)

    async def drop_index(self, account: str, table: str, name: str) -> None:
        """As Store.drop_index()."""
        await self.run(self.store.drop_index, account, table, name)

    async def create_table(self, account: str, table: str, *, large_values: bool = False,
                           exist_ok: bool = False, **expiry: Any) -> AsyncTable:
        """As Store.create_table(). run() calls the verbs on large values: ``await store.run(writer.write, piece)``."""
        return AsyncTable(self, await self.run(self.store.create_table, account, table, large_values=large_values,
                                               exist_ok=exist_ok, **expiry))

    async def table(self, account: str, table: str) -> AsyncTable:
        """As Store.table()."""
        return AsyncTable(self, await self.run(self.store.table, account, table))

    async def create_queue(self, account: str, queue: str, **options: Any) -> AsyncQueue:
        """As Store.create_queue()."""
        return AsyncQueue(self, await self.run(self.store.create_queue, account, queue, **options))

    async def queue(self, account: str, queue: str) -> AsyncQueue:
        """As Store.queue()."""
        return AsyncQueue(self, await self.run(self.store.queue, account, queue))

    async def create_container(self, account: str, container: str, **options: Any) -> Container:
        """As Store.create_container(). run() calls the container's verbs: ``await store.run(container.put, "a", b"x")``."""
        return await self.run(self.store.create_container, account, container, **options)

    async def container(self, account: str, container: str) -> Container:
        """As Store.container()."""
        return await self.run(self.store.container, account, container)

    async def tail(self, container: Container, blob: str, offset: int = 0, *, wait: Seconds = 0, count: int = 1 << 20,
                   creation: Optional[int] = None) -> BlobTail:
        """As Container.tail(). If the task is cancelled, the wait ends."""
        stop = _Stop()
        waiting = asyncio.get_running_loop().run_in_executor(
            self._waiting if wait else self._pool, partial(container._tail, blob, offset, wait, count, creation, stop))
        try:
            return await asyncio.shield(waiting)
        except asyncio.CancelledError:
            stop.request()
            waiting.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # nobody asks for it
            raise

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

    async def patch(self, partition_key: str, row_key: str, set: Optional[Mapping[str, Value]] = None,
                    **options: Any) -> Entity:
        """As Table.patch()."""
        return await self._store.run(self.table.patch, partition_key, row_key, set, **options)

    async def delete_where(self, filter: str = "", **options: Any) -> WhereProgress:
        """As Table.delete_where(). A thread of the pool calls `progress`."""
        return await self._store.run(self.table.delete_where, filter, **options)

    async def update_where(self, filter: str = "", set: Optional[Mapping[str, Value]] = None,
                           **options: Any) -> WhereProgress:
        """As Table.update_where(). A thread of the pool calls `progress`."""
        return await self._store.run(self.table.update_where, filter, set, **options)

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

    async def aggregate(self, *figures: Any, filter: str = "", group_by: Any = (), **options: Any) -> list[AggregateRow]:
        """As Scan.aggregate()."""
        return await self._store.run(partial(self.table.scan(filter, **options).aggregate, *figures, group_by=group_by))

    async def explain(self, filter: str = "", **options: Any) -> Plan:
        """As Scan.explain()."""
        return await self._store.run(self.table.scan(filter, **options).explain)


class AsyncQueue:
    """A queue for asyncio."""

    def __init__(self, store: AsyncStore, queue: Queue) -> None:
        self._store = store
        #: The queue itself, for AsyncStore.run() and transactions.
        self.queue = queue

    async def put(self, text: str, **options: Any) -> SentMessage:
        """As Queue.put()."""
        return await self._store.run(self.queue.put, text, **options)

    async def get(self, count: int = 1, *, hold: Seconds = 30, wait: Seconds = 0, deliveries_max: int = 0,
                  dead_letter: Optional[Queue] = None, durability: Optional[str] = None) -> list[Message]:
        """As Queue.get(). If the task is cancelled, the wait ends, and messages that it took are visible again."""
        options = self.queue._get_options(count, hold, deliveries_max, dead_letter, durability)
        stop = _Stop()
        taking = asyncio.get_running_loop().run_in_executor(
            self._store._waiting if wait else self._store._pool, partial(self.queue._get, options, wait, stop))
        try:
            return await asyncio.shield(taking)
        except asyncio.CancelledError:
            stop.request()
            taking.add_done_callback(self._give_back)
            raise

    def _give_back(self, taken: asyncio.Future[list[Message]]) -> None:
        if taken.cancelled() or taken.exception() is not None or not taken.result():
            return
        try:
            self._store._pool.submit(self.queue._release, taken.result())
        except RuntimeError:  # the store was closed meanwhile; the messages are visible after their hold
            pass

    async def peek(self, count: int = 1) -> list[Message]:
        """As Queue.peek()."""
        return await self._store.run(self.queue.peek, count)

    async def remove(self, message: Union[Message, SentMessage], **options: Any) -> None:
        """As Queue.remove()."""
        await self._store.run(self.queue.remove, message, **options)

    async def update(self, message: Union[Message, SentMessage], hold: Seconds, text: Optional[str] = None,
                     **options: Any) -> Receipt:
        """As Queue.update()."""
        return await self._store.run(self.queue.update, message, hold, text, **options)

    async def clear(self) -> None:
        """As Queue.clear()."""
        await self._store.run(self.queue.clear)

    async def figures(self) -> QueueFigures:
        """As Queue.figures()."""
        return await self._store.run(self.queue.figures)

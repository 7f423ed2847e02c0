"""Stores, tables and transactions. The verbs are those of the C++ library; docs/python.md introduces them.

Every call releases the interpreter's lock, so threads work side by side. After ``os.fork()`` a child gets
:class:`~varve.errors.Locked` from the parent's stores, and may open stores of its own.
"""
from __future__ import annotations

import os
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Callable, Generator, Iterable, Iterator, Mapping, NamedTuple, Optional, Sequence, TypeVar, Union
from uuid import UUID

from . import access, indexes
from ._native import ffi, lib
from .access import AccessPolicy, CorsRule, Logging, Metrics, ServiceProperties
from .errors import Closed, Conflict, Exists, InvalidArgument, check
from .filters import with_parameters
from .handles import _durability_of, _figures, _Handle, _open, _sized, _text, _write_options
from .blobs import (BlobReader, BlobState, BlobWriter, Container, _ACCESS, _change_options, _conditions, _copy_options, _number_of,
                    _state, _write_options as _blob_write_options)
from .indexes import BuildProgress, Index, ShowWhere, UnbuiltIndex, WhereOptions, WhereProgress
from .large_values import LargeValueReader, LargeValueWriter, OpenedEntity, readers_of
from .listening import Log, OnHealth
from .options import Limits, Resources, limits_struct, number_below
from .queues import (Message, Queue, Seconds, SentMessage, give_put_options, metadata_pairs, milliseconds_of,
                     optional_text, sent_of, update_hold)
from .streams import Bytes, bytes_of
from .values import (ETag, Entity, Value, entities_of, fill_entity, text_of, texts_of, time_of)

T = TypeVar("T")
Path = Union[str, "os.PathLike[str]"]
Record = Mapping[str, Any]
Key = tuple[str, str]

_INSERT, _REPLACE, _MERGE, _INSERT_OR_REPLACE, _INSERT_OR_MERGE, _REMOVE = range(6)
_PERMISSIONS = {"r": 1, "a": 2, "u": 4, "d": 8}


def _structs(name: str, count: int, keep: list[Any]) -> Any:
    made = ffi.new(f"{name}[]", count)
    keep.append(made)
    return made


class TableExpiry(NamedTuple):
    """When the entities of a table end: one of the two is not None."""

    at: Optional[str] = None
    after: Optional[timedelta] = None


class Snapshot(_Handle):
    """Keeps one version of a store readable until it is closed."""

    __slots__ = ()
    _free = staticmethod(lib.varve_snapshot_free)

    @property
    def version(self) -> datetime:
        """The version of the last commit that the snapshot sees."""
        ticks = ffi.new("varve_datetime *")
        check(lib.varve_snapshot_version(self._handle or ffi.NULL, ticks))
        return time_of(ticks[0])

    def close(self) -> None:
        """Ends the snapshot; the store may then remove what only it still needed."""
        self.__del__()

    def __enter__(self) -> Snapshot:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _read_options(select: Optional[Sequence[str]], snapshot: Optional[Snapshot], keep: list[Any]) -> Any:
    if not select and snapshot is None:
        return ffi.NULL
    options = _sized("varve_read_options")
    if select:
        options.select, options.select_count = texts_of(select, "select", keep)
    if snapshot is not None:
        options.snapshot = _open(snapshot)
    keep.append(options)
    return options


def _keys(keys: Iterable[Key], keep: list[Any]) -> tuple[Any, int]:
    read = [(text_of(partition, "PartitionKey", keep), text_of(row, "RowKey", keep)) for partition, row in keys]
    array = ffi.new("varve_key[]", read)
    keep.append(array)
    return array, len(read)


def _condition(if_match: Optional[ETag]) -> int:
    if if_match is None:
        return 0
    if not isinstance(if_match, ETag):
        raise TypeError(f"if_match is {type(if_match).__name__}; an ETag is expected, for example ETag.ANY")
    return if_match._number


def _condition_of(entity: Any, if_match: Optional[ETag]) -> int:
    """An entity that was read carries its own condition."""
    if if_match is None and isinstance(entity, Entity) and entity._etag:
        return entity._etag
    return _condition(if_match)


def _filter_of(text: str, parameters: Optional[Mapping[str, Value]]) -> str:
    return with_parameters(text, parameters) if parameters is not None else text


def _only_if(only_if: str, parameters: Optional[Mapping[str, Value]]) -> str:
    """Returns the condition of a write. Parameters alone are a mistake, and the write would have no condition."""
    if parameters is not None and not only_if:
        raise InvalidArgument("`parameters` are those of `only_if`, which is not given")
    return _filter_of(only_if, parameters)


def _give_operation(to: Any, kind: int, entity: Record, etag: int, keep: list[Any]) -> None:
    """Writes one write to a varve_operation."""
    to.kind = kind
    to.if_match = etag
    fill_entity(ffi.addressof(to, "entity"), entity, keep)


def _patch(partition_key: str, row_key: str, set: Optional[Mapping[str, Value]], remove: Iterable[str],
           increment: Optional[Mapping[str, Union[int, float]]], only_if: str, if_match: ETag, insert: bool,
           keep: list[Any]) -> Any:
    """Returns a varve_patch."""
    given = _sized("varve_patch")
    keep.append(given)
    fill_entity(ffi.addressof(given[0], "entity"), Entity(partition_key, row_key, set), keep)
    given.removed, given.removed_count = texts_of(remove, "remove", keep)
    counted = ffi.new("varve_entity *")
    fill_entity(counted, Entity("", "", increment), keep)
    given.increments, given.increment_count = counted.properties, counted.property_count
    given.condition = text_of(only_if, "only_if", keep)
    given.if_match = _condition(if_match)
    given.may_insert = insert
    return given


class Page:
    """One page of a scan."""

    __slots__ = ("entities", "continuation", "cost")

    def __init__(self, handle: Any) -> None:
        view = _sized("varve_page_view")
        try:
            check(lib.varve_page_read(handle, view))
            #: The entities, in the order of their keys.
            self.entities: list[Entity] = [one for one in entities_of(view) if one is not None]
            #: The token of the next page, or None at the end. It stays valid in other processes.
            self.continuation: Optional[str] = _text(view.continuation)
            #: What reading the page cost, by the names of the C interface's ``varve_cost``.
            self.cost: dict[str, int] = {name: getattr(view.cost, name) for name in dir(view.cost)}
        finally:
            lib.varve_page_free(handle)


def _entities(handle: Any) -> list[Optional[Entity]]:
    view = _sized("varve_page_view")
    try:
        check(lib.varve_page_read(handle, view))
        return entities_of(view)
    finally:
        lib.varve_page_free(handle)


def _opened(page: Any, made: Any, names: Sequence[str]) -> Optional[OpenedEntity]:
    """Returns an entity with the readers of an array, and frees the page."""
    try:
        readers = readers_of(made, names)
    finally:
        found = _entities(page[0])
    return OpenedEntity(found[0], readers) if found and found[0] is not None else None


class IndexCandidate(NamedTuple):
    """An index that could serve the filter of a scan."""

    name: str
    #: The first components that the filter compares with ``eq``.
    equal_components: int
    #: Whether the filter bounds the next component.
    has_range: bool
    #: The entities to which the index leads, or None if the index has more entries than a scan reads of one at once.
    entities: Optional[int]
    #: Whether the scan reads these entities alone.
    is_taken: bool
    #: Whether a count of the scan reads no entity.
    answers_counts: bool = False
    #: Whether a page of the scan reads no entity.
    answers_pages: bool = False


class Plan(NamedTuple):
    """What a scan will read."""

    path: str
    ranges: list[str]
    residual: str
    #: The ready indexes that could serve the filter, best first.
    indexes: Sequence[IndexCandidate] = ()
    #: The name of the index that has the order of the scan, or "".
    order_index: str = ""
    #: How many components of the order that index has.
    order_components: int = 0


def _candidate_of(view: Any) -> IndexCandidate:
    return IndexCandidate(_text(view.name) or "", view.equal_components, view.has_range,
                          view.entities if view.has_entities else None, view.is_taken, view.answers_counts,
                          view.answers_pages)


class AggregateRow(NamedTuple):
    """The figures of one group. A value that does not exist is None."""

    group: tuple[Optional[Value], ...]
    figures: tuple[Optional[Value], ...]


_AGGREGATES = ("count", "sum", "min", "max", "average", "distinct")


def _give_figure(to: Any, figure: Union[str, tuple[str, str]], keep: list[Any]) -> None:
    kind, of = (figure, "") if isinstance(figure, str) else figure
    if kind not in _AGGREGATES:
        raise InvalidArgument(f"the figure is {kind!r}; one of {', '.join(_AGGREGATES)} is expected")
    to.kind = _AGGREGATES.index(kind)
    to.property = text_of(of, "property", keep)


def _give_group(to: Any, group: Union[str, tuple[str, Union[int, str]]], keep: list[Any]) -> None:
    name, beginning = (group, "") if isinstance(group, str) else group
    to.property = text_of(name, "group_by", keep)
    if isinstance(beginning, str):
        to.delimiter = text_of(beginning, "group_by", keep)
    elif not 0 < beginning < 2**32:
        raise InvalidArgument(f"a group of {beginning} characters; one or more are allowed")
    else:
        to.characters = beginning


class Scan:
    """The entities of a scan. Iterate over it, or over its :meth:`pages`. Each iteration scans anew."""

    def __init__(self, table: Table, fields: dict[str, Any]) -> None:
        self._table = table
        self._fields = fields

    def __iter__(self) -> Iterator[Entity]:
        for page in self.pages():
            yield from page.entities

    def pages(self) -> Generator[Page, None, None]:
        """Returns the pages, each read when it is needed."""
        scan, keep = self._struct()
        cursor = ffi.new("varve_cursor **")
        check(lib.varve_cursor_open(_open(self._table), scan, cursor))
        try:
            while True:
                page = ffi.new("varve_page **")
                check(lib.varve_cursor_next(cursor[0], page))
                if not page[0]:
                    return
                yield Page(page[0])
        finally:
            lib.varve_cursor_free(cursor[0])
            del keep

    def page(self) -> Page:
        """Reads the first page alone; its continuation continues another scan of the same range and filter."""
        scan, keep = self._struct()
        page = ffi.new("varve_page **")
        check(lib.varve_table_scan(_open(self._table), scan, page))
        del keep
        return Page(page[0])

    def first(self) -> Optional[Entity]:
        """Returns the first entity, or None."""
        return next(iter(Scan(self._table, {**self._fields, "limit": 1})), None)

    def count(self) -> int:
        """Returns how many entities the scan would return, without reading them to Python."""
        scan, keep = self._struct()
        total = 0
        while True:
            count, page = ffi.new("uint64_t *"), ffi.new("varve_page **")
            check(lib.varve_table_count(_open(self._table), scan, count, page))
            total += count[0]
            continuation = Page(page[0]).continuation
            if continuation is None:
                del keep
                return total
            scan.continuation = text_of(continuation, "continuation", keep)

    def aggregate(self, *figures: Union[str, tuple[str, str]],
                  group_by: Sequence[Union[str, tuple[str, Union[int, str]]]] = ()) -> list[AggregateRow]:
        """Returns figures over the entities, one row for each group, in the order of the groups.

        A figure is ``"count"``, or a pair such as ``("sum", "Total")`` of count, sum, min, max, average or distinct and a
        property. A group is a property, or the beginning of a key: ``("RowKey", 7)`` takes seven characters, and
        ``("RowKey", "!")`` all up to the first ``!``. No entity is read to Python."""
        if isinstance(group_by, str):
            raise TypeError("group_by is a str; a list of groups is expected")
        scan, keep = self._struct()
        asked = _structs("varve_aggregate", len(figures), keep)
        for to, figure in zip(asked, figures):
            _give_figure(to, figure, keep)
        groups = _structs("varve_group_by", len(group_by), keep)
        for to, group in zip(groups, group_by):
            _give_group(to, group, keep)
        page = ffi.new("varve_page **")
        check(lib.varve_table_aggregate(_open(self._table), scan, asked, len(figures), groups, len(group_by), page))
        del keep
        return [AggregateRow(tuple(row.get(f"g{i}") for i in range(len(group_by))),
                             tuple(row.get(f"f{i}") for i in range(len(figures)))) for row in Page(page[0]).entities]

    def explain(self) -> Plan:
        """Returns the keys that the scan would read, the part of the filter that remains, and the indexes that could serve."""
        scan, keep = self._struct()
        plan = ffi.new("varve_plan **")
        check(lib.varve_table_explain(_open(self._table), scan, plan))
        view = _sized("varve_plan_view")
        try:
            check(lib.varve_plan_read(plan[0], view))
            ranges = [_text(view.ranges[i]) or "" for i in range(view.range_count)]
            indexes = [_candidate_of(view.indexes[i]) for i in range(view.index_count)]
            del keep
            return Plan(_text(view.path_name) or "", ranges, _text(view.residual) or "", indexes,
                        _text(view.order_index) or "", view.order_components)
        finally:
            lib.varve_plan_free(plan[0])

    def _struct(self) -> tuple[Any, list[Any]]:
        fields = self._fields
        keep: list[Any] = []
        scan = _sized("varve_scan")
        keep.append(scan)
        partition, rows, partitions = fields["partition"], fields["rows"], fields["partitions"]
        prefix = fields["row_prefix"]
        if partition is None and (rows is not None or prefix is not None):
            raise InvalidArgument("rows and row_prefix need a partition")
        if (rows is not None) + (prefix is not None) + (partitions is not None) > 1 or (partition and partitions):
            raise InvalidArgument("rows, row_prefix and partitions exclude each other, and partitions and partition")
        if partition is not None:
            scan.range = 1
            scan.partition_key = text_of(partition, "partition", keep)
        bounds = rows if rows is not None else partitions
        if bounds is not None:
            scan.range = 2 if rows is not None else 4
            start, end = bounds
            if start is not None:
                setattr(scan, "from", text_of(start, "the lower bound", keep))
            if end is not None:
                scan.to = text_of(end, "the upper bound", keep)
        elif prefix is not None:
            scan.range = 3
            setattr(scan, "from", text_of(prefix, "row_prefix", keep))
        if fields["filter"]:
            scan.filter = text_of(fields["filter"], "filter", keep)
        if fields["continuation"]:
            scan.continuation = text_of(fields["continuation"], "continuation", keep)
        if fields["select"]:
            scan.select, scan.select_count = texts_of(fields["select"], "select", keep)
        if fields["snapshot"] is not None:
            scan.snapshot = _open(fields["snapshot"])
        scan.backward = bool(fields["reverse"])
        if fields["order_by"]:
            scan.order_by = text_of(fields["order_by"], "order_by", keep)
        if fields["order_time"] is not None:
            scan.order_time_max_ms = milliseconds_of(fields["order_time"], "order_time", may_be_zero=False)
        scan.no_filter_extensions = not fields["filter_extensions"]
        if fields["limit"] is not None:
            if fields["limit"] < 0:
                raise InvalidArgument(f"limit is {fields['limit']}; zero or more is allowed")
            scan.has_take = True
            scan.take = fields["limit"]
        if fields["page_entities"] is not None:
            if not 1 <= fields["page_entities"] < 2**32:
                raise InvalidArgument(f"page_entities is {fields['page_entities']}; 1 to 1000 is allowed")
            scan.page_entities_max = fields["page_entities"]
        scan.page_bytes_max = number_below("page_bytes", fields["page_bytes"], 2**64)
        if fields["page_time"] is not None:
            scan.time_max_ms = milliseconds_of(fields["page_time"], "page_time", may_be_zero=False)
        return scan, keep


class GroupTransaction:
    """Up to 100 writes to one partition: all or none. ``with table.transaction() as t: t.insert(...)``.

    The block's end executes the writes; an exception in the block discards them.
    """

    def __init__(self, table: Table, durability: Optional[str]) -> None:
        self._table = table
        self._durability = durability
        self._operations: list[tuple[int, Record, int, str]] = []
        self._patches: list[Any] = []
        self._keep: list[Any] = []
        #: The ETag of all written entities, once the transaction has succeeded.
        self.etag: Optional[ETag] = None
        #: The entity after each patch, once the transaction has succeeded.
        self.patched_entities: list[Entity] = []

    def insert(self, entity: Record) -> None:
        """Appends :meth:`Table.insert`."""
        self._operations.append((_INSERT, entity, 0, ""))

    def replace(self, entity: Record, if_match: Optional[ETag] = None, *, only_if: str = "",
                parameters: Optional[Mapping[str, Value]] = None) -> None:
        """Appends :meth:`Table.replace`."""
        self._operations.append((_REPLACE, entity, _condition_of(entity, if_match), _only_if(only_if, parameters)))

    def merge(self, entity: Record, if_match: Optional[ETag] = None, *, only_if: str = "",
              parameters: Optional[Mapping[str, Value]] = None) -> None:
        """Appends :meth:`Table.merge`."""
        self._operations.append((_MERGE, entity, _condition_of(entity, if_match), _only_if(only_if, parameters)))

    def insert_or_replace(self, entity: Record) -> None:
        """Appends :meth:`Table.insert_or_replace`."""
        self._operations.append((_INSERT_OR_REPLACE, entity, 0, ""))

    def insert_or_merge(self, entity: Record) -> None:
        """Appends :meth:`Table.insert_or_merge`."""
        self._operations.append((_INSERT_OR_MERGE, entity, 0, ""))

    def remove(self, partition_key: str, row_key: str, if_match: ETag = ETag.ANY, *, only_if: str = "",
               parameters: Optional[Mapping[str, Value]] = None) -> None:
        """Appends :meth:`Table.remove`."""
        self._operations.append((_REMOVE, Entity(partition_key, row_key), _condition(if_match),
                                 _only_if(only_if, parameters)))

    def patch(self, partition_key: str, row_key: str, set: Optional[Mapping[str, Value]] = None, *,
              remove: Iterable[str] = (), increment: Optional[Mapping[str, Union[int, float]]] = None,
              only_if: str = "", parameters: Optional[Mapping[str, Value]] = None, if_match: ETag = ETag.ANY,
              insert: bool = False) -> None:
        """Appends :meth:`Table.patch`. Patches come after the other writes, and count after them in ``operation_index``."""
        condition = _only_if(only_if, parameters)
        self._patches.append(_patch(partition_key, row_key, set, remove, increment, condition, if_match, insert,
                                    self._keep))

    def execute(self) -> Optional[ETag]:
        """Executes all writes or none. The error of a failure has ``operation_index``."""
        keep: list[Any] = []
        writes = _sized("varve_group_writes")
        writes.operation_count = len(self._operations)
        writes.operations = operations = _structs("varve_operation", len(self._operations), keep)
        writes.conditions = conditions = _structs("varve_text", len(self._operations), keep)
        for at, (kind, entity, if_match, condition) in enumerate(self._operations):
            _give_operation(operations[at], kind, entity, if_match, keep)
            conditions[at] = text_of(condition, "only_if", keep)
        writes.patch_count = len(self._patches)
        writes.patches = patches = _structs("varve_patch", len(self._patches), keep)
        for to, patch in enumerate(self._patches):
            patches[to] = patch[0]
        etag = ffi.new("varve_etag *")
        page = ffi.new("varve_page **")
        check(lib.varve_table_execute_with(_open(self._table), writes,
                                           _write_options(self._durability, None, b"", keep), etag, page))
        self.etag = ETag._of(etag[0]) if etag[0] else None
        self.patched_entities = Page(page[0]).entities
        return self.etag

    def __enter__(self) -> GroupTransaction:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if kind is None:
            self.execute()


class Table(_Handle):
    """The verbs on the entities of one table. Every thread may use it."""

    __slots__ = ()
    _free = staticmethod(lib.varve_table_free)

    def _write(self, kind: int, entity: Record, if_match: int, condition: str, durability: Optional[str],
               wait: Optional[float], tag: bytes) -> ETag:
        keep: list[Any] = []
        operation = ffi.new("varve_operation *")
        _give_operation(operation[0], kind, entity, if_match, keep)
        etag = ffi.new("varve_etag *")
        check(lib.varve_table_write_if(_open(self), operation, text_of(condition, "only_if", keep),
                                       _write_options(durability, wait, tag, keep), etag))
        return ETag._of(etag[0])

    def insert(self, entity: Record, *, durability: Optional[str] = None, wait: Optional[float] = None,
               tag: bytes = b"") -> ETag:
        """Adds an entity whose key does not exist yet, else raises Exists. Returns the new ETag.

        `durability` is ``"sync"`` or ``"buffered"``; `wait` is the longest wait for other writers in seconds; `tag` is
        committed with the write.
        """
        return self._write(_INSERT, entity, 0, "", durability, wait, tag)

    def replace(self, entity: Record, if_match: Optional[ETag] = None, *, only_if: str = "",
                parameters: Optional[Mapping[str, Value]] = None, durability: Optional[str] = None,
                wait: Optional[float] = None, tag: bytes = b"") -> ETag:
        """Replaces the properties of an existing entity.

        Raises PreconditionFailed if the stored ETag is not `if_match`. Without it, an entity that was read must be
        unchanged since; other entities need ``ETag.ANY``. `only_if` is a filter with `parameters`, as scan() takes them.
        If the stored entity does not meet it, the write raises PreconditionFailed (ConditionNotMet).
        """
        return self._write(_REPLACE, entity, _condition_of(entity, if_match), _only_if(only_if, parameters),
                           durability, wait, tag)

    def merge(self, entity: Record, if_match: Optional[ETag] = None, *, only_if: str = "",
              parameters: Optional[Mapping[str, Value]] = None, durability: Optional[str] = None,
              wait: Optional[float] = None, tag: bytes = b"") -> ETag:
        """Sets these properties of an existing entity and keeps the others. The conditions are those of replace()."""
        return self._write(_MERGE, entity, _condition_of(entity, if_match), _only_if(only_if, parameters), durability,
                           wait, tag)

    def insert_or_replace(self, entity: Record, *, durability: Optional[str] = None, wait: Optional[float] = None,
                          tag: bytes = b"") -> ETag:
        """Writes an entity whether or not it exists."""
        return self._write(_INSERT_OR_REPLACE, entity, 0, "", durability, wait, tag)

    def insert_or_merge(self, entity: Record, *, durability: Optional[str] = None, wait: Optional[float] = None,
                        tag: bytes = b"") -> ETag:
        """Merges into an existing entity, or inserts it."""
        return self._write(_INSERT_OR_MERGE, entity, 0, "", durability, wait, tag)

    def patch(self, partition_key: str, row_key: str, set: Optional[Mapping[str, Value]] = None, *,
              remove: Iterable[str] = (), increment: Optional[Mapping[str, Union[int, float]]] = None,
              only_if: str = "", parameters: Optional[Mapping[str, Value]] = None, if_match: ETag = ETag.ANY,
              insert: bool = False, durability: Optional[str] = None, wait: Optional[float] = None,
              tag: bytes = b"") -> Entity:
        """Sets, removes and increments single properties of an entity. Returns the entity after the patch.

        An incremented property keeps its type, and begins at zero if the entity lacks it. `only_if` is a filter with
        `parameters`, as scan() takes them; if the stored entity does not meet it, the patch raises PreconditionFailed
        (ConditionNotMet). With `insert`, an absent entity is inserted, and there may be no `only_if`.
        """
        keep: list[Any] = []
        condition = _only_if(only_if, parameters)
        given = _patch(partition_key, row_key, set, remove, increment, condition, if_match, insert, keep)
        page = ffi.new("varve_page **")
        check(lib.varve_table_patch(_open(self), given, _write_options(durability, wait, tag, keep), page))
        return Page(page[0]).entities[0]

    def remove(self, partition_key: str, row_key: str, if_match: ETag = ETag.ANY, *, only_if: str = "",
               parameters: Optional[Mapping[str, Value]] = None, durability: Optional[str] = None,
               wait: Optional[float] = None, tag: bytes = b"") -> None:
        """Deletes an entity, or raises NotFound. `only_if` is that of replace()."""
        self._write(_REMOVE, Entity(partition_key, row_key), _condition(if_match), _only_if(only_if, parameters),
                    durability, wait, tag)

    def delete_where(self, filter: str = "", *, parameters: Optional[Mapping[str, Value]] = None,
                     partition: Optional[str] = None, rows: Optional[tuple[Optional[str], Optional[str]]] = None,
                     row_prefix: Optional[str] = None,
                     partitions: Optional[tuple[Optional[str], Optional[str]]] = None, all: bool = False,
                     dry_run: bool = False, batch: int = 100, continuation: Optional[str] = None,
                     progress: Optional[ShowWhere] = None, durability: Optional[str] = None,
                     wait: Optional[float] = None, tag: bytes = b"") -> WhereProgress:
        """Deletes the entities of a range that meet a filter, in batches. scan() describes the filter and the range.

        A blank filter is refused unless `all` is true. `dry_run` only counts. `progress` is called after each batch of at
        most `batch` entities, and ends the change by returning False. Then, and after an error, the finished batches stay.
        The `continuation` of the progress or of the result goes on.
        """
        scan, keep = self.scan(filter, parameters=parameters, partition=partition, rows=rows, row_prefix=row_prefix,
                               partitions=partitions, continuation=continuation)._struct()
        done = indexes.change(_open(self), scan, WhereOptions(all, dry_run, batch, progress, durability, wait, tag))
        del keep
        return done

    def update_where(self, filter: str = "", set: Optional[Mapping[str, Value]] = None, *, remove: Iterable[str] = (),
                     parameters: Optional[Mapping[str, Value]] = None,
                     partition: Optional[str] = None, rows: Optional[tuple[Optional[str], Optional[str]]] = None,
                     row_prefix: Optional[str] = None,
                     partitions: Optional[tuple[Optional[str], Optional[str]]] = None, all: bool = False,
                     dry_run: bool = False, batch: int = 100, continuation: Optional[str] = None,
                     progress: Optional[ShowWhere] = None, durability: Optional[str] = None,
                     wait: Optional[float] = None, tag: bytes = b"") -> WhereProgress:
        """Does delete_where(), but sets and removes properties of the entities. Their other properties stay."""
        scan, keep = self.scan(filter, parameters=parameters, partition=partition, rows=rows, row_prefix=row_prefix,
                               partitions=partitions, continuation=continuation)._struct()
        done = indexes.change(_open(self), scan, WhereOptions(all, dry_run, batch, progress, durability, wait, tag), set, remove)
        del keep
        return done

    def transaction(self, *, durability: Optional[str] = None) -> GroupTransaction:
        """Begins a transaction on one partition, for a ``with`` block."""
        return GroupTransaction(self, durability)

    def get(self, partition_key: str, row_key: str, *, select: Optional[Sequence[str]] = None,
            snapshot: Optional[Snapshot] = None) -> Optional[Entity]:
        """Returns an entity, or None if it does not exist."""
        keep: list[Any] = []
        page = ffi.new("varve_page **")
        check(lib.varve_table_get(_open(self), text_of(partition_key, "PartitionKey", keep),
                                  text_of(row_key, "RowKey", keep), _read_options(select, snapshot, keep), page))
        found = _entities(page[0])
        return found[0] if found else None

    def get_many(self, keys: Iterable[Key], *, select: Optional[Sequence[str]] = None,
                 snapshot: Optional[Snapshot] = None) -> list[Optional[Entity]]:
        """Reads many entities at one version; None for each key that does not exist."""
        keep: list[Any] = []
        array, count = _keys(keys, keep)
        page = ffi.new("varve_page **")
        check(lib.varve_table_get_many(_open(self), array, count, _read_options(select, snapshot, keep), page))
        return _entities(page[0])

    # Large values

    def write_large_value(self) -> LargeValueWriter:
        """Begins to write a content, which entities of the account can then have as a LargeValue.

        ``with people.write_large_value() as writer: ...``; the entity must be written inside the block. Raises
        InvalidArgument if the table was created without `large_values`.
        """
        made = ffi.new("varve_large_value_writer **")
        check(lib.varve_large_value_writer_open(_open(self), made))
        return LargeValueWriter(made[0])

    def open_large_value(self, partition_key: str, row_key: str, name: str, *,
                         snapshot: Optional[Snapshot] = None) -> LargeValueReader:
        """Opens the content of a property as a file for reading.

        Raises NotFound without the entity or the property, and InvalidArgument if the property has another type.
        """
        keep: list[Any] = []
        made = ffi.new("varve_large_value_reader **")
        check(lib.varve_large_value_reader_open(
            _open(self), text_of(partition_key, "PartitionKey", keep), text_of(row_key, "RowKey", keep),
            text_of(name, "name", keep), _read_options(None, snapshot, keep), made))
        return LargeValueReader(made[0])

    def get_opened(self, partition_key: str, row_key: str, names: Sequence[str], *,
                   select: Optional[Sequence[str]] = None,
                   snapshot: Optional[Snapshot] = None) -> Optional[OpenedEntity]:
        """Returns an entity with readers of these large values, all of one moment, or None if it does not exist."""
        keep: list[Any] = []
        array, count = texts_of(names, "names", keep)
        page, made = ffi.new("varve_page **"), ffi.new("varve_large_value_reader *[]", count)
        check(lib.varve_table_get_opened(_open(self), text_of(partition_key, "PartitionKey", keep),
                                         text_of(row_key, "RowKey", keep), _read_options(select, snapshot, keep), array,
                                         count, page, made))
        return _opened(page, made, names)

    def scan(self, filter: str = "", *, parameters: Optional[Mapping[str, Value]] = None,
             partition: Optional[str] = None, rows: Optional[tuple[Optional[str], Optional[str]]] = None,
             row_prefix: Optional[str] = None, partitions: Optional[tuple[Optional[str], Optional[str]]] = None,
             select: Optional[Sequence[str]] = None, reverse: bool = False, limit: Optional[int] = None,
             page_entities: Optional[int] = None, page_bytes: int = 0, page_time: Optional[Seconds] = None,
             continuation: Optional[str] = None,
             snapshot: Optional[Snapshot] = None, order_by: str = "", order_time: Optional[Seconds] = None,
             filter_extensions: bool = True) -> Scan:
        """Returns a scan, which reads when it is iterated.

        `filter` is a filter of the table service, also with the functions that only Varve has, such as
        ``startswith(Name, 'A')``; ``@name`` in it stands for a parameter. `partition` alone scans a
        partition, `rows` a range of its RowKeys from a key to before another, `row_prefix` the RowKeys with a prefix, and
        `partitions` a range of partitions. `order_by`, for example ``"Price desc, Name"``, orders by up to four properties
        or keys. Then a page without an index that has the order reads the whole range, so give a `limit`.

        A page ends after `page_entities`, after `page_bytes` (zero: no maximum) of the selected properties, or after
        `page_time` (5 seconds if None). `order_time` is the longest time of a page with an order. A page that cannot end
        by then raises TooLarge. Without `filter_extensions`, the filter may only have the grammar of the table service.
        """
        return Scan(self, {
            "filter": _filter_of(filter, parameters), "partition": partition,
            "rows": rows, "row_prefix": row_prefix, "partitions": partitions, "select": select, "reverse": reverse,
            "limit": limit, "page_entities": page_entities, "page_bytes": page_bytes, "page_time": page_time,
            "continuation": continuation, "snapshot": snapshot,
            "order_by": order_by, "order_time": order_time, "filter_extensions": filter_extensions})

    def __iter__(self) -> Iterator[Entity]:
        return iter(self.scan())

    def restricted(self, permissions: str, *, start: Optional[tuple[str, Optional[str]]] = None,
                   end: Optional[tuple[str, Optional[str]]] = None) -> Table:
        """Returns a handle that may do less: `permissions` is a part of ``raud`` (read, add, update, delete)."""
        keep: list[Any] = []
        access = _sized("varve_access")
        for letter in permissions:
            if letter not in _PERMISSIONS:
                raise InvalidArgument(f"permissions is {permissions!r}; letters of 'raud' are allowed")
            access.permissions |= _PERMISSIONS[letter]
        for bound, side in ((start, "from"), (end, "to")):
            if bound is not None:
                setattr(access, f"{side}_partition_key", text_of(bound[0], "a bound", keep))
                if bound[1] is not None:
                    setattr(access, f"{side}_row_key", text_of(bound[1], "a bound", keep))
        made = ffi.new("varve_table **")
        check(lib.varve_table_restrict(_open(self), access, made))
        return Table(made[0])


class Transaction(_Handle):
    """Reads one version of the store and writes to any tables: all or none. ``with store.transaction() as t: ...``.

    The block's end commits; it raises Conflict if another writer changed an entity that get() read. An exception in the
    block discards the writes.
    """

    __slots__ = ("etag", "sent_messages", "written_blobs", "patched_entities", "_durability", "_puts", "_blobs",
                 "_patches")
    _free = staticmethod(lib.varve_transaction_free)

    def __init__(self, handle: Any, durability: Optional[str]) -> None:
        super().__init__(handle)
        self._durability = durability
        self._puts = 0
        self._blobs = 0
        self._patches = 0
        #: The ETag of all written entities, once the transaction has committed.
        self.etag: Optional[ETag] = None
        #: What each put_message() returned, once the transaction has committed.
        self.sent_messages: list[SentMessage] = []
        #: The state of each blob that was published, put or copied, once the transaction has committed.
        self.written_blobs: list[BlobState] = []
        #: The entity after each patch, once the transaction has committed.
        self.patched_entities: list[Entity] = []

    def get(self, table: Table, partition_key: str, row_key: str, *,
            select: Optional[Sequence[str]] = None) -> Optional[Entity]:
        """Reads an entity, which must not change before the commit."""
        return self.get_many(table, [(partition_key, row_key)], select=select)[0]

    def get_many(self, table: Table, keys: Iterable[Key], *,
                 select: Optional[Sequence[str]] = None) -> list[Optional[Entity]]:
        """Reads entities, which must not change before the commit."""
        keep: list[Any] = []
        array, count = _keys(keys, keep)
        page = ffi.new("varve_page **")
        check(lib.varve_transaction_get_many(_open(self), _open(table), array, count,
                                             _read_options(select, None, keep), page))
        return _entities(page[0])

    def scan_page(self, scan: Scan, *, checked: bool = False) -> Page:
        """Reads one page of a scan at the transaction's version. The commit does not check it again.

        With `checked`, the scan reads single partitions. The commit raises Conflict if another writer inserted, changed
        or deleted an entity in the part of the range that the page covers.
        """
        struct, keep = scan._struct()
        page = ffi.new("varve_page **")
        read = lib.varve_transaction_scan_checked if checked else lib.varve_transaction_scan
        check(read(_open(self), _open(scan._table), struct, page))
        del keep
        return Page(page[0])

    def _add(self, table: Table, kind: int, entity: Record, etag: int, condition: str = "") -> None:
        keep: list[Any] = []
        operation = ffi.new("varve_operation *")
        _give_operation(operation[0], kind, entity, etag, keep)
        check(lib.varve_transaction_add_if(_open(self), _open(table), operation, text_of(condition, "only_if", keep)))

    def insert(self, table: Table, entity: Record) -> None:
        """Appends :meth:`Table.insert`."""
        self._add(table, _INSERT, entity, 0)

    def replace(self, table: Table, entity: Record, if_match: Optional[ETag] = None, *, only_if: str = "",
                parameters: Optional[Mapping[str, Value]] = None) -> None:
        """Appends :meth:`Table.replace`."""
        self._add(table, _REPLACE, entity, _condition_of(entity, if_match), _only_if(only_if, parameters))

    def merge(self, table: Table, entity: Record, if_match: Optional[ETag] = None, *, only_if: str = "",
              parameters: Optional[Mapping[str, Value]] = None) -> None:
        """Appends :meth:`Table.merge`."""
        self._add(table, _MERGE, entity, _condition_of(entity, if_match), _only_if(only_if, parameters))

    def insert_or_replace(self, table: Table, entity: Record) -> None:
        """Appends :meth:`Table.insert_or_replace`."""
        self._add(table, _INSERT_OR_REPLACE, entity, 0)

    def insert_or_merge(self, table: Table, entity: Record) -> None:
        """Appends :meth:`Table.insert_or_merge`."""
        self._add(table, _INSERT_OR_MERGE, entity, 0)

    def remove(self, table: Table, partition_key: str, row_key: str, if_match: ETag = ETag.ANY, *, only_if: str = "",
               parameters: Optional[Mapping[str, Value]] = None) -> None:
        """Appends :meth:`Table.remove`."""
        self._add(table, _REMOVE, Entity(partition_key, row_key), _condition(if_match), _only_if(only_if, parameters))

    def patch(self, table: Table, partition_key: str, row_key: str, set: Optional[Mapping[str, Value]] = None, *,
              remove: Iterable[str] = (), increment: Optional[Mapping[str, Union[int, float]]] = None,
              only_if: str = "", parameters: Optional[Mapping[str, Value]] = None, if_match: ETag = ETag.ANY,
              insert: bool = False) -> None:
        """Appends :meth:`Table.patch`. After the commit, `patched_entities` has what it returns."""
        keep: list[Any] = []
        condition = _only_if(only_if, parameters)
        given = _patch(partition_key, row_key, set, remove, increment, condition, if_match, insert, keep)
        check(lib.varve_transaction_patch(_open(self), _open(table), given))
        self._patches += 1

    def put_message(self, queue: Queue, text: str, **options: Any) -> None:
        """Appends :meth:`Queue.put`, with its options but without a durability of its own.

        After the commit, `sent_messages` has what it returns.
        """
        keep: list[Any] = []
        check(lib.varve_transaction_put_message(_open(self), _open(queue), text_of(text, "text", keep),
                                                give_put_options(keep, **options)))
        self._puts += 1

    def remove_message(self, queue: Queue, message: Union[Message, SentMessage]) -> None:
        """Appends :meth:`Queue.remove`. The commit raises Conflict if the receipt is no longer the last one."""
        check(lib.varve_transaction_remove_message(_open(self), _open(queue), *message._named()))

    def update_message(self, queue: Queue, message: Union[Message, SentMessage], hold: Seconds,
                       text: Optional[str] = None) -> None:
        """Appends :meth:`Queue.update`. The commit raises Conflict if the receipt is no longer the last one."""
        keep: list[Any] = []
        check(lib.varve_transaction_update_message(_open(self), _open(queue), *message._named(), update_hold(hold),
                                                   optional_text(text, keep)))

    def get_opened(self, table: Table, partition_key: str, row_key: str, names: Sequence[str], *,
                   select: Optional[Sequence[str]] = None) -> Optional[OpenedEntity]:
        """Reads an entity with readers of these large values. It must not change before the commit."""
        keep: list[Any] = []
        array, count = texts_of(names, "names", keep)
        keys, _ = _keys([(partition_key, row_key)], keep)
        page, made = ffi.new("varve_page **"), ffi.new("varve_large_value_reader *[]", count)
        check(lib.varve_transaction_get_opened(_open(self), _open(table), keys, _read_options(select, None, keep), array,
                                               count, page, made))
        return _opened(page, made, names)

    # Blobs

    def read_blob(self, container: Container, blob: str, *, if_match: Optional[ETag] = None) -> BlobReader:
        """Opens a blob of the transaction's state as a file for reading. It must not change before the commit."""
        keep: list[Any] = []
        made = ffi.new("varve_blob_reader **")
        check(lib.varve_transaction_read_blob(_open(self), _open(container), text_of(blob, "blob", keep),
                                              _conditions(keep, if_match), made))
        return BlobReader(made[0])

    def publish_blob(self, writer: BlobWriter) -> None:
        """Appends :meth:`BlobWriter.publish`. The transaction takes the content, and the writer is closed."""
        check(lib.varve_transaction_publish_blob(_open(self), _open(writer._handle)))
        self._blobs += 1
        writer.close()

    def put_blob(self, container: Container, blob: str, content: Bytes, **options: Any) -> None:
        """Appends :meth:`Container.put`, with its options but without a durability of its own."""
        keep: list[Any] = []
        check(lib.varve_transaction_put_blob(_open(self), _open(container), text_of(blob, "blob", keep),
                                             bytes_of(content, "content", keep), _blob_write_options(keep, **options)))
        self._blobs += 1

    def remove_blob(self, container: Container, blob: str, *, if_match: Optional[ETag] = None,
                    lease: Optional[UUID] = None) -> None:
        """Appends :meth:`Container.remove`."""
        keep: list[Any] = []
        check(lib.varve_transaction_remove_blob(_open(self), _open(container), text_of(blob, "blob", keep),
                                                _change_options(keep, if_match, None, lease)))

    def copy_blob(self, container: Container, blob: str, source: Container, source_blob: str, **options: Any) -> None:
        """Appends :meth:`Container.copy`, with its options but without a durability of its own."""
        keep: list[Any] = []
        check(lib.varve_transaction_copy_blob(
            _open(self), _open(container), text_of(blob, "blob", keep), _open(source),
            text_of(source_blob, "source_blob", keep), _copy_options(keep, **options)))
        self._blobs += 1

    def commit(self) -> Optional[ETag]:
        """Commits all writes or none, and ends the transaction."""
        keep: list[Any] = []
        etag = ffi.new("varve_etag *")
        check(lib.varve_transaction_commit(_open(self), _write_options(self._durability, None, b"", keep), etag))
        self.etag = ETag._of(etag[0]) if etag[0] else None
        for index in range(self._puts):
            sent = _sized("varve_sent_message")
            check(lib.varve_transaction_sent_message(_open(self), index, sent))
            self.sent_messages.append(sent_of(sent))
        if self._patches:
            page = ffi.new("varve_page **")
            check(lib.varve_transaction_patched(_open(self), page))
            self.patched_entities = Page(page[0]).entities
        for index in range(self._blobs):
            self.written_blobs.append(_state(lambda made: lib.varve_transaction_written_blob(_open(self), index, made)))
        return self.etag

    def __enter__(self) -> Transaction:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        try:
            if kind is None:
                self.commit()
        finally:
            self.__del__()


class Loader(_Handle):
    """Fills a new or empty table without the log. ``with store.load(account, table) as load: load.add(entity)``.

    The block's end makes the entities visible, all at once, unless finish() has done so; an exception leaves nothing.
    """

    __slots__ = ("etag", "unbuilt_indexes")
    _free = staticmethod(lib.varve_loader_free)

    def __init__(self, handle: Any) -> None:
        super().__init__(handle)
        #: The ETag of all entities, once the load has finished.
        self.etag: Optional[ETag] = None
        #: The indexes that the finished load has not built. Store.create_index() builds them.
        self.unbuilt_indexes: list[UnbuiltIndex] = []

    def add(self, entity: Record) -> None:
        """Adds an entity. Entities in the order of their keys cost least."""
        keep: list[Any] = []
        given = ffi.new("varve_entity *")
        fill_entity(given, entity, keep)
        check(lib.varve_loader_add(_open(self), given))

    def finish(self, *, progress: Optional[BuildProgress] = None) -> ETag:
        """Makes the entities the content of the table, and builds its indexes, with `progress` as Store.create_index().

        The load has succeeded although a build ended, or `progress` raised an exception.
        """
        etag = ffi.new("varve_etag *")
        failure = indexes.finish_load(_open(self), progress, etag)
        self.etag = ETag._of(etag[0])
        self.unbuilt_indexes = indexes.unbuilt(_open(self))
        if failure is not None:
            raise failure
        return self.etag

    def __enter__(self) -> Loader:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        try:
            if kind is None and self.etag is None:
                self.finish()
        finally:
            self.__del__()


def _expiry_struct(at: Optional[str], after: Optional[Seconds], at_name: str, after_name: str, keep: list[Any]) -> Any:
    """Returns the rule of a table as the library takes it, or NULL."""
    if at is None and after is None:
        return ffi.NULL
    given = _sized("varve_table_expiry")
    keep.append(given)
    if at is not None:
        given.property = text_of(at, at_name, keep)
    if after is not None:
        given.age_ms = milliseconds_of(after, after_name, may_be_zero=False)
    return given


class Store:
    """An open store. ``with varve.open(path, create=True) as store: ...`` closes it at the end of the block."""

    def __init__(self, path: Path, *, create: bool = False, read_only: bool = False,
                 durability: Optional[str] = None, write_buffer_bytes: int = 0, block_cache_bytes: int = 0,
                 block_cache: bool = True, resources: Optional[Resources] = None, limits: Optional[Limits] = None,
                 recreation_delay: Optional[Seconds] = None, short_pages: bool = False,
                 reader_idle_max: Optional[Seconds] = None, staged_blocks_age_max: Optional[Seconds] = None,
                 verified_reads: bool = False, read_patience: Optional[Seconds] = None,
                 local_cache: Optional[tuple[Path, int]] = None, owner_wait: Optional[Seconds] = None,
                 log: Optional[Log] = None, health: Optional[OnHealth] = None) -> None:
        """Opens the store in a directory, or at its address ``rados:POOL/NAME`` on Ceph.

        `create` makes it if it does not exist. `durability` (``"sync"`` or ``"buffered"``) is that of writes which choose
        none; it is stored when the store is created, and so are the `limits`. The two sizes are 256 MiB each if they are
        zero. With ``block_cache=False``, there is no cache. `resources` are memory that this store shares with others, in
        place of these three. `log` and `health` receive log lines and changes of health, as Resources explains.

        The name of a dropped table or queue is blocked for the `recreation_delay`. With `short_pages`, pages end after a few
        entities, to test clients. A reader of a blob or a large value that is not read for `reader_idle_max` (an hour if
        None) raises Closed. Staged blocks are discarded `staged_blocks_age_max` (7 days if None) after the last one.

        The last four are for an address. With `verified_reads`, each read asks the cluster who owns the store. A read
        that waits longer than `read_patience` raises Busy. `local_cache` is a local directory and the size of the file
        there. An open waits for `owner_wait` before it raises Locked: a standby. docs/ceph.md explains them. An address needs ``librados.so.2``, or raises Unsupported.
        """
        keep: list[Any] = []
        self._handle: Any = None
        options = _sized("varve_store_options")
        options.create_if_absent = create
        options.read_only = read_only
        options.default_durability = _durability_of(durability)
        for name, time in (("reader_idle_max", reader_idle_max), ("staged_blocks_age_max", staged_blocks_age_max)):
            if time is not None:
                setattr(options, name + "_ms", milliseconds_of(time, name, may_be_zero=False))
        if recreation_delay is not None:
            options.recreation_delay_ms = milliseconds_of(recreation_delay, "recreation_delay")
        options.short_pages = short_pages
        if limits is not None:
            options.limits = limits_struct(limits, keep)
        if write_buffer_bytes or block_cache_bytes or not block_cache or log is not None or health is not None:
            if resources is not None:
                raise InvalidArgument("the sizes of memory, log and health are those of `resources`; give one of the two")
            resources = Resources(write_buffer_bytes=write_buffer_bytes, block_cache_bytes=block_cache_bytes,
                                  block_cache=block_cache, log=log, health=health)
        if resources is not None:
            options.resources = _open(resources)
            self._listener = resources._listener  # The store calls it until its end.
        raw = os.fsencode(path)
        place = (ffi.from_buffer(raw), len(raw))
        store = ffi.new("varve_store **")
        if lib.varve_rados_is_address(place):
            rados = _sized("varve_rados_options")
            rados.verified_reads = verified_reads
            rados.read_patience_ms = 0 if read_patience is None else milliseconds_of(read_patience, "read_patience")
            rados.owner_wait_ms = 0 if owner_wait is None else milliseconds_of(owner_wait, "owner_wait")
            if local_cache is not None:
                directory, rados.local_cache_bytes = os.fsencode(local_cache[0]), local_cache[1]
                keep.append(directory)
                rados.local_cache_directory = (ffi.from_buffer(directory), len(directory))
            check(lib.varve_rados_store_open(place, rados, options, store))
        elif verified_reads or (read_patience, local_cache, owner_wait) != (None, None, None):
            raise InvalidArgument("verified_reads, read_patience, local_cache and owner_wait are for a store on Ceph")
        else:
            check(lib.varve_store_open(place, options, store))
        del keep
        self._handle = store[0]

    def _open(self) -> Any:
        if not self._handle:
            raise Closed("the store was closed")
        return self._handle

    def close(self) -> None:
        """Waits for running calls, makes everything durable and closes. A closed store ignores it."""
        handle, self._handle = self._handle, None
        if handle:
            check(lib.varve_store_close(handle))

    def __del__(self) -> None:
        handle, self._handle = getattr(self, "_handle", None), None
        if handle and lib is not None:
            lib.varve_status_free(lib.varve_store_close(handle))

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Accounts and tables

    def create_account(self, account: str) -> None:
        """Creates an account, or raises Exists."""
        keep: list[Any] = []
        check(lib.varve_account_create(self._open(), text_of(account, "account", keep)))

    def drop_account(self, account: str) -> None:
        """Drops an account with all its tables."""
        keep: list[Any] = []
        check(lib.varve_account_drop(self._open(), text_of(account, "account", keep)))

    def accounts(self, prefix: str = "") -> list[str]:
        """Returns the names of the accounts."""
        return self._names(lambda options, list_: lib.varve_account_list(self._open(), options, list_), prefix)

    def create_table(self, account: str, table: str, *, large_values: bool = False, exist_ok: bool = False,
                     ends_at: Optional[str] = None, ends_after: Optional[Seconds] = None) -> Table:
        """Creates a table. With `exist_ok` returns the table that exists, if it does.

        With `ends_at` or `ends_after`, its entities end as set_table_expiry() says for `at` and `after`.

        With `large_values`, its entities may own contents of any length. Each replace, merge and delete then reads the
        entity first, and load() refuses the table.
        """
        keep: list[Any] = []
        options = _sized("varve_table_options")
        options.has_large_values = large_values
        options.expiry = _expiry_struct(ends_at, ends_after, "ends_at", "ends_after", keep)
        made = ffi.new("varve_table **")
        try:
            check(lib.varve_table_create_with(self._open(), text_of(account, "account", keep),
                                              text_of(table, "table", keep), options, made))
        except Exists:
            if not exist_ok:
                raise
            return self.table(account, table)
        return Table(made[0])

    def table(self, account: str, table: str) -> Table:
        """Opens a table, or raises NotFound."""
        keep: list[Any] = []
        made = ffi.new("varve_table **")
        check(lib.varve_table_open(self._open(), text_of(account, "account", keep), text_of(table, "table", keep),
                                   made))
        return Table(made[0])

    def set_table_expiry(self, account: str, table: str, *, at: Optional[str] = None,
                         after: Optional[Seconds] = None) -> None:
        """Lets the entities that are written from now on end: at a datetime property, or some time after their timestamp.

        Without either they never end. An entity that has ended is absent at once.
        """
        keep: list[Any] = []
        given = _expiry_struct(at, after, "at", "after", keep)
        check(lib.varve_table_set_expiry(self._open(), text_of(account, "account", keep), text_of(table, "table", keep),
                                         given))

    def table_expiry(self, account: str, table: str) -> Optional[TableExpiry]:
        """Returns when entities that are written now end, or None if they never do."""
        keep: list[Any] = []
        room, size, age = ffi.new("char[1024]"), ffi.new("size_t *"), ffi.new("uint64_t *")
        check(lib.varve_table_show_expiry(self._open(), text_of(account, "account", keep),
                                          text_of(table, "table", keep), room, 1024, size, age))
        if size[0] != 0:
            return TableExpiry(at=bytes(ffi.buffer(room, size[0])).decode())
        return TableExpiry(after=timedelta(milliseconds=age[0])) if age[0] != 0 else None

    def table_access_policies(self, account: str, table: str) -> list[AccessPolicy]:
        """Returns the access policies of a table in the order in which they were set."""
        keep: list[Any] = []
        owner, name = text_of(account, "account", keep), text_of(table, "table", keep)
        return access.policies_of(lambda made: lib.varve_table_policies(self._open(), owner, name, made))

    def set_table_access_policies(self, account: str, table: str, policies: Iterable[AccessPolicy]) -> None:
        """Replaces all access policies of a table. They permit parts of ``raud``: read, add, update, delete."""
        keep: list[Any] = []
        check(lib.varve_table_set_policies(self._open(), text_of(account, "account", keep),
                                           text_of(table, "table", keep), *access.policies_array(policies, keep)))

    def service_properties(self, account: str, service: str = "tables") -> ServiceProperties:
        """Returns the properties of a service of the account: "tables", "queues" or "blobs"."""
        return access.properties_of(self._open(), account, service)

    def set_service_properties(self, account: str, service: str = "tables", *, logging: Optional[Logging] = None,
                               hour_metrics: Optional[Metrics] = None, minute_metrics: Optional[Metrics] = None,
                               cors_rules: Optional[Iterable[CorsRule]] = None,
                               default_version: Optional[str] = None) -> None:
        """Replaces the given properties of a service. What is None keeps its value."""
        access.set_properties(self._open(), account, service, logging, hour_metrics, minute_metrics, cors_rules,
                              default_version)

    def create_index(self, account: str, table: str, name: str, components: Iterable[str], *,
                     carried: Iterable[str] = (), unique: bool = False,
                     progress: Optional[BuildProgress] = None) -> None:
        """Declares an index and builds it, or goes on with a build of the same definition.

        A component is a property, a key or Timestamp, for example ``"Customer"`` or ``"Total desc"``. `carried` are
        properties that an entry repeats. `progress` receives the entities that were read and the entries that were
        written; if it returns False, the build stops and Cancelled is raised. Raises Exists if the index has another
        definition, and Conflict if `unique` is set and two entities have one value. Filtered scans take a ready index
        by themselves.
        """
        indexes.create(self._open(), account, table, name, components, carried, unique, progress)

    def indexes(self, account: str, table: str) -> list[Index]:
        """Returns the indexes of a table and their states."""
        return indexes.listed(self._open(), account, table)

    def drop_index(self, account: str, table: str, name: str) -> None:
        """Drops an index. Raises NotFound if the table has no such index."""
        indexes.drop(self._open(), account, table, name)

    def drop_table(self, account: str, table: str) -> None:
        """Drops a table with all its entities."""
        keep: list[Any] = []
        check(lib.varve_table_drop(self._open(), text_of(account, "account", keep), text_of(table, "table", keep)))

    def tables(self, account: str, prefix: str = "") -> list[str]:
        """Returns the names of the tables of an account."""
        keep: list[Any] = []
        owner = text_of(account, "account", keep)
        return self._names(lambda options, list_: lib.varve_table_list(self._open(), owner, options, list_), prefix)

    def open_large_value(self, account: str, id: int) -> LargeValueReader:
        """Opens the content with this number, LargeValue.id, as a file for reading, or raises NotFound."""
        if not 0 <= id < 2**64:
            raise InvalidArgument(f"id is {id}; the number of a LargeValue is expected")
        keep: list[Any] = []
        made = ffi.new("varve_large_value_reader **")
        check(lib.varve_large_value_reader_open_id(self._open(), text_of(account, "account", keep), id, made))
        return LargeValueReader(made[0])

    # Queues

    def create_queue(self, account: str, queue: str, *, metadata: Optional[Mapping[str, str]] = None,
                     message_bytes_max: int = 65_536, release_on_open: bool = False,
                     exist_ok: bool = False) -> Queue:
        """Creates a queue. With `exist_ok` returns the queue that exists, if it does.

        With `release_on_open`, each open of the store makes the messages visible at once that consumers held before.
        """
        if not 1 <= message_bytes_max < 2**32:
            raise InvalidArgument(f"message_bytes_max is {message_bytes_max}; 1 to 1048576 bytes are allowed")
        keep: list[Any] = []
        options = _sized("varve_queue_options")
        options.metadata, options.metadata_count = metadata_pairs(metadata or {}, keep)
        options.message_bytes_max = message_bytes_max
        options.release_on_open = release_on_open
        made = ffi.new("varve_queue **")
        try:
            check(lib.varve_queue_create(self._open(), text_of(account, "account", keep),
                                         text_of(queue, "queue", keep), options, made))
        except Exists:
            if not exist_ok:
                raise
            return self.queue(account, queue)
        return Queue(made[0])

    def queue(self, account: str, queue: str) -> Queue:
        """Opens a queue, or raises NotFound."""
        keep: list[Any] = []
        made = ffi.new("varve_queue **")
        check(lib.varve_queue_open(self._open(), text_of(account, "account", keep), text_of(queue, "queue", keep),
                                   made))
        return Queue(made[0])

    def drop_queue(self, account: str, queue: str) -> None:
        """Drops a queue with all its messages."""
        keep: list[Any] = []
        check(lib.varve_queue_drop(self._open(), text_of(account, "account", keep), text_of(queue, "queue", keep)))

    def queues(self, account: str, prefix: str = "") -> list[str]:
        """Returns the names of the queues of an account."""
        keep: list[Any] = []
        owner = text_of(account, "account", keep)
        return self._names(lambda options, list_: lib.varve_queue_list(self._open(), owner, options, list_), prefix)

    # Containers

    def create_container(self, account: str, container: str, *, metadata: Optional[Mapping[str, str]] = None,
                         public_access: str = "none", exist_ok: bool = False) -> Container:
        """Creates a container. With `exist_ok` returns the container that exists, if it does.

        `public_access` is "none", "blobs" or "container": the reads that need no key over HTTP.
        """
        keep: list[Any] = []
        options = _sized("varve_container_options")
        options.metadata, options.metadata_count = metadata_pairs(metadata or {}, keep)
        options.public_access = _number_of(public_access, _ACCESS, "public_access")
        made = ffi.new("varve_container **")
        try:
            check(lib.varve_container_create(self._open(), text_of(account, "account", keep),
                                             text_of(container, "container", keep), options, made))
        except Exists:
            if not exist_ok:
                raise
            return self.container(account, container)
        return Container(made[0])

    def container(self, account: str, container: str) -> Container:
        """Opens a container, or raises NotFound."""
        keep: list[Any] = []
        made = ffi.new("varve_container **")
        check(lib.varve_container_open(self._open(), text_of(account, "account", keep),
                                       text_of(container, "container", keep), made))
        return Container(made[0])

    def drop_container(self, account: str, container: str, *, lease: Optional[UUID] = None) -> None:
        """Drops a container with all its blobs. `lease` is the id of the caller's lease of the container."""
        keep: list[Any] = []
        check(lib.varve_container_drop_if(self._open(), text_of(account, "account", keep),
                                          text_of(container, "container", keep), _conditions(keep, lease=lease)))

    def containers(self, account: str, prefix: str = "") -> list[str]:
        """Returns the names of the containers of an account."""
        keep: list[Any] = []
        owner = text_of(account, "account", keep)
        return self._names(lambda options, list_: lib.varve_container_list(self._open(), owner, options, list_),
                           prefix)

    def _names(self, call: Callable[[Any, Any], Any], prefix: str) -> list[str]:
        keep: list[Any] = []
        options = _sized("varve_list_options")
        if prefix:
            options.prefix = text_of(prefix, "prefix", keep)
        names: list[str] = []
        while True:
            made = ffi.new("varve_list **")
            check(call(options, made))
            view = _sized("varve_list_view")
            try:
                check(lib.varve_list_read(made[0], view))
                names.extend(_text(view.names[i].name) or "" for i in range(view.count))
                continuation = _text(view.continuation)
            finally:
                lib.varve_list_free(made[0])
            if continuation is None:
                return names
            options.continuation = text_of(continuation, "continuation", keep)

    # Versions, transactions, loads

    def snapshot(self) -> Snapshot:
        """Keeps the newest version readable."""
        made = ffi.new("varve_snapshot **")
        check(lib.varve_store_snapshot(self._open(), made))
        return Snapshot(made[0])

    def transaction(self, *, durability: Optional[str] = None) -> Transaction:
        """Begins a transaction over any tables, for a ``with`` block."""
        made = ffi.new("varve_transaction **")
        check(lib.varve_transaction_begin(self._open(), made))
        return Transaction(made[0], durability)

    def transact(self, body: Callable[[Transaction], T], *, attempts: int = 16,
                 durability: Optional[str] = None) -> T:
        """Runs `body` in a transaction and commits. After a conflict it runs `body` again, at most `attempts` times."""
        for attempt in range(attempts):
            try:
                with self.transaction(durability=durability) as transaction:
                    result = body(transaction)
                return result
            except Conflict:
                if attempt + 1 >= attempts:
                    raise
        raise InvalidArgument(f"attempts is {attempts}; one or more is expected")

    def load(self, account: str, table: str) -> Loader:
        """Begins to load a new or empty table, for a ``with`` block."""
        keep: list[Any] = []
        made = ffi.new("varve_loader **")
        check(lib.varve_loader_open(self._open(), text_of(account, "account", keep), text_of(table, "table", keep),
                                    made))
        return Loader(made[0])

    def last_tag(self) -> Optional[bytes]:
        """Returns the tag of the last commit that had one."""
        room, size, found = ffi.new("char[1024]"), ffi.new("size_t *"), ffi.new("bool *")
        check(lib.varve_store_last_tag(self._open(), room, 1024, size, found))
        return bytes(ffi.buffer(room, size[0])) if found[0] else None

    # Upkeep

    def sync(self) -> None:
        """Makes every acknowledged write durable."""
        check(lib.varve_store_sync(self._open()))

    def compact(self) -> None:
        """Flushes and compacts everything, and waits for it."""
        check(lib.varve_store_compact(self._open()))

    def checkpoint(self, path: Path) -> dict[str, int]:
        """Creates a second store in a directory that is absent or empty. Returns its figures."""
        raw = os.fsencode(path)
        figures = _sized("varve_checkpoint_figures")
        check(lib.varve_store_checkpoint(self._open(), (ffi.from_buffer(raw), len(raw)), figures))
        return _figures(figures)

    def statistics(self) -> dict[str, Union[int, bool]]:
        """Returns the figures of the store, by the names of varve/c.h."""
        figures = _sized("varve_statistics")
        check(lib.varve_store_statistics(self._open(), figures))
        return _figures(figures)


class Report(NamedTuple):
    """What a verification or a repair found."""

    figures: dict[str, Union[int, bool]]
    findings: list[str]

    @property
    def sound(self) -> bool:
        """True if there is no finding."""
        return self.figures["finding_count"] == 0


def _report(figures: Any, handle: Any) -> Report:
    view = _sized("varve_report_view")
    try:
        check(lib.varve_report_read(handle, view))
        return Report(_figures(figures), [_text(view.findings[i]) or "" for i in range(view.finding_count)])
    finally:
        lib.varve_report_free(handle)


def verify(path: Path) -> Report:
    """Reads and checks everything in a store that no process has open for writing."""
    raw = os.fsencode(path)
    figures, report = _sized("varve_verify_figures"), ffi.new("varve_report **")
    check(lib.varve_verify((ffi.from_buffer(raw), len(raw)), ffi.NULL, ffi.NULL, figures, report))
    return _report(figures, report[0])


def repair(path: Path, target: Path) -> Report:
    """Writes everything of a damaged store that still verifies to a new store."""
    source, destination = os.fsencode(path), os.fsencode(target)
    figures, report = _sized("varve_repair_figures"), ffi.new("varve_report **")
    check(lib.varve_repair((ffi.from_buffer(source), len(source)), (ffi.from_buffer(destination), len(destination)),
                           ffi.NULL, ffi.NULL, figures, report))
    return _report(figures, report[0])

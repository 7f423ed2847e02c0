"""Secondary indexes of tables, and changes by filter."""
from __future__ import annotations

from typing import Any, Callable, Iterable, Mapping, NamedTuple, Optional

from ._native import ffi, lib
from .errors import Cancelled, InvalidArgument, NotFound, VarveError, check, exception_of
from .handles import _sized, _text, _write_options
from .values import Entity, Value, fill_entity, text_of, texts_of

_STATES = {1: "building", 2: "ready", 3: "failed"}

#: Receives the entities that a build has read and the entries that it has written. Returns False to stop the build.
BuildProgress = Callable[[int, int], Optional[bool]]


class Index(NamedTuple):
    """An index of a table."""

    name: str
    #: The components, each the name of a property or key, followed by `` desc`` if it descends.
    components: tuple[str, ...]
    #: The properties that an entry repeats.
    carried: tuple[str, ...]
    #: ``"building"``, ``"ready"`` or ``"failed"``.
    state: str
    unique: bool
    #: Why the build failed, or None.
    failure: Optional[str]


class UnbuiltIndex(NamedTuple):
    """An index that a finished load has not built."""

    #: Empty if the load could not read which indexes the table has.
    name: str
    #: Why its build ended.
    reason: VarveError


class WhereProgress(NamedTuple):
    """How far a change by filter is."""

    #: Entities that met the filter when a batch was read.
    matched: int
    #: Entities that were deleted or written.
    changed: int
    #: Entities that no longer met the filter when they were to be changed.
    left: int
    #: The token that goes on with the change, or None at the end.
    continuation: Optional[str]


#: Receives the progress after each batch. Returns False to end the change.
ShowWhere = Callable[[WhereProgress], Optional[bool]]


class _Calls:
    """Keeps the first exception of a callback until the call of C has returned. The callback then asks to stop."""

    def __init__(self) -> None:
        self.failure: Optional[BaseException] = None

    def go_on(self, call: Callable[[], Optional[bool]]) -> bool:
        try:
            return self.failure is None and call() is not False
        except BaseException as failure:
            self.failure = failure
            return False


def _give_component(to: Any, component: str, keep: list[Any]) -> None:
    if not isinstance(component, str):
        raise TypeError(f"the component is {type(component).__name__}; a str such as 'Total desc' is expected")
    name, _, order = component.strip().partition(" ")
    if order.strip() not in ("", "asc", "desc") or ":" in name:
        raise InvalidArgument(f"the component is {component!r}; a name, with ' asc' or ' desc' after it, is expected")
    to.property = text_of(name, "the component", keep)
    to.is_descending = order.strip() == "desc"


def _shown(progress: Optional[BuildProgress], calls: _Calls) -> Any:
    """Returns the callback of C that calls `progress`, or NULL."""
    if progress is None:
        return ffi.NULL
    show = progress
    return ffi.callback("varve_index_progress", lambda entities, entries, _: calls.go_on(lambda: show(entities, entries)))


def create(store: Any, account: str, table: str, name: str, components: Iterable[str], carried: Iterable[str],
           unique: bool, progress: Optional[BuildProgress]) -> None:
    """Does Store.create_index() on the handle of a store."""
    if isinstance(components, str) or isinstance(carried, str):
        raise TypeError("components and carried are lists of str")
    keep: list[Any] = []
    parts = list(components)
    given = _sized("varve_index_definition")
    given.name = text_of(name, "name", keep)
    array = ffi.new("varve_index_component[]", len(parts))
    for to, component in zip(array, parts):
        _give_component(to, component, keep)
    given.components, given.component_count = array, len(parts)
    given.carried, given.carried_count = texts_of(carried, "carried", keep)
    given.is_unique = unique
    calls = _Calls()
    shown = _shown(progress, calls)
    try:
        check(lib.varve_index_create(store, text_of(account, "account", keep), text_of(table, "table", keep), given,
                                     shown, ffi.NULL))
    except Cancelled:
        if calls.failure is None:
            raise
    if calls.failure is not None:
        raise calls.failure


def listed(store: Any, account: str, table: str) -> list[Index]:
    """Does Store.indexes() on the handle of a store."""
    keep: list[Any] = []
    made = ffi.new("varve_indexes **")
    check(lib.varve_index_list(store, text_of(account, "account", keep), text_of(table, "table", keep), made))
    try:
        all_, count = ffi.new("const varve_index **"), ffi.new("size_t *")
        check(lib.varve_indexes_read(made[0], all_, count))
        return [_index_of(all_[0][i]) for i in range(count[0])]
    finally:
        lib.varve_indexes_free(made[0])


def finish_load(loader: Any, progress: Optional[BuildProgress], etag: Any) -> Optional[BaseException]:
    """Does Loader.finish() on the handle of a loader. Returns the exception of `progress`, which ended no load."""
    calls = _Calls()
    shown = _shown(progress, calls)
    check(lib.varve_loader_finish_with(loader, shown, ffi.NULL, etag))
    return calls.failure


def unbuilt(loader: Any) -> list[UnbuiltIndex]:
    """Returns the indexes that a load has not built."""
    found: list[UnbuiltIndex] = []
    name, reason = ffi.new("varve_text *"), ffi.new("varve_status **")
    while True:
        try:
            check(lib.varve_loader_unbuilt_index(loader, len(found), name, reason))
        except NotFound:
            return found
        found.append(UnbuiltIndex(_text(name[0]) or "", exception_of(reason[0])))


def _index_of(struct: Any) -> Index:
    components = tuple((_text(part.property) or "") + (" desc" if part.is_descending else "")
                       for part in (struct.components[i] for i in range(struct.component_count)))
    carried = tuple(_text(struct.carried[i]) or "" for i in range(struct.carried_count))
    return Index(_text(struct.name) or "", components, carried, _STATES.get(struct.state, "?"), bool(struct.is_unique),
                 _text(struct.failure) or None)


def drop(store: Any, account: str, table: str, name: str) -> None:
    """Does Store.drop_index() on the handle of a store."""
    keep: list[Any] = []
    check(lib.varve_index_drop(store, text_of(account, "account", keep), text_of(table, "table", keep),
                               text_of(name, "name", keep)))


class WhereOptions(NamedTuple):
    """The options of a change by filter."""

    all: bool
    dry_run: bool
    batch: int
    progress: Optional[ShowWhere]
    durability: Optional[str]
    wait: Optional[float]
    tag: bytes


def change(table: Any, scan: Any, options: WhereOptions, set: Optional[Mapping[str, Value]] = None,
           remove: Optional[Iterable[str]] = None) -> WhereProgress:
    """Does Table.delete_where(), or Table.update_where() if `remove` is not None, on the handle of a table."""
    if not 1 <= options.batch <= 100:
        raise InvalidArgument(f"batch is {options.batch}; 1 to 100 is allowed")
    keep: list[Any] = []
    given = _sized("varve_where")
    given.scan, given.all, given.dry_run, given.batch_entities_max = scan, options.all, options.dry_run, options.batch
    properties = ffi.new("varve_entity *")
    fill_entity(properties, Entity("", "", set), keep)
    given.set, given.set_count = properties.properties, properties.property_count
    given.removed, given.removed_count = texts_of(remove or (), "remove", keep)
    given.write = _write_options(options.durability, options.wait, options.tag, keep)
    calls = _Calls()
    if options.progress is not None:
        show = options.progress
        visitor = ffi.callback(
            "varve_where_visitor",
            lambda now, _: calls.go_on(lambda: show(WhereProgress(now.matched, now.changed, now.left,
                                                                  _text(now.continuation)))))
        keep.append(visitor)  # A struct's field does not keep a callback alive.
        given.progress = visitor
    figures, page = ffi.new("varve_where_progress *"), ffi.new("varve_page **")
    call = lib.varve_table_delete_where if remove is None else lib.varve_table_update_where
    check(call(table, given, figures, page))
    view = _sized("varve_page_view")
    try:
        check(lib.varve_page_read(page[0], view))
        continuation = _text(view.continuation)
    finally:
        lib.varve_page_free(page[0])
    if calls.failure is not None:
        raise calls.failure
    return WhereProgress(figures.matched, figures.changed, figures.left, continuation)

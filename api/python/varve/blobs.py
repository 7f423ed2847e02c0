"""Containers and their blobs: named contents of any length. docs/python.md introduces them."""
from __future__ import annotations

import threading
import time
from datetime import datetime
from types import TracebackType
from typing import Any, Callable, Iterable, Iterator, Mapping, NamedTuple, Optional, Sequence, Union
from uuid import UUID

from ._native import ffi, lib
from .access import AccessPolicy, policies_array, policies_of
from .errors import InvalidArgument, NotFound, check
from .handles import _durability_of, _Handle, _open, _sized, _text
from .leases import Lease, give_guid
from .queues import _SIGNAL_SECONDS, _Stop, Seconds, metadata_pairs, milliseconds_of
from .streams import Bytes, ContentReader, ContentWriter, bytes_of
from .values import ETag, text_of, ticks_of_microseconds, time_of

_TIERS = ("", "hot", "cool", "cold", "archive")
_KINDS = ("block", "append")
_TAIL_BYTES_MAX = 4 << 20
_LEASES = ("available", "leased", "expired", "breaking", "broken")
_ACCESS = ("none", "blobs", "container")
_FROM = {"latest": 0, "staged": 1, "committed": 2}


def _loose(text: Any) -> str:
    """Returns a text that another program may have stored in another encoding than UTF-8."""
    if not text.data or not text.size:
        return ""
    raw: bytes = ffi.unpack(text.data, text.size)
    return raw.decode("utf-8", "replace")


def _named(number: int, names: tuple[str, ...]) -> str:
    return names[number] if 0 <= number < len(names) else str(number)


def _number_of(name: str, names: tuple[str, ...], what: str) -> int:
    if name not in names:
        raise InvalidArgument(f"{what} is {name!r}; {', '.join(repr(known) for known in names)} are allowed")
    return names.index(name)


class BlobProperties(NamedTuple):
    """Texts that a user keeps with a blob, as the headers of HTTP. Empty means not set."""

    #: If it is empty, readers over HTTP see ``application/octet-stream``.
    content_type: str = ""
    content_encoding: str = ""
    content_language: str = ""
    content_disposition: str = ""
    cache_control: str = ""
    #: 16 bytes that the writer gave. The store keeps them, and does not compare them.
    content_md5: Optional[bytes] = None


class BlobState(NamedTuple):
    """The state of a blob, without its content."""

    name: str
    #: "block": the content is replaced as a whole. "append": it grows at its end.
    kind: str
    #: Changes with the content, the properties and the metadata.
    etag: ETag
    #: The time of that change.
    modified: datetime
    created: datetime
    #: Bytes of the content.
    length: int
    #: CRC-64 of the content, if it is known.
    crc64: Optional[int]
    properties: BlobProperties
    metadata: dict[str, str]
    tags: dict[str, str]
    #: "hot", "cool", "cold" or "archive"; empty if the writer chose none. An archived content cannot be read.
    tier: str
    #: "available", "leased", "expired", "breaking" or "broken".
    lease: str
    #: Blocks that an append blob was made of.
    append_count: int
    #: The address of the source of the copy that made the blob. Otherwise empty.
    copy_source: str
    #: Nothing was published yet under the name: there are staged blocks alone.
    is_uncommitted: bool


class BlobPrefix(NamedTuple):
    """The common beginning of several names, in a listing with a delimiter."""

    name: str


class ContainerState(NamedTuple):
    """The state of a container."""

    etag: ETag
    modified: datetime
    #: "none", "blobs" or "container": the reads that need no key over HTTP.
    public_access: str
    #: As BlobState.lease.
    lease: str


class AppendedBlock(NamedTuple):
    """What an append returns."""

    #: Where the appended bytes begin.
    offset: int
    etag: ETag
    append_count: int


class BlobTail(NamedTuple):
    """What a tail returns."""

    #: The bytes from the offset on. Empty if there were none until the end of the wait.
    content: bytes
    #: Bytes of the blob.
    length: int
    etag: ETag
    #: A number of this blob, which no other blob of its name has. For the next tail.
    creation: int


class Block(NamedTuple):
    """One block of a blob."""

    id: bytes
    length: int


class BlockLists(NamedTuple):
    """The blocks of a blob."""

    #: In the order of the content.
    committed: list[Block]
    #: In the order of their ids.
    staged: list[Block]


# -- States -------------------------------------------------------------------------------------------------------------


def _pairs(array: Any, count: int) -> dict[str, str]:
    return {_loose(array[i].name): _loose(array[i].value) for i in range(count)}


def _state_of(view: Any) -> BlobState:
    properties = BlobProperties(
        _loose(view.content_type), _loose(view.content_encoding), _loose(view.content_language),
        _loose(view.content_disposition), _loose(view.cache_control),
        bytes(ffi.buffer(view.content_md5)) if view.has_content_md5 else None)
    return BlobState(_text(view.name) or "", _named(view.kind, _KINDS), ETag._of(view.etag), time_of(view.modified),
                     time_of(view.created), view.length, view.crc64 if view.has_crc64 else None, properties,
                     _pairs(view.metadata, view.metadata_count), _pairs(view.tags, view.tag_count),
                     _named(view.tier, _TIERS), _named(view.lease_state, _LEASES), view.append_count,
                     _loose(view.copy_source), view.is_uncommitted)


def _entries(handle: Any) -> tuple[list[Union[BlobState, BlobPrefix]], Optional[str]]:
    """Returns what a varve_blobs shows, and frees it."""
    try:
        count = ffi.new("size_t *")
        check(lib.varve_blobs_count(handle, count))
        view = _sized("varve_blob_view")
        entries: list[Union[BlobState, BlobPrefix]] = []
        for i in range(count[0]):
            check(lib.varve_blobs_read(handle, i, view))
            prefix = _text(view.prefix)
            entries.append(_state_of(view) if prefix is None else BlobPrefix(prefix))
        continuation = ffi.new("varve_text *")
        check(lib.varve_blobs_continuation(handle, continuation))
        return entries, _text(continuation[0])
    finally:
        lib.varve_blobs_free(handle)


def _state(call: Callable[[Any], Any]) -> BlobState:
    """Returns the state of one blob, which `call` gives to a varve_blobs."""
    made = ffi.new("varve_blobs **")
    check(call(made))
    state = _entries(made[0])[0][0]
    assert isinstance(state, BlobState)
    return state


# -- Options ------------------------------------------------------------------------------------------------------------


def _etag_number(etag: Optional[ETag], name: str) -> int:
    if etag is None:
        return 0
    if not isinstance(etag, ETag):
        raise TypeError(f"{name} is {type(etag).__name__}; an ETag is expected, for example ETag.ANY")
    return etag._number


def _conditions(keep: list[Any], if_match: Optional[ETag] = None, if_none_match: Optional[ETag] = None,
                modified_since: Optional[datetime] = None, unmodified_since: Optional[datetime] = None,
                lease: Optional[UUID] = None) -> Any:
    conditions = _sized("varve_blob_conditions")
    keep.append(conditions)
    conditions.if_match = _etag_number(if_match, "if_match")
    conditions.if_none_match = _etag_number(if_none_match, "if_none_match")
    if modified_since is not None:
        conditions.if_modified_since = ticks_of_microseconds(modified_since)
    if unmodified_since is not None:
        conditions.if_unmodified_since = ticks_of_microseconds(unmodified_since)
    if lease is not None:
        conditions.has_lease = True
        give_guid(conditions.lease, lease, "lease")
    return conditions


def _properties(properties: Optional[BlobProperties], keep: list[Any]) -> Any:
    if properties is None:
        return ffi.NULL
    made = _sized("varve_blob_properties")
    keep.append(made)
    for name in ("content_type", "content_encoding", "content_language", "content_disposition", "cache_control"):
        text = getattr(properties, name)
        if text:
            setattr(made, name, text_of(text, name, keep))
    if properties.content_md5 is not None:
        if len(properties.content_md5) != 16:
            raise InvalidArgument(f"content_md5 has {len(properties.content_md5)} bytes; an MD5 has 16")
        made.has_content_md5 = True
        made.content_md5 = properties.content_md5
    return made


def _write_options(keep: list[Any], *, properties: Optional[BlobProperties] = None,
                   metadata: Optional[Mapping[str, str]] = None, tags: Optional[Mapping[str, str]] = None,
                   tier: str = "", if_match: Optional[ETag] = None, if_none_match: Optional[ETag] = None,
                   lease: Optional[UUID] = None, durability: Optional[str] = None, compresses: bool = False) -> Any:
    options = _sized("varve_blob_write_options")
    keep.append(options)
    options.properties = _properties(properties, keep)
    options.metadata, options.metadata_count = metadata_pairs(metadata or {}, keep)
    options.tags, options.tag_count = metadata_pairs(tags or {}, keep)
    options.tier = _number_of(tier, _TIERS, "tier")
    options.durability = _durability_of(durability)
    options.conditions = _conditions(keep, if_match, if_none_match, lease=lease)
    options.compresses = compresses
    return options


def _change_options(keep: list[Any], if_match: Optional[ETag], durability: Optional[str],
                    lease: Optional[UUID] = None) -> Any:
    options = _sized("varve_blob_change_options")
    keep.append(options)
    options.durability = _durability_of(durability)
    options.conditions = _conditions(keep, if_match, lease=lease)
    return options


def _read_options(keep: list[Any], snapshot: Optional[_Handle], if_match: Optional[ETag],
                  if_none_match: Optional[ETag], lease: Optional[UUID] = None) -> Any:
    options = _sized("varve_blob_read_options")
    keep.append(options)
    options.conditions = _conditions(keep, if_match, if_none_match, lease=lease)
    options.snapshot = ffi.NULL if snapshot is None else _open(snapshot)
    return options


def _copy_options(keep: list[Any], *, properties: Optional[BlobProperties] = None,
                  metadata: Optional[Mapping[str, str]] = None, tags: Optional[Mapping[str, str]] = None,
                  tier: str = "", if_match: Optional[ETag] = None, if_none_match: Optional[ETag] = None,
                  source_if_match: Optional[ETag] = None, lease: Optional[UUID] = None,
                  durability: Optional[str] = None) -> Any:
    options = _sized("varve_blob_copy_options")
    keep.append(options)
    options.conditions = _conditions(keep, if_match, if_none_match, lease=lease)
    options.source_conditions = _conditions(keep, source_if_match)
    options.properties = _properties(properties, keep)
    options.has_metadata = metadata is not None
    options.metadata, options.metadata_count = metadata_pairs(metadata or {}, keep)
    options.tags, options.tag_count = metadata_pairs(tags or {}, keep)
    options.tier = _number_of(tier, _TIERS, "tier")
    options.durability = _durability_of(durability)
    return options


def _append_options(keep: list[Any], position: Optional[int], length_max: Optional[int], if_match: Optional[ETag],
                    lease: Optional[UUID], durability: Optional[str]) -> Any:
    options = _sized("varve_append_options")
    keep.append(options)
    options.conditions = _conditions(keep, if_match, lease=lease)
    options.durability = _durability_of(durability)
    for name, number in (("position", position), ("length_max", length_max)):
        if number is None:
            continue
        if not 0 <= number < 2**64:
            raise InvalidArgument(f"{name} is {number}; a number of bytes is expected")
        setattr(options, f"has_{name}", True)
        setattr(options, name, number)
    return options


# -- Streams ------------------------------------------------------------------------------------------------------------


class _WriterHandle(_Handle):
    __slots__ = ()
    _free = staticmethod(lib.varve_blob_writer_free)


class _ReaderHandle(_Handle):
    __slots__ = ()
    _free = staticmethod(lib.varve_blob_reader_free)


class BlobWriter(ContentWriter):
    """Writes one content as a file. Others see it after publish(), whole.

    A ``with`` block publishes at its end. If the block raises, or if the writer is closed without publish(), nothing of
    the content stays.
    """

    def __init__(self, handle: Any) -> None:
        super().__init__(_WriterHandle(handle))
        #: The state that publish() returned.
        self.state: Optional[BlobState] = None

    def _append(self, handle: Any, given: Any) -> Any:
        return lib.varve_blob_writer_append(handle, given)

    def publish(self, *, properties: Optional[BlobProperties] = None) -> BlobState:
        """Makes the content that of the blob, and closes the writer. `properties` replace those of open_writer()."""
        self._check_open()
        if properties is not None:
            keep: list[Any] = []
            check(lib.varve_blob_writer_set_properties(_open(self._handle), _properties(properties, keep)))
        self.state = _state(lambda made: lib.varve_blob_writer_publish(_open(self._handle), made))
        self.close()
        return self.state

    def __enter__(self) -> BlobWriter:
        self._check_open()
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        try:
            if kind is None and not self.closed:
                self.publish()
        finally:
            self.close()


class BlobReader(ContentReader):
    """Reads one state of a blob as a file, also after the blob was changed or deleted.

    For many small reads, wrap it: ``io.BufferedReader(container.open("a"), 1 << 20)``.
    """

    def __init__(self, handle: Any) -> None:
        held = _ReaderHandle(handle)
        #: The state that is read.
        self.state: BlobState = _state(lambda made: lib.varve_blob_reader_state(_open(held), made))
        super().__init__(held, self.state.length)

    def _read(self, handle: Any, offset: int, into: Any, count: Any) -> Any:
        return lib.varve_blob_reader_read(handle, offset, into, len(into), count)

    def __enter__(self) -> BlobReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


# -- Containers ---------------------------------------------------------------------------------------------------------


class Container(_Handle):
    """A handle of one container. If the container is dropped and created again, the handle means the new container.

    Writes take the keywords `properties`, `metadata`, `tags`, `tier`, `if_match`, `if_none_match`, `lease`,
    `durability` and `compresses`. ``if_none_match=ETag.ANY`` only creates: an existing blob raises Exists. `lease` is the
    id of the caller's lease; a blob that another holder has leased raises PreconditionFailed. ``compresses=True``
    compresses each part of 1 MiB that shrinks by an eighth.
    """

    __slots__ = ()
    _free = staticmethod(lib.varve_container_free)

    # Whole contents

    def put(self, blob: str, content: Bytes, **options: Any) -> BlobState:
        """Writes a block blob from memory, and returns its new state."""
        keep: list[Any] = []
        name, given = text_of(blob, "blob", keep), bytes_of(content, "content", keep)
        chosen = _write_options(keep, **options)
        return _state(lambda made: lib.varve_blob_put(_open(self), name, given, chosen, made))

    def get(self, blob: str, *, snapshot: Optional[_Handle] = None, if_match: Optional[ETag] = None,
            if_none_match: Optional[ETag] = None, lease: Optional[UUID] = None) -> bytes:
        """Returns the whole content. Use open() for a content that does not fit into memory, and for parts of it."""
        with self.open(blob, snapshot=snapshot, if_match=if_match, if_none_match=if_none_match,
                       lease=lease) as reader:
            return reader.readall()

    def remove(self, blob: str, *, if_match: Optional[ETag] = None, lease: Optional[UUID] = None,
               durability: Optional[str] = None) -> None:
        """Deletes a blob, and the blocks that are staged under its name."""
        keep: list[Any] = []
        check(lib.varve_blob_remove(_open(self), text_of(blob, "blob", keep),
                                    _change_options(keep, if_match, durability, lease)))

    # Streams

    def open(self, blob: str, *, snapshot: Optional[_Handle] = None, if_match: Optional[ETag] = None,
             if_none_match: Optional[ETag] = None, lease: Optional[UUID] = None) -> BlobReader:
        """Opens a blob as a file for reading."""
        keep: list[Any] = []
        made = ffi.new("varve_blob_reader **")
        check(lib.varve_blob_reader_open(_open(self), text_of(blob, "blob", keep),
                                         _read_options(keep, snapshot, if_match, if_none_match, lease), made))
        return BlobReader(made[0])

    def open_writer(self, blob: str, **options: Any) -> BlobWriter:
        """Opens a block blob as a file for writing."""
        keep: list[Any] = []
        made = ffi.new("varve_blob_writer **")
        check(lib.varve_blob_writer_open(_open(self), text_of(blob, "blob", keep), _write_options(keep, **options),
                                         made))
        return BlobWriter(made[0])

    # States and listings

    def state(self, blob: str, *, snapshot: Optional[_Handle] = None, if_match: Optional[ETag] = None,
              if_none_match: Optional[ETag] = None, lease: Optional[UUID] = None) -> BlobState:
        """Returns the state of a blob, or raises NotFound."""
        keep: list[Any] = []
        name = text_of(blob, "blob", keep)
        options = _read_options(keep, snapshot, if_match, if_none_match, lease)
        return _state(lambda made: lib.varve_blob_state(_open(self), name, options, made))

    def __contains__(self, blob: str) -> bool:
        try:
            self.state(blob)
        except NotFound as error:
            if error.service_error != "BlobNotFound":
                raise
            return False
        return True

    def list(self, prefix: str = "", delimiter: str = "", *, with_uncommitted: bool = False, page: int = 5000,
             snapshot: Optional[_Handle] = None) -> Iterator[Union[BlobState, BlobPrefix]]:
        """Iterates over blobs in the order of their names, page after page.

        With a `delimiter` such as ``/``, names that have it after the prefix are folded into a BlobPrefix. Without a
        snapshot, two pages may show different states.
        """
        if not 1 <= page <= 5000:
            raise InvalidArgument(f"page is {page}; 1 to 5000 entries are allowed",
                                  service_error="OutOfRangeQueryParameterValue")
        keep: list[Any] = []
        options = _sized("varve_blob_list_options")
        options.prefix = text_of(prefix, "prefix", keep)
        options.delimiter = text_of(delimiter, "delimiter", keep)
        options.page_max = page
        options.with_uncommitted = with_uncommitted
        if snapshot is not None:
            _open(snapshot)
        return self._list(options, keep, snapshot)

    def _list(self, options: Any, keep: Any, snapshot: Optional[_Handle]) -> Iterator[Union[BlobState, BlobPrefix]]:
        # Keeps the snapshot until its end: the caller may have no name for it.
        continuation: Optional[str] = ""
        while continuation is not None:
            token: list[Any] = []
            options.snapshot = ffi.NULL if snapshot is None else _open(snapshot)
            options.continuation = text_of(continuation, "continuation", token)
            made = ffi.new("varve_blobs **")
            check(lib.varve_blob_list(_open(self), options, made))
            entries, continuation = _entries(made[0])
            yield from entries

    def __iter__(self) -> Iterator[BlobState]:
        for entry in self.list():
            assert isinstance(entry, BlobState)
            yield entry

    # Changes of a state

    def set_properties(self, blob: str, properties: BlobProperties, *, if_match: Optional[ETag] = None,
                       lease: Optional[UUID] = None, durability: Optional[str] = None) -> BlobState:
        """Replaces all properties of a blob."""
        keep: list[Any] = []
        name, given = text_of(blob, "blob", keep), _properties(properties, keep)
        options = _change_options(keep, if_match, durability, lease)
        return _state(lambda made: lib.varve_blob_set_properties(_open(self), name, given, options, made))

    def set_blob_metadata(self, blob: str, metadata: Mapping[str, str], *, if_match: Optional[ETag] = None,
                          lease: Optional[UUID] = None, durability: Optional[str] = None) -> BlobState:
        """Replaces all metadata of a blob."""
        keep: list[Any] = []
        name, (array, count) = text_of(blob, "blob", keep), metadata_pairs(metadata, keep)
        options = _change_options(keep, if_match, durability, lease)
        return _state(lambda made: lib.varve_blob_set_metadata(_open(self), name, array, count, options, made))

    def set_tags(self, blob: str, tags: Mapping[str, str], *, if_match: Optional[ETag] = None,
                 lease: Optional[UUID] = None, durability: Optional[str] = None) -> BlobState:
        """Replaces all tags of a blob."""
        keep: list[Any] = []
        name, (array, count) = text_of(blob, "blob", keep), metadata_pairs(tags, keep)
        options = _change_options(keep, if_match, durability, lease)
        return _state(lambda made: lib.varve_blob_set_tags(_open(self), name, array, count, options, made))

    def set_tier(self, blob: str, tier: str, *, if_match: Optional[ETag] = None,
                 lease: Optional[UUID] = None, durability: Optional[str] = None) -> BlobState:
        """Sets the tier: "hot", "cool", "cold" or "archive"."""
        keep: list[Any] = []
        name, number = text_of(blob, "blob", keep), _number_of(tier, _TIERS, "tier")
        options = _change_options(keep, if_match, durability, lease)
        return _state(lambda made: lib.varve_blob_set_tier(_open(self), name, number, options, made))

    def copy(self, blob: str, source: Container, source_blob: str, *, properties: Optional[BlobProperties] = None,
             metadata: Optional[Mapping[str, str]] = None, tags: Optional[Mapping[str, str]] = None, tier: str = "",
             if_match: Optional[ETag] = None, if_none_match: Optional[ETag] = None,
             source_if_match: Optional[ETag] = None, lease: Optional[UUID] = None,
             durability: Optional[str] = None) -> BlobState:
        """Makes `blob` a copy of a blob of the same account. Both share the content, so no content is copied.

        The copy has the properties and the metadata of the source, unless they are given here. Tags are not copied.
        """
        keep: list[Any] = []
        options = _copy_options(keep, properties=properties, metadata=metadata, tags=tags, tier=tier, if_match=if_match,
                                if_none_match=if_none_match, source_if_match=source_if_match, lease=lease,
                                durability=durability)
        name, from_name = text_of(blob, "blob", keep), text_of(source_blob, "source_blob", keep)
        return _state(lambda made: lib.varve_blob_copy(_open(self), name, _open(source), from_name, options, made))

    # Blocks and appends

    def stage_block(self, blob: str, id: bytes, content: Bytes, *, lease: Optional[UUID] = None,
                    durability: Optional[str] = None, compresses: bool = False) -> None:
        """Stages a block. All ids of a blob have the same length: 1 to 64 bytes."""
        keep: list[Any] = []
        made = ffi.new("varve_blob_writer **")
        check(lib.varve_blob_writer_stage(_open(self), text_of(blob, "blob", keep), bytes_of(id, "id", keep),
                                          _write_options(keep, lease=lease, durability=durability,
                                                         compresses=compresses), made))
        with BlobWriter(made[0]) as writer:
            writer.write(content)

    def commit_blocks(self, blob: str, ids: Iterable[Union[bytes, tuple[bytes, str]]], **options: Any) -> BlobState:
        """Makes a content of blocks, and publishes it.

        An id alone means the staged block, else that of the present content. ``(id, "staged")`` and
        ``(id, "committed")`` mean one of them.
        """
        keep: list[Any] = []
        choices = []
        for choice in ids:
            id, from_word = (choice, "latest") if isinstance(choice, bytes) else choice
            if from_word not in _FROM:
                raise InvalidArgument(f"a block is from {from_word!r}; 'latest', 'staged' and 'committed' are allowed")
            choices.append((bytes_of(id, "id", keep), _FROM[from_word]))
        array = ffi.new("varve_block_choice[]", choices)
        name, chosen = text_of(blob, "blob", keep), _write_options(keep, **options)
        return _state(
            lambda made: lib.varve_blob_commit_blocks(_open(self), name, array, len(choices), chosen, made))

    def blocks(self, blob: str, *, snapshot: Optional[_Handle] = None) -> BlockLists:
        """Returns the blocks of a block blob."""
        keep: list[Any] = []
        made = ffi.new("varve_blocks **")
        check(lib.varve_blob_blocks(_open(self), text_of(blob, "blob", keep),
                                    _read_options(keep, snapshot, None, None), made))
        view = _sized("varve_blocks_view")
        try:
            check(lib.varve_blocks_read(made[0], view))
            return BlockLists(_blocks_of(view.committed, view.committed_count),
                              _blocks_of(view.staged, view.staged_count))
        finally:
            lib.varve_blocks_free(made[0])

    def create_append_blob(self, blob: str, **options: Any) -> BlobState:
        """Creates an append blob without content, or replaces a blob by one."""
        keep: list[Any] = []
        name, chosen = text_of(blob, "blob", keep), _write_options(keep, **options)
        return _state(lambda made: lib.varve_blob_create_append(_open(self), name, chosen, made))

    def append(self, blob: str, content: Bytes, *, position: Optional[int] = None, length_max: Optional[int] = None,
               if_match: Optional[ETag] = None, lease: Optional[UUID] = None,
               durability: Optional[str] = None) -> AppendedBlock:
        """Adds 1 byte to 4 MiB at the end of an append blob, whole or not at all.

        With `position`, the blob must have this length. With `length_max`, it may not be longer afterwards.
        """
        keep: list[Any] = []
        options = _append_options(keep, position, length_max, if_match, lease, durability)
        appended = _sized("varve_appended_block")
        check(lib.varve_blob_append(_open(self), text_of(blob, "blob", keep), bytes_of(content, "content", keep),
                                    options, appended))
        return AppendedBlock(appended.offset, ETag._of(appended.etag), appended.append_count)

    def tail(self, blob: str, offset: int = 0, *, wait: Seconds = 0, count: int = 1 << 20,
             creation: Optional[int] = None) -> BlobTail:
        """Returns up to `count` bytes, and 4 MiB at most, of an append blob from `offset` on. If there are none, waits up
        to `wait` for an append.

        With `creation` of an earlier tail, the blob must be the same one: PreconditionFailed says that it was replaced.
        """
        if threading.current_thread() is not threading.main_thread():
            return self._tail(blob, offset, wait, count, creation)
        end = time.monotonic() + milliseconds_of(wait, "wait") / 1000
        while True:  # the main thread alone runs the handlers of signals
            rest = max(0.0, end - time.monotonic())
            tail = self._tail(blob, offset, min(rest, _SIGNAL_SECONDS), count, creation)
            if tail.content or rest <= _SIGNAL_SECONDS:
                return tail

    def _tail(self, blob: str, offset: int, wait: Seconds, count: int, creation: Optional[int],
              stop: Optional[_Stop] = None) -> BlobTail:
        for name, number in (("offset", offset), ("count", count), ("creation", creation or 0)):
            if not 0 <= number < 2**64:
                raise InvalidArgument(f"{name} is {number}; a number that is not negative is expected")
        keep: list[Any] = []
        options = _sized("varve_tail_options")
        options.wait_ms = milliseconds_of(wait, "wait")
        options.stop = ffi.NULL if stop is None else _open(stop)
        options.created = creation or 0
        size = min(count, _TAIL_BYTES_MAX)
        buffer = ffi.new("char[]", max(size, 1))
        tail = _sized("varve_tail")
        check(lib.varve_blob_tail(_open(self), text_of(blob, "blob", keep), offset, options, buffer, size, tail))
        return BlobTail(bytes(ffi.buffer(buffer, tail.count)), tail.length, ETag._of(tail.etag), tail.created)

    def open_appender(self, blob: str, *, position: Optional[int] = None, length_max: Optional[int] = None,
                      if_match: Optional[ETag] = None, lease: Optional[UUID] = None,
                      durability: Optional[str] = None) -> BlobWriter:
        """Opens an append blob as a file for one append of any length, which publish() adds. The options are those of
        append()."""
        keep: list[Any] = []
        made = ffi.new("varve_blob_writer **")
        check(lib.varve_blob_writer_open_append(
            _open(self), text_of(blob, "blob", keep),
            _append_options(keep, position, length_max, if_match, lease, durability), made))
        return BlobWriter(made[0])

    # Leases

    def lease(self, blob: Optional[str] = None, *, if_match: Optional[ETag] = None) -> Lease:
        """Returns the lease of a blob, to change it. Without a name, returns the lease of the container itself."""
        keep: list[Any] = []
        if blob is None:
            if if_match is not None:
                raise InvalidArgument("if_match needs the name of a blob; the lease of a container compares no ETag")
            return Lease(lambda request, answer: lib.varve_container_lease(_open(self), request, ffi.NULL, answer), keep)
        name, options = text_of(blob, "blob", keep), _change_options(keep, if_match, None)
        return Lease(lambda request, answer: lib.varve_blob_lease(_open(self), name, request, options, answer), keep)

    # The container itself

    def info(self, *, lease: Optional[UUID] = None) -> ContainerState:
        """Returns the state of the container."""
        keep: list[Any] = []
        view = _sized("varve_container_view")
        check(lib.varve_container_state_if(_open(self), _conditions(keep, lease=lease), view))
        return ContainerState(ETag._of(view.etag), time_of(view.modified), _named(view.public_access, _ACCESS),
                              _named(view.lease_state, _LEASES))

    def metadata(self) -> dict[str, str]:
        """Returns the metadata of the container in the order in which it was set."""
        made = ffi.new("varve_metadata **")
        check(lib.varve_container_metadata(_open(self), made))
        view = _sized("varve_metadata_view")
        try:
            check(lib.varve_metadata_read(made[0], view))
            return _pairs(view.pairs, view.count)
        finally:
            lib.varve_metadata_free(made[0])

    def set_metadata(self, metadata: Mapping[str, str], *, lease: Optional[UUID] = None) -> None:
        """Replaces all metadata of the container."""
        keep: list[Any] = []
        array, count = metadata_pairs(metadata, keep)
        check(lib.varve_container_set_metadata_if(_open(self), array, count, _conditions(keep, lease=lease)))

    def access_policies(self) -> Sequence[AccessPolicy]:
        """Returns the access policies in the order in which they were set."""
        return policies_of(lambda made: lib.varve_container_policies(_open(self), made))

    def set_access(self, policies: Iterable[AccessPolicy], *, public_access: str = "none",
                   lease: Optional[UUID] = None) -> None:
        """Replaces all access policies and the public access of the container.

        The policies permit parts of ``racwdlt``: read, add, create, write, delete, list, tags. `public_access` is "none",
        "blobs" or "container".
        """
        keep: list[Any] = []
        array, count = policies_array(policies, keep)
        access = _number_of(public_access, _ACCESS, "public_access")
        check(lib.varve_container_set_access(_open(self), array, count, access, _conditions(keep, lease=lease)))


def _blocks_of(array: Any, count: int) -> list[Block]:
    return [Block(ffi.unpack(array[i].id.data, array[i].id.size), array[i].length) for i in range(count)]

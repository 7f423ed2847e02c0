"""Large values: contents of any length that entities own. docs/python.md introduces them."""
from __future__ import annotations

from typing import Any, NamedTuple, Optional, Sequence

from ._native import ffi, lib
from .errors import check
from .handles import _Handle, _open
from .streams import ContentReader, ContentWriter
from .values import Entity, LargeValue


class _WriterHandle(_Handle):
    __slots__ = ()
    _free = staticmethod(lib.varve_large_value_writer_free)


class _ReaderHandle(_Handle):
    __slots__ = ()
    _free = staticmethod(lib.varve_large_value_reader_free)


class LargeValueWriter(ContentWriter):
    """Writes one content as a file. finish() returns the LargeValue that names it.

    When the writer is closed, the content is removed, unless an entity names it by then. So write the entity inside the
    ``with`` block.
    """

    def __init__(self, handle: Any) -> None:
        super().__init__(_WriterHandle(handle))

    def _append(self, handle: Any, given: Any) -> Any:
        return lib.varve_large_value_writer_append(handle, given)

    def finish(self) -> LargeValue:
        """Ends the content, and returns the value that names it. A second call returns the same value."""
        self._check_open()
        value = ffi.new("varve_large_value *")
        check(lib.varve_large_value_writer_finish(_open(self._handle), value))
        return LargeValue(value.id, value.length)

    def __enter__(self) -> LargeValueWriter:
        self._check_open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class LargeValueReader(ContentReader):
    """Reads one content as a file, also after no entity names it any more.

    For many small reads, wrap it: ``io.BufferedReader(reader, 1 << 20)``.
    """

    def __init__(self, handle: Any) -> None:
        held = handle if isinstance(handle, _ReaderHandle) else _ReaderHandle(handle)
        value = ffi.new("varve_large_value *")
        check(lib.varve_large_value_reader_value(_open(held), value))
        super().__init__(held, value.length)
        #: The value that is read: the number and the length of the content.
        self.value = LargeValue(value.id, value.length)

    def _read(self, handle: Any, offset: int, into: Any, count: Any) -> Any:
        return lib.varve_large_value_reader_read(handle, offset, into, len(into), count)

    def crc64(self) -> int:
        """Returns the CRC-64 of the whole content, which the writer computed."""
        self._check_open()
        crc64 = ffi.new("uint64_t *")
        check(lib.varve_large_value_reader_crc64(_open(self._handle), crc64))
        return int(crc64[0])

    def __enter__(self) -> LargeValueReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class OpenedEntity(NamedTuple):
    """An entity, and readers of its large values, all of one moment."""

    entity: Entity
    #: By the names that were asked for. None for a property that the entity lacks, or that is no LargeValue.
    readers: dict[str, Optional[LargeValueReader]]


def readers_of(made: Any, names: Sequence[str]) -> dict[str, Optional[LargeValueReader]]:
    """Returns a reader for each handle of an array that is not NULL. All handles have an owner before one is used."""
    held = [_ReaderHandle(made[i]) if made[i] else None for i in range(len(names))]
    return {name: LargeValueReader(handle) if handle else None for name, handle in zip(names, held)}

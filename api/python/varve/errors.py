"""The exceptions of the package: one class for each code of a failure.

Decide by the class and by the fields, never by the message. ``Unknown`` means that a write may or may not have happened.
After every other error nothing changed.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Optional

from ._native import ffi, lib


class Place(NamedTuple):
    """The file of a store where a failure happened."""

    kind: str
    number: int
    offset: Optional[int]


@dataclass(frozen=True)
class TakenValue:
    """The value of a unique index that a write would have given to a second entity."""

    index: str
    #: The keys of the entity that has the value. None: the handle may not read every entity of the table.
    partition_key: Optional[str]
    row_key: Optional[str]


class VarveError(Exception):
    """A failure of the library. Each code has a subclass."""

    #: The number of the code, as in ``varve/c.h``.
    code: int = 0

    def __init__(self, message: str, *, service_error: str = "", operation_index: Optional[int] = None,
                 os_error: int = 0, place: Optional[Place] = None, taken_value: Optional[TakenValue] = None,
                 hint: str = "") -> None:
        super().__init__(message)
        #: The error string of the table service, for example ``EntityAlreadyExists``; empty if there is none.
        self.service_error = service_error
        #: The zero-based index of the operation of a transaction that failed.
        self.operation_index = operation_index
        #: The errno of the system call that failed, or 0.
        self.os_error = os_error
        #: The file of the store that could not be read, written or understood.
        self.place = place
        #: The value that a unique index refused.
        self.taken_value = taken_value
        #: What the person can do instead; empty if nothing is known.
        self.hint = hint


class RequestError(VarveError):
    """The request was refused. Nothing changed."""


class NotFound(RequestError):
    """The entity, table, account or store does not exist."""

    code = 1


class Exists(RequestError):
    """The key or name exists already."""

    code = 2


class PreconditionFailed(RequestError):
    """The stored ETag differs from the given one, or another condition does not hold."""

    code = 3


class InvalidArgument(RequestError, ValueError):
    """The input breaks a rule."""

    code = 4


class TooLarge(RequestError, ValueError):
    """The input is over a limit."""

    code = 5


class Unsupported(RequestError):
    """This build does not know the format, or the kind of request."""

    code = 16


class Forbidden(RequestError):
    """The restricted handle lacks the permission."""

    code = 20


class Conflict(RequestError):
    """Another writer changed what the transaction read. Run the transaction again."""

    code = 19


class Cancelled(RequestError):
    """The caller stopped the operation."""

    code = 21


class StoreError(VarveError):
    """The store cannot serve the request now."""


class Busy(StoreError):
    """Other writers held the partition for the whole wait. Nothing changed; try again."""

    code = 6


class NoSpace(StoreError):
    """The device or a budget has no room. Nothing changed."""

    code = 7


class Corruption(StoreError):
    """Stored bytes do not verify."""

    code = 8


class IoError(StoreError):
    """A system call failed; ``os_error`` is its errno."""

    code = 9


class Unknown(StoreError):
    """The commit may or may not survive. Reopen the store and read to find out."""

    code = 10


class Poisoned(StoreError):
    """An earlier log failure stopped all writes. Reads still work."""

    code = 11


class Locked(StoreError):
    """Another process has the store open, or this process is a fork of the process that opened it."""

    code = 12


class ReadOnly(StoreError):
    """The store was opened for reading only."""

    code = 13


class OutOfMemory(StoreError, MemoryError):
    """There was not enough memory. Nothing changed."""

    code = 14


class TooManyFiles(StoreError):
    """No file descriptor is left."""

    code = 15


class Closed(StoreError):
    """The store or the handle was closed."""

    code = 17


class Fenced(StoreError):
    """Another owner has taken over the store."""

    code = 18


def _subclasses(base: type[VarveError]) -> dict[int, type[VarveError]]:
    found: dict[int, type[VarveError]] = {}
    for one in base.__subclasses__():
        if one.code:
            found[one.code] = one
        found.update(_subclasses(one))
    return found


_BY_CODE = _subclasses(VarveError)
_PLACES = ("", "CURRENT", "manifest", "log segment", "log buffer", "table", "value file")


def exception_of(status: Any) -> VarveError:
    """Returns the exception of a failed call, and frees its status."""
    made = shown_exception_of(status)
    lib.varve_status_free(status)
    return made


def shown_exception_of(status: Any) -> VarveError:
    """Returns the exception of a status that C keeps."""
    index = lib.varve_status_operation_index(status)
    place = lib.varve_status_place(status)
    taken = lib.varve_status_taken_value(status)
    kind = _BY_CODE.get(lib.varve_status_code(status), StoreError)
    return kind(
        _text(lib.varve_status_text(status)),
        service_error=_text(lib.varve_status_service_error(status)),
        operation_index=None if index < 0 else index,
        os_error=lib.varve_status_os_error(status),
        place=Place(_PLACES[place.kind], place.number, place.offset if place.has_offset else None) if place.kind else None,
        taken_value=_taken_value_of(taken) if taken.index.data else None,
        hint=_text(lib.varve_status_hint(status)))


def _taken_value_of(taken: Any) -> TakenValue:
    index, partition_key, row_key = (ffi.unpack(text.data, text.size).decode("utf-8", "replace") if text.data else ""
                                     for text in (taken.index, taken.partition_key, taken.row_key))
    return TakenValue(index, partition_key if taken.has_keys else None, row_key if taken.has_keys else None)


def _text(zero_terminated: Any) -> str:
    raw: bytes = ffi.string(zero_terminated)
    return raw.decode("utf-8", "replace")


def check(status: Any) -> None:
    """Raises the exception of a failed call."""
    if status:
        raise exception_of(status)

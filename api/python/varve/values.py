"""Values and entities: how Python types become types of the table model, and back.

===========  ======================================================
Python       table model
===========  ======================================================
str          String
bytes        Binary
bool         Boolean
int          Int32 if it fits, else Int64
Int64        Int64, whatever its size; what a read returns for Int64
float        Double
datetime     DateTime; it must have a time zone
DateTime     DateTime with ticks of 100 ns
uuid.UUID    Guid
LargeValue   LargeValue; of Table.write_large_value(), or of a read
===========  ======================================================

A read returns a plain ``datetime`` in UTC if the time is a whole number of microseconds, else a :class:`DateTime`, which
keeps the seventh digit.
"""
from __future__ import annotations

import struct
from datetime import datetime, timedelta, timezone
from typing import Any, Iterable, Mapping, NamedTuple, Optional, Union
from uuid import UUID

from ._native import ffi, lib
from .errors import InvalidArgument, check

_EPOCH = datetime(1, 1, 1, tzinfo=timezone.utc)
_INT32_MIN, _INT32_MAX = -2**31, 2**31 - 1
_INT64_MIN, _INT64_MAX = -2**63, 2**63 - 1
_ETAG_ANY = 2**64 - 1
_MICROSECOND = timedelta(microseconds=1)


class Int64(int):
    """An integer that is written as an Int64 whatever its size."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Int64({int(self)})"


class LargeValue(NamedTuple):
    """Names a content that an entity owns.

    It comes from LargeValueWriter.finish(), or from an entity that was read. Other entities of the account may get it;
    they share the content.
    """

    #: The number of the content in its account.
    id: int
    #: Bytes of the content.
    length: int


class DateTime(datetime):
    """A time with a resolution of 100 ns. As a ``datetime`` it is cut to microseconds; ``ticks`` is exact."""

    __slots__ = ("_rest",)
    _rest: int

    @classmethod
    def from_ticks(cls, ticks: int) -> DateTime:
        """Returns the time that is `ticks` times 100 ns after 0001-01-01T00:00:00Z."""
        if not 0 <= ticks <= 3_155_378_975_999_999_999:
            raise InvalidArgument(f"{ticks} ticks are no time from year 1 to year 9999")
        whole = _EPOCH + timedelta(microseconds=ticks // 10)
        made = cls(whole.year, whole.month, whole.day, whole.hour, whole.minute, whole.second, whole.microsecond,
                   tzinfo=timezone.utc)
        made._rest = ticks % 10
        return made

    @property
    def ticks(self) -> int:
        """The exact time, in ticks of 100 ns since 0001-01-01T00:00:00Z."""
        return ticks_of_microseconds(self) + getattr(self, "_rest", 0)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DateTime):
            return self.ticks == other.ticks
        return getattr(self, "_rest", 0) == 0 and super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return super().__hash__()

    def __repr__(self) -> str:
        return f"DateTime.from_ticks({self.ticks})"


def ticks_of_microseconds(time: datetime) -> int:
    """Returns the ticks of a time, cut to microseconds. Raises InvalidArgument if it has no time zone."""
    if time.tzinfo is None or time.utcoffset() is None:
        raise InvalidArgument(f"{time!r} has no time zone; set tzinfo, for example datetime.now(timezone.utc)")
    return (time - _EPOCH) // _MICROSECOND * 10


def time_of(ticks: int) -> datetime:
    """Returns a datetime, or a DateTime if the ticks are no whole number of microseconds."""
    if ticks % 10:
        return DateTime.from_ticks(ticks)
    return _EPOCH + timedelta(microseconds=ticks // 10)


#: The Python types of property values.
Value = Union[str, bytes, bool, int, float, datetime, UUID, LargeValue]


class ETag:
    """Identifies one state of an entity. Two ETags are equal if they identify one state."""

    __slots__ = ("_number",)
    #: Matches any state of an existing entity.
    ANY: ETag

    def __init__(self, text: str) -> None:
        """Parses ``*`` or ``W/"..."``. Raises InvalidArgument."""
        raw = encoded(text, "the ETag")
        number = ffi.new("varve_etag *")
        check(lib.varve_etag_parse((ffi.from_buffer(raw), len(raw)), number))
        self._number: int = number[0]

    @classmethod
    def _of(cls, number: int) -> ETag:
        made = cls.__new__(cls)
        made._number = number
        return made

    def __str__(self) -> str:
        room = ffi.new("char[64]")
        check(lib.varve_etag_format(self._number, room))
        raw: bytes = ffi.string(room)
        return raw.decode("utf-8")

    def __repr__(self) -> str:
        return f"ETag({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ETag) and self._number == other._number

    def __hash__(self) -> int:
        return hash(self._number)


ETag.ANY = ETag._of(_ETAG_ANY)


class Entity(dict[str, Value]):
    """The properties of an entity, with its key as attributes.

    ``Entity("eu", "0001", Customer="Ann", Total=12.5)``; an entity that was read also has an ``etag`` and a ``timestamp``.
    """

    __slots__ = ("partition_key", "row_key", "_etag")
    partition_key: str
    row_key: str
    _etag: int

    def __init__(self, partition_key: str, row_key: str, properties: Optional[Mapping[str, Value]] = None,
                 **more: Value) -> None:
        super().__init__(properties or {}, **more)
        self.partition_key = partition_key
        self.row_key = row_key
        self._etag = 0

    @property
    def etag(self) -> Optional[ETag]:
        """The ETag, or None for an entity that was not read from a store."""
        return ETag._of(self._etag) if self._etag else None

    @property
    def timestamp(self) -> Optional[datetime]:
        """The time of the last write, or None for an entity that was not read from a store."""
        return time_of(self._etag) if self._etag else None

    def __repr__(self) -> str:
        return f"Entity({self.partition_key!r}, {self.row_key!r}, {dict(self)!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Entity):
            return NotImplemented
        return ((self.partition_key, self.row_key) == (other.partition_key, other.row_key)
                and dict.__eq__(self, other))

    def __ne__(self, other: object) -> bool:
        return not self == other


def encoded(text: str, what: str) -> bytes:
    """Returns a text as UTF-8. Raises TypeError for another type, and InvalidArgument for half a surrogate pair."""
    if not isinstance(text, str):
        raise TypeError(f"{what} is {type(text).__name__}; a str is expected")
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidArgument(f"{what} cannot be written as UTF-8: {error}", service_error="InvalidInput") from None


def give_text(to: Any, raw: bytes, keep: list[Any]) -> None:
    """Lets a varve_text point to bytes, which stay as long as `keep`."""
    held = ffi.from_buffer(raw)
    keep.append(held)
    to.data = held
    to.size = len(raw)


def text_of(text: str, what: str, keep: list[Any]) -> Any:
    """Returns a varve_text of a str, which stays as long as `keep`."""
    raw = encoded(text, what)
    held = ffi.from_buffer(raw)
    keep.append(held)
    return (held, len(raw))


def texts_of(texts: Iterable[str], what: str, keep: list[Any]) -> tuple[Any, int]:
    """Returns an array of varve_text and its size."""
    if isinstance(texts, str):
        raise TypeError(f"{what} is a str; a list of str is expected")
    made = [text_of(text, what, keep) for text in texts]
    array = ffi.new("varve_text[]", made)
    keep.append(array)
    return array, len(made)


def _give_value(to: Any, value: object, name: str, keep: list[Any]) -> None:
    held = getattr(to, "as")
    if isinstance(value, str):
        to.type = 8
        give_text(held.text, encoded(value, f"the property {name}"), keep)
    elif isinstance(value, bool):
        to.type = 2
        held.boolean = value
    elif isinstance(value, int):
        if not _INT64_MIN <= value <= _INT64_MAX:
            raise InvalidArgument(f"the property {name} is {value}, which no Int64 can hold")
        if isinstance(value, Int64) or not _INT32_MIN <= value <= _INT32_MAX:
            to.type = 7
            held.int64 = value
        else:
            to.type = 6
            held.int32 = value
    elif isinstance(value, float):
        to.type = 4
        held.number = value
    elif isinstance(value, (bytes, bytearray, memoryview)):
        to.type = 1
        give_text(held.text, bytes(value), keep)
    elif isinstance(value, datetime):
        to.type = 3
        held.datetime = value.ticks if isinstance(value, DateTime) else ticks_of_microseconds(value)
    elif isinstance(value, UUID):
        to.type = 5
        held.guid.bytes = value.bytes
    elif isinstance(value, LargeValue):
        if not 0 <= value.id < 2**64 or not 0 <= value.length < 2**64:
            raise InvalidArgument(f"the property {name} is {value}, which no writer returned")
        to.type = 9
        held.large.id = value.id
        held.large.length = value.length
    else:
        raise TypeError(f"the property {name} is {type(value).__name__}; expected str, bytes, bool, int, float, "
                        "datetime, uuid.UUID or LargeValue, and no None: leave the property out")


def fill_entity(to: Any, entity: Mapping[str, Any], keep: list[Any]) -> None:
    """Writes an entity to a varve_entity. `entity` is an Entity, or a mapping with PartitionKey and RowKey."""
    if isinstance(entity, Entity):
        partition_key, row_key, skipped = entity.partition_key, entity.row_key, False
    else:
        try:
            partition_key, row_key, skipped = entity["PartitionKey"], entity["RowKey"], True
        except (KeyError, TypeError):
            raise TypeError("an Entity is expected, or a mapping with PartitionKey and RowKey") from None
    give_text(to.partition_key, encoded(partition_key, "PartitionKey"), keep)
    give_text(to.row_key, encoded(row_key, "RowKey"), keep)
    properties = ffi.new("varve_property[]", len(entity))
    keep.append(properties)
    count = 0
    for name, value in entity.items():
        if skipped and name in ("PartitionKey", "RowKey"):
            continue
        give_text(properties[count].name, encoded(name, "the name of a property"), keep)
        _give_value(properties[count].value, value, name, keep)
        count += 1
    to.properties = properties
    to.property_count = count


# How the structs of a page lie in memory: the pages are read as numbers, which is much faster than field by field.
_ENTITY = struct.Struct("<QQQQQQQ")
_PROPERTY = struct.Struct("<QQi4xqQ")
if (ffi.sizeof("varve_entity"), ffi.sizeof("varve_property")) != (_ENTITY.size, _PROPERTY.size):
    raise ImportError("the structs of varve/c.h have another form than this package expects")
_double_of = struct.Struct("<d").unpack
_raw_of = struct.Struct("<q").pack


def entities_of(view: Any) -> list[Optional[Entity]]:
    """Returns the entities that a varve_page_view shows; None for one that does not exist."""
    count = view.count
    if count == 0:
        return []
    cast, unpack, buffer, pointer = ffi.cast, ffi.unpack, ffi.buffer, ffi.typeof("char *")
    new = Entity.__new__
    names: dict[int, str] = {}
    partitions: dict[int, str] = {}
    found: list[Optional[Entity]] = []
    for pk, pk_size, rk, rk_size, at, property_count, etag in _ENTITY.iter_unpack(
            buffer(view.entities, count * _ENTITY.size)):
        if not etag:
            found.append(None)
            continue
        entity = new(Entity)
        entity._etag = etag
        partition = partitions.get(pk)
        if partition is None:
            partition = partitions[pk] = unpack(cast(pointer, pk), pk_size).decode()
        entity.partition_key = partition
        entity.row_key = unpack(cast(pointer, rk), rk_size).decode()
        if property_count:
            value: Any
            for name_at, name_size, kind, first, second in _PROPERTY.iter_unpack(
                    buffer(cast(pointer, at), property_count * _PROPERTY.size)):
                if kind == 8:
                    value = unpack(cast(pointer, first), second).decode()
                elif kind == 6:
                    value = first if first <= _INT32_MAX else first - 2**32
                elif kind == 7:
                    value = Int64(first)
                elif kind == 4:
                    value = _double_of(_raw_of(first))[0]
                elif kind == 2:
                    value = first != 0
                elif kind == 3:
                    value = time_of(first)
                elif kind == 9:
                    value = LargeValue(first, second)
                elif kind == 5:
                    value = UUID(bytes=_raw_of(first) + second.to_bytes(8, "little"))
                else:
                    value = unpack(cast(pointer, first), second)
                name = names.get(name_at)
                if name is None:
                    name = names[name_at] = unpack(cast(pointer, name_at), name_size).decode()
                entity[name] = value
        found.append(entity)
    return found

"""How a store is opened: its limits, and memory that several stores share."""
from __future__ import annotations

from typing import Any, NamedTuple, Optional

from ._native import ffi, lib
from .errors import InvalidArgument, check
from .handles import _Handle, _sized
from .listening import Listener, Log, OnHealth


class Limits(NamedTuple):
    """The limits of a store, which are stored when it is created. Zero means the limit of the table service.

    An open with other limits than the stored ones raises InvalidArgument. ``varve/store_limits.h`` has the highest values.
    """

    #: UTF-16 code units of PartitionKey and of RowKey, each.
    key_code_units_max: int = 0
    #: Properties of an entity, without its keys and the Timestamp.
    custom_properties_max: int = 0
    #: UTF-16 code units of a text.
    string_code_units_max: int = 0
    #: Bytes of a binary value.
    binary_bytes_max: int = 0
    #: Bytes of an entity.
    entity_bytes_max: int = 0
    #: Writes of one group transaction.
    transaction_operations_max: int = 0
    #: Bytes of the writes of one group transaction. Not below `entity_bytes_max`.
    transaction_bytes_max: int = 0
    #: Entities in one page of a scan.
    page_entities_max: int = 0
    #: Comparisons in one filter. Zero: not limited.
    filter_comparisons_max: int = 0
    #: Appends of which one append blob is made.
    blob_appends_max: int = 0


class Resources(_Handle):
    """Memory that several stores share: ``varve.open(path, resources=resources)``.

    The two sizes are 256 MiB each if they are zero. With ``block_cache=False``, there is no cache. Stores keep their
    resources, so the object may go before them.

    `log` receives the log lines of these stores, and `health` their changes of health. Any thread calls them. They must
    return soon, and must neither call a store nor wait for a thread that does. An exception that they raise is printed, and
    the store goes on.
    """

    __slots__ = ("_listener",)
    _free = staticmethod(lib.varve_resources_free)

    def __init__(self, *, write_buffer_bytes: int = 0, block_cache_bytes: int = 0, block_cache: bool = True,
                 log: Optional[Log] = None, health: Optional[OnHealth] = None) -> None:
        memory = _sized("varve_resource_options")
        memory.write_buffer_bytes = number_below("write_buffer_bytes", write_buffer_bytes, 2**64)
        memory.block_cache_bytes = number_below("block_cache_bytes", block_cache_bytes, 2**64)
        memory.without_block_cache = not block_cache
        self._listener = Listener(log, health) if log is not None or health is not None else None
        if self._listener is not None:
            self._listener.listen(memory)
        made = ffi.new("varve_resources **")
        check(lib.varve_resources_create(memory, made))
        super().__init__(made[0])


def number_below(name: str, number: int, bound: int) -> int:
    """Returns the number. Raises InvalidArgument if a field of the C interface cannot hold it."""
    if not 0 <= number < bound:
        raise InvalidArgument(f"{name} is {number}; zero or more, and less than {bound}, is expected")
    return number


def limits_struct(limits: Limits, keep: list[Any]) -> Any:
    """Returns a varve_limits."""
    made = _sized("varve_limits")
    keep.append(made)
    for name, limit in limits._asdict().items():
        setattr(made, name, number_below(name, limit, 2**32))
    return made

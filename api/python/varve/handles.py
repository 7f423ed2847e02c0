"""What the classes of the package share: the owner of a handle, and the structs of ``varve/c.h``."""
from __future__ import annotations

from typing import Any, Callable, Optional, Union

from ._native import ffi, lib
from .errors import Closed, InvalidArgument

_DURABILITY = {None: 0, "sync": 1, "buffered": 2}


class _Handle:
    """Owns a handle of the C interface and frees it."""

    __slots__ = ("_handle", "__weakref__")
    _free: Callable[[Any], None]

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    def __del__(self) -> None:
        handle, self._handle = getattr(self, "_handle", None), None
        if handle and lib is not None:
            self._free(handle)


def _sized(name: str) -> Any:
    made = ffi.new(f"{name} *")
    made.size = ffi.sizeof(name)
    return made


def _figures(struct: Any) -> dict[str, Union[int, bool]]:
    return {name: getattr(struct, name) for name, _ in ffi.typeof(struct).item.fields if name != "size"}


def _open(handle: _Handle) -> Any:
    if not handle._handle:
        raise Closed("the handle was closed")
    return handle._handle


def _text(text: Any) -> Optional[str]:
    if not text.data:
        return None
    raw: bytes = ffi.unpack(text.data, text.size)
    return raw.decode("utf-8")


def _durability_of(durability: Optional[str]) -> int:
    if durability not in _DURABILITY:
        raise InvalidArgument(f"durability is {durability!r}; 'sync', 'buffered' and None are allowed")
    return _DURABILITY[durability]


def _write_options(durability: Optional[str], wait: Optional[float], tag: bytes, keep: list[Any]) -> Any:
    if durability is None and wait is None and not tag:
        return ffi.NULL
    options = _sized("varve_write_options")
    options.durability = _durability_of(durability)
    if wait is not None:
        if not wait >= 0:
            raise InvalidArgument(f"wait is {wait}; zero or more seconds are allowed")
        options.has_wait_max = True
        options.wait_max_ms = min(int(wait * 1000), 2**63)
    if tag:
        held = ffi.from_buffer(tag)
        keep.append(held)
        options.tag = (held, len(tag))
    keep.append(options)
    return options

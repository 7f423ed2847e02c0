"""Log lines and changes of health: the functions of a program that the threads of its stores call."""
from __future__ import annotations

import atexit
import enum
import itertools
import os
from typing import Any, Callable, Optional
from weakref import WeakValueDictionary

from ._native import ffi, lib
from .errors import VarveError, shown_exception_of


class Health(enum.IntEnum):
    """Whether a store accepts writes. ``store.statistics()["health"]`` is such a number too."""

    HEALTHY = 0
    #: Writes are refused until the cause passes, for example until the disk has room again.
    WRITE_PAUSED = 1
    #: A failure of the log stopped all writes. Reads still work; open the store again.
    POISONED = 2


#: Receives the path of a store and a log line for people, without its line end.
Log = Callable[[str, str], object]
#: Receives the path of a store, its health, and the cause of the change, which is None for ``Health.HEALTHY``.
OnHealth = Callable[[str, Health, Optional[VarveError]], object]


class Listener:
    """The functions of a program. Each store that calls them keeps the object, and C has its number alone."""

    def __init__(self, log: Optional[Log], health: Optional[OnHealth]) -> None:
        self.log = log
        self.health = health
        self.number = next(_numbers)
        _listeners[self.number] = self

    def listen(self, options: Any) -> None:
        """Lets a varve_resource_options pass its lines and changes to this object."""
        lib.py_listen(options, self.number, self.log is not None, self.health is not None)


_numbers = itertools.count(1)
_listeners: WeakValueDictionary[int, Listener] = WeakValueDictionary()


def _listener(number: Any) -> Optional[Listener]:
    return _listeners.get(int(ffi.cast("uintptr_t", number)))


def _text(text: Any) -> str:
    raw: bytes = ffi.unpack(text.data, text.size) if text.data else b""
    return raw.decode("utf-8", "replace")


def _pass_log(store_path: Any, line: Any, number: Any) -> None:
    listener = _listener(number)
    if listener is not None and listener.log is not None:
        listener.log(_text(store_path), _text(line))


def _pass_health(store_path: Any, health: int, cause: Any, number: Any) -> None:
    listener = _listener(number)
    if listener is not None and listener.health is not None:
        listener.health(_text(store_path), Health(health), shown_exception_of(cause) if cause else None)


# C gets no exception: cffi prints it to sys.stderr, and the store goes on.
ffi.def_extern(name="py_log")(_pass_log)
ffi.def_extern(name="py_health")(_pass_health)
atexit.register(lib.py_stop_listening)
os.register_at_fork(after_in_child=lib.py_listen_in_child)

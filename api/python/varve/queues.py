"""Queues and their messages. docs/python.md introduces them.

A time is a number of seconds or a ``timedelta``. It is rounded to whole milliseconds.
"""
from __future__ import annotations

import math
import threading
import time
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, Iterable, Iterator, Mapping, NamedTuple, Optional, Union
from uuid import UUID

from ._native import ffi, lib
from .access import AccessPolicy, policies_array, policies_of
from .errors import InvalidArgument, NotFound, check
from .handles import _durability_of, _Handle, _open, _sized, _text, _write_options
from .values import text_of, time_of

Seconds = Union[float, timedelta]

#: The time to live of a message that never expires.
NEVER = math.inf

_NEVER_MS = 2**64 - 1
_LAST_TICKS = 3_155_378_975_999_999_999
#: The main thread looks this often for signals such as Ctrl-C while it waits for a message.
_SIGNAL_SECONDS = 0.2


def milliseconds_of(time_given: Seconds, name: str, *, may_be_zero: bool = True) -> int:
    """Returns whole milliseconds. Raises InvalidArgument for a negative time, and for zero unless it is allowed."""
    seconds = time_given.total_seconds() if isinstance(time_given, timedelta) else float(time_given)
    number = round(seconds * 1000) if 0 <= seconds < 2**40 else 2**50 if seconds >= 2**40 else -1
    if number < 0 or (number == 0 and not may_be_zero):
        least = "zero or more seconds" if may_be_zero else "a millisecond or more"
        raise InvalidArgument(f"{name} is {time_given}; {least} is expected",
                              service_error="OutOfRangeQueryParameterValue")
    return number


def update_hold(hold: Seconds) -> int:
    """Returns the hold of an update in milliseconds."""
    return milliseconds_of(hold, "hold")


class Receipt(NamedTuple):
    """Permits to delete or update a message. ``str(receipt)`` is its text; :meth:`parse` reads it."""

    sequence: int
    version: int
    check: int

    @classmethod
    def parse(cls, text: str) -> Receipt:
        """Parses the text of a receipt. Raises InvalidArgument."""
        keep: list[Any] = []
        receipt = ffi.new("varve_receipt *")
        check(lib.varve_receipt_parse(text_of(text, "the receipt", keep), receipt))
        return cls(receipt.sequence, receipt.version, receipt.check)

    def __str__(self) -> str:
        room = ffi.new("char[64]")
        check(lib.varve_receipt_format(tuple(self), room))
        raw: bytes = ffi.string(room)
        return raw.decode("ascii")


def _receipt_of(struct: Any) -> Receipt:
    return Receipt(struct.sequence, struct.version, struct.check)


def _guid_of(struct: Any) -> UUID:
    return UUID(bytes=bytes(ffi.buffer(struct.bytes)))


def _expiry_of(ticks: int) -> Optional[datetime]:
    return None if ticks >= _LAST_TICKS else time_of(ticks)


def _named(id: UUID, receipt: Optional[Receipt]) -> tuple[Any, Any]:
    if receipt is None:
        raise InvalidArgument("a peeked message has no receipt; get() returns messages with one")
    return {"bytes": id.bytes}, tuple(receipt)


class SentMessage(NamedTuple):
    """What a put returns."""

    #: Unique in the store.
    id: UUID
    #: Permits to delete or update the message before it was got.
    receipt: Receipt
    inserted: datetime
    #: None for a message that never expires.
    expires: Optional[datetime]
    #: From when the message is visible.
    visible: datetime
    #: An earlier put had the same key: nothing was stored. The other fields are that put's.
    is_duplicate: bool

    def _named(self) -> tuple[Any, Any]:
        return _named(self.id, self.receipt)


class Message(NamedTuple):
    """A message that get() or peek() returned. A peeked message has no receipt and no time of its visibility."""

    #: Unique in the store.
    id: UUID
    text: str
    inserted: datetime
    #: None for a message that never expires.
    expires: Optional[datetime]
    #: Number of times that get() returned it, this time included.
    deliveries: int
    #: For a dead letter: the name of the queue that it comes from. Otherwise empty.
    origin: str
    #: Permits to delete or update the message.
    receipt: Optional[Receipt]
    #: From when the message is visible to others again.
    visible: Optional[datetime]

    def _named(self) -> tuple[Any, Any]:
        return _named(self.id, self.receipt)


class QueueFigures(NamedTuple):
    """The figures of a queue."""

    #: Messages that have not expired, visible or not.
    messages: int
    #: Bytes of their texts.
    text_bytes: int


def sent_of(struct: Any) -> SentMessage:
    """Returns what a varve_sent_message shows."""
    return SentMessage(_guid_of(struct.id), _receipt_of(struct.receipt), time_of(struct.inserted),
                       _expiry_of(struct.expires), time_of(struct.visible), struct.is_duplicate)


def _messages_of(handle: Any) -> list[Message]:
    view = _sized("varve_messages_view")
    try:
        check(lib.varve_messages_read(handle, view))
        return [_message_of(view.messages[i]) for i in range(view.count)]
    finally:
        lib.varve_messages_free(handle)


def _message_of(struct: Any) -> Message:
    is_held = struct.visible != 0
    return Message(_guid_of(struct.id), _text(struct.text) or "", time_of(struct.inserted),
                   _expiry_of(struct.expires), struct.deliveries, _text(struct.origin) or "",
                   _receipt_of(struct.receipt) if is_held else None, time_of(struct.visible) if is_held else None)


def metadata_pairs(metadata: Mapping[str, str], keep: list[Any]) -> tuple[Any, int]:
    """Returns an array of varve_metadata_pair and its length."""
    pairs = [(text_of(name, "a name of metadata", keep), text_of(value, "a value of metadata", keep))
             for name, value in metadata.items()]
    array = ffi.new("varve_metadata_pair[]", pairs)
    keep.append(array)
    return array, len(pairs)


def optional_text(text: Optional[str], keep: list[Any]) -> Any:
    """Returns a varve_text, which is absent for None."""
    return text_of(text, "text", keep) if text is not None else (ffi.NULL, 0)


def give_put_options(keep: list[Any], *, delay: Seconds = 0, ttl: Optional[Seconds] = None, key: str = "",
                     key_window: Seconds = 600, durability: Optional[str] = None) -> Any:
    """Returns the varve_put_options of a put."""
    options = _sized("varve_put_options")
    keep.append(options)
    options.durability = _durability_of(durability)
    options.delay_ms = milliseconds_of(delay, "delay")
    if ttl is not None:
        options.ttl_ms = _NEVER_MS if ttl == NEVER else milliseconds_of(ttl, "ttl", may_be_zero=False)
    if key:
        options.deduplication_key = text_of(key, "key", keep)
        options.deduplication_window_ms = milliseconds_of(key_window, "key_window", may_be_zero=False)
    return options


class _Stop(_Handle):
    """Ends the waits of the gets that have it."""

    __slots__ = ()
    _free = staticmethod(lib.varve_stop_free)

    def __init__(self) -> None:
        made = ffi.new("varve_stop **")
        check(lib.varve_stop_create(made))
        super().__init__(made[0])

    def request(self) -> None:
        check(lib.varve_stop_request(_open(self)))


class Queue(_Handle):
    """A handle of one queue. If the queue is dropped and created again, the handle means the new queue.

    get() hides the messages that it returns for a time (the hold). The holder of the last receipt may remove or update
    a message. Otherwise the message is visible again after the hold, so each message is delivered at least once.
    """

    __slots__ = ()
    _free = staticmethod(lib.varve_queue_free)

    def put(self, text: str, *, delay: Seconds = 0, ttl: Optional[Seconds] = None, key: str = "",
            key_window: Seconds = 600, durability: Optional[str] = None) -> SentMessage:
        """Appends a message.

        `delay` hides it at first. It expires after `ttl`: 7 days if it is None, and never for ``varve.NEVER``. If a
        message was put with the same `key` within `key_window`, nothing is stored.
        """
        keep: list[Any] = []
        options = give_put_options(keep, delay=delay, ttl=ttl, key=key, key_window=key_window, durability=durability)
        sent = _sized("varve_sent_message")
        check(lib.varve_queue_put(_open(self), text_of(text, "text", keep), options, sent))
        return sent_of(sent)

    def get(self, count: int = 1, *, hold: Seconds = 30, wait: Seconds = 0, deliveries_max: int = 0,
            dead_letter: Optional[Queue] = None, durability: Optional[str] = None) -> list[Message]:
        """Returns up to `count` visible messages and hides them for `hold`. If none is visible, waits up to `wait`.

        A message that was delivered `deliveries_max` times is moved to the queue `dead_letter` instead.
        """
        options = self._get_options(count, hold, deliveries_max, dead_letter, durability)
        if threading.current_thread() is not threading.main_thread():
            return self._get(options, wait)
        end = time.monotonic() + milliseconds_of(wait, "wait") / 1000
        while True:  # the main thread alone runs the handlers of signals
            rest = max(0.0, end - time.monotonic())
            messages = self._get(options, min(rest, _SIGNAL_SECONDS))
            if messages or rest <= _SIGNAL_SECONDS:
                return messages

    def _get(self, options: Any, wait: Seconds, stop: Optional[_Stop] = None) -> list[Message]:
        options.wait_ms = milliseconds_of(wait, "wait")
        options.stop = ffi.NULL if stop is None else _open(stop)
        messages = ffi.new("varve_messages **")
        check(lib.varve_queue_get(_open(self), options, messages))
        return _messages_of(messages[0])

    @staticmethod
    def _get_options(count: int, hold: Seconds, deliveries_max: int, dead_letter: Optional[Queue],
                     durability: Optional[str]) -> Any:
        options = _sized("varve_get_options")
        options.count = _count(count)
        options.hold_ms = milliseconds_of(hold, "hold", may_be_zero=False)
        options.durability = _durability_of(durability)
        if not 0 <= deliveries_max < 2**32:
            raise InvalidArgument(f"deliveries_max is {deliveries_max}; a number of deliveries is expected")
        options.deliveries_max = deliveries_max
        options.dead_letter = ffi.NULL if dead_letter is None else _open(dead_letter)
        return options

    @contextmanager
    def take(self, *, hold: Seconds = 30, wait: Seconds = 0) -> Iterator[Optional[Message]]:
        """Gets one message for a ``with`` block, or None. The block's end removes it; an exception makes it visible.

        If the hold ended in the block and another consumer has the message, the end of the block raises NotFound.
        """
        messages = self.get(hold=hold, wait=wait)
        message = messages[0] if messages else None
        try:
            yield message
        except BaseException:
            if message is not None:
                self._release([message])
            raise
        if message is not None:
            self.remove(message)

    def _release(self, messages: list[Message]) -> None:
        """Makes messages visible again. A message whose hold ended is somebody else's."""
        for message in messages:
            try:
                self.update(message, 0)
            except NotFound:
                pass

    def peek(self, count: int = 1) -> list[Message]:
        """Returns up to `count` visible messages, and changes nothing."""
        messages = ffi.new("varve_messages **")
        check(lib.varve_queue_peek(_open(self), _count(count), messages))
        return _messages_of(messages[0])

    def remove(self, message: Union[Message, SentMessage], *, durability: Optional[str] = None) -> None:
        """Deletes a message for good. Raises NotFound if its receipt is no longer the last one."""
        keep: list[Any] = []
        check(lib.varve_queue_remove(_open(self), *message._named(), _write_options(durability, None, b"", keep)))

    def update(self, message: Union[Message, SentMessage], hold: Seconds, text: Optional[str] = None, *,
               durability: Optional[str] = None) -> Receipt:
        """Hides a message for `hold` from now on, and replaces its text if one is given. Returns the new receipt.

        ``message._replace(receipt=...)`` is the message with the new receipt.
        """
        keep: list[Any] = []
        updated = _sized("varve_updated_message")
        check(lib.varve_queue_update(_open(self), *message._named(), update_hold(hold), optional_text(text, keep),
                                     _write_options(durability, None, b"", keep), updated))
        return _receipt_of(updated.receipt)

    def clear(self) -> None:
        """Deletes all messages, held ones too."""
        check(lib.varve_queue_clear(_open(self)))

    def figures(self) -> QueueFigures:
        """Returns the number of messages and their bytes."""
        figures = _sized("varve_queue_figures")
        check(lib.varve_queue_statistics(_open(self), figures))
        return QueueFigures(figures.messages, figures.text_bytes)

    def metadata(self) -> dict[str, str]:
        """Returns the metadata in the order in which it was set."""
        made = ffi.new("varve_metadata **")
        check(lib.varve_queue_metadata(_open(self), made))
        view = _sized("varve_metadata_view")
        try:
            check(lib.varve_metadata_read(made[0], view))
            return {_text(view.pairs[i].name) or "": _text(view.pairs[i].value) or "" for i in range(view.count)}
        finally:
            lib.varve_metadata_free(made[0])

    def set_metadata(self, metadata: Mapping[str, str]) -> None:
        """Replaces all metadata."""
        keep: list[Any] = []
        array, count = metadata_pairs(metadata, keep)
        check(lib.varve_queue_set_metadata(_open(self), array, count))

    def access_policies(self) -> list[AccessPolicy]:
        """Returns the access policies in the order in which they were set."""
        return policies_of(lambda made: lib.varve_queue_policies(_open(self), made))

    def set_access_policies(self, policies: Iterable[AccessPolicy]) -> None:
        """Replaces all access policies. They permit parts of ``raup``: read, add, update, process."""
        keep: list[Any] = []
        check(lib.varve_queue_set_policies(_open(self), *policies_array(policies, keep)))


def _count(count: int) -> int:
    if not 1 <= count <= 32:
        raise InvalidArgument(f"count is {count}; 1 to 32 messages are allowed",
                              service_error="OutOfRangeQueryParameterValue")
    return count

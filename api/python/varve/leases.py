"""Leases: the right of one holder to write a blob, or to drop a container."""
from __future__ import annotations

from datetime import timedelta
from typing import Any, Callable, Optional, Union
from uuid import UUID

from ._native import ffi
from .errors import InvalidArgument, check
from .handles import _sized

_ACQUIRE, _RENEW, _CHANGE, _RELEASE, _BREAK = range(5)
_INFINITE = -1


def give_guid(to: Any, id: UUID, what: str) -> None:
    """Writes a UUID to a varve_guid."""
    if not isinstance(id, UUID):
        raise TypeError(f"{what} is {type(id).__name__}; a uuid.UUID is expected")
    to.bytes = id.bytes


def _whole_seconds(time: Union[int, timedelta], low: int, what: str) -> int:
    seconds = int(time.total_seconds()) if isinstance(time, timedelta) else time
    if not isinstance(seconds, int):
        raise TypeError(f"{what} is {type(time).__name__}; whole seconds or a timedelta are expected")
    if not low <= seconds <= 60:
        raise InvalidArgument(f"{what} is {seconds} seconds; {low} to 60 are allowed",
                              service_error="InvalidHeaderValue")
    return seconds


class Lease:
    """The lease of a blob or of a container. Container.lease() makes it.

    While a lease is held, a write of the blob needs ``lease=`` with its id. The lease of a container guards its drop.
    """

    def __init__(self, call: Callable[[Any, Any], Any], keep: list[Any]) -> None:
        self._call = call  # gets a varve_lease_request and a varve_lease_answer
        self._keep = keep  # what the structs of `call` point to

    def acquire(self, duration: Union[int, timedelta, None] = None, *, id: Optional[UUID] = None) -> UUID:
        """Takes the lease for 15 to 60 seconds, or without an end. Returns its id: `id`, or a new one.

        Raises Conflict if another holder has it.
        """
        request = self._request(_ACQUIRE)
        request.duration_s = _INFINITE if duration is None else _whole_seconds(duration, 15, "duration")
        return self._id(self._proposing(request, id))

    def renew(self, id: UUID) -> UUID:
        """Begins the time of the lease anew."""
        return self._id(self._request(_RENEW, id))

    def change(self, id: UUID, proposed: UUID) -> UUID:
        """Gives the lease another id."""
        return self._id(self._proposing(self._request(_CHANGE, id), proposed))

    def release(self, id: UUID) -> None:
        """Ends the lease. Others can take it at once."""
        self._answer(self._request(_RELEASE, id))

    def break_(self, period: Union[int, timedelta, None] = None) -> int:
        """Ends the lease without its id, after 0 to 60 seconds at most. Returns the seconds that are left.

        Without a period the lease ends at its end, and one without an end is broken at once.
        """
        request = self._request(_BREAK)
        if period is not None:
            request.has_break = True
            request.break_s = _whole_seconds(period, 0, "period")
        return int(self._answer(request).left_s)

    @staticmethod
    def _request(action: int, id: Optional[UUID] = None) -> Any:
        request = _sized("varve_lease_request")
        request.action = action
        if id is not None:
            give_guid(request.id, id, "id")
        return request

    @staticmethod
    def _proposing(request: Any, proposed: Optional[UUID]) -> Any:
        if proposed is not None:
            request.has_proposed = True
            give_guid(request.proposed, proposed, "the new id")
        return request

    def _answer(self, request: Any) -> Any:
        answer = _sized("varve_lease_answer")
        check(self._call(request, answer))
        return answer

    def _id(self, request: Any) -> UUID:
        return UUID(bytes=bytes(ffi.buffer(self._answer(request).id.bytes)))

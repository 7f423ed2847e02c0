"""Parameters of filters: values become literals of the filter language, so that no text can change the filter."""
from __future__ import annotations

import math
import re
from datetime import datetime
from typing import Mapping
from uuid import UUID

from ._native import ffi, lib
from .errors import InvalidArgument, check
from .values import DateTime, Int64, Value, ticks_of_microseconds

_TOKENS = re.compile(r"('(?:[^']|'')*'?)|@([A-Za-z_][A-Za-z0-9_]*)")


def literal(value: Value) -> str:
    """Returns a value as a literal, for example ``'O''Hara'`` or ``5L``."""
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{int(value)}L" if isinstance(value, Int64) or not -2**31 <= value < 2**31 else str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidArgument(f"{value} cannot be a parameter of a filter; write NaN, INF or -INF in the filter, "
                                  "on the right side of the comparison")
        text = repr(value)
        return text if "." in text or "e" in text else text + ".0"
    if isinstance(value, bytes):
        return "X'" + value.hex() + "'"
    if isinstance(value, datetime):
        room = ffi.new("char[64]")
        ticks = value.ticks if isinstance(value, DateTime) else ticks_of_microseconds(value)
        check(lib.varve_datetime_format(ticks, room))
        return f"datetime'{ffi.string(room).decode()}'"
    if isinstance(value, UUID):
        return f"guid'{value}'"
    raise TypeError(f"a filter has no literal for {type(value).__name__}")


def with_parameters(text: str, parameters: Mapping[str, Value]) -> str:
    """Replaces each ``@name`` outside of quotes by the literal of the parameter."""

    def one(match: re.Match[str]) -> str:
        if match[1] is not None:
            return match[1]
        if match[2] not in parameters:
            raise InvalidArgument(f"the filter names @{match[2]}, which is not among the parameters")
        return literal(parameters[match[2]])

    return _TOKENS.sub(one, text)

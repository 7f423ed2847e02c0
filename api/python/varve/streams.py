"""What the files of the package share: contents that are written and read as streams."""
from __future__ import annotations

import io
from typing import Any, Union

from ._native import ffi
from .errors import Closed, InvalidArgument, check
from .handles import _Handle, _open

#: The bytes of a content.
Bytes = Union[bytes, bytearray, memoryview]


def bytes_of(content: Bytes, what: str, keep: list[Any]) -> Any:
    """Returns a varve_text of bytes, which stays as long as `keep`."""
    if isinstance(content, str):
        raise TypeError(f"{what} is a str; bytes are expected, for example {what}.encode()")
    view = memoryview(content).cast("B") if not isinstance(content, bytes) else content
    held = ffi.from_buffer(view)
    keep.append(held)
    return (held, len(view))


class ContentWriter(io.RawIOBase):
    """A content that is being written, as a file."""

    def __init__(self, handle: _Handle) -> None:
        super().__init__()
        self._handle = handle
        self._length = 0

    def _append(self, handle: Any, given: Any) -> Any:
        """Calls the library with a varve_text."""
        raise NotImplementedError

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        """Adds bytes at the end. Returns their number, which is that of all bytes."""
        self._check_open()
        keep: list[Any] = []
        bytes_given = bytes_of(content, "content", keep)
        check(self._append(_open(self._handle), bytes_given))
        self._length += bytes_given[1]
        return int(bytes_given[1])

    def tell(self) -> int:
        """Returns the number of bytes that were added."""
        self._check_open()
        return self._length

    def close(self) -> None:
        """Frees the writer. A content that nothing names is removed."""
        handle = getattr(self, "_handle", None)
        if handle is not None:
            handle.__del__()
        super().close()

    def _check_open(self) -> None:
        if self.closed:
            raise Closed("the writer was closed")


class ContentReader(io.RawIOBase):
    """One state of a content, as a file. For many small reads, wrap it: ``io.BufferedReader(reader, 1 << 20)``."""

    def __init__(self, handle: _Handle, length: int) -> None:
        super().__init__()
        self._handle = handle
        self._length = length
        self._position = 0

    def _read(self, handle: Any, offset: int, into: Any, count: Any) -> Any:
        """Calls the library."""
        raise NotImplementedError

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Fills the buffer. Returns the number of bytes, which is less only at the end of the content."""
        count = self._read_at(self._position, buffer)
        self._position += count
        return count

    def readall(self) -> bytes:
        """Returns the content from the present position to its end."""
        content = bytearray(max(0, self._length - self._position))
        return bytes(memoryview(content)[:self.readinto(content)]) if content else b""

    def read_range(self, offset: int, size: int) -> bytes:
        """Returns up to `size` bytes from `offset` on. Leaves the position, so any thread may call it."""
        if offset < 0 or size < 0:
            raise InvalidArgument(f"the range is {size} bytes at {offset}; neither can be below zero")
        content = bytearray(min(size, max(0, self._length - offset)))
        return bytes(memoryview(content)[:self._read_at(offset, content)]) if content else b""

    def _read_at(self, offset: int, buffer: Any) -> int:
        self._check_open()
        into = ffi.from_buffer(buffer, require_writable=True)
        count = ffi.new("size_t *")
        check(self._read(_open(self._handle), offset, into, count))
        return int(count[0])

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Sets the position, also after the end of the content."""
        self._check_open()
        begins = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._length}
        if whence not in begins or begins[whence] + offset < 0:
            raise InvalidArgument(f"seek({offset}, {whence}) leads to no position of the content")
        self._position = begins[whence] + offset
        return self._position

    def tell(self) -> int:
        """Returns the position."""
        self._check_open()
        return self._position

    def close(self) -> None:
        """Frees the reader."""
        handle = getattr(self, "_handle", None)
        if handle is not None:
            handle.__del__()
        super().close()

    def _check_open(self) -> None:
        if self.closed:
            raise Closed("the reader was closed")

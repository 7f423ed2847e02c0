"""Owns: the bytes of a large object: pieces of 1 MiB that do not compress, each known by its number and the seed.
Must never: need the memory or the disk space of a whole object."""
import random

PIECE = 1 << 20
SHIFT = 4_096  # the beginnings of two pieces differ by this many bytes
NUMBER_BYTES = 8


class Content:
    def __init__(self, length, seed):
        self.length = length
        self.pool = random.Random(seed).randbytes(2 * PIECE)

    def piece(self, number):
        """Returns the piece at byte `number` times PIECE. The last piece may be shorter."""
        begin = number * SHIFT % PIECE
        piece = number.to_bytes(NUMBER_BYTES, "little") + self.pool[begin + NUMBER_BYTES:begin + PIECE]
        return piece[:max(0, self.length - number * PIECE)]

    def pieces(self):
        return -(-self.length // PIECE)

    def part(self, offset, count):
        """Returns bytes at any place. They end where the content ends."""
        end = min(offset + count, self.length)
        if end <= offset:
            return b""
        first, last = offset // PIECE, (end - 1) // PIECE
        joined = b"".join(self.piece(number) for number in range(first, last + 1))
        return joined[offset - first * PIECE:end - first * PIECE]

#!/usr/bin/env python3
"""Writes api/model/unicode_ranges.h: which characters beyond ASCII a property name may hold.

A property name is an identifier of C# that is also a name of XML 1.0 (fifth edition): its first character is in the
Unicode classes L, Nl or is `_`, the others may be in Nd, Mn, Mc, Pc and Cf too, and every character must be one that
XML allows at its place. Run it from anywhere; it writes the file in place. The classes are those of Python's Unicode
database, whose version the file names.
"""
import pathlib
import unicodedata

START_CLASSES = {"Lu", "Ll", "Lt", "Lm", "Lo", "Nl"}
CLASSES = START_CLASSES | {"Nd", "Mn", "Mc", "Pc", "Cf"}

# XML 1.0, fifth edition, productions [4] NameStartChar and [4a] NameChar, beyond ASCII.
XML_START = [
    (0xC0, 0xD6), (0xD8, 0xF6), (0xF8, 0x2FF), (0x370, 0x37D), (0x37F, 0x1FFF), (0x200C, 0x200D), (0x2070, 0x218F),
    (0x2C00, 0x2FEF), (0x3001, 0xD7FF), (0xF900, 0xFDCF), (0xFDF0, 0xFFFD), (0x10000, 0xEFFFF),
]
XML_MORE = [(0xB7, 0xB7), (0x300, 0x36F), (0x203F, 0x2040)]


def within(ranges, code):
    return any(low <= code <= high for low, high in ranges)


def ranges_of(allowed):
    """Ranges of the characters beyond ASCII that `allowed` accepts, in order."""
    found = []
    for code in range(0x80, 0x110000):
        if not allowed(code, unicodedata.category(chr(code))):
            continue
        if found and found[-1][1] == code - 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return found


def table(name, comment, ranges):
    lines = [f"/// {comment}", f"inline constexpr std::array<CharacterRange, {len(ranges)}> {name} = {{{{"]
    line = "   "
    for low, high in ranges:
        item = f" {{0x{low:X}, 0x{high:X}}},"
        if len(line) + len(item) > 120:
            lines.append(line)
            line = "   "
        line += item
    lines += [line, "}};"]
    return "\n".join(lines)


def main():
    start = ranges_of(lambda code, kind: kind in START_CLASSES and within(XML_START, code))
    other = ranges_of(lambda code, kind: kind in CLASSES and within(XML_START + XML_MORE, code))
    version = unicodedata.unidata_version
    text = f"""// Owns: which characters beyond ASCII may stand in a property name: Unicode {version} and XML 1.0.
// Must never: be edited; tools/dev/generate_unicode_ranges.py writes it.
// Source: the Unicode Character Database, whose copyright and licence are in NOTICE.
#pragma once

#include <array>
#include <cstdint>

namespace varve {{

struct CharacterRange {{
  std::uint32_t first;
  std::uint32_t last;
}};

// clang-format off
{table("kNameStartRanges", "At the front, in order.", start)}

{table("kNameRanges", "Anywhere else, in order.", other)}
// clang-format on

}}  // namespace varve
"""
    path = pathlib.Path(__file__).resolve().parents[2] / "api" / "model" / "unicode_ranges.h"
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

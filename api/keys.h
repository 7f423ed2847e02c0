// SPDX-License-Identifier: Apache-2.0
// Owns: keys made of numbers, times and several parts, so that the order of keys is the order that is meant.
// Must never: make a key with a forbidden character (D-11). How long a key may be is judged where it is written (D-12).
//
// A table keeps its entities in the order of keys as text: '10' comes before '9', and there is no other order. What is
// made here sorts as the values do that it was made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "result.h"
#include "types.h"

#pragma GCC visibility push(default)

namespace varve {

/// Stands between the parts of a composite key. It sorts before everything that an escaped part can hold, so that a
/// part sorts before the longer parts that begin with it.
inline constexpr char kKeySeparator = '!';

/// The number with zeros before it, `digits` characters in all: 000042. Twenty digits hold every number.
/// Errors: kInvalidArgument (the number has more digits).
Result<std::string> zero_padded(std::uint64_t number, std::size_t digits);

/// 19 digits that sort as times do. A time after year 9999 counts as its last tick.
std::string ascending_ticks(DateTime time);
/// 19 digits that sort the newest first: the ticks that are left until the end of year 9999. A time after that counts
/// as its last tick. With them as RowKeys, the first entities of a partition are the latest ones.
std::string inverted_ticks(DateTime time);
/// The time that inverted_ticks() was given. Errors: kInvalidArgument (not 19 digits, or no time of this calendar).
Result<DateTime> time_of_inverted_ticks(std::string_view text);

/// Any text as one that a key may hold; different texts stay different, and their order stays what it is. Letters,
/// digits and most signs stay as they are. What a key may not hold, and what the separator and the escapes need, is
/// written otherwise: the characters up to `#`, the space among them, as `"` and two hexadecimal digits; `/`, `?`, `\`
/// as the character before them and U+FFFF; U+007F to U+009F as `~`, U+FFFF and two digits; U+FFFF as U+FFFE, U+FFFF.
/// Errors: kInvalidArgument (not UTF-8).
Result<std::string> escape_key(std::string_view text);
/// The text that escape_key() was given. Errors: kInvalidArgument (escape_key() does not write this).
Result<std::string> unescape_key(std::string_view key);

/// The parts, escaped, with kKeySeparator between them. Sorts by the first part, then by the second and so on.
/// Errors: kInvalidArgument (no part, or not UTF-8).
Result<std::string> composite_key(std::initializer_list<std::string_view> parts);
/// What all composite keys begin with that have these parts first and others behind them: for a scan by prefix.
/// Errors: as composite_key().
Result<std::string> composite_prefix(std::initializer_list<std::string_view> parts);
/// The parts that composite_key() was given. Errors: as unescape_key().
Result<std::vector<std::string>> split_composite_key(std::string_view key);

}  // namespace varve

#pragma GCC visibility pop

// SPDX-License-Identifier: Apache-2.0
// Owns: keys built from numbers, times and several parts, so that key order equals the intended order.
// Must never: build a key that contains a forbidden character (D-11). The length of a key is checked on write (D-12).
//
// A table sorts its entities by their keys as text, and it has no other order: '10' sorts before '9'. The keys built
// here sort like the values from which they are built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "result.h"
#include "types.h"
#include "version.h"

namespace varve {

/// Separates the parts of a composite key. It sorts before every character of an escaped part. So a part sorts before
/// longer parts that begin with it: `ab` before `abc`.
inline constexpr char kKeySeparator = '!';

/// Returns the number with leading zeros, in `digits` characters: 000042. Twenty digits hold every number.
/// Errors: kInvalidArgument (the number has more digits).
VARVE_EXPORT Result<std::string> zero_padded(std::uint64_t number, std::size_t digits);

/// Returns 19 digits that sort like times, the earliest first. A time after year 9999 counts as the last tick of that
/// year.
VARVE_EXPORT std::string ascending_ticks(DateTime time);
/// Returns 19 digits that sort the newest time first: the ticks left until the end of year 9999. A time after year 9999
/// counts as the last tick of that year. If RowKeys are inverted ticks, the first entities of a partition are the
/// newest.
VARVE_EXPORT std::string inverted_ticks(DateTime time);
/// Returns the time from which inverted_ticks() made `text`.
/// Errors: kInvalidArgument (the text is not 19 digits, or more ticks than the calendar has).
VARVE_EXPORT Result<DateTime> time_of_inverted_ticks(std::string_view text);

/// Escapes any text so that a key may contain it. Different texts stay different, and their order stays the same.
/// Letters, digits and most signs stay as they are. The key's forbidden characters, and characters that the separator
/// and the escapes use, are written as follows. For example, `a b` becomes `a"20b`.
///   up to `#` (with the space)    `"` and two hexadecimal digits
///   `/`, `?`, `\`                 the character before it (`.`, `>`, `[`) and U+FFFF
///   U+007F to U+009F              `~`, U+FFFF and two hexadecimal digits
///   U+FFFF                        U+FFFE and U+FFFF
/// Errors: kInvalidArgument (not UTF-8).
VARVE_EXPORT Result<std::string> escape_key(std::string_view text);
/// Returns the text from which escape_key() made `key`. Errors: kInvalidArgument (escape_key() never returns this key).
VARVE_EXPORT Result<std::string> unescape_key(std::string_view key);

/// Escapes the parts and joins them with kKeySeparator. Such keys sort by the first part, then by the second, and so
/// on.
/// Errors: kInvalidArgument (no parts, or a part that is not UTF-8).
VARVE_EXPORT Result<std::string> composite_key(std::initializer_list<std::string_view> parts);
/// Returns the common prefix of all composite keys that begin with these parts and have more parts. Use it for a scan
/// by prefix. Errors: as composite_key().
VARVE_EXPORT Result<std::string> composite_prefix(std::initializer_list<std::string_view> parts);
/// Returns the parts from which composite_key() made `key`. Errors: as unescape_key().
VARVE_EXPORT Result<std::vector<std::string>> split_composite_key(std::string_view key);

}  // namespace varve

// Owns: continuation tokens as text.
// Must never: accept two texts for one token, or need anything but the text.
//
// A key is written `1!n!b`: b is the base64 of its UTF-8 with `=` written `-`, `+` written `*` and `/` written `_`, and
// n is the length of b. A token of a scan is two of them, PartitionKey and RowKey, with a space between; one of a
// listing is one. Source: Q-46. In a token of a scan backward, which the service does not have, each begins with `2!`;
// in one of a scan with a limit over all pages, a third word says in decimal how many entities are left.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "varve/result.h"

namespace varve {

struct ScanPosition {
  std::string partition_key;
  std::string row_key;
  bool backward = false;
  /// Of a scan with a limit over all its pages: what is left of it, at least one.
  std::optional<std::uint64_t> remaining{};
};

std::string encode_key_token(std::string_view key);
/// Errors: kInvalidArgument (InvalidInput), also when what it stands for is not UTF-8.
Result<std::string> decode_key_token(std::string_view token);

/// The token that a request parameter stands for: itself where it has the form of Q-46, else the one of the text as a
/// plain key, which old clients send. Source: X-26.
std::string key_token_of(std::string_view parameter);

std::string encode_scan_token(std::string_view partition_key, std::string_view row_key, bool backward = false,
                              const std::optional<std::uint64_t>& remaining = std::nullopt);
/// Errors: as decode_key_token.
Result<ScanPosition> decode_scan_token(std::string_view token);

}  // namespace varve

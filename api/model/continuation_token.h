// Owns: the text form of continuation tokens.
// Must never: accept two texts for one token, or need anything except the text.
//
// The token of a key is `1!n!b`: `b` is the base64 of the key's UTF-8, and `n` is the length of `b`. The base64 uses
// `-` for `=`, `*` for `+`, and `_` for `/`. The token of a listing is the token of one key. The token of a scan is two
// of them, PartitionKey and RowKey, separated by a space. Source: Q-46.
//
// Three forms extend the service's tokens. In a backward scan, each key token begins with `2!`. In a scan with a limit
// over all pages, a third word is the decimal number of entities that are left. The token of a scan with an order is one
// word of this form that begins with `3!`; its bytes are an encoded entity (api/read/first_entities.h).
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
  /// In a scan with a limit over all pages, the number of entities left, at least one.
  std::optional<std::uint64_t> remaining{};
};

std::string encode_key_token(std::string_view key);
/// Errors: kInvalidArgument (InvalidInput: the text is no token, or its key is not UTF-8).
Result<std::string> decode_key_token(std::string_view token);

/// Returns the token that a request parameter means. If the parameter has the form of Q-46, it is the token. Otherwise
/// it is a plain key, which old clients send, and the function encodes it. Source: X-26.
std::string key_token_of(std::string_view parameter);

std::string encode_scan_token(std::string_view partition_key, std::string_view row_key, bool backward = false,
                              const std::optional<std::uint64_t>& remaining = std::nullopt);
/// Errors: as decode_key_token().
Result<ScanPosition> decode_scan_token(std::string_view token);

std::string encode_bytes_token(std::string_view bytes);
/// Errors: kInvalidArgument (InvalidInput: the text is no such token).
Result<std::string> decode_bytes_token(std::string_view token);
/// Returns the error for a text that is no token.
Status not_a_token(std::string_view token);

}  // namespace varve

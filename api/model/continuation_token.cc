// Owns: the text form of continuation tokens (continuation_token.h).
// Must never: read past a length that a token claims.
#include "api/model/continuation_token.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <system_error>

#include "api/model/base64.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "format/keys/sort_key.h"

namespace varve {
namespace {

constexpr std::string_view kStart = "1!";
constexpr std::string_view kStartBackward = "2!";
constexpr std::string_view kStartOrdered = "3!";
constexpr char kSeparator = '!';
constexpr char kBetween = ' ';

constexpr Base64Alphabet kTokenAlphabet{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789*_", '-'};

std::string encode_key(std::string_view start, std::string_view key) {
  const std::string encoded = encode_base64<kTokenAlphabet>(key);
  return std::string(start).append(std::to_string(encoded.size())).append(1, kSeparator).append(encoded);
}

std::optional<std::string> decode_bytes(std::string_view start, std::string_view token) {
  if (!token.starts_with(start)) return std::nullopt;
  token.remove_prefix(start.size());
  const std::size_t separator = token.find(kSeparator);
  if (separator == std::string_view::npos) return std::nullopt;
  const std::string_view encoded = token.substr(separator + 1);
  if (token.substr(0, separator) != std::to_string(encoded.size())) return std::nullopt;
  return decode_base64<kTokenAlphabet>(encoded);
}

std::optional<std::string> decode_key(std::string_view start, std::string_view token) {
  std::optional<std::string> key = decode_bytes(start, token);
  if (!key || !format::is_valid_utf8(*key)) return std::nullopt;
  return key;
}

/// Returns a decimal number above zero, written as std::to_string writes it.
std::optional<std::uint64_t> decode_count(std::string_view text) {
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && count > 0 && text.front() != '0' ? std::optional(count) : std::nullopt;
}

}  // namespace

Status not_a_token(std::string_view token) {
  return service_error::invalid_input(quoted(token) +
                                      " is not a continuation token; pass the token of the previous page unchanged");
}

std::string encode_key_token(std::string_view key) {
  return encode_key(kStart, key);
}

Result<std::string> decode_key_token(std::string_view token) {
  std::optional<std::string> key = decode_key(kStart, token);
  if (!key) return not_a_token(token);
  return *std::move(key);
}

std::string key_token_of(std::string_view parameter) {
  return decode_key(kStart, parameter) ? std::string(parameter) : encode_key_token(parameter);
}

std::string encode_scan_token(std::string_view partition_key, std::string_view row_key, bool backward,
                              const std::optional<std::uint64_t>& remaining) {
  const std::string_view start = backward ? kStartBackward : kStart;
  std::string token = encode_key(start, partition_key).append(1, kBetween).append(encode_key(start, row_key));
  if (remaining) token.append(1, kBetween).append(std::to_string(*remaining));
  return token;
}

Result<ScanPosition> decode_scan_token(std::string_view token) {
  const std::size_t between = token.find(kBetween);
  if (between == std::string_view::npos) return not_a_token(token);
  const std::string_view behind = token.substr(between + 1);
  const std::size_t second = behind.find(kBetween);
  std::optional<std::uint64_t> remaining;
  if (second != std::string_view::npos) {
    remaining = decode_count(behind.substr(second + 1));
    if (!remaining) return not_a_token(token);
  }
  const bool backward = token.starts_with(kStartBackward);
  const std::string_view start = backward ? kStartBackward : kStart;
  std::optional<std::string> partition_key = decode_key(start, token.substr(0, between));
  std::optional<std::string> row_key = decode_key(start, behind.substr(0, second));
  if (!partition_key || !row_key) return not_a_token(token);
  return ScanPosition{*std::move(partition_key), *std::move(row_key), backward, remaining};
}

std::string encode_bytes_token(std::string_view bytes) {
  return encode_key(kStartOrdered, bytes);
}

Result<std::string> decode_bytes_token(std::string_view token) {
  std::optional<std::string> bytes = decode_bytes(kStartOrdered, token);
  if (!bytes) return not_a_token(token);
  return *std::move(bytes);
}

}  // namespace varve

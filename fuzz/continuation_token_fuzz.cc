// Owns: the fuzzer of continuation tokens: texts from clients that continue a scan.
// Must never: accept two texts for one token, or a token whose key is not UTF-8.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "api/model/continuation_token.h"
#include "api/read/entity_order.h"
#include "api/read/first_entities.h"
#include "format/keys/sort_key.h"
#include "fuzz/mutation.h"

namespace {

void check_refusal(const varve::Status& status) {
  if (status.code() != varve::Code::kInvalidArgument) std::abort();
  if (status.service_error() != "InvalidInput") std::abort();
}

/// Returns the token of another place, or another token of one key.
std::optional<std::string> mutated(varve::fuzz::Chance& chance, std::string_view text) {
  if (const varve::Result<std::string> key = varve::decode_key_token(text); key.ok()) {
    std::string changed = *key;
    varve::fuzz::mutate_bytes(changed);
    return varve::encode_key_token(changed);
  }
  if (varve::Result<std::string> bytes = varve::decode_bytes_token(text); bytes.ok()) {
    varve::fuzz::mutate_bytes(*bytes);
    return varve::encode_bytes_token(*bytes);
  }
  varve::Result<varve::ScanPosition> position = varve::decode_scan_token(text);
  if (!position.ok()) return std::nullopt;
  switch (chance.below(4)) {
    case 0: varve::fuzz::mutate_bytes(position->partition_key); break;
    case 1: varve::fuzz::mutate_bytes(position->row_key); break;
    case 2: position->backward = !position->backward; break;
    default: position->remaining = varve::fuzz::mutated_number(chance, position->remaining.value_or(1)); break;
  }
  return varve::encode_scan_token(position->partition_key, position->row_key, position->backward, position->remaining);
}

/// Reads the text as the token of a scan with an order. Its position is then one place in that order.
void read_ordered(std::string_view token) {
  static const varve::EntityOrder order = *varve::EntityOrder::parse("A desc,PartitionKey,B");
  const varve::Result<varve::OrderedPosition> position = varve::decode_ordered_token(order, 7, token);
  if (!position.ok()) return check_refusal(position.status());
  const varve::OrderedEntity& last = *position->last;
  if (order.is_before(last.values, last.sort_key, last.values, last.sort_key)) std::abort();
  if (!varve::format::decode_sort_key(last.sort_key).ok()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);

  const varve::Result<varve::ScanPosition> position = varve::decode_scan_token(text);
  if (position.ok()) {
    if (varve::encode_scan_token(position->partition_key, position->row_key, position->backward, position->remaining) !=
        text) {
      std::abort();
    }
    if (!varve::format::is_valid_utf8(position->partition_key)) std::abort();
    if (!varve::format::is_valid_utf8(position->row_key)) std::abort();
  } else {
    check_refusal(position.status());
  }

  const varve::Result<std::string> key = varve::decode_key_token(text);
  if (key.ok()) {
    if (varve::encode_key_token(*key) != text || !varve::format::is_valid_utf8(*key)) std::abort();
  } else {
    check_refusal(key.status());
  }

  read_ordered(text);
  read_ordered(varve::encode_bytes_token(text));

  // Any text, used as a key, survives encoding and decoding as a token, or is refused because it is not UTF-8.
  const varve::Result<std::string> again = varve::decode_key_token(varve::encode_key_token(text));
  if (again.ok() != varve::format::is_valid_utf8(text)) std::abort();
  if (again.ok() && *again != text) std::abort();
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t size_max,
                                               unsigned seed) {
  return varve::fuzz::mutate_structure(data, size, size_max, seed, mutated);
}

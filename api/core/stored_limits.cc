// Owns: the tag and the bounds of each limit (stored_limits.h).
// Must never: reuse a tag.
#include "api/core/stored_limits.h"

#include <array>

#include "format/bytes/ordered_fields.h"

namespace varve {
namespace {

/// Tags are odd, which makes an unknown one an error. A build that does not know a limit must not use the store without
/// it.
struct Known {
  format::Tag tag;
  std::uint32_t StoreLimits::*member;
  std::uint32_t maximum;
  std::string_view name;
};
constexpr std::array<Known, 10> kKnown = {{
    {1, &StoreLimits::key_code_units_max, StoreLimits::kKeyCodeUnitsCeiling, "key_code_units_max"},
    {3, &StoreLimits::custom_properties_max, StoreLimits::kCustomPropertiesCeiling, "custom_properties_max"},
    {5, &StoreLimits::string_code_units_max, StoreLimits::kEntityBytesCeiling / 2, "string_code_units_max"},
    {7, &StoreLimits::binary_bytes_max, StoreLimits::kEntityBytesCeiling, "binary_bytes_max"},
    {9, &StoreLimits::entity_bytes_max, StoreLimits::kEntityBytesCeiling, "entity_bytes_max"},
    {11, &StoreLimits::transaction_operations_max, StoreLimits::kTransactionOperationsCeiling,
     "transaction_operations_max"},
    {13, &StoreLimits::transaction_bytes_max, StoreLimits::kTransactionBytesCeiling, "transaction_bytes_max"},
    {15, &StoreLimits::page_entities_max, StoreLimits::kPageEntitiesCeiling, "page_entities_max"},
    {17, &StoreLimits::filter_comparisons_max, UINT32_MAX, "filter_comparisons_max"},
    {19, &StoreLimits::blob_appends_max, StoreLimits::kBlobAppendsCeiling, "blob_appends_max"},
}};

}  // namespace

Status check_limits(const StoreLimits& limits) {
  for (const Known& known : kKnown) {
    const std::uint32_t value = limits.*known.member;
    if (value >= 1 && value <= known.maximum) continue;
    return Status::invalid_argument("the limit " + std::string(known.name) + " is " + std::to_string(value) +
                                    "; 1 to " + std::to_string(known.maximum) + " are allowed");
  }
  if (limits.transaction_bytes_max >= limits.entity_bytes_max) return Status();
  return Status::invalid_argument("the limit transaction_bytes_max must be at least entity_bytes_max");
}

std::string encode_limits(const StoreLimits& limits) {
  const StoreLimits service;
  std::string bytes;
  format::OrderedFieldWriter writer(bytes, {});
  for (const Known& known : kKnown) {
    if (limits.*known.member != service.*known.member) writer.number(known.tag, limits.*known.member);
  }
  writer.finish();
  return bytes;
}

Result<StoreLimits> decode_limits(std::string_view bytes) {
  StoreLimits limits;
  format::OrderedFieldReader reader("limits of the store", bytes);
  for (const Known& known : kKnown) {
    std::uint64_t value = 0;
    if (!reader.take_number(known.tag, &value)) continue;
    if (value < 1 || value > known.maximum) {
      reader.refuse(Code::kCorruption, std::string(known.name) + " is " + std::to_string(value));
    }
    limits.*known.member = static_cast<std::uint32_t>(value);
  }
  std::string unknown;
  if (Status read = reader.finish(&unknown); !read.ok()) return read;
  return limits;
}

}  // namespace varve

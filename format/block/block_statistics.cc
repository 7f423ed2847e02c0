// Owns: reading and writing ranges (block_statistics.h).
// Must never: return a value whose size does not fit its type.
#include "format/block/block_statistics.h"

#include <optional>

#include "format/bytes/damage.h"
#include "format/keys/sort_key.h"

namespace varve::format {
namespace {

constexpr std::uint8_t kUnknownHead = 0;
constexpr std::uint8_t kCutBit = 16;
constexpr std::uint8_t kAbsentHead = 32;
constexpr std::string_view kStatisticsThing = "block statistics";

bool is_told_of(PropertyType type) noexcept {
  return type != PropertyType::kBinary && type != PropertyType::kGuid && type != PropertyType::kLargeValue;
}

bool read_value(ByteReader& reader, PropertyType type, std::string_view* value) noexcept {
  const std::optional<std::size_t> fixed = fixed_value_bytes(type);
  if (fixed) return reader.read_bytes(*fixed, value);
  return reader.read_sized(value) && value->size() <= kRangeTextBytesMax;
}

void append_value(std::string& out, PropertyType type, std::string_view value) {
  if (type == PropertyType::kString) append_varint(out, value.size());
  out.append(value);
}

Result<PropertyRange> read_range(ByteReader& reader) {
  std::uint8_t head = 0;
  if (!reader.read_u8(&head)) return damaged(kStatisticsThing, "a range is cut short");
  PropertyRange range;
  if (head == kUnknownHead) return range;
  if (head == kAbsentHead) {
    range.kind = PropertyRange::Kind::kAbsent;
    return range;
  }
  range.kind = PropertyRange::Kind::kRange;
  range.largest_is_cut = (head & kCutBit) != 0;
  const auto type = static_cast<std::uint8_t>(head & ~kCutBit);
  range.type = static_cast<PropertyType>(type);
  const bool is_type = type >= static_cast<std::uint8_t>(PropertyType::kBinary) &&
                       type <= static_cast<std::uint8_t>(PropertyType::kString);
  if (!is_type || !is_told_of(range.type) || (range.largest_is_cut && range.type != PropertyType::kString)) {
    return damaged(kStatisticsThing, "a range has an impossible type");
  }
  if (!read_value(reader, range.type, &range.smallest) || !read_value(reader, range.type, &range.largest)) {
    return damaged(kStatisticsThing, "a value is cut short or too long");
  }
  return range;
}

bool covers_text(const PropertyRange& range, std::string_view text) noexcept {
  if (compare_text(text, range.smallest) < 0) return false;
  if (range.largest_is_cut && text.starts_with(range.largest)) return true;
  return compare_text(text, range.largest) <= 0;
}

template <typename Number>
bool is_between(Number value, Number smallest, Number largest) noexcept {
  return value >= smallest && value <= largest;
}

}  // namespace

bool covers(const PropertyRange& range, const PropertyView& property) noexcept {
  if (range.kind == PropertyRange::Kind::kUnknown) return true;
  if (range.kind == PropertyRange::Kind::kAbsent || property.type != range.type) return false;
  const PropertyView smallest{{}, range.type, range.smallest};
  const PropertyView largest{{}, range.type, range.largest};
  switch (property.type) {
    case PropertyType::kBoolean: return is_between(property.as_boolean(), smallest.as_boolean(), largest.as_boolean());
    case PropertyType::kDateTime:
      return is_between(property.as_date_time_ticks(), smallest.as_date_time_ticks(), largest.as_date_time_ticks());
    case PropertyType::kDouble: return is_between(property.as_double(), smallest.as_double(), largest.as_double());
    case PropertyType::kInt32: return is_between(property.as_int32(), smallest.as_int32(), largest.as_int32());
    case PropertyType::kInt64: return is_between(property.as_int64(), smallest.as_int64(), largest.as_int64());
    case PropertyType::kString: return covers_text(range, property.value);
    case PropertyType::kBinary:
    case PropertyType::kGuid:
    case PropertyType::kLargeValue: return false;
  }
  return false;
}

Result<NamedRange> RunStatistics::next() {
  std::uint8_t in_blocks = 0;
  NamedRange named;
  if (!reader_.read_u8(&in_blocks) || in_blocks > 1 || !reader_.read_sized(&named.name)) {
    return damaged(kStatisticsThing, "the name of a property is damaged");
  }
  named.is_in_blocks = in_blocks == 1;
  Result<PropertyRange> range = read_range(reader_);
  if (!range.ok()) return range.status();
  named.range = *range;
  return named;
}

Result<PropertyRange> BlockStatistics::next() {
  return read_range(reader_);
}

void append_range(std::string& out, const PropertyRange& range) {
  switch (range.kind) {
    case PropertyRange::Kind::kUnknown: out.push_back(static_cast<char>(kUnknownHead)); return;
    case PropertyRange::Kind::kAbsent: out.push_back(static_cast<char>(kAbsentHead)); return;
    case PropertyRange::Kind::kRange: break;
  }
  const auto type = static_cast<std::uint8_t>(range.type);
  out.push_back(static_cast<char>(range.largest_is_cut ? type | kCutBit : type));
  append_value(out, range.type, range.smallest);
  append_value(out, range.type, range.largest);
}

}  // namespace varve::format

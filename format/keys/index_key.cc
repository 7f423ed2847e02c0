// Owns: the encoding of index definitions and of the keys of index entries (index_key.h).
// Must never: read past the end of a hostile key.
#include "format/keys/index_key.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <utility>

#include "format/bytes/bytes.h"
#include "format/bytes/ordered_fields.h"
#include "format/bytes/tagged_fields.h"

namespace varve::format {
namespace {

constexpr char kPartEnd = 0x00;
constexpr char kPartEscape = 0x01;
constexpr unsigned char kTagOfTypes = 0x10;
constexpr char kWholeEnd = 0x00;
constexpr char kCutEnd = static_cast<char>(0xFF);
/// The tag of the Timestamp, which is no property and has no type of its own.
constexpr unsigned char kTimestampTag = 0x19;
constexpr unsigned kTimestampBits = 7;
constexpr unsigned char kTimestampLift = 2;  // No byte is escaped, inverted or not.
constexpr std::uint64_t kSign64 = std::uint64_t{1} << 63;
constexpr std::uint32_t kSign32 = std::uint32_t{1} << 31;
constexpr std::uint64_t kOneNan = 0x7FF8'0000'0000'0000;
constexpr std::size_t kPropertyNameBytesMax = 4095;
/// The ticks of 9999-12-31T23:59:59.9999999.
constexpr std::uint64_t kIndexedTicksMax = 3'155'378'975'999'999'999;

constexpr Tag kComponentTag = 1;
constexpr Tag kUniqueTag = 3;
constexpr Tag kCarriedTag = 5;
constexpr std::size_t kComponentHeadBytes = 2;

void invert(std::string& bytes, std::size_t from) noexcept {
  for (std::size_t i = from; i < bytes.size(); ++i) bytes[i] = static_cast<char>(~static_cast<unsigned char>(bytes[i]));
}

void append_escaped_byte(std::string& out, char byte) {
  const auto value = static_cast<unsigned char>(byte);
  if (value > 1) {
    out.push_back(byte);
  } else {
    out.push_back(kPartEscape);
    out.push_back(static_cast<char>(value + 1));
  }
}

/// Appends the first bytes as they are, up to the first one that is special, and removes them from the front.
template <typename IsSpecial>
void append_plain(std::string& out, std::string_view& bytes, IsSpecial is_special) {
  const auto end = std::find_if(bytes.begin(), bytes.end(), is_special);
  const auto plain = static_cast<std::size_t>(end - bytes.begin());
  out.append(bytes.data(), plain);
  bytes.remove_prefix(plain);
}

bool is_escaped(char byte) noexcept {
  return static_cast<unsigned char>(byte) <= 1;
}

void append_escaped_part(std::string& out, std::string_view bytes) {
  while (!bytes.empty()) {
    append_plain(out, bytes, is_escaped);
    if (bytes.empty()) return;
    append_escaped_byte(out, bytes.front());
    bytes.remove_prefix(1);
  }
}

/// Removes one part and its end from the front of `rest`, and appends it without its escapes.
bool take_part(std::string_view& rest, std::string& part) {
  const std::size_t end = rest.find(kPartEnd);
  if (end == std::string_view::npos) return false;
  for (std::size_t i = 0; i < end; ++i) {
    const std::size_t plain_end = std::min(end, rest.find(kPartEscape, i));
    part.append(rest.substr(i, plain_end - i));
    i = plain_end;
    if (i == end) break;
    if (++i == end || (rest[i] != 1 && rest[i] != 2)) return false;
    part.push_back(static_cast<char>(rest[i] - 1));
  }
  rest.remove_prefix(end + 1);
  return true;
}

/// Writes lead bytes as text(s) does. In UTF-8, these two bytes are lead bytes only.
char lifted(char byte) noexcept {
  const auto value = static_cast<unsigned char>(byte);
  return value == 0xEE || value == 0xEF ? static_cast<char>(value + 7) : byte;
}
char lowered(char byte) noexcept {
  const auto value = static_cast<unsigned char>(byte);
  return value == 0xF5 || value == 0xF6 ? static_cast<char>(value - 7) : byte;
}

bool append_cut(std::string& out, std::string_view bytes, bool is_text) {
  const bool is_cut = bytes.size() > kIndexTextBytesMax;
  const auto is_special = [is_text](char byte) { return is_escaped(byte) || (is_text && lifted(byte) != byte); };
  std::string_view rest = bytes.substr(0, kIndexTextBytesMax);
  out.reserve(out.size() + rest.size() + 1);
  while (!rest.empty()) {
    append_plain(out, rest, is_special);
    if (rest.empty()) break;
    append_escaped_byte(out, is_text ? lifted(rest.front()) : rest.front());
    rest.remove_prefix(1);
  }
  out.push_back(is_cut ? kCutEnd : kWholeEnd);
  return is_cut;
}

void append_big_endian_u64(std::string& out, std::uint64_t value) {
  std::array<char, 8> bytes;
  store_u64_big_endian(bytes.data(), value);
  out.append(bytes.data(), bytes.size());
}

/// Returns the bits of a Double in an order in which numbers compare as the values do.
std::uint64_t ordered_bits(std::uint64_t bits) noexcept {
  if (std::isnan(std::bit_cast<double>(bits))) bits = kOneNan;
  if ((bits & ~kSign64) == 0) bits = 0;  // of the two zeros, the positive one
  return (bits & kSign64) != 0 ? ~bits : bits | kSign64;
}
std::uint64_t bits_of_ordered(std::uint64_t ordered) noexcept {
  return (ordered & kSign64) != 0 ? ordered & ~kSign64 : ~ordered;
}

Status damaged_index_key(std::string_view what) {
  return Status::corruption("index key: " + std::string(what));
}
Status invalid_definition(std::string_view what) {
  return Status::invalid_argument("index definition: " + std::string(what));
}

bool is_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= kPropertyNameBytesMax && is_valid_utf8(name);
}

/// Returns text(PartitionKey) and text(RowKey) without their end bytes.
std::pair<std::string_view, std::string_view> texts_of(std::string_view sort_key) noexcept {
  assert(is_framed(sort_key));
  const std::string_view partition = partition_of(sort_key);
  const std::string_view row = sort_key.substr(partition.size());
  return {partition.substr(kTableIdBytes, partition.size() - kTableIdBytes - 1), row.substr(0, row.size() - 1)};
}

/// Appends the component of an encoded text without its end byte, which is a part of it already.
bool append_text_component(std::string& components, std::string_view text, bool is_descending) {
  const std::size_t start = components.size();
  components.push_back(static_cast<char>(kTagOfTypes + static_cast<unsigned char>(PropertyType::kString)));
  std::size_t bytes = 0;
  std::size_t end = 0;
  while (end < text.size() && bytes < kIndexTextBytesMax) {
    end += text[end] == kPartEscape ? std::size_t{2} : std::size_t{1};
    ++bytes;
  }
  const bool is_cut = end < text.size();
  components.append(text.substr(0, end));
  components.push_back(is_cut ? kCutEnd : kWholeEnd);
  if (is_descending) invert(components, start);
  return is_cut;
}

/// Returns whether the bytes are the first ones of valid UTF-8, perhaps without the end of their last character.
bool is_start_of_utf8(std::string_view text) noexcept {
  for (std::size_t cut = 0; cut < 4 && cut <= text.size(); ++cut) {
    if (!is_valid_utf8(text.substr(0, text.size() - cut))) continue;
    const std::string_view last = text.substr(text.size() - cut);
    return last.empty() ||
           (static_cast<unsigned char>(last.front()) >= 0xC2 && static_cast<unsigned char>(last.front()) <= 0xF4 &&
            std::all_of(last.begin() + 1, last.end(),
                        [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }));
  }
  return false;
}

/// Removes an escaped value of at most 256 bytes and its end from the front of `rest`.
bool take_cut(std::string_view& rest, bool is_text, IndexValue& value) {
  std::size_t i = 0;
  while (i < rest.size()) {
    const char byte = rest[i++];
    if (byte == kWholeEnd) break;
    if (value.value.size() == kIndexTextBytesMax) {
      if (byte != kCutEnd) return false;
      value.was_cut = true;
      break;
    }
    if (byte != kPartEscape) {
      if (is_text && lifted(byte) != byte) return false;
      value.value.push_back(is_text ? lowered(byte) : byte);
      continue;
    }
    if (i == rest.size() || (rest[i] != 1 && rest[i] != 2)) return false;
    value.value.push_back(static_cast<char>(rest[i++] - 1));
  }
  const bool is_ended = i > 0 && (rest[i - 1] == kWholeEnd || value.was_cut);
  rest.remove_prefix(i);
  return is_ended && (!is_text || (value.was_cut ? is_start_of_utf8(value.value) : is_valid_utf8(value.value)));
}

/// Returns the value of a fixed size as it is in an entity.
std::string stored_value(PropertyType type, std::string_view ordered) {
  std::string value(ordered);
  switch (type) {
    case PropertyType::kDateTime: store_u64(value.data(), load_u64_big_endian(ordered.data())); break;
    case PropertyType::kDouble: store_u64(value.data(), bits_of_ordered(load_u64_big_endian(ordered.data()))); break;
    case PropertyType::kInt32: store_u32(value.data(), load_u32_big_endian(ordered.data()) ^ kSign32); break;
    case PropertyType::kInt64: store_u64(value.data(), load_u64_big_endian(ordered.data()) ^ kSign64); break;
    default: break;
  }
  return value;
}

/// Removes a Timestamp from the front of `rest`. `plain` is the same, not inverted.
bool take_timestamp(std::string_view& rest, std::string_view plain, IndexValue& value) {
  if (plain.size() < kIndexTimestampBytes) return false;
  CommitVersion version = 0;
  for (std::size_t i = 1; i < kIndexTimestampBytes; ++i) {
    version = (version << kTimestampBits) | static_cast<unsigned char>(plain[i] - kTimestampLift);
  }
  value.type = PropertyType::kDateTime;
  value.is_timestamp = true;
  append_u64(value.value, version);
  std::string again;  // Only the encoding of a version is accepted.
  append_index_timestamp(again, version, value.is_descending);
  if (version > kCommitVersionMax || !rest.starts_with(again)) return false;
  rest.remove_prefix(kIndexTimestampBytes);
  return true;
}

/// Removes one component from the front of `rest`, which is not empty.
bool take_component(std::string_view& rest, IndexValue& value) {
  const auto first = static_cast<unsigned char>(rest.front());
  value.is_descending = first >= 0x80;
  std::string plain(rest);
  if (value.is_descending) invert(plain, 0);
  std::string_view left = plain;
  if (static_cast<unsigned char>(left.front()) == kTimestampTag) return take_timestamp(rest, plain, value);
  const auto type = static_cast<unsigned char>(left.front() - kTagOfTypes);
  left.remove_prefix(1);
  if (type < static_cast<unsigned char>(PropertyType::kBinary) ||
      type > static_cast<unsigned char>(PropertyType::kString)) {
    return false;
  }
  value.type = static_cast<PropertyType>(type);
  if (const std::optional<std::size_t> bytes = fixed_value_bytes(value.type)) {
    if (left.size() < *bytes) return false;
    value.value = stored_value(value.type, left.substr(0, *bytes));
    left.remove_prefix(*bytes);
    std::string again;  // Only the encoding of a value is accepted: one zero, one NaN, true or false.
    append_index_component(again, value.type, value.value, value.is_descending);
    if (value.type == PropertyType::kBoolean && static_cast<unsigned char>(value.value.front()) > 1) return false;
    if (value.type == PropertyType::kDateTime && load_u64(value.value.data()) > kIndexedTicksMax) return false;
    if (!rest.starts_with(again)) return false;
  } else if (!take_cut(left, value.type == PropertyType::kString, value)) {
    return false;
  }
  rest.remove_prefix(plain.size() - left.size());
  return true;
}

}  // namespace

Status check_index_definition(const IndexDefinition& definition) {
  const std::vector<IndexComponent>& components = definition.components;
  if (components.empty() || components.size() > kIndexComponentsMax) {
    return invalid_definition("it has " + std::to_string(components.size()) + " components; 1 to 4 are allowed");
  }
  for (auto component = components.begin(); component != components.end(); ++component) {
    const bool is_property = component->source == IndexSource::kProperty;
    if (is_property ? !is_name(component->property) : !component->property.empty()) {
      return invalid_definition("a component needs either the name of a property, or a key or the Timestamp");
    }
    const bool is_repeated = std::any_of(components.begin(), component, [&](const IndexComponent& other) {
      return other.source == component->source && other.property == component->property;
    });
    if (is_repeated) return invalid_definition("a component occurs twice");
    if (definition.is_unique && component->source == IndexSource::kTimestamp) {
      return invalid_definition("Timestamp cannot be a component of a unique index");
    }
  }
  const std::vector<std::string>& carried = definition.carried;
  if (carried.size() > kIndexCarriedMax) return invalid_definition("it carries more than 252 properties");
  for (auto name = carried.begin(); name != carried.end(); ++name) {
    if (!is_name(*name)) return invalid_definition("the name of a carried property is empty, too long or not UTF-8");
    if (std::find(carried.begin(), name, *name) != name) return invalid_definition("it carries a property twice");
  }
  return Status();
}

std::string encode_index_definition(const IndexDefinition& definition) {
  std::string bytes;
  OrderedFieldWriter fields(bytes, {});
  for (const IndexComponent& component : definition.components) {
    std::string encoded;
    encoded.push_back(static_cast<char>(component.source));
    encoded.push_back(component.is_descending ? 1 : 0);
    encoded.append(component.property);
    fields.bytes(kComponentTag, encoded);
  }
  if (definition.is_unique) fields.number(kUniqueTag, 1);
  for (const std::string& name : definition.carried) fields.bytes(kCarriedTag, name);
  fields.finish();
  return bytes;
}

Result<IndexDefinition> decode_index_definition(std::string_view bytes) {
  OrderedFieldReader fields("index definition", bytes);
  IndexDefinition definition;
  std::string_view part;
  while (fields.take(kComponentTag, &part)) {
    if (part.size() < kComponentHeadBytes || static_cast<unsigned char>(part[1]) > 1) {
      fields.refuse(Code::kCorruption, "a component has no direction");
      break;
    }
    const auto source = static_cast<std::uint8_t>(part[0]);
    if (source < static_cast<std::uint8_t>(IndexSource::kProperty) ||
        source > static_cast<std::uint8_t>(IndexSource::kTimestamp)) {
      fields.refuse(Code::kUnsupported, "a component has an unknown source");
      break;
    }
    definition.components.push_back(
        {static_cast<IndexSource>(source), std::string(part.substr(kComponentHeadBytes)), part[1] == 1});
  }
  std::uint64_t unique = 0;
  fields.number_unless_zero(kUniqueTag, &unique);
  if (unique > 1) fields.refuse(Code::kCorruption, "unique is neither missing nor 1");
  definition.is_unique = unique == 1;
  while (fields.take(kCarriedTag, &part)) definition.carried.emplace_back(part);
  std::string unknown;
  if (Status read = fields.finish(&unknown); !read.ok()) return read;
  if (Status checked = check_index_definition(definition); !checked.ok()) {
    return Status::corruption(std::string(checked.message()));
  }
  return definition;
}

bool append_index_component(std::string& components, PropertyType type, std::string_view value, bool is_descending) {
  assert(type != PropertyType::kLargeValue);
  const std::size_t start = components.size();
  components.push_back(static_cast<char>(kTagOfTypes + static_cast<unsigned char>(type)));
  bool is_cut = false;
  switch (type) {
    case PropertyType::kBinary: is_cut = append_cut(components, value, false); break;
    case PropertyType::kString: is_cut = append_cut(components, value, true); break;
    case PropertyType::kDateTime: append_big_endian_u64(components, load_u64(value.data())); break;
    case PropertyType::kDouble: append_big_endian_u64(components, ordered_bits(load_u64(value.data()))); break;
    case PropertyType::kInt64: append_big_endian_u64(components, load_u64(value.data()) ^ kSign64); break;
    case PropertyType::kInt32: {
      std::array<char, 4> bytes;
      store_u32_big_endian(bytes.data(), load_u32(value.data()) ^ kSign32);
      components.append(bytes.data(), bytes.size());
      break;
    }
    case PropertyType::kBoolean:
    case PropertyType::kGuid:
    case PropertyType::kLargeValue: components.append(value); break;
  }
  if (is_descending) invert(components, start);
  return is_cut;
}

void set_index_timestamp(char* at, CommitVersion version) noexcept {
  const bool is_descending = static_cast<unsigned char>(*at) != kTimestampTag;
  for (std::size_t i = kIndexTimestampBytes - 1; i > 0; --i) {
    const auto plain = static_cast<unsigned char>((version & 0x7F) + kTimestampLift);
    at[i] = static_cast<char>(is_descending ? ~plain : plain);
    version >>= kTimestampBits;
  }
}

void append_index_timestamp(std::string& components, CommitVersion version, bool is_descending) {
  const std::size_t start = components.size();
  components.append(kIndexTimestampBytes, static_cast<char>(is_descending ? ~kTimestampTag : kTimestampTag));
  set_index_timestamp(components.data() + start, version);
}

std::optional<std::string> index_components(const IndexDefinition& definition, std::string_view sort_key,
                                            CommitVersion version, const EncodedEntity& properties,
                                            IndexComponentsInfo* info) {
  std::string components;
  IndexComponentsInfo found;
  for (const IndexComponent& component : definition.components) {
    if (component.source == IndexSource::kProperty) {
      const std::optional<PropertyView> property = properties.find(component.property);
      if (!property || property->type == PropertyType::kLargeValue) return std::nullopt;
      found.was_cut |= append_index_component(components, property->type, property->value, component.is_descending);
    } else if (component.source == IndexSource::kTimestamp) {
      found.timestamp_at = components.size();
      append_index_timestamp(components, version, component.is_descending);
    } else {
      const auto [partition, row] = texts_of(sort_key);
      found.was_cut |= append_text_component(
          components, component.source == IndexSource::kPartitionKey ? partition : row, component.is_descending);
    }
  }
  if (info != nullptr) *info = found;
  return components;
}

bool has_nan_component(const IndexDefinition& definition, const EncodedEntity& properties) {
  return std::any_of(definition.components.begin(), definition.components.end(), [&](const IndexComponent& component) {
    if (component.source != IndexSource::kProperty) return false;
    const std::optional<PropertyView> property = properties.find(component.property);
    return property && property->type == PropertyType::kDouble &&
           std::isnan(std::bit_cast<double>(load_u64(property->value.data())));
  });
}

std::string index_prefix(TableId index, std::string_view components) {
  std::string prefix;
  prefix.reserve(kTableIdBytes + components.size() + components.size() / 2 + 1);
  append_table_id(prefix, index);
  append_escaped_part(prefix, components);
  return prefix;
}

std::string index_partition(TableId index, std::string_view components) {
  std::string partition = index_prefix(index, components);
  partition.push_back(kPartEnd);
  return partition;
}

std::string index_bound(std::string_view prefix, std::string_view bound) {
  std::string key(prefix);
  key.push_back(kPartEnd);
  append_escaped_part(key, bound.substr(kTableIdBytes));
  return key;
}

std::string encode_index_key(TableId index, std::string_view components, std::string_view sort_key) {
  std::string key = index_partition(index, components);
  append_escaped_part(key, sort_key.substr(kTableIdBytes));
  key.push_back(kPartEnd);
  return key;
}

std::string encode_index_value(const IndexDefinition& definition, const EncodedEntity& properties) {
  EntityBuilder builder;
  for (const std::string& name : definition.carried) {
    const std::optional<PropertyView> property = properties.find(name);
    if (property && property->type != PropertyType::kLargeValue) builder.add(*property);
  }
  return builder.finish();
}

Result<std::string> entity_key_of(std::string_view index_key, TableId table) {
  if (!is_framed(index_key)) return damaged_index_key("has no frame");
  std::string_view rest = index_key.substr(partition_of(index_key).size());
  std::string key = encode_table(table);
  key.reserve(key.size() + rest.size());
  if (!take_part(rest, key)) return damaged_index_key("a byte of its entity's key is wrongly escaped");
  if (!is_framed(key)) return damaged_index_key("its entity's key has no frame");
  return key;
}

Result<std::vector<IndexValue>> decode_index_components(std::string_view key) {
  if (!is_framed(key)) return damaged_index_key("has no frame");
  if (key.size() > kIndexKeyBytesMax) return damaged_index_key("is too long");
  std::vector<IndexValue> decoded;
  std::string_view rest = key.substr(kTableIdBytes);
  std::string components;
  if (!take_part(rest, components)) return damaged_index_key("a byte of its components is wrongly escaped");
  std::string_view left = components;
  while (!left.empty()) {
    if (decoded.size() == kIndexComponentsMax) return damaged_index_key("has more than 4 components");
    if (!take_component(left, decoded.emplace_back())) return damaged_index_key("a component is not an encoded value");
  }
  if (decoded.empty()) return damaged_index_key("has no component");
  return decoded;
}

Result<IndexKey> decode_index_key(std::string_view key) {
  Result<std::vector<IndexValue>> components = decode_index_components(key);
  if (!components.ok()) return components.status();
  IndexKey decoded{table_id_of(key), *std::move(components)};
  Result<std::string> entity = entity_key_of(key, 0);
  if (!entity.ok()) return entity.status();
  Result<SortKey> keys = decode_sort_key(*entity);
  if (!keys.ok()) return keys.status();
  decoded.entity = *std::move(keys);
  return decoded;
}

}  // namespace varve::format

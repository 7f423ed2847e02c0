// Owns: encoding an entity's properties and reading them in place (entity.h).
// Must never: follow an offset that open() did not bound.
#include "format/keys/entity.h"

#include <bit>
#include <cassert>
#include <cstring>
#include <limits>
#include <utility>

#include "format/bytes/bytes.h"
#include "format/bytes/checksum.h"
#include "format/bytes/damage.h"
#include "format/keys/property_reader.h"
#include "format/keys/sort_key.h"

namespace varve::format {
namespace {

using entity_layout::kAnyBytes;
using entity_layout::kCountAt;
using entity_layout::kEncoding;
using entity_layout::kEntityBytesMax;
using entity_layout::kHeadBytes;
using entity_layout::kNameHashAt;
using entity_layout::kNameOffsetAt;
using entity_layout::kSlotBytes;
using entity_layout::kTypeAndNameBytesAt;
using entity_layout::kTypeBits;
using entity_layout::kValueBytes;

constexpr std::size_t kNameBytesMax = (1u << (16 - kTypeBits)) - 1;
constexpr std::size_t kPropertyCountMax = std::numeric_limits<std::uint16_t>::max();

/// The ticks of 9999-12-31T23:59:59.9999999.
constexpr std::uint64_t kTicksMax = 3'155'378'975'999'999'999;

static_assert(kValueBytes[static_cast<std::size_t>(PropertyType::kBoolean)] == 1);
static_assert(kValueBytes[static_cast<std::size_t>(PropertyType::kDateTime)] == 8);
static_assert(kValueBytes[static_cast<std::size_t>(PropertyType::kDouble)] == 8);
static_assert(kValueBytes[static_cast<std::size_t>(PropertyType::kGuid)] == 16);
static_assert(kValueBytes[static_cast<std::size_t>(PropertyType::kInt32)] == 4);
static_assert(kValueBytes[static_cast<std::size_t>(PropertyType::kInt64)] == 8);
static_assert(kValueBytes[static_cast<std::size_t>(PropertyType::kLargeValue)] == 16);

struct Slot {
  std::uint16_t name_hash = 0;
  /// The stored number: 1 to 9 are types, all others are invalid.
  unsigned type = 0;
  std::size_t name_bytes = 0;
  std::size_t name_offset = 0;
};

Slot load_slot(std::string_view entity, std::size_t index) noexcept {
  const char* at = entity.data() + kHeadBytes + index * kSlotBytes;
  const unsigned type_and_name_bytes = load_u16(at + kTypeAndNameBytesAt);
  Slot slot;
  slot.name_hash = load_u16(at + kNameHashAt);
  slot.type = type_and_name_bytes & ((1u << kTypeBits) - 1);
  slot.name_bytes = type_and_name_bytes >> kTypeBits;
  slot.name_offset = load_u32(at + kNameOffsetAt);
  return slot;
}

/// Returns the offset of the property's name. For the index after the last property, returns the entity's size.
std::size_t name_offset(std::string_view entity, std::size_t count, std::size_t index) noexcept {
  return index < count ? load_u32(entity.data() + kHeadBytes + index * kSlotBytes + kNameOffsetAt) : entity.size();
}

bool is_type(unsigned type) noexcept {
  return type >= static_cast<unsigned>(PropertyType::kBinary) &&
         type <= static_cast<unsigned>(PropertyType::kLargeValue);
}

Status damaged_property(std::size_t index, std::string_view what) {
  return Status::corruption("entity, property " + std::to_string(index) + ": " + std::string(what));
}

/// Checks the frame of one property, which must end at `end`.
Status check_slot(const Slot& slot, std::size_t index, std::size_t end) {
  if (!is_type(slot.type)) {
    return Status::unsupported("entity, property " + std::to_string(index) + ": type " + std::to_string(slot.type) +
                               " is not known to this build");
  }
  if (slot.name_offset > end || slot.name_bytes > end - slot.name_offset) {
    return damaged_property(index, "its name runs past the end");
  }
  const std::size_t value_bytes = end - slot.name_offset - slot.name_bytes;
  const std::size_t fixed = kValueBytes[slot.type];
  if (fixed != kAnyBytes && value_bytes != fixed) {
    return damaged_property(
        index, "its value has " + std::to_string(value_bytes) + " bytes, but its type has " + std::to_string(fixed));
  }
  return Status();
}

Status check_head(std::string_view bytes) {
  if (bytes.size() < kHeadBytes) return damaged("entity", "is shorter than its head");
  if (bytes[0] != kEncoding) {
    return Status::unsupported("entity has encoding " + std::to_string(static_cast<std::uint8_t>(bytes[0])) +
                               ", which this build does not know");
  }
  if (bytes[1] != 0) {
    return Status::unsupported("entity has flags " + std::to_string(static_cast<std::uint8_t>(bytes[1])) +
                               ", which this build does not know");
  }
  if (bytes.size() > kEntityBytesMax) return damaged("entity", "has 4 GiB or more");
  return Status();
}

Status verify_value(const PropertyView& property, std::size_t index) {
  switch (property.type) {
    case PropertyType::kBoolean:
      if (static_cast<std::uint8_t>(property.value[0]) > 1)
        return damaged_property(index, "a Boolean is neither 0 nor 1");
      return Status();
    case PropertyType::kDateTime:
      if (property.as_date_time_ticks() > kTicksMax)
        return damaged_property(index, "a DateTime is after the year 9999");
      return Status();
    case PropertyType::kString:
      if (!is_valid_utf8(property.value)) return damaged_property(index, "a String is not valid UTF-8");
      return Status();
    case PropertyType::kBinary:
    case PropertyType::kDouble:
    case PropertyType::kGuid:
    case PropertyType::kInt32:
    case PropertyType::kInt64:
    case PropertyType::kLargeValue: return Status();
  }
  return Status();
}

PropertyView view_of(std::string_view entity, const Slot& slot, std::size_t end) noexcept {
  const std::size_t value_offset = slot.name_offset + slot.name_bytes;
  PropertyView view;
  view.name = {entity.data() + slot.name_offset, slot.name_bytes};
  view.type = static_cast<PropertyType>(slot.type);
  view.value = {entity.data() + value_offset, end - value_offset};
  return view;
}

}  // namespace

std::uint16_t hash_of_name(std::string_view name) noexcept {
  return static_cast<std::uint16_t>(content_hash(name));
}

std::optional<std::size_t> fixed_value_bytes(PropertyType type) noexcept {
  const auto number = static_cast<unsigned>(type);
  const std::size_t bytes = is_type(number) ? kValueBytes[number] : kAnyBytes;
  return bytes == kAnyBytes ? std::nullopt : std::optional(bytes);
}

void EntityBuilder::add_raw(std::string_view name, PropertyType type, std::string_view value) {
  assert(name.size() <= kNameBytesMax);
  assert(count_ < kPropertyCountMax);
  // In place, the offset of a name is known. Otherwise it counts from the first name, until finish() knows the number of
  // slots before the names.
  const std::size_t offset = heap_.size() - entity_at_;
  assert(offset + name.size() + value.size() <= kEntityBytesMax);
  std::array<char, kSlotBytes> slot;
  store_u16(slot.data() + kNameHashAt, hash_of_name(name));
  store_u16(slot.data() + kTypeAndNameBytesAt,
            static_cast<std::uint16_t>(name.size() << kTypeBits | static_cast<unsigned>(type)));
  store_u32(slot.data() + kNameOffsetAt, static_cast<std::uint32_t>(offset));
  if (slot_at_ != 0) {
    std::memcpy(heap_.data() + slot_at_, slot.data(), slot.size());
    slot_at_ += kSlotBytes;
  } else {
    slots_.append(slot.data(), slot.size());
  }
  heap_.append(name).append(value);
  ++count_;
}

void EntityBuilder::add_binary(std::string_view name, std::string_view value) {
  add_raw(name, PropertyType::kBinary, value);
}

void EntityBuilder::add_boolean(std::string_view name, bool value) {
  const char byte = value ? 1 : 0;
  add_raw(name, PropertyType::kBoolean, {&byte, sizeof(byte)});
}

void EntityBuilder::add_date_time(std::string_view name, std::uint64_t ticks) {
  std::array<char, sizeof(ticks)> bytes;
  store_u64(bytes.data(), ticks);
  add_raw(name, PropertyType::kDateTime, {bytes.data(), bytes.size()});
}

void EntityBuilder::add_double(std::string_view name, double value) {
  std::array<char, sizeof(value)> bytes;
  store_u64(bytes.data(), std::bit_cast<std::uint64_t>(value));
  add_raw(name, PropertyType::kDouble, {bytes.data(), bytes.size()});
}

void EntityBuilder::add_guid(std::string_view name, const GuidBytes& value) {
  std::array<char, sizeof(value)> bytes;
  std::memcpy(bytes.data(), value.data(), value.size());
  add_raw(name, PropertyType::kGuid, {bytes.data(), bytes.size()});
}

void EntityBuilder::add_int32(std::string_view name, std::int32_t value) {
  std::array<char, sizeof(value)> bytes;
  store_u32(bytes.data(), static_cast<std::uint32_t>(value));
  add_raw(name, PropertyType::kInt32, {bytes.data(), bytes.size()});
}

void EntityBuilder::add_int64(std::string_view name, std::int64_t value) {
  std::array<char, sizeof(value)> bytes;
  store_u64(bytes.data(), static_cast<std::uint64_t>(value));
  add_raw(name, PropertyType::kInt64, {bytes.data(), bytes.size()});
}

void EntityBuilder::add_large_value(std::string_view name, const ContentReference& value) {
  std::array<char, 16> bytes;
  store_u64(bytes.data(), value.content);
  store_u64(bytes.data() + 8, value.length);
  add_raw(name, PropertyType::kLargeValue, {bytes.data(), bytes.size()});
}

void EntityBuilder::add_string(std::string_view name, std::string_view utf8) {
  add_raw(name, PropertyType::kString, utf8);
}

void EntityBuilder::add(const PropertyView& property) {
  add_raw(property.name, property.type, property.value);
}

std::string EntityBuilder::finish() {
  std::string entity;
  finish(entity);
  return entity;
}

void EntityBuilder::finish(std::string& entity) {
  assert(slot_at_ == 0);
  place_names(kHeadBytes + slots_.size());
  entity.clear();
  entity.reserve(kHeadBytes + slots_.size() + heap_.size());
  entity.push_back(kEncoding);
  entity.push_back(0);  // flags
  append_u16(entity, static_cast<std::uint16_t>(property_count()));
  entity.append(slots_).append(heap_);
  clear();
}

/// Adds `heap_offset` to the offsets of the names, which so far count from the first name.
void EntityBuilder::place_names(std::size_t heap_offset) noexcept {
  assert(heap_offset + heap_.size() <= kEntityBytesMax);
  for (std::size_t slot = 0; slot < slots_.size(); slot += kSlotBytes) {
    char* at = slots_.data() + slot + kNameOffsetAt;
    store_u32(at, static_cast<std::uint32_t>(load_u32(at) + heap_offset));
  }
}

std::size_t EntityBuilder::entity_bytes(std::size_t properties, std::size_t name_and_value_bytes) noexcept {
  return kHeadBytes + properties * kSlotBytes + name_and_value_bytes;
}

void EntityBuilder::begin_behind(std::string bytes, std::size_t properties) {
  assert(properties <= kPropertyCountMax);
  slots_.clear();
  heap_ = std::move(bytes);
  entity_at_ = heap_.size();
  slot_at_ = entity_at_ + kHeadBytes;
  count_ = 0;
  heap_.resize(slot_at_ + properties * kSlotBytes);  // The flags are zero.
  heap_[entity_at_] = kEncoding;
  store_u16(heap_.data() + entity_at_ + kCountAt, static_cast<std::uint16_t>(properties));
}

std::string EntityBuilder::finish_in_place() {
  assert(load_u16(heap_.data() + entity_at_ + kCountAt) == property_count());
  std::string bytes = std::move(heap_);
  clear();
  return bytes;
}

void EntityBuilder::clear() noexcept {
  slots_.clear();
  heap_.clear();
  entity_at_ = 0;
  slot_at_ = 0;
  count_ = 0;
}

Result<EncodedEntity> EncodedEntity::open(std::string_view bytes) {
  PropertyReader reader;
  bool is_well = reader.open(bytes);
  PropertyView property;
  for (std::size_t i = 0; is_well && i < reader.property_count(); ++i) is_well = reader.next(property);
  if (!is_well) [[unlikely]]
    return refusal(bytes);
  EncodedEntity view;
  view.bytes_ = bytes;
  view.count_ = reader.property_count();
  return view;
}

Status EncodedEntity::refusal(std::string_view bytes) {
  if (Status head = check_head(bytes); !head.ok()) return head;
  const std::size_t count = load_u16(bytes.data() + kCountAt);
  if (count > (bytes.size() - kHeadBytes) / kSlotBytes) return damaged("entity", "is shorter than its slots");

  // From the first name on, every byte belongs to one property. Each property begins where the previous one ends, and
  // not before it begins. The last property ends with the entity, so all lie inside it.
  if (name_offset(bytes, count, 0) != kHeadBytes + count * kSlotBytes)
    return damaged("entity", "its names do not begin after its slots");
  for (std::size_t i = 0; i < count; ++i) {
    if (Status checked = check_slot(load_slot(bytes, i), i, name_offset(bytes, count, i + 1)); !checked.ok())
      return checked;
  }
  return damaged("entity", "its properties do not fill it");
}

Status EncodedEntity::verify() const {
  for (std::size_t i = 0; i < count_; ++i) {
    const PropertyView read = property(i);
    if (!is_valid_utf8(read.name)) return damaged_property(i, "a name is not valid UTF-8");
    if (load_slot(bytes_, i).name_hash != hash_of_name(read.name)) {
      return damaged_property(i, "the hash of its name does not match");
    }
    if (Status value = verify_value(read, i); !value.ok()) return value;
  }
  return Status();
}

PropertyView EncodedEntity::property(std::size_t index) const noexcept {
  assert(index < count_);
  return view_of(bytes_, load_slot(bytes_, index), name_offset(bytes_, count_, index + 1));
}

std::optional<PropertyView> EncodedEntity::find(std::string_view name, std::uint16_t name_hash) const noexcept {
  for (std::size_t i = 0; i < count_; ++i) {
    if (load_u16(bytes_.data() + kHeadBytes + i * kSlotBytes + kNameHashAt) != name_hash) continue;
    const PropertyView found = property(i);
    if (found.name == name) return found;
  }
  return std::nullopt;
}

}  // namespace varve::format

// Owns: reading all properties of an encoded entity (entity.h) in one pass, each checked where it is read.
// Must never: return a property that EncodedEntity::open() would refuse, or check a property twice.
//
// EncodedEntity::open() checks all properties, so that any of them can be read later. A reader of all properties needs
// no such pass. It must discard what it read if a later property is damaged.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "format/bytes/bytes.h"
#include "format/keys/entity.h"

namespace varve::format {

/// The offsets and sizes of an encoded entity, in bytes.
namespace entity_layout {
inline constexpr char kEncoding = 1;
inline constexpr std::size_t kHeadBytes = 4;
inline constexpr std::size_t kCountAt = 2;

// Offsets inside a slot, from its start.
inline constexpr std::size_t kSlotBytes = 8;
inline constexpr std::size_t kNameHashAt = 0;
inline constexpr std::size_t kTypeAndNameBytesAt = 2;
inline constexpr std::size_t kNameOffsetAt = 4;

inline constexpr unsigned kTypeBits = 4;
inline constexpr std::size_t kEntityBytesMax = std::numeric_limits<std::uint32_t>::max();

/// Size of a value in bytes, by the number of its type; kAnyBytes for types of varying size.
inline constexpr std::size_t kAnyBytes = std::numeric_limits<std::size_t>::max();
inline constexpr std::size_t kNoBytes = kAnyBytes - 1;  // the number is no type
inline constexpr std::array<std::size_t, std::size_t{1} << kTypeBits> kValueBytes = {
    kNoBytes, kAnyBytes, 1, 8, 8, 16, 4, 8, kAnyBytes, 16, kNoBytes, kNoBytes, kNoBytes, kNoBytes, kNoBytes, kNoBytes};
}  // namespace entity_layout

/// Reads the properties of one entity in their order.
///
///   PropertyReader reader;
///   bool is_well = reader.open(bytes);
///   for (std::size_t i = 0; is_well && i < reader.property_count(); ++i) is_well = reader.next(property) && use(property);
///   if (!is_well) return EncodedEntity::open(bytes).status();
class PropertyReader {
 public:
  /// Checks the head. Returns false if EncodedEntity::open() would return an error for it. `bytes` must outlive the
  /// properties that are read.
  bool open(std::string_view bytes) noexcept {
    namespace layout = entity_layout;
    bytes_ = bytes;
    if (bytes.size() < layout::kHeadBytes || bytes.size() > layout::kEntityBytesMax) [[unlikely]]
      return false;
    if (bytes[0] != layout::kEncoding || bytes[1] != 0) [[unlikely]]
      return false;
    count_ = load_u16(bytes.data() + layout::kCountAt);
    if (count_ > (bytes.size() - layout::kHeadBytes) / layout::kSlotBytes) [[unlikely]]
      return false;
    slot_ = bytes.data() + layout::kHeadBytes;
    heap_ = slot_ + count_ * layout::kSlotBytes;
    start_ = count_ == 0 ? bytes.size() : load_u32(slot_ + layout::kNameOffsetAt);
    return start_ == static_cast<std::size_t>(heap_ - bytes.data());
  }

  std::size_t property_count() const noexcept { return count_; }

  /// Reads the next property. Returns false if EncodedEntity::open() would return an error for it. At most
  /// property_count() properties can be read (asserted).
  bool next(PropertyView& property) noexcept {
    namespace layout = entity_layout;
    assert(slot_ < heap_);
    const unsigned type_and_name_bytes = load_u16(slot_ + layout::kTypeAndNameBytesAt);
    const unsigned type = type_and_name_bytes & ((1u << layout::kTypeBits) - 1);
    const std::size_t value = start_ + (type_and_name_bytes >> layout::kTypeBits);
    slot_ += layout::kSlotBytes;
    const std::size_t end = slot_ == heap_ ? bytes_.size() : load_u32(slot_ + layout::kNameOffsetAt);
    if (value > end || end > bytes_.size()) [[unlikely]]
      return false;
    const std::size_t value_bytes = end - value;
    const std::size_t fixed = layout::kValueBytes[type];
    if (fixed != value_bytes && fixed != layout::kAnyBytes) [[unlikely]]
      return false;
    property.name = {bytes_.data() + start_, value - start_};
    property.type = static_cast<PropertyType>(type);
    property.value = {bytes_.data() + value, value_bytes};
    start_ = end;
    return true;
  }

 private:
  std::string_view bytes_;
  const char* slot_ = nullptr;  // of the next property
  const char* heap_ = nullptr;  // the end of the slots
  std::size_t start_ = 0;       // of the next property's name
  std::size_t count_ = 0;
};

}  // namespace varve::format

// Owns: the fuzzer of entities.
// Must never: accept a frame with a gap, an overlap or an offset outside. An accepted entity must equal the one that
// the builder makes.
//
// Input: an entity.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "format/bytes/bytes.h"
#include "format/bytes/checksum.h"
#include "format/keys/entity.h"
#include "format/keys/sort_key.h"
#include "fuzz/entity_mutation.h"
#include "fuzz/mutation.h"

namespace varve::format {
namespace {

constexpr std::size_t kHeadBytes = 4;
constexpr std::size_t kSlotBytes = 8;

void check(bool holds) {
  if (!holds) std::abort();
}

/// Adds the property through its accessor, and not as stored bytes.
void add_by_value(EntityBuilder& builder, const PropertyView& property) {
  switch (property.type) {
    case PropertyType::kBinary: builder.add_binary(property.name, property.value); return;
    case PropertyType::kBoolean: builder.add_boolean(property.name, property.as_boolean()); return;
    case PropertyType::kDateTime: builder.add_date_time(property.name, property.as_date_time_ticks()); return;
    case PropertyType::kDouble: builder.add_double(property.name, property.as_double()); return;
    case PropertyType::kGuid: builder.add_guid(property.name, property.as_guid()); return;
    case PropertyType::kInt32: builder.add_int32(property.name, property.as_int32()); return;
    case PropertyType::kInt64: builder.add_int64(property.name, property.as_int64()); return;
    case PropertyType::kString: builder.add_string(property.name, property.value); return;
    case PropertyType::kLargeValue: builder.add_large_value(property.name, property.as_large_value()); return;
  }
  std::abort();
}

bool booleans_are_clean(const EncodedEntity& view) {
  for (std::size_t i = 0; i < view.property_count(); ++i) {
    const PropertyView property = view.property(i);
    if (property.type == PropertyType::kBoolean && static_cast<unsigned char>(property.value[0]) > 1) return false;
  }
  return true;
}

/// Returns the entity with the correct hash of each name.
std::string with_hashes(std::string_view bytes, const EncodedEntity& view) {
  std::string hashed(bytes);
  for (std::size_t i = 0; i < view.property_count(); ++i) {
    const std::uint64_t hash = content_hash(view.property(i).name);
    store_u16(hashed.data() + kHeadBytes + i * kSlotBytes, static_cast<std::uint16_t>(hash));
  }
  return hashed;
}

void read_hashed(std::string_view bytes) {
  const Result<EncodedEntity> view = EncodedEntity::open(bytes);
  check(view.ok());
  EntityBuilder raw;
  EntityBuilder by_value;
  for (std::size_t i = 0; i < view->property_count(); ++i) {
    const PropertyView property = view->property(i);
    const std::optional<PropertyView> found = view->find(property.name);
    check(found.has_value() && found->name == property.name);
    check(found->value.data() <= property.value.data());  // the first property of this name
    raw.add(property);
    add_by_value(by_value, property);
  }
  check(raw.finish() == bytes);
  if (booleans_are_clean(*view)) check(by_value.finish() == bytes);

  const Status verified = view->verify();
  check(verified.ok() || verified.code() == Code::kCorruption);
  for (std::size_t i = 0; verified.ok() && i < view->property_count(); ++i) {
    const PropertyView property = view->property(i);
    check(is_valid_utf8(property.name));
    check(property.type != PropertyType::kString || is_valid_utf8(property.value));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Result<EncodedEntity> view = EncodedEntity::open(bytes);
  if (!view.ok()) {
    check(view.code() == Code::kCorruption || view.code() == Code::kUnsupported);
    return 0;
  }
  const std::string hashed = with_hashes(bytes, *view);
  if (hashed != bytes) check(view->verify().code() == Code::kCorruption);
  read_hashed(hashed);
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t size_max,
                                               unsigned seed) {
  return fuzz::mutate_structure(data, size, size_max, seed, fuzz::mutated_entity);
}

}  // namespace varve::format

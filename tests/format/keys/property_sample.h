// Owns: values of properties by their type, which own their bytes, for the tests of statistics.
// Must never: share a value's bytes with the tested code.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "format/bytes/bytes.h"
#include "format/keys/entity.h"

namespace varve::format {

struct PropertySample {
  PropertyType type = PropertyType::kString;
  std::string value;

  PropertyView view(std::string_view name) const { return {name, type, value}; }
};

inline PropertySample sample_boolean(bool value) {
  return {PropertyType::kBoolean, std::string(1, value ? '\1' : '\0')};
}
inline PropertySample sample_date_time(std::uint64_t ticks) {
  PropertySample sample{PropertyType::kDateTime, ""};
  append_u64(sample.value, ticks);
  return sample;
}
inline PropertySample sample_double(double value) {
  PropertySample sample{PropertyType::kDouble, ""};
  append_u64(sample.value, std::bit_cast<std::uint64_t>(value));
  return sample;
}
inline PropertySample sample_int32(std::int32_t value) {
  PropertySample sample{PropertyType::kInt32, ""};
  append_u32(sample.value, static_cast<std::uint32_t>(value));
  return sample;
}
inline PropertySample sample_int64(std::int64_t value) {
  PropertySample sample{PropertyType::kInt64, ""};
  append_u64(sample.value, static_cast<std::uint64_t>(value));
  return sample;
}
inline PropertySample sample_string(std::string text) {
  return {PropertyType::kString, std::move(text)};
}

inline std::vector<PropertySample> samples_of_each_type() {
  return {{PropertyType::kBinary, "any"},
          sample_boolean(true),
          sample_date_time(5),
          sample_double(0.5),
          {PropertyType::kGuid, std::string(16, 'g')},
          sample_int32(1),
          sample_int64(1),
          sample_string("text")};
}

struct NamedSample {
  std::string name;
  PropertySample sample;
};

inline std::string entity_of(const std::vector<NamedSample>& properties) {
  EntityBuilder builder;
  for (const NamedSample& property : properties) builder.add(property.sample.view(property.name));
  return builder.finish();
}

}  // namespace varve::format

// Owns: the reading of properties from an entry's key and value (index_cover.h).
// Must never: take a component for a value that it was rounded from.
#include "api/filter/index_cover.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "api/model/entity_codec.h"
#include "format/bytes/bytes.h"
#include "format/keys/entity.h"

namespace varve {
namespace {

void add_name(Comparison::Subject subject, std::string_view property, PropertyNames& names) {
  std::string_view name = property;
  switch (subject) {
    case Comparison::Subject::kPartitionKey: name = kPartitionKeyName; break;
    case Comparison::Subject::kRowKey: name = kRowKeyName; break;
    case Comparison::Subject::kTimestamp: name = kTimestampName; break;
    case Comparison::Subject::kCustom: break;
  }
  if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
}

/// Returns whether the component is the value itself. Both zeros are one component, and so are all NaN.
bool is_exact(const format::IndexValue& component) noexcept {
  if (component.was_cut) return false;
  if (component.type != format::PropertyType::kDouble) return true;
  const double number = format::PropertyView{{}, component.type, component.value}.as_double();
  return number != 0 && !std::isnan(number);
}

}  // namespace

void add_names(const Filter& filter, PropertyNames& names) {
  for (const Comparison& comparison : filter.comparisons()) {
    add_name(comparison.subject, comparison.property, names);
    if (comparison.kind != Comparison::Kind::kProperty) continue;
    add_name(comparison.other_subject, comparison.other_property, names);
  }
}

std::optional<IndexCover> IndexCover::of(const format::IndexDefinition& definition, const PropertyNames& names,
                                         bool may_have_large_values) {
  if (may_have_large_values) return std::nullopt;
  IndexCover cover(definition);
  for (const std::string& name : names) {
    if (name == kPartitionKeyName || name == kRowKeyName) continue;
    const bool is_timestamp = name == kTimestampName;  // which is no property, so no index carries it
    if (!is_timestamp &&
        std::find(definition.carried.begin(), definition.carried.end(), name) != definition.carried.end()) {
      cover.carried_.emplace_back(name);
      continue;
    }
    const auto component =
        std::find_if(definition.components.begin(), definition.components.end(), [&](const auto& each) {
          if (is_timestamp) return each.source == format::IndexSource::kTimestamp;
          return each.source == format::IndexSource::kProperty && each.property == name;
        });
    if (component == definition.components.end()) return std::nullopt;
    const auto at = static_cast<std::size_t>(component - definition.components.begin());
    if (is_timestamp) {
      cover.timestamp_ = at;
    } else {
      cover.components_.push_back(at);
    }
  }
  return cover;
}

Result<std::optional<KnownEntity>> IndexCover::entity_of(std::string_view key, std::string_view value) const {
  KnownEntity known;
  format::EntityBuilder builder;
  if (!carried_.empty()) {
    const Result<format::EncodedEntity> carried = format::EncodedEntity::open(value);
    if (!carried.ok()) return carried.status();
    for (const std::string_view name : carried_) {
      if (const std::optional<format::PropertyView> property = carried->find(name)) builder.add(*property);
    }
  }
  if (!components_.empty() || timestamp_) {
    const Result<std::vector<format::IndexValue>> components = format::decode_index_components(key);
    if (!components.ok()) return components.status();
    if (components->size() != definition_->components.size())
      return Status::corruption("index key: it has another number of components than its index");
    for (const std::size_t at : components_) {
      const format::IndexValue& component = (*components)[at];
      if (!is_exact(component)) return std::optional<KnownEntity>();
      builder.add({definition_->components[at].property, component.type, component.value});
    }
    if (timestamp_) {
      const format::IndexValue& component = (*components)[*timestamp_];
      if (!component.is_timestamp) return Status::corruption("index key: a value is in the place of the Timestamp");
      known.version = format::load_u64(component.value.data());
    }
  }
  known.properties = builder.finish();
  return std::optional(std::move(known));
}

}  // namespace varve

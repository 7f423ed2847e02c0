// Owns: the encoding of metadata (metadata_rows.h).
// Must never: return half of a pair.
#include "api/catalog/metadata_rows.h"

#include <charconv>
#include <string>
#include <utility>

namespace varve {
namespace {

constexpr std::string_view kNamePart = "Name";
constexpr std::string_view kValuePart = "Value";

std::string meta_name(std::size_t number, std::string_view part) {
  return std::string(kMetadataPrefix).append(std::to_string(number)).append(part);
}

struct MetaPlace {
  std::size_t number = 0;
  bool is_name = false;
};

/// Returns what a property's name says, or nothing if it is none of metadata. Numbers are below `count`.
std::optional<MetaPlace> meta_place(std::string_view name, std::size_t count) {
  if (!name.starts_with(kMetadataPrefix)) return std::nullopt;
  const std::string_view rest = name.substr(kMetadataPrefix.size());
  MetaPlace place;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), place.number);
  const std::string_view part(end, static_cast<std::size_t>(rest.data() + rest.size() - end));
  place.is_name = part == kNamePart;
  const bool is_canonical = error == std::errc() && (rest.front() != '0' || part.size() + 1 == rest.size());
  if (!is_canonical || place.number >= count || (!place.is_name && part != kValuePart)) return std::nullopt;
  return place;
}

}  // namespace

void add_metadata(format::EntityBuilder& builder, const std::vector<MetadataPair>& metadata) {
  for (std::size_t number = 0; number < metadata.size(); ++number) {
    builder.add_string(meta_name(number, kNamePart), metadata[number].name);
    builder.add_string(meta_name(number, kValuePart), metadata[number].value);
  }
}

std::optional<std::vector<MetadataPair>> find_metadata(const format::EncodedEntity& row) {
  // One pass over the properties, because each find() of an entity is a search.
  std::vector<std::optional<std::string_view>> names;
  std::vector<std::optional<std::string_view>> values;
  for (std::size_t i = 0; i < row.property_count(); ++i) {
    const format::PropertyView property = row.property(i);
    const std::optional<MetaPlace> place = meta_place(property.name, row.property_count());
    if (!place) continue;
    std::vector<std::optional<std::string_view>>& texts = place->is_name ? names : values;
    if (texts.size() <= place->number) texts.resize(place->number + 1);
    if (property.type != format::PropertyType::kString) return std::nullopt;
    if (!texts[place->number]) texts[place->number] = property.value;
  }
  // Pairs are numbered without a gap. Those after a gap are no metadata.
  std::vector<MetadataPair> metadata;
  for (std::size_t number = 0; number < names.size() && names[number]; ++number) {
    if (number >= values.size() || !values[number]) return std::nullopt;
    metadata.push_back({std::string(*names[number]), std::string(*values[number])});
  }
  return metadata;
}

}  // namespace varve

// Owns: the encoding of metadata (metadata_rows.h).
// Must never: return half of a pair.
#include "api/catalog/metadata_rows.h"

#include <string>
#include <utility>

namespace varve {
namespace {

std::string meta_name(std::size_t number, std::string_view part) {
  return std::string(kMetadataPrefix).append(std::to_string(number)).append(part);
}

}  // namespace

void add_metadata(format::EntityBuilder& builder, const std::vector<MetadataPair>& metadata) {
  for (std::size_t number = 0; number < metadata.size(); ++number) {
    builder.add_string(meta_name(number, "Name"), metadata[number].name);
    builder.add_string(meta_name(number, "Value"), metadata[number].value);
  }
}

std::optional<std::vector<MetadataPair>> find_metadata(const format::EncodedEntity& row) {
  std::vector<MetadataPair> metadata;
  for (std::size_t number = 0;; ++number) {
    const std::optional<format::PropertyView> name = row.find(meta_name(number, "Name"));
    if (!name) return metadata;
    const std::optional<format::PropertyView> value = row.find(meta_name(number, "Value"));
    constexpr auto kTextType = format::PropertyType::kString;
    if (name->type != kTextType || !value || value->type != kTextType) return std::nullopt;
    metadata.push_back({std::string(name->value), std::string(value->value)});
  }
}

}  // namespace varve

#include "api/rest/protocol/metadata_headers.h"

#include <string>
#include <string_view>

namespace varve::serve {
namespace {

constexpr std::string_view kMetadataPrefix = "x-ms-meta-";

}  // namespace

std::vector<MetadataPair> metadata_of(const Headers& headers) {
  std::vector<MetadataPair> metadata;
  for (const auto& [name, value] : headers) {
    const std::string_view written(name);
    if (written.size() < kMetadataPrefix.size()) continue;
    if (!equal_ignoring_case(written.substr(0, kMetadataPrefix.size()), kMetadataPrefix)) continue;
    metadata.push_back({std::string(written.substr(kMetadataPrefix.size())), std::string(trimmed(value))});
  }
  return metadata;
}

void add_metadata(HttpResponse& response, const std::vector<MetadataPair>& metadata) {
  for (const MetadataPair& pair : metadata) response.with(std::string(kMetadataPrefix) + pair.name, pair.value);
}

}  // namespace varve::serve

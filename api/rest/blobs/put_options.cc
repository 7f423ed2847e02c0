#include "api/rest/blobs/put_options.h"

#include <optional>
#include <utility>
#include <vector>

#include "api/rest/blobs/blob_answers.h"
#include "api/rest/blobs/blob_conditions.h"
#include "api/rest/blobs/blob_xml.h"
#include "api/rest/protocol/metadata_headers.h"

namespace varve::serve {

Result<BlobWriteOptions> read_put_options(const BlobCall& call, PropertyHeaders where) {
  BlobWriteOptions options;
  Result<BlobProperties> properties = read_blob_properties(call.headers(), where);
  if (!properties.ok()) return properties.status();
  Result<std::vector<BlobTag>> tags = read_tags_header(call.headers());
  if (!tags.ok()) return tags.status();
  const Result<BlobTier> tier = read_tier(call.headers());
  if (!tier.ok()) return tier.status();
  Result<BlobConditions> conditions = read_blob_conditions(call.headers(), BlobAccess::kWrite);
  if (!conditions.ok()) return conditions.status();
  options.properties = *std::move(properties);
  options.tags = *std::move(tags);
  options.tier = *tier;
  options.conditions = *std::move(conditions);
  options.metadata = metadata_of(call.headers());
  options.compresses = call.options.compresses;
  guard_present_blob(call, options.conditions);
  return options;
}

Result<std::string> read_block_id(const BlobCall& call) {
  const std::string* const text = call.parameters.find("blockid");
  if (text == nullptr) return missing_parameter(call, "blockid");
  std::optional<std::string> id = decode_block_id(*text);
  if (id) return *std::move(id);
  return refuse_parameter(call, "InvalidQueryParameterValue", "blockid", *text, "it is not base64 of 1 to 64 bytes");
}

Result<AppendOptions> read_append_options(const BlobCall& call) {
  const Result<BlobConditions> conditions = read_blob_conditions(call.headers(), BlobAccess::kWrite);
  if (!conditions.ok()) return conditions.status();
  const Result<std::optional<std::uint64_t>> position = number_header(call.headers(), "x-ms-blob-condition-appendpos");
  if (!position.ok()) return position.status();
  const Result<std::optional<std::uint64_t>> length_max = number_header(call.headers(), "x-ms-blob-condition-maxsize");
  if (!length_max.ok()) return length_max.status();
  AppendOptions options;
  options.conditions = *conditions;
  options.position = *position;
  options.length_max = *length_max;
  return options;
}

void add_sums(HttpResponse& response, const ContentSums& sums, const BodyChecksums& sent, std::string_view version) {
  if (sums.md5()) response.with("Content-MD5", md5_text(*sums.md5()));
  if (version >= kCrcVersion && !sent.md5) response.with("x-ms-content-crc64", crc64_text(sums.crc64()));
}

HttpResponse append_response(const ETag& etag, std::uint64_t offset, std::uint32_t append_count) {
  HttpResponse response = written_response(201, etag, etag.timestamp());
  response.with("x-ms-blob-append-offset", std::to_string(offset));
  response.with("x-ms-blob-committed-block-count", std::to_string(append_count));
  return response;
}

}  // namespace varve::serve

// Owns: the fuzzer of requests to the blob service: hostile paths, queries, headers and bodies.
// Must never: let a block, a tag or a range change when it is written and read again.
//
// Input: a path without the account, a line feed, a query, a line feed, headers with a line feed each, an empty line, a
// body.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/rest/blobs/blob_conditions.h"
#include "api/rest/blobs/blob_headers.h"
#include "api/rest/blobs/blob_range.h"
#include "api/rest/blobs/blob_routes.h"
#include "api/rest/blobs/blob_target.h"
#include "api/rest/blobs/blob_xml.h"
#include "api/rest/protocol/left_out.h"

namespace varve::serve {
namespace {

void check_refusal(const Status& status) {
  const bool is_refusal = status.code() == Code::kInvalidArgument || status.code() == Code::kUnsupported;
  if (!is_refusal || status.service_error().empty()) std::abort();
}
template <typename Value>
void check_read(const Result<Value>& read) {
  if (!read.ok()) check_refusal(read.status());
}

std::string_view take_line(std::string_view& input) {
  const std::string_view line = input.substr(0, input.find('\n'));
  input.remove_prefix(std::min(line.size() + 1, input.size()));
  return line;
}

Headers take_headers(std::string_view& input) {
  Headers headers;
  while (!input.empty()) {
    const std::string_view line = take_line(input);
    if (line.empty()) break;
    const std::size_t colon = std::min(line.find(':'), line.size());
    headers.emplace_back(line.substr(0, colon), line.substr(std::min(colon + 1, line.size())));
  }
  return headers;
}

void try_address(std::string_view path, std::string_view query, const Headers& headers) {
  const Result<QueryParameters> parameters = QueryParameters::parse(query);
  if (!parameters.ok()) return check_refusal(parameters.status());
  if (const Status offered = check_left_out(headers, *parameters); !offered.ok()) check_refusal(offered);
  const Result<BlobTarget> target = parse_blob_target(path, *parameters);
  if (!target.ok()) return check_refusal(target.status());
  if (target->resource == BlobResource::kBlob && !target->signed_name().ends_with(target->blob)) std::abort();
  for (const std::string_view verb : {"GET", "PUT", "POST", "DELETE", "HEAD"}) {
    check_read(find_blob_route(target->resource, *parameters, headers, verb));
  }
}

void try_headers(const Headers& headers) {
  for (const BlobAccess access : {BlobAccess::kRead, BlobAccess::kWrite}) {
    check_read(read_blob_conditions(headers, access));
  }
  check_read(read_source_conditions(headers));
  check_read(read_lease_request(headers));
  check_read(read_blob_properties(headers, PropertyHeaders::kOwnOrCommon));
  check_read(read_body_checksums(headers));
  check_read(read_tags_header(headers));
  check_read(read_tier(headers));
  check_read(read_public_access(headers));
  const Result<std::optional<ByteRange>> range = read_range(headers);
  check_read(range);
  if (!range.ok() || !*range) return;
  const Result<ContentPart> part = part_of(**range, 1000);
  if (!part.ok()) return check_refusal(part.status());
  if (part->bytes == 0 || part->offset + part->bytes > 1000) std::abort();
}

void try_body(std::string_view body) {
  const Result<std::vector<BlobTag>> tags = read_tags(body);
  check_read(tags);
  if (tags.ok()) {
    const Result<std::vector<BlobTag>> again = read_tags(write_tags(*tags));
    if (!again.ok() || *again != *tags) std::abort();
  }
  const Result<std::vector<BlockChoice>> blocks = read_block_list(body);
  check_read(blocks);
  if (!blocks.ok()) return;
  for (const BlockChoice& block : *blocks) {
    if (block.id.empty() || block.id.size() > 64) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const std::string_view path = take_line(rest);
  const std::string_view query = take_line(rest);
  const Headers headers = take_headers(rest);
  try_address(path, query, headers);
  try_headers(headers);
  try_body(rest);
  return 0;
}

}  // namespace varve::serve

// Owns: the route of batches: several deletions of blobs, or several changes of tiers, each a request of its own.
// Must never: carry out a part of a malformed batch, or let the caller of the batch answer for a part.
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/model/service_error.h"
#include "api/rest/blobs/blob_call.h"
#include "api/rest/blobs/upload.h"
#include "api/rest/protocol/batch_reader.h"
#include "api/rest/service/call.h"
#include "varve/names.h"

namespace varve::serve {
namespace {

constexpr std::size_t kBlobBatchPartsMax = 256;
constexpr std::uint64_t kBlobBatchBytesMax = std::uint64_t{4} << 20;

Status refuse_blob_batch(std::string_view what) {
  return service_error::invalid_input(what);
}

enum class PartKind : std::uint8_t { kDelete, kTier };

/// Returns the kind of a part, or nothing for a request that no batch may have.
std::optional<PartKind> kind_of_part(const HttpRequest& part) {
  const Result<QueryParameters> parameters = QueryParameters::parse(part.head.query);
  if (!parameters.ok() || parameters->find("restype") != nullptr) return std::nullopt;
  const std::string* const comp = parameters->find("comp");
  if (part.head.verb == "DELETE" && comp == nullptr) return PartKind::kDelete;
  const bool is_tier = part.head.verb == "PUT" && comp != nullptr && lower_case(*comp) == "tier";
  return is_tier ? std::optional(PartKind::kTier) : std::nullopt;
}

/// Checks that the part is about the account of the batch, and about its container if the batch has one. A name that no
/// blob has is the part's own error.
Status check_place(const BlobCall& call, const HttpRequest& part) {
  const Result<Address> address = parse_address(part.head.path, host_of(part), "http", call.knows_account);
  if (!address.ok()) return refuse_blob_batch("the URL of a part is badly encoded");
  if (address->account != call.address.account) return refuse_blob_batch("a part is about another account");
  if (call.target.container.empty()) return Status();
  const Result<BlobTarget> target = parse_blob_target(address->resource, *QueryParameters::parse(part.head.query));
  if (!target.ok() || target->container == call.target.container) return Status();
  return refuse_blob_batch("a part is about another container than the batch");
}

/// Makes a part a request of its own, from the client that sent the batch.
Result<HttpRequest> request_of(const BlobCall& call, BatchPart part) {
  HttpRequest made;
  made.head.verb = std::move(part.verb);
  made.head.headers = std::move(part.headers);
  if (!set_target(made, part.url)) return refuse_blob_batch("the URL of a part must be absolute or a path");
  if (!made.absolute_host) made.absolute_host = host_of(call.request);
  made.body = part.body;
  made.arrival = call.request.arrival;
  made.client_port = call.request.client_port;
  if (find_header(made.head.headers, "x-ms-version") != nullptr) {
    return refuse_blob_batch("a part must not have the header x-ms-version");
  }
  return made;
}

struct BlobBatch {
  std::vector<HttpRequest> requests;
  std::vector<std::string> content_ids;
};

/// Reads and checks all parts before the first one is carried out. Source: BD-03.
Result<BlobBatch> read_blob_batch(const BlobCall& call) {
  const std::string* const type = find_header(call.headers(), "content-type");
  Result<Batch> read = read_flat_batch(type == nullptr ? std::string_view() : std::string_view(*type),
                                       call.request.body, kBlobBatchPartsMax);
  if (!read.ok()) return read.status();
  if (read->parts.empty()) return refuse_blob_batch("the batch has no request");
  if (read->parts.size() > kBlobBatchPartsMax) return refuse_blob_batch("a batch has at most 256 requests");
  BlobBatch batch;
  std::optional<PartKind> kind;
  for (BatchPart& part : read->parts) {
    batch.content_ids.push_back(std::move(part.content_id));
    Result<HttpRequest> request = request_of(call, std::move(part));
    if (!request.ok()) return request.status();
    const std::optional<PartKind> own = kind_of_part(*request);
    if (!own) return refuse_blob_batch("a batch has only requests that delete blobs, or that set tiers");
    if (kind && kind != own) return refuse_blob_batch("a batch deletes blobs or sets tiers, and not both");
    kind = own;
    if (Status placed = check_place(call, *request); !placed.ok()) return placed;
    batch.requests.push_back(*std::move(request));
  }
  return batch;
}

/// Appends the answer of a part.
void append_part(std::string& body, const std::string& boundary, const std::string& content_id,
                 const HttpResponse& response) {
  body.append("--").append(boundary).append("\r\nContent-Type: application/http\r\n");
  if (!content_id.empty()) body.append("Content-ID: ").append(content_id).append("\r\n");
  body.append("\r\nHTTP/1.1 ").append(std::to_string(response.status)).append(" ");
  body.append(reason_phrase(response.status)).append("\r\n");
  for (const auto& [name, value] : response.headers) body.append(name).append(": ").append(value).append("\r\n");
  if (!response.body.empty()) {
    body.append("Content-Length: ").append(std::to_string(response.body.size())).append("\r\n");
  }
  body.append("\r\n").append(response.body).append("\r\n");
}

/// Begins a part. Returns nothing if memory runs out.
std::optional<Answer> ask_part(const BlobCall& call, HttpRequest& part) noexcept {
  try {
    return call.answer_part(std::move(part));
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

}  // namespace

/// When memory runs out after a part was begun, its change may have happened: no answer may deny it.
Answer run_blob_batch(const BlobCall& call) {
  if (call.request.body.size() > kBlobBatchBytesMax) co_return content_too_long(kBlobBatchBytesMax);
  Result<BlobBatch> batch = read_blob_batch(call);
  if (!batch.ok()) co_return batch.status();
  const std::string boundary = "batchresponse_" + std::string(call.trailer.request_id);
  std::string body;
  for (std::size_t i = 0; i < batch->requests.size(); ++i) {
    std::optional<Answer> answering = ask_part(call, batch->requests[i]);
    if (!answering) co_return i == 0 ? Status::out_of_memory() : Status(Code::kUnknown);
    const Result<HttpResponse> answered = co_await *answering;
    if (!answered.ok()) co_return Status(Code::kUnknown);
    const Result<HttpResponse> added = carried_out_answer([&] {
      append_part(body, boundary, batch->content_ids[i], *answered);
      return HttpResponse();
    });
    if (!added.ok()) co_return added.status();
  }
  co_return carried_out_answer([&] {
    HttpResponse response;
    response.status = 202;
    response.with("Content-Type", "multipart/mixed; boundary=" + boundary);
    response.body = std::move(body.append("--").append(boundary).append("--\r\n"));
    return response;
  });
}

}  // namespace varve::serve

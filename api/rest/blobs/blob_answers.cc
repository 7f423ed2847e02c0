#include "api/rest/blobs/blob_answers.h"

#include <string>

#include "api/model/service_error.h"
#include "api/rest/blobs/blob_conditions.h"
#include "api/rest/blobs/blob_headers.h"
#include "api/rest/protocol/metadata_headers.h"
#include "api/rest/protocol/wire_error.h"
#include "api/security/http_date.h"

namespace varve::serve {
namespace {

void add_copy(HttpResponse& response, const BlobState& blob) {
  if (!blob.copy_id) return;
  response.with("x-ms-copy-id", blob.copy_id->to_string()).with("x-ms-copy-status", "success");
  response.with("x-ms-copy-source", blob.copy_source);
  response.with("x-ms-copy-progress", std::to_string(blob.length) + "/" + std::to_string(blob.length));
  if (blob.copied) response.with("x-ms-copy-completion-time", security::http_date(*blob.copied));
}

void add_tier(HttpResponse& response, const BlobState& blob, bool is_head) {
  if (blob.kind != BlobKind::kBlock) return;
  response.with("x-ms-access-tier", tier_name(blob.tier));
  if (blob.tier == BlobTier::kDefault) response.with("x-ms-access-tier-inferred", "true");
  if (is_head && blob.tier_changed) {
    response.with("x-ms-access-tier-change-time", security::http_date(*blob.tier_changed));
  }
}

}  // namespace

void add_version(HttpResponse& response, const ETag& etag, DateTime modified) {
  response.with("ETag", quoted_etag(etag)).with("Last-Modified", security::http_date(modified));
}

HttpResponse written_response(std::uint16_t status, const ETag& etag, DateTime modified) {
  HttpResponse response = empty_response(status);
  add_version(response, etag, modified);
  response.with("x-ms-request-server-encrypted", "true");
  return response;
}

void add_blob_state(HttpResponse& response, const BlobState& blob, const BlobCall& call) {
  add_blob_properties(response, blob.properties, call.overrides);
  add_version(response, blob.etag, blob.modified);
  response.with("x-ms-creation-time", security::http_date(blob.created));
  add_metadata(response, blob.metadata);
  response.with("x-ms-blob-type", blob.kind == BlobKind::kAppend ? "AppendBlob" : "BlockBlob");
  add_lease(response, blob.lease);
  response.with("x-ms-server-encrypted", "true");
  add_tier(response, blob, call.is_head());
  if (!blob.tags.empty() && !call.is_anonymous && call.may_count_tags) {
    response.with("x-ms-tag-count", std::to_string(blob.tags.size()));
  }
  if (blob.crc64) response.with(kContentCrc64Header, crc64_text(*blob.crc64));
  if (blob.kind == BlobKind::kAppend) {
    response.with("x-ms-blob-committed-block-count", std::to_string(blob.append_count));
  }
  add_copy(response, blob);
}

std::optional<Result<HttpResponse>> judged_answer(const BlobConditions& conditions, const ETag& etag,
                                                  DateTime modified) {
  switch (judge_read(conditions, etag, modified)) {
    case ReadVerdict::kMet: return std::nullopt;
    case ReadVerdict::kFailed:
      return Result<HttpResponse>(refused("ConditionNotMet", "a condition of the headers is not met"));
    case ReadVerdict::kNotModified: break;
  }
  HttpResponse response = empty_response(304);
  add_version(response, etag, modified);
  response.with("x-ms-error-code", "ConditionNotMet");
  return Result<HttpResponse>(std::move(response));
}

HttpResponse lease_response(const LeaseRequest& request, const LeaseAnswer& answer) {
  using enum LeaseRequest::Action;
  HttpResponse response;
  switch (request.action) {
    case kAcquire: response.status = 201; break;
    case kBreak: response.status = 202; break;
    default: response.status = 200;
  }
  if (request.action == kBreak) response.with("x-ms-lease-time", std::to_string(answer.left.count()));
  if (request.action != kBreak && request.action != kRelease) response.with("x-ms-lease-id", answer.id.to_string());
  return response;
}

BlobConditions lease_alone(const BlobConditions& conditions) {
  BlobConditions lease;
  lease.lease = conditions.lease;
  return lease;
}

void guard_present_blob(const BlobCall& call, BlobConditions& conditions) {
  if (!call.may_replace) conditions.if_none_match = ETag::any();
}

}  // namespace varve::serve

// Owns: the checks of blobs (blob_checks.h).
// Must never: read a store.
#include "api/write/blob_checks.h"

#include "api/catalog/lease.h"
#include "api/model/header_text.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "varve/limits.h"

namespace varve {
namespace {

Status check_source_address(std::string_view address) {
  if (is_header_text(address)) return Status();
  return service_error::invalid_header_value("the source address " + quoted(address) +
                                             " has a control character, or a blank at an end");
}

}  // namespace

Status no_such_blob(std::string_view name) {
  return service_error::blob_not_found("the container has no blob " + quoted(name));
}

Status wrong_kind(std::string_view name, BlobKind kind) {
  return service_error::invalid_blob_type("blob " + quoted(name) + " is " +
                                          (kind == BlobKind::kBlock ? "a block blob" : "an append blob") +
                                          ", which has no such verb");
}

Status check_blob_properties(const BlobProperties& properties) {
  for (const std::string* const text :
       {&properties.content_type, &properties.content_encoding, &properties.content_language,
        &properties.content_disposition, &properties.cache_control}) {
    if (is_header_text(*text)) continue;
    return service_error::invalid_header_value("the property " + quoted(*text) +
                                               " has a control character, or a blank at an end");
  }
  return Status();
}

Status check_tier(BlobTier tier, BlobKind kind) {
  if (tier == BlobTier::kDefault || kind == BlobKind::kBlock) return Status();
  return service_error::invalid_header_value("an append blob has no tier");
}

Status check_block_id(std::string_view id) {
  if (!id.empty() && id.size() <= limits::kBlockIdBytesMax) return Status();
  return service_error::invalid_parameter("the block id has " + std::to_string(id.size()) +
                                          " bytes; 1 to 64 are allowed");
}

Status check_blob_write(std::string_view blob, const BlobWriteOptions& options, BlobKind kind) {
  if (Status named = check_blob_name(blob); !named.ok()) return named;
  if (Status properties = check_blob_properties(options.properties); !properties.ok()) return properties;
  if (Status address = check_source_address(options.source_address); !address.ok()) return address;
  if (Status metadata = check_metadata(options.metadata); !metadata.ok()) return metadata;
  if (Status tags = check_blob_tags(options.tags); !tags.ok()) return tags;
  return check_tier(options.tier, kind);
}

Result<Lease> admit_replacement(const std::optional<BlobRow>& row, const BlobConditions& conditions, Ticks now) {
  Lease lease = row ? row->lease : Lease();
  if (Status admitted = admit_write(lease, conditions.lease, now, Leased::kBlob); !admitted.ok()) return admitted;
  const std::optional<format::CommitVersion> changed = row ? std::optional(row->changed) : std::nullopt;
  if (Status judged = judge_write(conditions, changed, Creates::kYes); !judged.ok()) return judged;
  return lease;
}

Status admit_change(std::optional<BlobRow>& row, std::string_view name, const BlobConditions& conditions, Ticks now,
                    const ChangeNeeds& needs) {
  if (!row) return no_such_blob(name);
  if (needs.lease) {
    const Status admitted = admit_write(row->lease, conditions.lease, now, Leased::kBlob);
    if (!admitted.ok()) return admitted;
  }
  if (Status judged = judge_write(conditions, row->changed, Creates::kNo); !judged.ok()) return judged;
  return needs.kind && *needs.kind != row->kind ? wrong_kind(name, row->kind) : Status();
}

BlobVerb removal_of(std::string_view blob, const BlobConditions& conditions) {
  BlobVerb verb;
  verb.name = blob;
  verb.judge = [blob, &conditions](BlobDraft& draft) -> Refusal {
    const Status admitted = admit_change(draft.row, blob, conditions, draft.now);
    if (!admitted.ok()) return draft.refuse(admitted);
    draft.remove();
    draft.discard_staged();
    return {};
  };
  return verb;
}

BlobRow new_blob_row(BlobKind kind, const BlobWriteOptions& options) {
  BlobRow row;
  row.kind = kind;
  row.properties = options.properties;
  row.metadata = options.metadata;
  row.tags = options.tags;
  row.tier = options.tier;
  return row;
}

}  // namespace varve

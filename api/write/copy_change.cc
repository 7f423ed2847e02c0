// Owns: the commit of a copy (copy_change.h).
// Must never: share a content that has lost its last owner.
#include "api/write/copy_change.h"

#include <algorithm>
#include <string>
#include <utility>

#include "api/model/service_error.h"
#include "api/read/blob_read.h"
#include "api/write/blob_change.h"
#include "api/write/blob_checks.h"

namespace varve {
namespace {

Status archived_source() {
  return Status(Code::kConflict, "the source is archived; set another tier to copy it")
      .with_service_error("BlobArchived");
}

/// The row of the copy: the source's content, and what the caller gives or leaves to the source.
BlobRow copied_row(const BlobRow& source, const BlobCopying& arguments, Ticks now) {
  const BlobCopyOptions& options = arguments.options;
  BlobRow row;
  row.kind = source.kind;
  row.length = source.length;
  row.inlined = source.inlined;
  row.pieces = source.pieces;
  row.is_list = source.is_list;
  row.lists = source.lists;
  row.crc64 = source.crc64;
  row.appends = source.appends;
  row.properties = options.properties.value_or(source.properties);
  row.metadata = options.metadata.value_or(source.metadata);
  row.tags = options.tags;
  row.tier = options.tier;
  if (!options.source_address.empty()) {
    row.copy_source = options.source_address;
    row.copy_id = arguments.copy_id;
    row.copied = now;
  }
  return row;
}

bool names(const std::optional<BlobRow>& row, const ContentPiece& piece) {
  return row && std::any_of(row->pieces.begin(), row->pieces.end(),
                            [&](const ContentPiece& own) { return own.content == piece.content; });
}

Refusal judge_copy(BlobDraft& draft, const BlobCopying& arguments) {
  const engine::Newest& found = draft.others[0];
  if (!found.value) return {no_such_blob(arguments.source_blob), found.version};
  const Result<BlobRow> source = decode_blob_row(found.version, *found.value);
  if (!source.ok()) return source.status();
  for (const ContentPiece& piece : source->pieces) {
    if (!draft.owners.is_planned(piece.content)) return plan_again(found.version);
  }
  const Result<Lease> lease = admit_replacement(draft.row, arguments.options.conditions, draft.now);
  if (!lease.ok()) return draft.refuse(lease.status());
  const Status judged = judge_source(arguments.options.source_conditions, source->changed);
  if (!judged.ok()) return {judged, found.version};
  if (source->tier == BlobTier::kArchive) return {archived_source(), found.version};
  if (Status fits = check_tier(arguments.options.tier, source->kind); !fits.ok()) return {fits, found.version};
  BlobRow row = copied_row(*source, arguments, draft.now);
  row.lease = *lease;
  for (const ContentPiece& piece : row.pieces) {
    if (!names(draft.row, piece)) draft.owners.add(piece.content, 1);
  }
  draft.replace(std::move(row));
  draft.discard_staged();
  return {};
}

}  // namespace

Status check_copy(std::string_view blob, std::string_view source_blob, const BlobCopyOptions& options) {
  const BlobWriteOptions given{options.properties.value_or(BlobProperties()),
                               options.metadata.value_or(std::vector<MetadataPair>()),
                               options.tags,
                               {},
                               {},
                               options.source_address,
                               {}};
  if (Status checked = check_blob_write(blob, given, BlobKind::kBlock); !checked.ok()) return checked;
  return check_blob_name(source_blob);
}

BlobVerb copy_of(const BlobCopying& copying) {
  BlobVerb verb;
  verb.name = copying.blob;
  verb.plan = [&copying](const ResolvedTable& at, const BlobRow* /*row*/, BlobPlan& plan) -> Status {
    const Result<ResolvedTable> from = copying.source.resolve();
    if (!from.ok()) return from.status();
    if (contents_of(from->id) != contents_of(at.id)) {
      return service_error::invalid_input("the source of the copy belongs to another account");
    }
    const Result<std::optional<FoundBlob>> found = find_blob(from->view, from->id, copying.source_blob);
    if (!found.ok()) return found.status();
    if (!*found) return no_such_blob(copying.source_blob);
    for (const ContentPiece& piece : (*found)->row.pieces) plan.contents.push_back(piece.content);
    plan.keys.push_back(blob_row_key(from->id, copying.source_blob));
    if (from->id != at.id) plan.tables = {from->id, fence_of(from->id)};  // No copy is made after the source's drop.
    plan.bytes += (*found)->row.inlined.size();
    return Status();
  };
  verb.judge = [&copying](BlobDraft& draft) { return judge_copy(draft, copying); };
  return verb;
}

Result<BlobState> copy_blob(const Container::State& container, std::string_view blob, const Container::State& source,
                            std::string_view source_blob, const BlobCopyOptions& options, Durability durability) {
  const BlobCopying copying{blob, source, source_blob, options, Guid::random()};
  BlobVerb verb = copy_of(copying);
  verb.durability = durability;
  return commit_blob(container, verb);
}

}  // namespace varve

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

struct CopyArguments {
  std::string_view blob;
  std::string_view source_blob;
  const BlobCopyOptions& options;
  Guid copy_id;
};

Status archived_source() {
  return Status(Code::kConflict, "the source is archived; set another tier to copy it")
      .with_service_error("BlobArchived");
}

/// The row of the copy: the source's content, and what the caller gives or leaves to the source.
BlobRow copied_row(const BlobRow& source, const CopyArguments& arguments, Ticks now) {
  const BlobCopyOptions& options = arguments.options;
  BlobRow row;
  row.kind = source.kind;
  row.length = source.length;
  row.inlined = source.inlined;
  row.pieces = source.pieces;
  row.is_list = source.is_list;
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

Refusal judge_copy(BlobDraft& draft, const CopyArguments& arguments) {
  const engine::Newest& found = draft.others[0];
  if (!found.value) return {no_such_blob(arguments.source_blob), found.version};
  const Result<BlobRow> source = decode_blob_row(found.version, *found.value);
  if (!source.ok()) return source.status();
  for (const ContentPiece& piece : source->pieces) {
    if (!draft.owners.is_planned(piece.content)) return plan_again(found.version);
  }
  const Status judged = judge_source(arguments.options.source_conditions, source->changed);
  if (!judged.ok()) return {judged, found.version};
  if (source->tier == BlobTier::kArchive) return {archived_source(), found.version};
  if (Status fits = check_tier(arguments.options.tier, source->kind); !fits.ok()) return {fits, found.version};
  const Result<Lease> lease = admit_replacement(draft.row, arguments.options.conditions, draft.now);
  if (!lease.ok()) return draft.refuse(lease.status());
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

Result<BlobState> copy_blob(const Container::State& container, std::string_view blob, const Container::State& source,
                            std::string_view source_blob, const BlobCopyOptions& options, Durability durability) {
  const CopyArguments arguments{blob, source_blob, options, Guid::random()};
  BlobVerb verb;
  verb.name = blob;
  verb.durability = durability;
  verb.plan = [&](const ResolvedTable& at, const BlobRow* /*row*/, BlobPlan& plan) -> Status {
    const Result<ResolvedTable> from = source.resolve();
    if (!from.ok()) return from.status();
    if (contents_of(from->id) != contents_of(at.id)) {
      return service_error::invalid_input("the source of the copy belongs to another account");
    }
    const Result<std::optional<FoundBlob>> found = find_blob(from->view, from->id, source_blob);
    if (!found.ok()) return found.status();
    if (!*found) return no_such_blob(source_blob);
    for (const ContentPiece& piece : (*found)->row.pieces) plan.contents.push_back(piece.content);
    plan.keys.push_back(blob_row_key(from->id, source_blob));
    if (from->id != at.id) plan.tables = {from->id, fence_of(from->id)};  // No copy is made after the source's drop.
    return Status();
  };
  verb.judge = [&](BlobDraft& draft) { return judge_copy(draft, arguments); };
  Result<WrittenBlob> written = commit_blob(container, verb);
  if (!written.ok()) return written.status();
  return std::move(written->state);
}

}  // namespace varve

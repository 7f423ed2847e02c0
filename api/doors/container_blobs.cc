// Owns: the verbs of a container that write and read blobs (blob.h).
// Must never: judge a condition otherwise than under the blob's lock.
#include <utility>

#include "api/model/guarded.h"
#include "api/model/service_error.h"
#include "api/read/blob_listing.h"
#include "api/read/blob_read.h"
#include "api/write/append_change.h"
#include "api/write/blob_checks.h"
#include "api/write/blob_writer_state.h"
#include "api/write/block_list_change.h"
#include "api/write/copy_change.h"
#include "varve/blob.h"
#include "varve/limits.h"

namespace varve {
namespace {

Durability durability_of(const Container::State& container, const std::optional<Durability>& chosen) {
  return chosen.value_or(container.core->backend().default_durability());
}

/// The view and the container of a read.
struct ReadPlace {
  engine::ReadView view;
  format::TableId container;
};
Result<ReadPlace> read_place(const Container::State& container, const std::optional<Snapshot>& snapshot) {
  if (!snapshot) {
    Result<ResolvedTable> at = container.resolve();
    if (!at.ok()) return at.status();
    return ReadPlace{std::move(at->view), at->id};
  }
  Result<engine::ReadView> view = container.core->view(snapshot);
  if (!view.ok()) return view.status();
  const Result<format::TableId> id = container_at(container, *view);
  if (!id.ok()) return id.status();
  return ReadPlace{*std::move(view), *id};
}

/// Finds a blob for a read, and judges the conditions.
Result<FoundBlob> find_for_read(const ReadPlace& at, std::string_view blob, const BlobConditions& conditions,
                                Ticks now) {
  Result<std::optional<FoundBlob>> found = find_blob(at.view, at.container, blob);
  if (!found.ok()) return found.status();
  if (!*found) {
    if (conditions.if_match) return judge_write(conditions, std::nullopt, Creates::kNo);
    return no_such_blob(blob);
  }
  const BlobRow& row = (*found)->row;
  if (Status leased = admit_read(row.lease, conditions.lease, now, Leased::kBlob); !leased.ok()) return leased;
  if (Status judged = judge_read(conditions, row.changed); !judged.ok()) return judged;
  return **std::move(found);
}

/// Where the blocks of a block blob are.
struct BlocksPlace {
  ReadPlace read;
  Ticks now;
  std::uint32_t staged;
  std::optional<FoundBlob> found;
};
/// Errors: as Container::blocks().
Result<BlocksPlace> place_of_blocks(const Container::State& container, std::string_view blob,
                                    const BlobReadOptions& options) {
  if (Status open = container.core->check_open(); !open.ok()) return open;
  if (Status named = check_blob_name(blob); !named.ok()) return named;
  Result<ReadPlace> at = read_place(container, options.snapshot);
  if (!at.ok()) return at.status();
  const Ticks now = container.core->backend().time();
  Result<std::optional<FoundBlob>> found = find_blob(at->view, at->container, blob);
  if (!found.ok()) return found.status();
  const Result<std::uint32_t> staged = count_staged_blocks(at->view, at->container, blob);
  if (!staged.ok()) return staged.status();
  if (!*found && *staged == 0) return no_such_blob(blob);
  if (*found) {
    const BlobRow& row = (*found)->row;
    if (row.kind != BlobKind::kBlock) return wrong_kind(blob, row.kind);
    if (Status leased = admit_read(row.lease, options.conditions.lease, now, Leased::kBlob); !leased.ok()) {
      return leased;
    }
  }
  return BlocksPlace{*std::move(at), now, *staged, *std::move(found)};
}

/// Changes the state of a blob that must exist. `change` gets the row, and sets `changed` to zero for a new ETag.
template <typename Change>
Result<BlobState> change_state(const Container::State& container, std::string_view blob,
                               const BlobChangeOptions& options, const ChangeNeeds& needs, Change change) {
  if (Status writable = container.core->check_writable(); !writable.ok()) return writable;
  if (Status named = check_blob_name(blob); !named.ok()) return named;
  BlobVerb verb;
  verb.name = blob;
  verb.durability = durability_of(container, options.durability);
  verb.touches = BlobVerb::Touches::kNone;
  verb.judge = [&](BlobDraft& draft) -> Refusal {
    const Status admitted = admit_change(draft.row, blob, options.conditions, draft.now, needs);
    if (!admitted.ok()) return draft.refuse(admitted);
    BlobRow row = *draft.row;
    if (Status changed = change(row, draft.now); !changed.ok()) return draft.refuse(changed);
    draft.replace(std::move(row));
    return {};
  };
  return commit_blob(container, verb);
}

}  // namespace

Result<BlobWriter> Container::write(std::string_view blob, const BlobWriteOptions& options) {
  return guarded([&]() -> Result<BlobWriter> {
    if (Status writable = state_->core->check_writable(); !writable.ok()) return writable;
    if (Status checked = check_blob_write(blob, options, BlobKind::kBlock); !checked.ok()) return checked;
    const Result<ResolvedTable> at = state_->resolve();
    if (!at.ok()) return at.status();
    Result<std::optional<FoundBlob>> found = find_blob(at->view, at->id, blob);
    if (!found.ok()) return found.status();
    const std::optional<BlobRow> row = *found ? std::optional(std::move((*found)->row)) : std::nullopt;
    const Result<Lease> admitted = admit_replacement(row, options.conditions, state_->core->backend().time());
    if (!admitted.ok()) return admitted.status();
    return BlobWriter(std::make_unique<BlobWriter::State>(state_, at->id, std::string(blob), options, std::nullopt));
  });
}

Result<BlobState> Container::put(std::string_view blob, std::string_view content, const BlobWriteOptions& options) {
  return guarded([&]() -> Result<BlobState> {
    if (Status writable = state_->core->check_writable(); !writable.ok()) return writable;
    if (Status checked = check_blob_write(blob, options, BlobKind::kBlock); !checked.ok()) return checked;
    const Result<format::TableId> id = state_->present_id();
    if (!id.ok()) return id.status();
    BlobWriter::State writer(state_, *id, std::string(blob), options, std::nullopt);
    if (Status added = writer.content.append(content); !added.ok()) return added;
    return publish_written_blob(writer);
  });
}

Result<BlobReader> Container::read(std::string_view blob, const BlobReadOptions& options) const {
  return guarded([&]() -> Result<BlobReader> {
    StoreCore& core = *state_->core;
    if (Status open = core.check_open(); !open.ok()) return open;
    if (Status named = check_blob_name(blob); !named.ok()) return named;
    const Snapshot pinned = options.snapshot ? *options.snapshot : core.snapshot();
    core.keep_blobs();
    const Result<ReadPlace> at = read_place(*state_, pinned);
    if (!at.ok()) return at.status();
    const Ticks now = core.backend().time();
    Result<FoundBlob> found = find_for_read(*at, blob, options.conditions, now);
    if (!found.ok()) return found.status();
    if (found->row.tier == BlobTier::kArchive) {
      return Status(Code::kConflict, "the blob is archived; set another tier to read it")
          .with_service_error("BlobArchived");
    }
    auto reader = std::make_unique<BlobReader::State>();
    reader->core = state_->core;
    reader->contents = contents_of(at->container);
    reader->state = state_of(blob, found->row, found->version, now);
    reader->row = std::move(found->row);
    if (!reader->row.pieces.empty()) reader->pin = std::make_unique<ReaderPin>(core.reader_pins(), pinned);
    if (reader->row.is_list) {
      reader->list = std::make_unique<ListIndex>(core.backend().env().scheduler, reader->contents,
                                                 reader->row.pieces.front().content);
    }
    return BlobReader(std::move(reader));
  });
}

Result<BlobState> Container::state(std::string_view blob, const BlobReadOptions& options) const {
  return guarded([&]() -> Result<BlobState> {
    if (Status open = state_->core->check_open(); !open.ok()) return open;
    if (Status named = check_blob_name(blob); !named.ok()) return named;
    const Result<ReadPlace> at = read_place(*state_, options.snapshot);
    if (!at.ok()) return at.status();
    const Ticks now = state_->core->backend().time();
    const Result<FoundBlob> found = find_for_read(*at, blob, options.conditions, now);
    if (!found.ok()) return found.status();
    return state_of(blob, found->row, found->version, now);
  });
}

Status Container::remove(std::string_view blob, const BlobChangeOptions& options) {
  return guarded([&]() -> Status {
    if (Status writable = state_->core->check_writable(); !writable.ok()) return writable;
    if (Status named = check_blob_name(blob); !named.ok()) return named;
    BlobVerb verb = removal_of(blob, options.conditions);
    verb.durability = durability_of(*state_, options.durability);
    return commit_blob(*state_, verb).status();
  });
}

Result<BlobState> Container::set_properties(std::string_view blob, const BlobProperties& properties,
                                            const BlobChangeOptions& options) {
  return guarded([&]() -> Result<BlobState> {
    if (Status checked = check_blob_properties(properties); !checked.ok()) return checked;
    return change_state(*state_, blob, options, {}, [&](BlobRow& row, Ticks /*now*/) {
      row.properties = properties;
      row.changed = 0;
      return Status();
    });
  });
}

Result<BlobState> Container::set_metadata(std::string_view blob, const std::vector<MetadataPair>& metadata,
                                          const BlobChangeOptions& options) {
  return guarded([&]() -> Result<BlobState> {
    if (Status checked = check_metadata(metadata); !checked.ok()) return checked;
    return change_state(*state_, blob, options, {}, [&](BlobRow& row, Ticks /*now*/) {
      row.metadata = metadata;
      row.changed = 0;
      return Status();
    });
  });
}

Result<BlobState> Container::set_tags(std::string_view blob, const std::vector<BlobTag>& tags,
                                      const BlobChangeOptions& options) {
  return guarded([&]() -> Result<BlobState> {
    if (Status checked = check_blob_tags(tags); !checked.ok()) return checked;
    return change_state(*state_, blob, options, {.lease = false}, [&](BlobRow& row, Ticks /*now*/) {
      row.tags = tags;
      return Status();
    });
  });
}

Result<BlobState> Container::set_tier(std::string_view blob, BlobTier tier, const BlobChangeOptions& options) {
  return guarded([&] {
    const ChangeNeeds needs{.lease = false, .kind = BlobKind::kBlock};
    return change_state(*state_, blob, options, needs, [&](BlobRow& row, Ticks now) {
      row.tier = tier;
      row.tier_changed = now;
      return Status();
    });
  });
}

Result<LeaseAnswer> Container::lease(std::string_view blob, const LeaseRequest& request,
                                     const BlobChangeOptions& options) {
  return guarded([&]() -> Result<LeaseAnswer> {
    LeaseAnswer answer;
    const Guid random = Guid::random();
    const Result<BlobState> changed =
        change_state(*state_, blob, options, {.lease = false}, [&](BlobRow& row, Ticks now) -> Status {
          const Result<LeaseAnswer> done = change_lease(row.lease, request, now, random);
          if (!done.ok()) return done.status();
          answer = *done;
          return Status();
        });
    if (!changed.ok()) return changed.status();
    return answer;
  });
}

Result<BlobWriter> Container::stage_block(std::string_view blob, std::string_view id, const BlobWriteOptions& options) {
  return guarded([&]() -> Result<BlobWriter> {
    if (Status writable = state_->core->check_writable(); !writable.ok()) return writable;
    if (Status named = check_blob_name(blob); !named.ok()) return named;
    if (Status checked = check_block_id(id); !checked.ok()) return checked;
    const Result<ResolvedTable> at = state_->resolve();
    if (!at.ok()) return at.status();
    // Judged again when the block is staged. A hopeless block should end before its bytes are read (BH-06).
    const Result<std::optional<FoundBlob>> found = find_blob(at->view, at->id, blob);
    if (!found.ok()) return found.status();
    if (*found) {
      const BlobRow& row = (*found)->row;
      Lease lease = row.lease;
      const Ticks now = state_->core->backend().time();
      const Status admitted = admit_write(lease, options.conditions.lease, now, Leased::kBlob);
      if (!admitted.ok()) return admitted;
      if (row.kind != BlobKind::kBlock) return wrong_kind(blob, row.kind);
    }
    return BlobWriter(std::make_unique<BlobWriter::State>(state_, at->id, std::string(blob), options, std::string(id)));
  });
}

Result<BlobState> Container::commit_blocks(std::string_view blob, std::span<const BlockChoice> blocks,
                                           const BlobWriteOptions& options) {
  return guarded([&]() -> Result<BlobState> {
    if (Status writable = state_->core->check_writable(); !writable.ok()) return writable;
    if (Status checked = check_blob_write(blob, options, BlobKind::kBlock); !checked.ok()) return checked;
    if (blocks.size() > limits::kBlocksMax) {
      return Status::invalid_argument("the list has " + std::to_string(blocks.size()) + " blocks; 50000 are allowed")
          .with_service_error("BlockListTooLong");
    }
    for (const BlockChoice& block : blocks) {
      if (Status checked = check_block_id(block.id); !checked.ok()) return checked;
    }
    return commit_block_list(*state_, blob, blocks, options, durability_of(*state_, options.durability));
  });
}

Result<BlockLists> Container::blocks(std::string_view blob, const BlobReadOptions& options, BlockKinds kinds) const {
  return guarded([&]() -> Result<BlockLists> {
    const Result<BlocksPlace> at = place_of_blocks(*state_, blob, options);
    if (!at.ok()) return at.status();
    BlockLists lists;
    if (kinds != BlockKinds::kCommitted) {
      Result<StagedBlocks> staged = read_staged_blocks(at->read.view, at->read.container, blob);
      if (!staged.ok()) return staged.status();
      for (StagedBlocks::Block& block : staged->blocks) {
        lists.staged.push_back({std::move(block.id), block.piece.length});
      }
    }
    if (!at->found) return lists;
    const BlobRow& row = at->found->row;
    if (row.is_list && kinds != BlockKinds::kStaged) {
      Result<std::vector<ListEntry>> entries =
          read_list(at->read.view, contents_of(at->read.container), row.pieces.front().content);
      if (!entries.ok()) return entries.status();
      for (ListEntry& entry : *entries) lists.committed.push_back({std::move(entry.id), entry.length});
    }
    lists.blob = state_of(blob, row, at->found->version, at->now);
    return lists;
  });
}

Result<BlockCounts> Container::block_counts(std::string_view blob, const BlobReadOptions& options) const {
  return guarded([&]() -> Result<BlockCounts> {
    const Result<BlocksPlace> at = place_of_blocks(*state_, blob, options);
    if (!at.ok()) return at.status();
    BlockCounts counts;
    counts.staged = at->staged;
    if (!at->found || !at->found->row.is_list) return counts;
    const ContentId list = at->found->row.pieces.front().content;
    const Result<std::uint32_t> committed = count_list_entries(at->read.view, contents_of(at->read.container), list);
    if (!committed.ok()) return committed.status();
    counts.committed = *committed;
    return counts;
  });
}

Result<BlobState> Container::create_append_blob(std::string_view blob, const BlobWriteOptions& options) {
  return guarded([&]() -> Result<BlobState> {
    if (Status writable = state_->core->check_writable(); !writable.ok()) return writable;
    if (Status checked = check_blob_write(blob, options, BlobKind::kAppend); !checked.ok()) return checked;
    BlobVerb verb;
    verb.name = blob;
    verb.durability = durability_of(*state_, options.durability);
    verb.judge = [&](BlobDraft& draft) -> Refusal {
      const Result<Lease> lease = admit_replacement(draft.row, options.conditions, draft.now);
      if (!lease.ok()) return draft.refuse(lease.status());
      BlobRow row = new_blob_row(BlobKind::kAppend, options);
      row.lease = *lease;
      draft.replace(std::move(row));
      draft.discard_staged();
      return {};
    };
    return commit_blob(*state_, verb);
  });
}

Result<AppendedBlock> Container::append(std::string_view blob, std::string_view bytes, const AppendOptions& options) {
  return guarded([&]() -> Result<AppendedBlock> {
    if (Status writable = state_->core->check_writable(); !writable.ok()) return writable;
    if (Status named = check_blob_name(blob); !named.ok()) return named;
    if (bytes.empty()) return service_error::invalid_header_value("an append has at least one byte");
    if (bytes.size() > limits::kAppendBytesMax) {
      return service_error::request_body_too_large("the append has " + std::to_string(bytes.size()) +
                                                   " bytes; 4194304 are allowed");
    }
    return append_to_blob(*state_, blob, bytes, options, durability_of(*state_, options.durability));
  });
}

Result<BlobWriter> Container::write_append(std::string_view blob, const AppendOptions& options) {
  return guarded([&]() -> Result<BlobWriter> {
    if (Status writable = state_->core->check_writable(); !writable.ok()) return writable;
    if (Status named = check_blob_name(blob); !named.ok()) return named;
    const Result<ResolvedTable> at = state_->resolve();
    if (!at.ok()) return at.status();
    Result<std::optional<FoundBlob>> found = find_blob(at->view, at->id, blob);
    if (!found.ok()) return found.status();
    std::optional<BlobRow> row = *found ? std::optional(std::move((*found)->row)) : std::nullopt;
    StoreCore& core = *state_->core;
    const Status admitted =
        admit_append_to(row, blob, 0, options, core.backend().time(), core.limits().blob_appends_max);
    if (!admitted.ok()) return admitted;
    return BlobWriter(std::make_unique<BlobWriter::State>(state_, at->id, std::string(blob), options));
  });
}

Result<BlobState> Container::copy(std::string_view blob, const Container& source, std::string_view source_blob,
                                  const BlobCopyOptions& options) {
  return guarded([&]() -> Result<BlobState> {
    if (Status writable = state_->core->check_writable(); !writable.ok()) return writable;
    if (source.state_->core != state_->core) {
      return service_error::invalid_input("the source of the copy belongs to another store");
    }
    if (Status checked = check_copy(blob, source_blob, options); !checked.ok()) return checked;
    return copy_blob(*state_, blob, *source.state_, source_blob, options, durability_of(*state_, options.durability));
  });
}

Result<BlobPage> Container::list(const BlobListing& listing) const {
  return guarded([&]() -> Result<BlobPage> {
    if (Status open = state_->core->check_open(); !open.ok()) return open;
    const Result<ReadPlace> at = read_place(*state_, listing.snapshot);
    if (!at.ok()) return at.status();
    return list_blob_page(at->view, at->container, listing, state_->core->backend().time());
  });
}

}  // namespace varve

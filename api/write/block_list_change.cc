// Owns: the commit of a list of blocks (block_list_change.h).
// Must never: count an owner that the list does not have.
#include "api/write/block_list_change.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "api/model/service_error.h"
#include "api/read/blob_read.h"
#include "api/write/blob_checks.h"
#include "engine/read/cursor.h"
#include "format/bytes/crc64.h"
#include "varve/limits.h"

namespace varve {
namespace {

Status no_such_block() {
  return Status::invalid_argument("the list names a block that is not there").with_service_error("InvalidBlockList");
}

Status too_long() {
  return service_error::request_body_too_large("the blocks of the list have more bytes than a blob may have");
}

/// One attempt to commit a list.
class BlockListCommit {
 public:
  BlockListCommit(std::string_view name, std::span<const BlockChoice> choices, const BlobWriteOptions& options)
      : name_(name), choices_(choices), options_(options) {}

  Status plan(const Container::State& container, const ResolvedTable& at, BlobPlan& plan) {
    Result<StagedBlocks> staged = read_staged_blocks(at.view, at.id, name_);
    if (!staged.ok()) return staged.status();
    staged_ = *std::move(staged);
    const Result<std::optional<FoundBlob>> blob = find_blob(at.view, at.id, name_);
    if (!blob.ok()) return blob.status();
    row_version_ = *blob ? (*blob)->version : 0;
    std::vector<ListEntry> committed;
    if (*blob && (*blob)->row.is_list) {
      Result<std::vector<ListEntry>> entries =
          read_list(at.view, contents_of(at.id), (*blob)->row.pieces.front().content);
      if (!entries.ok()) return entries.status();
      committed = *std::move(entries);
    }
    chosen_ = choose(committed);
    if (!chosen_.ok()) use_nothing();
    list_ = container.core->backend().draw_tick();
    contents_ = contents_of(at.id);
    for (const auto& [content, owners] : owners_) plan.contents.push_back(content);
    if (!staged_.blocks.empty()) plan.locks.push_back(staged_block_key(at.id, staged_.generation, {}));
    plan.locks.push_back(content_head_key(contents_, list_));
    plan.fill = [this](format::BatchBuilder& batch) { add_list(batch); };
    plan.bytes = entries_.size() * sizeof(ListEntry);
    return Status();
  }

  Refusal judge(BlobDraft& draft) const {
    const Result<Lease> lease = admit_replacement(draft.row, options_.conditions, draft.now);
    if (!lease.ok()) return draft.refuse(lease.status());
    if (draft.row && draft.row->kind != BlobKind::kBlock) return draft.refuse(wrong_kind(name_, draft.row->kind));
    const bool is_staged_other = draft.staged ? draft.staged_rests_on != staged_.version : staged_.version != 0;
    if (is_staged_other) return plan_again(draft.staged_rests_on);
    const bool is_row_other = draft.row ? draft.rests_on != row_version_ : row_version_ != 0;
    if (uses_committed_ && is_row_other) return plan_again(draft.rests_on);
    if (!chosen_.ok()) return {chosen_, std::max(draft.rests_on, draft.staged_rests_on)};
    for (const auto& [content, owners] : owners_) draft.owners.add(content, owners);
    BlobRow row = new_blob_row(BlobKind::kBlock, options_);
    row.lease = *lease;
    row.length = length_;
    row.is_list = !entries_.empty();
    if (row.is_list) row.pieces = {{list_, length_}};
    const Result<std::optional<std::uint64_t>> crc64 = crc64_of_all(draft);
    if (!crc64.ok()) return crc64.status();
    row.crc64 = *crc64;
    draft.replace(std::move(row));
    take_staged(draft);
    return {};
  }

 private:
  /// Returns the fault of the list. The lease and the conditions are judged before it (BC-05).
  Status choose(const std::vector<ListEntry>& committed) {
    entries_.clear();
    sums_.clear();
    owners_.clear();
    used_.assign(staged_.blocks.size(), false);
    uses_committed_ = false;
    length_ = 0;
    std::map<std::string_view, const ListEntry*> by_id;
    for (const ListEntry& entry : committed) by_id.emplace(entry.id, &entry);
    for (const BlockChoice& choice : choices_) {
      if (choice.from != BlockChoice::From::kCommitted && choose_staged(choice.id)) continue;
      if (choice.from == BlockChoice::From::kStaged) return no_such_block();
      uses_committed_ = true;
      const auto found = by_id.find(choice.id);
      if (found == by_id.end()) return no_such_block();
      ++owners_[found->second->content];
      add(choice.id, {found->second->content, found->second->length});
    }
    if (length_ > limits::kBlobBytesMax) return too_long();
    for (const ListEntry& entry : entries_) {
      if (entry.id.size() == entries_.front().id.size()) continue;
      return Status::invalid_argument("the block ids of one blob have one length")
          .with_service_error("InvalidBlobOrBlock");
    }
    return Status();
  }

  void use_nothing() {
    entries_.clear();
    sums_.clear();
    owners_.clear();
    length_ = 0;
  }

  /// Returns false if no such block is staged. Its first place in the list takes the owner over from the stage.
  bool choose_staged(const std::string& id) {
    const auto found =
        std::lower_bound(staged_.blocks.begin(), staged_.blocks.end(), id,
                         [](const StagedBlocks::Block& block, const std::string& wanted) { return block.id < wanted; });
    if (found == staged_.blocks.end() || found->id != id) return false;
    const auto index = static_cast<std::size_t>(found - staged_.blocks.begin());
    if (used_[index]) ++owners_[found->piece.content];
    used_[index] = true;
    add(id, found->piece);
    sums_.back() = found->crc64;
    return true;
  }

  void add(const std::string& id, const ContentPiece& piece) {
    entries_.push_back({length_, piece.content, piece.length, id});
    sums_.emplace_back();
    length_ += piece.length;
  }

  /// Joins the CRC-64s of the blocks. Those of committed ones are in their heads, which get more owners. Returns nothing if
  /// a block of an earlier build has none.
  Result<std::optional<std::uint64_t>> crc64_of_all(const BlobDraft& draft) const {
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      std::optional<std::uint64_t> crc64 = sums_[i];
      if (!crc64 && draft.owners.is_planned(entries_[i].content)) {
        const engine::Newest& state = draft.owners.head_of(entries_[i].content, draft.heads);
        if (!state.value) return std::optional<std::uint64_t>();  // settle() reports it.
        const Result<ContentHead> head = decode_content_head(*state.value);
        if (!head.ok()) return head.status();
        crc64 = head->crc64;
      }
      if (!crc64) return std::optional<std::uint64_t>();
      all = format::joined_crc64(all, *crc64, entries_[i].length);
    }
    return std::optional(all);
  }

  void add_list(format::BatchBuilder& batch) const {
    if (entries_.empty()) return;
    batch.put(content_head_key(contents_, list_), encode_content_head({ContentKind::kList, 1, entries_.size(), {}}));
    for (std::size_t first = 0; first < entries_.size(); first += kListEntriesOfPart) {
      const std::size_t count = std::min(kListEntriesOfPart, entries_.size() - first);
      const std::string bytes = encode_list_entries(std::span(entries_).subspan(first, count));
      batch.put(content_part_key(contents_, list_, first), encode_part(list_, first, bytes));
    }
  }

  /// Removes the rows of the used blocks, and leaves the others to be discarded.
  void take_staged(BlobDraft& draft) const {
    if (!draft.staged) return;
    for (std::size_t i = 0; i < used_.size(); ++i) {
      if (used_[i]) draft.batch.remove(staged_block_key(draft.container, staged_.generation, staged_.blocks[i].id));
    }
    const bool are_all_used = std::find(used_.begin(), used_.end(), false) == used_.end();
    if (are_all_used) {
      draft.end_staged();
    } else {
      draft.discard_staged();
    }
  }

  const std::string_view name_;
  const std::span<const BlockChoice> choices_;
  const BlobWriteOptions& options_;
  StagedBlocks staged_;
  std::vector<bool> used_;
  format::CommitVersion row_version_ = 0;
  Status chosen_;
  bool uses_committed_ = false;
  std::vector<ListEntry> entries_;
  std::vector<std::optional<std::uint64_t>> sums_;  // of the entries
  std::map<ContentId, std::int64_t> owners_;
  std::uint64_t length_ = 0;
  ContentId list_ = 0;
  format::TableId contents_ = 0;
};

}  // namespace

Result<std::uint32_t> count_staged_blocks(const engine::ReadView& view, format::TableId container,
                                          std::string_view blob) {
  const auto found = view.get(staged_list_key(container, blob));
  if (!found.ok()) return found.status();
  if (!*found) return std::uint32_t{0};
  const Result<StagedList> list = decode_staged_list((*found)->value);
  if (!list.ok()) return list.status();
  return list->count;
}

Result<StagedBlocks> read_staged_blocks(const engine::ReadView& view, format::TableId container,
                                        std::string_view blob) {
  StagedBlocks staged;
  const auto found = view.get(staged_list_key(container, blob));
  if (!found.ok()) return found.status();
  if (!*found) return staged;
  const Result<StagedList> list = decode_staged_list((*found)->value);
  if (!list.ok()) return list.status();
  staged.generation = list->generation;
  staged.version = (*found)->version;
  const std::string prefix = staged_blocks_prefix(container, list->generation);
  engine::Cursor rows = view.cursor(prefix, format::end_of_prefix(prefix));
  for (rows.seek_to_first(); rows.valid(); rows.next()) {
    Result<std::string> id = decode_staged_key(rows.key());
    if (!id.ok()) return id.status();
    const Result<StagedBlock> block = decode_staged_block(rows.value());
    if (!block.ok()) return block.status();
    staged.blocks.push_back({*std::move(id), block->piece, block->crc64});
  }
  if (!rows.status().ok()) return rows.status();
  // In keys they are base64, which sorts otherwise.
  std::sort(staged.blocks.begin(), staged.blocks.end(),
            [](const StagedBlocks::Block& a, const StagedBlocks::Block& b) { return a.id < b.id; });
  return staged;
}

Result<BlobState> commit_block_list(const Container::State& container, std::string_view blob,
                                    std::span<const BlockChoice> blocks, const BlobWriteOptions& options,
                                    Durability durability) {
  BlockListCommit list(blob, blocks, options);
  BlobVerb verb;
  verb.name = blob;
  verb.durability = durability;
  verb.plan = [&](const ResolvedTable& at, const BlobRow* /*row*/, BlobPlan& plan) {
    return list.plan(container, at, plan);
  };
  verb.judge = [&](BlobDraft& draft) { return list.judge(draft); };
  return commit_blob(container, verb);
}

}  // namespace varve

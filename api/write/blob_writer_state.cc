// Owns: the commits that end a writer (blob_writer_state.h).
// Must never: stage a block in a list that was committed or discarded meanwhile.
#include "api/write/blob_writer_state.h"

#include "api/blob/left_work.h"
#include "api/catalog/work_rows.h"
#include "api/model/service_error.h"
#include "api/write/blob_checks.h"
#include "varve/limits.h"

namespace varve {
namespace {

/// The staging of one block, as it is planned and judged.
class BlockStaging {
 public:
  explicit BlockStaging(const BlobWriter::State& writer) noexcept : writer_(writer) {}

  Status plan(const ResolvedTable& at, BlobPlan& plan) {
    const auto found = at.view.get(staged_list_key(at.id, writer_.name));
    if (!found.ok()) return found.status();
    is_first_ = !*found;
    planned_at_ = writer_.container->core->backend().draw_tick();
    generation_ = planned_at_;
    if (*found) {
      const Result<StagedList> list = decode_staged_list((*found)->value);
      if (!list.ok()) return list.status();
      generation_ = list->generation;
    }
    block_key_ = staged_block_key(at.id, generation_, *writer_.block_id);
    const auto before = at.view.get(block_key_);
    if (!before.ok()) return before.status();
    if (*before) {
      const Result<StagedBlock> block = decode_staged_block((*before)->value);
      if (!block.ok()) return block.status();
      plan.contents.push_back(block->piece.content);
    }
    plan.keys.push_back(block_key_);
    if (is_first_) plan.locks.push_back(expiry_key());
    return writer_.content.add_to(at.id, plan);
  }

  Refusal judge(BlobDraft& draft) const {
    if (draft.row) {
      const Status admitted = admit_write(draft.row->lease, writer_.options.conditions.lease, draft.now, Leased::kBlob);
      if (!admitted.ok()) return draft.refuse(admitted);
      if (draft.row->kind != BlobKind::kBlock) return draft.refuse(wrong_kind(writer_.name, draft.row->kind));
    }
    if (draft.staged ? draft.staged->generation != generation_ : !is_first_) return plan_again(draft.staged_rests_on);
    const auto id_bytes = static_cast<std::uint32_t>(writer_.block_id->size());
    StagedList list = draft.staged.value_or(StagedList{generation_, 0, id_bytes, 0});
    if (list.id_bytes != id_bytes) return {other_length(list.id_bytes), draft.staged_rests_on};
    const engine::Newest& before = draft.others[0];
    if (before.value) {
      const Result<StagedBlock> block = decode_staged_block(*before.value);
      if (!block.ok()) return block.status();
      if (!draft.owners.is_planned(block->piece.content)) return plan_again(before.version);
      draft.owners.add(block->piece.content, -1);
    } else if (++list.count > limits::kStagedBlocksMax) {
      return {too_many(), draft.staged_rests_on};
    }
    list.last = draft.now;
    draft.batch.put(block_key_, encode_staged_block({writer_.content.piece(), writer_.content.crc64()}));
    draft.batch.put(staged_list_key(draft.container, writer_.name), encode_staged_list(list));
    if (is_first_) draft.batch.put(expiry_key(), encode_expiry({draft.container, writer_.name}));
    return {};
  }

 private:
  std::string expiry_key() const { return work_key({WorkKind::kExpiry, planned_at_, generation_}); }
  static Status other_length(std::uint32_t bytes) {
    return Status::invalid_argument("the block ids of one blob have one length; the others have " +
                                    std::to_string(bytes) + " bytes")
        .with_service_error("InvalidBlobOrBlock");
  }
  static Status too_many() {
    return Status(Code::kConflict, "100000 blocks are staged under this name; commit or discard them")
        .with_service_error("BlockCountExceedsLimit");
  }

  const BlobWriter::State& writer_;
  std::uint64_t generation_ = 0;
  Ticks planned_at_ = 0;
  bool is_first_ = false;
  std::string block_key_;
};

}  // namespace

Status BlobWriter::State::check_usable() const {
  if (Status writable = container->core->check_writable(); !writable.ok()) return writable;
  if (is_over) return service_error::invalid_input("the writer has published its content; begin another one");
  return content.check();
}

BlobVerb publication_of(BlobWriter::State& writer) {
  writer.content.end();
  const Guid copy_id = writer.options.source_address.empty() ? Guid() : Guid::random();
  BlobVerb verb;
  verb.name = writer.name;
  verb.durability = writer.durability();
  verb.plan = [&writer](const ResolvedTable& at, const BlobRow* /*row*/, BlobPlan& plan) {
    return writer.content.add_to(at.id, plan);
  };
  verb.judge = [&writer, copy_id](BlobDraft& draft) -> Refusal {
    const Result<Lease> lease = admit_replacement(draft.row, writer.options.conditions, draft.now);
    if (!lease.ok()) return draft.refuse(lease.status());
    BlobRow row = new_blob_row(BlobKind::kBlock, writer.options);
    row.lease = *lease;
    writer.content.give_to(row);
    if (!writer.options.source_address.empty()) {
      row.copy_source = writer.options.source_address;
      row.copy_id = copy_id;
      row.copied = draft.now;
    }
    draft.replace(std::move(row));
    draft.discard_staged();
    return {};
  };
  return verb;
}

Result<BlobState> publish_written_blob(BlobWriter::State& writer) {
  Result<BlobState> written = commit_blob(*writer.container, publication_of(writer));
  if (written.ok()) writer.content.has_owner();
  return written;
}

Result<BlobState> stage_written_block(BlobWriter::State& writer) {
  if (writer.content.length() == 0) return service_error::invalid_header_value("a block has at least one byte");
  writer.content.end();
  BlockStaging staging(writer);
  BlobVerb verb;
  verb.name = writer.name;
  verb.durability = writer.durability();
  verb.plan = [&](const ResolvedTable& at, const BlobRow* /*row*/, BlobPlan& plan) { return staging.plan(at, plan); };
  verb.judge = [&](BlobDraft& draft) { return staging.judge(draft); };
  BlobState state;
  state.name = writer.name;
  state.length = writer.content.length();
  if (Status written = commit_blob(*writer.container, verb).status(); !written.ok()) return written;
  writer.content.has_owner();
  return state;
}

}  // namespace varve

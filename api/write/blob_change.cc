// Owns: the attempts to commit a change of a blob (blob_change.h).
// Must never: hold a lock while it plans.
#include "api/write/blob_change.h"

#include <algorithm>
#include <utility>

#include "api/catalog/row_change.h"
#include "api/catalog/work_rows.h"
#include "api/model/service_error.h"

namespace varve {
namespace {

/// The first two keys of each change: the rows of the name.
constexpr std::size_t kOwnKeys = 2;

bool has_piece(const std::optional<BlobRow>& row, ContentId content) {
  return row && std::any_of(row->pieces.begin(), row->pieces.end(),
                            [content](const ContentPiece& piece) { return piece.content == content; });
}

struct Attempt {
  WrittenBlob written;
  bool has_work = false;
};

Status read_states(BlobDraft& draft, std::span<const engine::Newest> states) {
  const engine::Newest& row = states[0];
  const engine::Newest& list = states[1];
  draft.rests_on = row.version;
  draft.staged_rests_on = list.version;
  if (row.value) {
    Result<BlobRow> decoded = decode_blob_row(row.version, *row.value);
    if (!decoded.ok()) return decoded.status();
    draft.row = *std::move(decoded);
  }
  if (list.value) {
    const Result<StagedList> decoded = decode_staged_list(*list.value);
    if (!decoded.ok()) return decoded.status();
    draft.staged = *decoded;
  }
  return Status();
}

/// An attempt, planned by the state of a view that is gone.
struct PlannedAttempt {
  format::TableId container = 0;
  BlobPlan plan;
};

Result<PlannedAttempt> plan_attempt(const Container::State& container, const BlobVerb& verb) {
  const Result<ResolvedTable> at = container.resolve();
  if (!at.ok()) return at.status();
  PlannedAttempt planned;
  planned.container = at->id;
  const auto found = at->view.get(blob_row_key(at->id, verb.name));
  if (!found.ok()) return found.status();
  std::optional<BlobRow> row;
  if (*found) {
    Result<BlobRow> decoded = decode_blob_row((*found)->version, (*found)->value);
    if (!decoded.ok()) return decoded.status();
    row = *std::move(decoded);
    for (const ContentPiece& piece : row->pieces) planned.plan.contents.push_back(piece.content);
  }
  if (!verb.plan) return planned;
  if (Status made = verb.plan(*at, row ? &*row : nullptr, planned.plan); !made.ok()) return made;
  return planned;
}

Result<Attempt> attempt(const Container::State& container, const BlobVerb& verb, PlannedAttempt planned) {
  Backend& backend = container.core->backend();
  const format::TableId id = planned.container;
  BlobPlan& plan = planned.plan;
  const std::string row_key = blob_row_key(id, verb.name);
  const std::string list_key = staged_list_key(id, verb.name);
  ContentOwners owners(contents_of(id), std::move(plan.contents));
  const std::size_t heads = owners.keys().size();
  std::vector<std::string> keys{row_key, list_key};
  keys.insert(keys.end(), owners.keys().begin(), owners.keys().end());
  keys.insert(keys.end(), plan.keys.begin(), plan.keys.end());
  Attempt result;
  RowChange change(std::move(keys), [&](const auto& view, auto states, format::BatchBuilder& batch) -> Refusal {
    BlobDraft draft{
        view,   backend.time(), id, verb.name, states.subspan(kOwnKeys + heads), states.subspan(kOwnKeys, heads),
        owners, batch};
    if (Status read = read_states(draft, states); !read.ok()) return read;
    for (const ContentPiece& piece : draft.row ? draft.row->pieces : std::vector<ContentPiece>()) {
      if (!owners.is_planned(piece.content)) return plan_again(draft.rests_on);
    }
    if (Refusal refusal = verb.judge(draft); refusal.is_refused()) return refusal;
    const Result<bool> settled = owners.settle(states.subspan(kOwnKeys, heads), batch);
    if (!settled.ok()) return settled.status();
    result.has_work = *settled || draft.leaves_work;
    if (draft.next && verb.wants_state) result.written.state = state_of(verb.name, *draft.next, 0, draft.now);
    result.written.row = std::move(draft.next);
    return {};
  });
  for (const std::string& lock : plan.locks) change.lock(format::partition_of(lock));
  if (plan.fill) plan.fill(change.batch());
  change.paced_bytes = plan.bytes + row_key.size();
  change.request.tables = {id, fence_of(id), contents_of(id)};
  change.request.tables.insert(change.request.tables.end(), plan.tables.begin(), plan.tables.end());
  change.request.durability = verb.durability;
  const Result<engine::CommitVersion> version = commit(backend, change);
  if (!version.ok()) return version.status();
  result.written.version = *version;
  if (result.written.row) stamp(result.written.state, *result.written.row, *version);
  return result;
}

/// Returns whether another attempt may succeed.
bool may_go_on(const Status& status) noexcept {
  return service_error::is_table_gone(status) || (status.code() == Code::kConflict && status.service_error().empty());
}

}  // namespace

void BlobDraft::replace(BlobRow with) {
  if (row) {
    for (const ContentPiece& piece : row->pieces) {
      if (!has_piece(with, piece.content)) owners.add(piece.content, -1);
    }
  }
  batch.put(blob_row_key(container, name), encode_blob_row(with));
  next = std::move(with);
}

void BlobDraft::remove() {
  for (const ContentPiece& piece : row->pieces) owners.add(piece.content, -1);
  batch.remove(blob_row_key(container, name));
}

void BlobDraft::discard_staged() {
  if (!staged) return;
  end_staged();
  batch.put(work_key({WorkKind::kStaged, staged->generation, container}), encode_work());
  leaves_work = true;
}

void BlobDraft::end_staged() {
  batch.remove(staged_list_key(container, name));
  batch.remove(work_key({WorkKind::kExpiry, staged->generation, staged->generation}));
}

Refusal plan_again(engine::CommitVersion rests_on) {
  return {Status(Code::kConflict, "the blob was changed meanwhile"), rests_on};
}

Result<WrittenBlob> commit_blob(const Container::State& container, const BlobVerb& verb) {
  for (;;) {
    Result<PlannedAttempt> planned = plan_attempt(container, verb);
    Result<Attempt> done = planned.ok() ? attempt(container, verb, *std::move(planned)) : planned.status();
    if (done.ok()) {
      if (done->has_work) container.core->wake_blob_keeper();
      return std::move(done->written);
    }
    if (!may_go_on(done.status())) return done.status();
  }
}

}  // namespace varve

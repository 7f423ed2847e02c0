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

/// The contents of the row whose heads the verb needs.
std::span<const ContentPiece> touched(const std::vector<ContentPiece>& pieces, BlobVerb::Touches touches) noexcept {
  const std::span<const ContentPiece> all(pieces);
  if (touches == BlobVerb::Touches::kAll || all.empty()) return all;
  return touches == BlobVerb::Touches::kLast ? all.last(1) : all.first(0);
}

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

/// Returns whether another attempt may succeed.
bool may_go_on(const Status& status) noexcept {
  return service_error::is_table_gone(status) || asks_for_another_plan(status);
}

/// Returns the failure, or Ok if another attempt may succeed, because the name of the container has another id now. After
/// the drop of an account, flushes remove its rows in any order, so a verb that was planned before may miss some of them.
Status explained(const Status& failure, const Container::State& container, format::TableId planned) {
  if (failure.code() != Code::kCorruption) return failure;
  const Result<format::TableId> now = container.present_id();
  if (now.code() == Code::kNotFound || now.code() == Code::kBusy) return now.status();
  return now.ok() && *now != planned ? Status() : failure;
}

/// The view ends here: none is held while the attempt waits or commits.
Result<BlobAttempt> plan_in_view(const Container::State& container, const BlobVerb& verb) {
  const Result<ResolvedTable> at = container.resolve();
  if (!at.ok()) return at.status();
  return BlobAttempt::make(*at, verb);
}

/// Commits the attempt. `has_work` becomes whether it left work to do. The result is made before the commit:
/// after it nothing may fail.
Result<BlobState> commit_attempt(Backend& backend, BlobAttempt& planned, const BlobVerb& verb, bool& has_work) {
  ContentOwners owners(contents_of(planned.container()), planned.contents());
  const std::size_t own = planned.keys().size();
  std::vector<std::string> keys = planned.keys();
  keys.insert(keys.end(), owners.keys().begin(), owners.keys().end());
  BlobState state;
  RowChange change(std::move(keys), [&](const auto& view, auto states, format::BatchBuilder& batch) -> Refusal {
    const auto heads = states.subspan(own);
    const Ticks now = backend.time();
    Refusal refusal = planned.judge({view, now, states.first(own), heads, owners, batch});
    if (refusal.is_refused()) return refusal;
    const Result<bool> settled = owners.settle(heads, batch);
    if (!settled.ok()) return settled.status();
    has_work = *settled || planned.leaves_work();
    if (planned.next()) state = state_of(verb.name, *planned.next(), 0, now);
    return {};
  });
  for (const std::string& lock : planned.locks()) change.lock(format::partition_of(lock));
  planned.fill(change.batch());
  change.paced_bytes = planned.bytes();
  change.request.tables = planned.tables();
  change.request.durability = verb.durability;
  const Result<engine::CommitVersion> version = commit(backend, change);
  if (!version.ok()) return version.status();
  complete_state(state, *version);
  return state;
}

}  // namespace

Result<BlobAttempt> BlobAttempt::make(const ResolvedTable& at, const BlobVerb& verb) {
  BlobAttempt attempt(at.id, verb);
  attempt.keys_ = {blob_row_key(at.id, verb.name), staged_list_key(at.id, verb.name)};
  const auto found = at.view.get(attempt.keys_.front());
  if (!found.ok()) return found.status();
  std::optional<BlobRow> row;
  if (*found) {
    Result<BlobRow> decoded = decode_blob_row((*found)->version, (*found)->value);
    if (!decoded.ok()) return decoded.status();
    row = *std::move(decoded);
    for (const ContentPiece& piece : touched(row->pieces, verb.touches)) {
      attempt.plan_.contents.push_back(piece.content);
    }
  }
  if (verb.plan) {
    if (Status planned = verb.plan(at, row ? &*row : nullptr, attempt.plan_); !planned.ok()) return planned;
  }
  attempt.keys_.insert(attempt.keys_.end(), attempt.plan_.keys.begin(), attempt.plan_.keys.end());
  return attempt;
}

std::vector<format::TableId> BlobAttempt::tables() const {
  std::vector<format::TableId> ids{container_, fence_of(container_), contents_of(container_)};
  ids.insert(ids.end(), plan_.tables.begin(), plan_.tables.end());
  return ids;
}

Refusal BlobAttempt::judge(const States& states) {
  BlobDraft draft{states.view,  states.now,    container_,  verb_->name, states.own.subspan(kOwnKeys),
                  states.heads, states.owners, states.batch};
  if (Status read = read_states(draft, states.own); !read.ok()) return read;
  if (draft.row) {
    for (const ContentPiece& piece : touched(draft.row->pieces, verb_->touches)) {
      if (!states.owners.is_planned(piece.content)) return plan_again(draft.rests_on);
    }
  }
  changes_append_blob_ = draft.row && draft.row->kind == BlobKind::kAppend;
  if (Refusal refusal = verb_->judge(draft); refusal.is_refused()) return refusal;
  next_ = std::move(draft.next);
  leaves_work_ = draft.leaves_work;
  return {};
}

void BlobDraft::replace(BlobRow with) {
  if (row) {
    std::size_t kept = 0;  // A blob that grows keeps all of many pieces.
    while (kept < row->pieces.size() && kept < with.pieces.size() &&
           row->pieces[kept].content == with.pieces[kept].content) {
      ++kept;
    }
    for (; kept < row->pieces.size(); ++kept) {
      if (!has_piece(with, row->pieces[kept].content)) owners.add(row->pieces[kept].content, -1);
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

bool asks_for_another_plan(const Status& status) noexcept {
  return status.code() == Code::kConflict && status.service_error().empty();
}

Result<BlobState> commit_blob(const Container::State& container, const BlobVerb& verb) {
  for (;;) {
    Result<BlobAttempt> planned = plan_in_view(container, verb);
    if (!planned.ok()) return planned.status();
    bool has_work = false;
    Result<BlobState> written = commit_attempt(container.core->backend(), *planned, verb, has_work);
    if (written.ok() && has_work) container.core->wake_blob_keeper();
    if (written.ok()) {
      planned->wake_followers(container.core->followers());
      return written;
    }
    if (may_go_on(written.status())) continue;
    const Status failure = explained(written.status(), container, planned->container());
    if (!failure.ok()) return failure;
  }
}

}  // namespace varve

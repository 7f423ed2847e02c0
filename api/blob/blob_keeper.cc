// Owns: the walks over work rows (blob_keeper.h).
// Must never: hold back a commit of a user: it is not paced, but a part of it is small.
#include "api/blob/blob_keeper.h"

#include <new>
#include <optional>
#include <unordered_set>
#include <utility>

#include "api/blob/left_work.h"
#include "api/catalog/catalog_rows.h"
#include "api/model/service_error.h"
#include "engine/read/cursor.h"
#include "format/keys/sort_key.h"

namespace varve {
namespace {

/// Rows of work of which one walk does a part each.
constexpr std::size_t kWorkAtOnce = 16;

Result<std::unordered_set<std::uint32_t>> read_accounts(const engine::ReadView& view) {
  std::unordered_set<std::uint32_t> numbers;
  const std::string prefix = format::encode_table(kAccountsTable);
  engine::Cursor rows = view.cursor(prefix, format::end_of_prefix(prefix));
  for (rows.seek_to_first(); rows.valid(); rows.next()) {
    const Result<AccountRow> row = decode_account_row({}, rows.version(), rows.value());
    if (!row.ok()) return row.status();
    numbers.insert(row->number);
  }
  if (!rows.status().ok()) return rows.status();
  return numbers;
}

/// Returns the number of the account that a piece of work belongs to. An expiry may belong to any.
std::optional<std::uint32_t> account_of(const Work& work) noexcept {
  switch (work.kind) {
    case WorkKind::kFilling:
    case WorkKind::kLeaving: return static_cast<std::uint32_t>(work.owner);
    case WorkKind::kStaged:
    case WorkKind::kContainer:
    case WorkKind::kTable: return format::account_of(work.owner);
    case WorkKind::kExpiry: break;
  }
  return std::nullopt;
}

bool is_overtaken(const Status& status) noexcept {
  return status.code() == Code::kConflict || service_error::is_table_gone(status);
}

}  // namespace

void BlobKeeper::begin() noexcept {
  if (!has_begun_.exchange(true, std::memory_order_relaxed)) seat_.wake();
}

void BlobKeeper::begin_if_work_was_left() noexcept {
  if (may_have_work()) begin();
}

/// If the look fails, the walk finds out.
bool BlobKeeper::may_have_work() const noexcept {
  try {
    const engine::ReadView view = backend_.view();
    const std::string prefix = format::encode_table(kWorkTable);
    engine::Cursor rows = view.cursor(prefix, format::end_of_prefix(prefix));
    rows.seek_to_first();
    return rows.valid() || !rows.status().ok();
  } catch (const std::bad_alloc&) {
    return true;
  }
}

engine::BackgroundPool::Pause BlobKeeper::work(bool /*is_due*/) noexcept {
  try {
    if (walk()) return std::chrono::nanoseconds(0);
  } catch (const std::bad_alloc&) {
    // The next round does what this one could not.
  }
  next_.clear();
  has_done_ = false;
  accounts_.clear();
  return kRest;
}

bool BlobKeeper::walk() {
  LeftWork left(backend_, board_);
  for (const Due& each : gather()) {
    const Result<bool> done = each.is_live ? left.do_part(each.work, each.value) : left.forget(each.work);
    if (done.ok()) has_done_ = has_done_ || *done;
    if (service_error::is_table_gone(done.status())) accounts_.clear();
    if (!done.ok() && !is_overtaken(done.status())) note(done.status());
  }
  if (!next_.empty()) return true;
  end_round();
  return std::exchange(has_done_, false);
}

std::vector<BlobKeeper::Due> BlobKeeper::gather() {
  const engine::ReadView view = backend_.view();
  const std::string prefix = format::encode_table(kWorkTable);
  engine::Cursor rows = view.cursor(prefix, format::end_of_prefix(prefix));
  std::vector<Due> due;
  for (rows.seek(next_.empty() ? prefix : next_); rows.valid(); rows.next()) {
    next_ = rows.key();
    if (due.size() == kWorkAtOnce) return due;
    const Result<Work> work = decode_work_key(rows.key());
    // Expiries come last, in the order of their times.
    if (work.ok() && work->kind == WorkKind::kExpiry && work->subject + kStagedTime > backend_.time()) break;
    const Status added =
        work.ok() ? add_due(view, {std::string(rows.key()), *work, std::string(rows.value())}, due) : work.status();
    if (!added.ok()) note(added);
  }
  next_.clear();
  if (!rows.status().ok()) note(rows.status());
  return due;
}

Status BlobKeeper::add_due(const engine::ReadView& view, Due row, std::vector<Due>& due) {
  if (const std::optional<std::uint32_t> account = account_of(row.work)) {
    const Result<bool> live = is_live(view, *account);
    if (!live.ok()) return live.status();
    row.is_live = *live;
  }
  due.push_back(std::move(row));
  return Status();
}

Result<bool> BlobKeeper::is_live(const engine::ReadView& view, std::uint32_t account) {
  if (accounts_.count(account) != 0) return true;
  Result<std::unordered_set<std::uint32_t>> numbers = read_accounts(view);
  if (!numbers.ok()) return numbers.status();
  accounts_ = *std::move(numbers);
  return accounts_.count(account) != 0;
}

void BlobKeeper::note(const Status& failure) {
  if (failure_.ok()) failure_ = failure;
}

void BlobKeeper::end_round() {
  const Status failure = std::exchange(failure_, Status());
  if (failure.ok()) return logged_.clear();
  std::string text = failure.to_string();
  if (text == logged_) return;
  engine::log_failure(&events_, "a part of the removal of blobs failed, and will be tried again", failure);
  logged_ = std::move(text);
}

}  // namespace varve

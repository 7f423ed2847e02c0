// Owns: the walks over work rows (blob_keeper.h).
// Must never: hold back a commit of a user: a part is small, and while users are paced there are few.
#include "api/blob/blob_keeper.h"

#include <new>
#include <optional>
#include <unordered_set>
#include <utility>

#include "api/blob/row_walk.h"
#include "api/catalog/catalog_rows.h"
#include "api/model/service_error.h"
#include "engine/read/cursor.h"
#include "format/keys/sort_key.h"

namespace varve {
namespace {

/// Rows of work of which one walk does a part each.
constexpr std::size_t kWorkAtOnce = 16;

struct AccountsRead {
  std::unordered_set<std::uint32_t> numbers;
  Status failure;  // of the first row that cannot be decoded
};

Result<AccountsRead> read_accounts(const engine::ReadView& view) {
  AccountsRead read;
  const std::string prefix = format::encode_table(kAccountsTable);
  engine::Cursor rows = view.cursor(prefix, format::end_of_prefix(prefix));
  for (rows.seek_to_first(); rows.valid(); rows.next()) {
    const Result<AccountRow> row = decode_account_row({}, rows.version(), rows.value());
    if (row.ok()) read.numbers.insert(row->number);
    if (!row.ok() && read.failure.ok()) read.failure = row.status();
  }
  if (!rows.status().ok()) return rows.status();
  return read;
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
  if (has_begun_.load(std::memory_order_relaxed)) return;  // Each use of a container asks, on all processors.
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

/// A wake-up does not put off the end of the rest.
BlobKeeper::Pause BlobKeeper::rest_while_paced() noexcept {
  if (std::exchange(rests_while_paced_, true)) return std::nullopt;
  return kRestWhilePaced;
}

BlobKeeper::Pause BlobKeeper::work(bool is_due) noexcept {
  pins_.release_idle();
  if (!is_due && backend_.is_pacing()) return rest_while_paced();
  rests_while_paced_ = false;
  try {
    if (walk()) return backend_.is_pacing() ? rest_while_paced() : std::chrono::nanoseconds(0);
  } catch (const std::bad_alloc&) {
    // The next round does what this one could not.
  }
  next_.clear();
  has_done_ = false;
  gone_.clear();
  read_accounts_again();
  left_.begin_again();
  return kRest;
}

bool BlobKeeper::walk() {
  for (const Due& each : gather()) {
    Status damage;
    const Result<bool> done = each.is_live ? left_.do_part(each.work, each.value, damage) : left_.forget(each.work);
    if (!damage.ok()) note(damage);
    if (done.ok()) has_done_ = has_done_ || *done;
    if (service_error::is_table_gone(done.status())) read_accounts_again();
    if (!done.ok() && !is_overtaken(done.status())) note(done.status());
    if (done.code() == Code::kNoSpace) {  // The rest of the round would find no space either.
      next_.clear();
      has_done_ = false;
      break;
    }
  }
  if (!next_.empty()) return true;
  end_round();
  return std::exchange(has_done_, false);
}

std::vector<BlobKeeper::Due> BlobKeeper::gather() {
  const engine::ReadView view = backend_.view();
  const std::string prefix = format::encode_table(kWorkTable);
  RowWalk rows(view, next_.empty() ? prefix : next_, format::end_of_prefix(prefix), false);
  next_.clear();
  std::vector<Due> due;
  for (; rows.valid(); rows.next()) {
    if (due.size() == kWorkAtOnce) {
      next_ = rows.row().key();
      break;
    }
    const Result<Work> work = decode_work_key(rows.row().key());
    // Expiries come last, in the order of their times.
    if (work.ok() && work->kind == WorkKind::kExpiry && work->subject + staged_time_ > backend_.time()) break;
    const Status added =
        work.ok() ? add_due(view, {std::string(rows.row().key()), *work, std::string(rows.row().value())}, due)
                  : work.status();
    if (!added.ok()) note(added);
  }
  if (!rows.failure().ok()) note(rows.failure());
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

/// A number that is in no row may be in a row that cannot be read, so its work waits. The numbers of accounts that are
/// gone are remembered, because many rows of work may belong to one. Numbers are not used again.
Result<bool> BlobKeeper::is_live(const engine::ReadView& view, std::uint32_t account) {
  if (accounts_.count(account) != 0) return true;
  if (gone_.count(account) != 0) return false;
  if (!accounts_failure_.ok()) return accounts_failure_;
  Result<AccountsRead> read = read_accounts(view);
  if (!read.ok()) return read.status();
  accounts_ = std::move(read->numbers);
  if (accounts_.count(account) != 0) return true;
  accounts_failure_ = read->failure;
  if (!accounts_failure_.ok()) return accounts_failure_;
  gone_.insert(account);
  return false;
}

void BlobKeeper::read_accounts_again() noexcept {
  accounts_.clear();
  accounts_failure_ = Status();
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

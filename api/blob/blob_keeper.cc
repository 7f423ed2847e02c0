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

/// The accounts of a view, read when they are first asked for.
class LiveAccounts {
 public:
  explicit LiveAccounts(const engine::ReadView& view) noexcept : view_(view) {}

  Result<bool> has(std::uint32_t number) {
    if (!numbers_) {
      if (Status read = read_all(); !read.ok()) return read;
    }
    return numbers_->count(number) != 0;
  }

 private:
  Status read_all() {
    std::unordered_set<std::uint32_t> numbers;
    const std::string prefix = format::encode_table(kAccountsTable);
    engine::Cursor rows = view_.cursor(prefix, format::end_of_prefix(prefix));
    for (rows.seek_to_first(); rows.valid(); rows.next()) {
      const Result<AccountRow> row = decode_account_row({}, rows.version(), rows.value());
      if (!row.ok()) return row.status();
      numbers.insert(row->number);
    }
    if (!rows.status().ok()) return rows.status();
    numbers_ = std::move(numbers);
    return Status();
  }

  const engine::ReadView& view_;
  std::optional<std::unordered_set<std::uint32_t>> numbers_;
};

/// Returns the number of the account that a piece of work belongs to. An expiry may belong to any.
std::optional<std::uint32_t> account_of(const Work& work) noexcept {
  switch (work.kind) {
    case WorkKind::kFilling:
    case WorkKind::kLeaving: return static_cast<std::uint32_t>(work.owner);
    case WorkKind::kStaged:
    case WorkKind::kContainer: return format::account_of(work.owner);
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
    const Result<bool> found = walk();
    if (found.ok() && *found) return std::chrono::nanoseconds(0);
  } catch (const std::bad_alloc&) {
    // The next walk does what this one could not.
  }
  return kRest;
}

Result<bool> BlobKeeper::walk() {
  const engine::ReadView view = backend_.view();
  const std::string prefix = format::encode_table(kWorkTable);
  engine::Cursor rows = view.cursor(prefix, format::end_of_prefix(prefix));
  LiveAccounts accounts(view);
  LeftWork left(backend_, board_, view);
  Status failure;
  for (rows.seek_to_first(); rows.valid(); rows.next()) {
    const Result<Work> work = decode_work_key(rows.key());
    if (!work.ok()) return work.status();
    if (work->kind == WorkKind::kExpiry && work->subject + kStagedTime > backend_.time()) break;
    Result<bool> is_live = true;
    if (const std::optional<std::uint32_t> account = account_of(*work)) is_live = accounts.has(*account);
    if (!is_live.ok()) return is_live.status();
    const Result<bool> done = *is_live ? left.do_part(*work, rows.value()) : left.forget(*work);
    if (done.ok() && *done) return true;
    if (!done.ok() && !is_overtaken(done.status()) && failure.ok()) failure = done.status();
  }
  if (!rows.status().ok()) return rows.status();
  if (!failure.ok()) return failure;
  return false;
}

}  // namespace varve

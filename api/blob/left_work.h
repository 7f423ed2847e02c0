// Owns: the parts of the work that is left to do for blobs, each as one small commit (work_rows.h).
// Must never: wait for a user, or be done twice: each commit reads its work row under the row's lock.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/blob/blob_board.h"
#include "api/catalog/work_rows.h"
#include "api/commit/backend.h"
#include "varve/result.h"

namespace varve {

/// Time after which blocks that were staged and not used are discarded, unless the store was opened with another one
/// (BX-30).
inline constexpr Ticks kStagedTime = Ticks{7} * 24 * 3600 * 10'000'000;

struct RowsToRelease;

/// Each part gathers what it needs in a view of its own, and drops the view before it commits. A part tries a few commits
/// at most. One thread at a time may use it.
class LeftWork {
 public:
  /// Both outlive the object.
  LeftWork(Backend& backend, const BlobBoard& board, Ticks staged_time = kStagedTime) noexcept
      : backend_(backend), board_(board), staged_time_(staged_time) {}

  /// Does a part. Returns false if there is nothing to do yet. A row that cannot be read stays, and does not keep the
  /// rows after it. Entries of a list that cannot be read are passed over. `damage` becomes the first error of such rows
  /// and entries, unless it is an error already. Errors: those of reading and of commits; kConflict (others were faster).
  Result<bool> do_part(const Work& work, std::string_view value, Status& damage);
  /// Lets the next parts try rows again that could not be read.
  void begin_again() noexcept { passed_.clear(); }
  /// Removes the work row of an account that was dropped: nothing is left to do, and its ids were retired with it.
  Result<bool> forget(const Work& work) { return end(work, Retires::kNo); }

 private:
  /// Whether the last commit of a container or table retires its id.
  enum class Retires : std::uint8_t { kNo, kYes };
  /// Removes the work row, because nothing is left to do.
  Result<bool> end(const Work& work, Retires id);
  Result<bool> remove_rows(const Work& work);
  Result<bool> remove_leaving(const Work& work, std::uint64_t done, Status& damage);
  Result<bool> release_entries(const Work& work, std::uint64_t done, Status& damage);
  Result<bool> release_owners(const Work& work, std::uint64_t done, std::span<const ListEntry> entries);
  /// Counts entries as let go, without their contents.
  Result<bool> pass_entries(const Work& work, std::uint64_t done, std::uint64_t to);
  /// Errors: kCorruption (also a part with fewer than `least` entries), kUnsupported, those of reading.
  Result<std::vector<ListEntry>> read_entries(format::TableId contents, ContentId list, std::uint64_t part,
                                              std::size_t least);
  /// How far the rows of a piece of work were removed. The next part begins there, so it passes neither removed rows nor
  /// damaged ones again.
  struct Passed {
    std::string from;
    Status damage{};  // of the first row before `from` that stays
    bool is_over = false;
  };
  /// Removes rows of staged blocks, and with kContainer also of blobs. With kTable removes entities.
  Result<bool> release_rows(const Work& work, format::TableId container, const std::string& prefix, Status& damage);
  Result<bool> release_from(Passed& passed, const Work& work, format::TableId container, const std::string& prefix);
  Result<bool> end_rows(Passed& passed, const Work& work, const std::string& prefix);
  Result<bool> release(const Work& work, format::TableId contents, const RowsToRelease& rows, bool ends_work);
  Result<bool> expire(const Work& work, std::string_view value);

  Backend& backend_;
  const BlobBoard& board_;
  const Ticks staged_time_;
  std::unordered_map<std::string, Passed> passed_;  // by the key of the work row, for work that has begun
};

}  // namespace varve

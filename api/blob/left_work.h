// Owns: the parts of the work that is left to do for blobs, each as one small commit (work_rows.h).
// Must never: wait for a user, or be done twice: each commit reads its work row under the row's lock.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/blob/blob_board.h"
#include "api/catalog/work_rows.h"
#include "api/commit/backend.h"
#include "varve/result.h"

namespace varve {

/// Time after which blocks that were staged and not used are discarded (BX-30).
inline constexpr Ticks kStagedTime = Ticks{7} * 24 * 3600 * 10'000'000;

struct RowsToRelease;

/// Each part gathers what it needs in a view of its own, and drops the view before it commits.
class LeftWork {
 public:
  /// Both outlive the object.
  LeftWork(Backend& backend, const BlobBoard& board) noexcept : backend_(backend), board_(board) {}

  /// Does a part. Returns false if there is nothing to do yet. A row that cannot be read stays, and does not keep the
  /// rows after it: its error is returned when only such rows are left. Errors: those of reading and of commits;
  /// kConflict (others were faster).
  Result<bool> do_part(const Work& work, std::string_view value);
  /// Removes the work row, because nothing is left to do.
  Result<bool> forget(const Work& work);

 private:
  Result<bool> remove_rows(const Work& work);
  Result<bool> remove_leaving(const Work& work, std::uint64_t done);
  Result<bool> release_entries(const Work& work, std::uint64_t done);
  Result<std::vector<ListEntry>> read_entries(format::TableId contents, ContentId list, std::uint64_t part);
  /// Removes rows of staged blocks, and with kContainer also of blobs. With kTable removes entities.
  Result<bool> release_rows(const Work& work, format::TableId container, const std::string& prefix);
  Result<bool> release(const Work& work, format::TableId contents, const RowsToRelease& rows);
  Result<bool> expire(const Work& work, std::string_view value);

  Backend& backend_;
  const BlobBoard& board_;
};

}  // namespace varve

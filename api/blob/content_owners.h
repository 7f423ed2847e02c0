// Owns: the changes of contents' owners in one commit (BX-08).
// Must never: remove a content that has an owner, or leave one without an owner that no work row names.
//
// O1  The head of a content is read and written under the lock of its rows. Each commit that adds or removes a name of a
//     content also changes the head.
// O2  A plain content or a value of at most 64 parts leaves with its last owner, in that commit. Any other leaves a work
//     row, and its rows are removed in the background.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "api/blob/content_rows.h"
#include "engine/engine.h"
#include "format/keys/batch.h"
#include "format/keys/sort_key.h"
#include "varve/status.h"

namespace varve {

/// The contents whose owners a commit may change. They are known before it takes its locks.
class ContentOwners {
 public:
  /// The contents of this id; any order, and a content may be given twice.
  ContentOwners(format::TableId contents, std::vector<ContentId> planned);

  /// The keys of the heads, whose states settle() needs, and whose partitions are locked.
  const std::vector<std::string>& keys() const noexcept { return keys_; }
  bool is_planned(ContentId content) const noexcept;
  /// Returns the place of a planned content's key in keys().
  std::size_t place_of(ContentId content) const noexcept;
  /// Returns the state of a planned content's head. `heads` are the states of keys().
  const engine::Newest& head_of(ContentId content, std::span<const engine::Newest> heads) const noexcept {
    return heads[place_of(content)];
  }

  /// Notes that the commit adds or removes owners of a planned content.
  void add(ContentId content, std::int64_t owners) { changes_[content] += owners; }
  /// Adds what follows from the changes to the batch. `heads` are the states of keys(). That of a content whose owners do
  /// not change may be empty. Returns whether work is left to do. A content that lost its head by damage loses no more
  /// owners, so that what names it can be removed. Errors: kCorruption (a content that gets an owner has no head, or a
  /// content has fewer owners than it should have).
  Result<bool> settle(std::span<const engine::Newest> heads, format::BatchBuilder& batch);

 private:
  format::TableId contents_;
  std::vector<ContentId> planned_;  // ascending
  std::vector<std::string> keys_;
  std::map<ContentId, std::int64_t> changes_;
};

}  // namespace varve

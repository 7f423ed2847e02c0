// Owns: what of a damaged store could not be read, and which rows that makes doubtful.
// Must never: call a row certain that something unread may have changed or deleted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/entry.h"

namespace varve::engine {

/// A part of a file that does not verify, or is not there: the commits that may have stood in it.
struct Loss {
  /// Of the file, as it stands in the store's directory.
  std::string file;
  std::uint64_t offset = 0;
  /// Zero: how many is not known.
  std::uint64_t bytes = 0;
  std::string what;
  /// Of versions of rows, deletions included; zero: how many is not known.
  std::uint64_t entries_max = 0;
  /// Sort keys between which all that is missing lies, and which may be among it; without one there is no bound.
  std::optional<std::string> smallest_key{};
  std::optional<std::string> largest_key{};
  /// Nothing of that key that is newer than what was read is missing.
  bool excludes_smallest = false;
  bool excludes_largest = false;
  /// Commit versions between which all that is missing lies, both included.
  CommitVersion smallest_version = 0;
  CommitVersion largest_version = format::kCommitVersionMax;
  /// Rows of users' tables that were saved and may be older than they were, or deleted since.
  std::uint64_t rows_possibly_stale = 0;

  bool covers(std::string_view key) const noexcept {
    const bool behind = !smallest_key || (excludes_smallest ? *smallest_key < key : *smallest_key <= key);
    const bool before = !largest_key || (excludes_largest ? key < *largest_key : key <= *largest_key);
    return behind && before;
  }
};

/// One thread at a time.
class Losses {
 public:
  void add(Loss loss);

  /// Whether a version of this key above `version` may be missing. Keys are asked for in ascending order; what is added
  /// later lies behind those asked for already, or has them in it no more.
  bool may_hide(std::string_view key, CommitVersion version);
  /// The same, and each loss of which that is true counts a row.
  bool count_row(std::string_view key, CommitVersion version);

  bool empty() const noexcept { return all_.empty(); }
  const std::vector<Loss>& all() const noexcept { return all_; }
  std::vector<Loss> take() noexcept { return std::move(all_); }

 private:
  void close_those_before(std::string_view key);
  template <typename Visit>
  bool visit_hiding(std::string_view key, CommitVersion version, const Visit& visit);

  std::vector<Loss> all_;
  std::vector<std::size_t> open_;  // those that do not end before the last key asked for
};

}  // namespace varve::engine

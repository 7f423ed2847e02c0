// Owns: the unreadable parts of a damaged store, and the rows that they make doubtful.
// Must never: call a row certain if an unread entry may have changed or deleted it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/entry.h"

namespace varve::engine {

/// A part of a file that does not verify or is missing, and the commits that it may have contained.
struct Loss {
  /// Name of the file in the store's directory.
  std::string file;
  std::uint64_t offset = 0;
  /// Zero means that the number of bytes is unknown.
  std::uint64_t bytes = 0;
  std::string what;
  /// Limit of the lost versions of rows, deletions included. Zero means that it is unknown.
  std::uint64_t entries_max = 0;
  /// Inclusive bounds of the lost sort keys. A missing bound means no bound.
  std::optional<std::string> smallest_key{};
  std::optional<std::string> largest_key{};
  /// True if no lost entry of the bound key is newer than the version that was read.
  bool excludes_smallest = false;
  bool excludes_largest = false;
  /// Inclusive bounds of the lost commit versions.
  CommitVersion smallest_version = 0;
  CommitVersion largest_version = format::kCommitVersionMax;
  /// Number of saved rows of users' tables that may be outdated, or deleted since.
  std::uint64_t rows_possibly_stale = 0;

  bool covers(std::string_view key) const noexcept {
    const bool behind = !smallest_key || (excludes_smallest ? *smallest_key < key : *smallest_key <= key);
    const bool before = !largest_key || (excludes_largest ? key < *largest_key : key <= *largest_key);
    return behind && before;
  }
};

/// The losses of one store. One thread at a time may use it.
class Losses {
 public:
  void add(Loss loss);

  /// Returns whether a version of this key above `version` may be lost. Keys are asked in ascending order. A loss that
  /// is added later lies after the keys that were already asked, or at least no longer affects them.
  bool may_hide(std::string_view key, CommitVersion version);
  /// Like may_hide(), and counts a row for each loss that may hide one.
  bool count_row(std::string_view key, CommitVersion version);

  bool empty() const noexcept { return all_.empty(); }
  const std::vector<Loss>& all() const noexcept { return all_; }
  std::vector<Loss> take() noexcept { return std::move(all_); }

 private:
  void close_those_before(std::string_view key);
  template <typename Visit>
  bool visit_hiding(std::string_view key, CommitVersion version, const Visit& visit);

  std::vector<Loss> all_;
  std::vector<std::size_t> open_;  // the losses that do not end before the last key asked
};

}  // namespace varve::engine

// Owns: the list of goals that the race of blobs measures, and the sizes of their rows.
// Must never: need more than 12 GiB of disk for one goal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/blobs/row.h"

namespace varve::bench {

struct Sizes {
  /// Seconds for each operation of a row that runs for a time.
  double seconds = 2;
  /// Bytes of one long stream, and of each of several streams.
  /// @{
  std::uint64_t stream_bytes = std::uint64_t{1} << 30;
  std::uint64_t each_bytes = std::uint64_t{64} << 20;
  /// @}
  /// Bytes of a blob that the block cache holds.
  std::uint64_t cached_bytes = std::uint64_t{128} << 20;
  /// Bytes of the blob whose length should not matter, and of the one that it is compared with.
  /// @{
  std::uint64_t long_bytes = std::uint64_t{3} << 30;
  std::uint64_t short_bytes = std::uint64_t{256} << 20;
  /// @}
  /// Random reads of each kind in one turn.
  int reads = 200;
  /// Blobs of the large listing, and their prefixes.
  /// @{
  std::uint64_t listed = 1'000'000;
  std::uint64_t prefixes = 1'000;
  /// @}
  /// Blobs of each container that is deleted.
  std::uint64_t dropped = 200'000;
  /// Bytes of blobs before most of them are deleted.
  std::uint64_t collected_bytes = std::uint64_t{2} << 30;
  /// Entities of a table whose index is built, that is grouped, or whose half ends.
  std::uint64_t entities = 10'000'000;
  /// Entities of a table that the block cache holds.
  std::uint64_t cached_entities = 200'000;
  /// Bytes whose checksums are computed.
  std::uint64_t hashed_bytes = std::uint64_t{1} << 30;
};
/// Returns sizes at which every row runs once and no figure has a meaning.
Sizes quick_sizes();
/// Returns sizes that fit a disk with this much free space.
Sizes fitted(Sizes sizes, std::uint64_t free_bytes);

/// The place and the sizes of one goal's rows.
struct Bench {
  /// The goal's own directory, which is empty and is removed afterwards.
  std::string directory;
  Sizes sizes;

  /// Creates a directory below it.
  std::string part(const std::string& name) const;
};

using Rows = std::vector<GoalRow>;
struct Goal {
  std::string_view id;
  Rows (*measure)(const Bench& bench);
};
const std::vector<Goal>& all_goals();

Rows one_stream(const Bench& bench);          // BO-01
Rows many_streams(const Bench& bench);        // BO-02
Rows sequential_reads(const Bench& bench);    // BO-03
Rows random_ranges(const Bench& bench);       // BO-04
Rows puts_of_objects(const Bench& bench);     // BO-05
Rows small_objects(const Bench& bench);       // OBJECTS
Rows small_appends(const Bench& bench);       // BO-06
Rows first_pages(const Bench& bench);         // BO-08
Rows dropped_containers(const Bench& bench);  // BO-09
Rows copies(const Bench& bench);              // BO-10
Rows entity_with_blob(const Bench& bench);    // BO-11
Rows checksums(const Bench& bench);           // BO-12
Rows collection(const Bench& bench);          // BX-33

}  // namespace varve::bench

// Owns: the stores that the corruption suite damages: their content, and other disks whose parts may replace theirs.
// Each is created by the public API on the in-memory disk, from its seed alone.
// Must never: damage a sample.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/simulated/memory_disk.h"
#include "tests/lab/content/store_content.h"

namespace varve::lab {

inline constexpr std::string_view kSamplePath = "/store";

std::string sample_path(std::string_view name);

/// A disk whose files may replace the sample's files.
struct OtherDisk {
  std::string name;  // "older", "oldest", "foreign", "checkpoint"
  io::MemoryDisk disk;
};

/// The content of the store at each visible version.
using History = std::map<std::uint64_t, std::shared_ptr<const StoreContent>>;

struct Sample {
  std::string part;  // for Share::only
  /// Whether the store was closed cleanly. If so, every byte is known, and every change must be detected.
  bool is_clean = true;
  io::MemoryDisk disk;
  /// The version of the undamaged store after an open.
  std::uint64_t version = 0;
  History history;
  std::vector<OtherDisk> others;

  const StoreContent& content() const { return *history.at(version); }
};

/// Closed cleanly: three sessions, table files of several levels and one of a loader, live log segments, drops,
/// policies.
Sample make_clean_sample(std::uint64_t seed);
/// Closed cleanly: one table whose file is large enough for a dictionary and several runs of blocks.
Sample make_dictionary_sample(std::uint64_t seed);
/// A checkpoint of a store like the clean sample.
Sample make_checkpoint_sample(std::uint64_t seed);
/// The process was killed while the store was open: a log without a footer, and a log buffer with commits.
Sample make_killed_sample(std::uint64_t seed);
/// The power failed while the store was open.
Sample make_power_cut_sample(std::uint64_t seed);

}  // namespace varve::lab

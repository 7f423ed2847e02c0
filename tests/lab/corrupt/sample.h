// Owns: the stores that the corruption suite damages, made by the public API on the in-memory disk, each from its seed
// alone: what they hold, and the disks of which parts may be put in their places.
// Must never: damage one.
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

/// A disk whose files may take the place of the sample's.
struct OtherDisk {
  std::string name;  // "older", "oldest", "foreign", "checkpoint"
  io::MemoryDisk disk;
};

/// What the store held at each version that was shown.
using History = std::map<std::uint64_t, std::shared_ptr<const StoreContent>>;

struct Sample {
  std::string part;  // for Share::only
  /// Closed cleanly: every byte is known, so that every change must be detected.
  bool is_clean = true;
  io::MemoryDisk disk;
  /// What the undamaged store opens to.
  std::uint64_t version = 0;
  History history;
  std::vector<OtherDisk> others;

  const StoreContent& content() const { return *history.at(version); }
};

/// Closed: three sessions, table files of several levels and one of a loader, live log segments, drops, policies.
Sample make_clean_sample(std::uint64_t seed);
/// Closed: one table large enough that its file has a dictionary, and several runs' worth of blocks.
Sample make_dictionary_sample(std::uint64_t seed);
/// A checkpoint of such a store as the first one.
Sample make_checkpoint_sample(std::uint64_t seed);
/// The process died while it had the store open: a log without an end, a log buffer in use.
Sample make_killed_sample(std::uint64_t seed);
/// The power failed.
Sample make_power_cut_sample(std::uint64_t seed);

}  // namespace varve::lab

// Owns: the states in which a disk can be found after a power failure or the death of the process.
// Must never: damage bytes that were neither un-synced nor in flight. Bytes that a successful sync covered remain
// unchanged, even in a torn sector with other bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "io/clock.h"
#include "io/simulated/memory_disk.h"

namespace varve::io {

/// The unit in bytes that a device writes completely or not at all. (Direct I/O uses the larger kSectorBytes.)
inline constexpr std::size_t kDeviceSectorBytes = 512;

/// The un-synced changes that survive a power cut. Of memory shared with the process (SharedMemory), single pages
/// survive, each from any moment.
enum class CrashPolicy : std::uint8_t {
  kNothingUnsynced,    // only what is durable
  kEverything,         // everything written, as if synced
  kOrderedPrefix,      // the changes up to some moment, in their order
  kRandomPages,        // each page in any of its versions, sizes and names likewise
  kRandomSectors,      // like kRandomPages, by sectors of 512 bytes
  kTornSectors,        // like kRandomSectors, and some sectors mix old and new bytes or contain garbage
  kSizeWithoutData,    // sizes are the newest, but new bytes are missing: zeros or garbage
  kDataWithoutSize,    // bytes are the newest, sizes are the durable ones
  kDirectoryDropped,   // files are the newest; all or some changes of names are lost
  kDirectoryReversed,  // files are the newest; later changes of names survive and earlier ones do not
};

inline constexpr CrashPolicy kCrashPolicies[] = {CrashPolicy::kNothingUnsynced,  CrashPolicy::kEverything,
                                                 CrashPolicy::kOrderedPrefix,    CrashPolicy::kRandomPages,
                                                 CrashPolicy::kRandomSectors,    CrashPolicy::kTornSectors,
                                                 CrashPolicy::kSizeWithoutData,  CrashPolicy::kDataWithoutSize,
                                                 CrashPolicy::kDirectoryDropped, CrashPolicy::kDirectoryReversed};

std::string_view crash_policy_name(CrashPolicy policy) noexcept;

/// Limit of the number of pending changes for which all subsets are tried.
inline constexpr std::size_t kSubsetItemsMax = 10;

/// Returns one state after a power cut, without pending changes.
MemoryDisk crash_image(const MemoryDisk& disk, CrashPolicy policy, RandomSource& random);

/// Returns one image for each subset of the pending changes, or none if there are more than kSubsetItemsMax changes.
std::vector<MemoryDisk> subset_images(const MemoryDisk& disk);

/// Returns at most `images_max` different states after a power cut: first one of every policy, then all subsets if they
/// are few, then random ones. Returns fewer if no more are found, and a single one if nothing is pending.
std::vector<MemoryDisk> crash_images(const MemoryDisk& disk, RandomSource& random, std::size_t images_max);

/// Returns the state after the process was killed. The cache and the files of shared memory survive. Any part of the
/// changes in flight may be done. Un-synced changes remain un-synced, and a later power cut can lose them.
MemoryDisk process_death_image(const MemoryDisk& disk, RandomSource& random);

}  // namespace varve::io

// Owns: which states a disk can be found in after the power failed or the process died.
// Must never: invent damage outside what was un-synced or in flight: what a successful sync covered stays as it was,
// also where it shares a torn sector with what was not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "io/clock.h"
#include "io/simulated/memory_disk.h"

namespace varve::io {

/// The unit in which a device writes all or nothing. (Direct I/O asks for the larger kSectorBytes.)
inline constexpr std::size_t kDeviceSectorBytes = 512;

/// What the power cut lets live of what was not synced. Memory shared with the process (SharedMemory) loses and keeps
/// single pages, of any age.
enum class CrashPolicy : std::uint8_t {
  kNothingUnsynced,    // only what is durable
  kEverything,         // all that was written, as if synced
  kOrderedPrefix,      // the changes up to some moment, in their order
  kRandomPages,        // each page in any of its versions, sizes and names likewise
  kRandomSectors,      // the same by sectors of 512 bytes
  kTornSectors,        // the same, and inside some sectors old and new bytes are mixed or there is garbage
  kSizeWithoutData,    // sizes are the newest, the new bytes are not there: zeros or garbage
  kDataWithoutSize,    // bytes are the newest, sizes are the durable ones
  kDirectoryDropped,   // files are the newest, changes of names are lost, all or some
  kDirectoryReversed,  // files are the newest, later changes of names are there and earlier ones are not
};

inline constexpr CrashPolicy kCrashPolicies[] = {CrashPolicy::kNothingUnsynced,  CrashPolicy::kEverything,
                                                 CrashPolicy::kOrderedPrefix,    CrashPolicy::kRandomPages,
                                                 CrashPolicy::kRandomSectors,    CrashPolicy::kTornSectors,
                                                 CrashPolicy::kSizeWithoutData,  CrashPolicy::kDataWithoutSize,
                                                 CrashPolicy::kDirectoryDropped, CrashPolicy::kDirectoryReversed};

std::string_view crash_policy_name(CrashPolicy policy) noexcept;

/// With so many pending changes or fewer, all subsets of them are tried.
inline constexpr std::size_t kSubsetItemsMax = 10;

/// One state after a power cut. Nothing is pending in it.
MemoryDisk crash_image(const MemoryDisk& disk, CrashPolicy policy, RandomSource& random);

/// One image for each subset of the pending changes; empty where there are more than kSubsetItemsMax of them.
std::vector<MemoryDisk> subset_images(const MemoryDisk& disk);

/// At most `images_max` different states after a power cut: those of every policy first, then all subsets where they
/// are few, then random ones. Fewer where no more are found: one, when nothing is pending.
std::vector<MemoryDisk> crash_images(const MemoryDisk& disk, RandomSource& random, std::size_t images_max);

/// The state after the process was killed: the cache lives, and so do files of shared memory; of what was in flight
/// any part was done. What was un-synced still is, and a power cut later can take it.
MemoryDisk process_death_image(const MemoryDisk& disk, RandomSource& random);

}  // namespace varve::io

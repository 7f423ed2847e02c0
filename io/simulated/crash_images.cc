// Owns: collections of crash images, and the state that the death of the process alone leaves.
// Must never: return two images with equal content from crash_images().

#include <algorithm>
#include <cassert>
#include <iterator>
#include <memory>
#include <utility>

#include "io/simulated/crash_image.h"
#include "io/simulated/manual_clock.h"

namespace varve::io {

namespace {

/// Limit of consecutive duplicates, after which crash_images() stops searching.
constexpr int kDuplicatesMax = 32;
/// The policies that can give another image each time.
constexpr CrashPolicy kRandomPolicies[] = {CrashPolicy::kOrderedPrefix,    CrashPolicy::kRandomPages,
                                           CrashPolicy::kRandomSectors,    CrashPolicy::kTornSectors,
                                           CrashPolicy::kSizeWithoutData,  CrashPolicy::kDirectoryDropped,
                                           CrashPolicy::kDirectoryReversed};

/// Returns whether a pending change can survive in part. If none can, the subsets are all possible images.
bool can_tear(const MemoryDisk& disk) {
  return std::any_of(disk.state().files.begin(), disk.state().files.end(), [](const auto& entry) {
    const FileState& file = entry.second;
    return file.is_shared_memory ||
           std::any_of(file.pending.begin(), file.pending.end(),
                       [](const PendingWrite& write) { return write.bytes != nullptr && !write.bytes->empty(); });
  });
}

// -- Subsets ----------------------------------------------------------------------------------------------------------

/// Keeps exactly the pending items of `disk` whose bit is set in `chosen`, counted in the order of pending_count().
void keep_subset(MemoryDisk& disk, std::uint64_t chosen) {
  std::uint64_t bit = 1;
  const auto is_dropped = [&](const auto&) {
    const bool dropped = (chosen & bit) == 0;
    bit <<= 1;
    return dropped;
  };
  for (auto it = disk.state().directories.begin(); it != disk.state().directories.end();) {
    DirectoryState& directory = it->second;
    const bool survives = directory.is_durable || !is_dropped(0);
    std::erase_if(directory.pending, is_dropped);
    it = survives ? std::next(it) : disk.state().directories.erase(it);
  }
  for (auto& [id, file] : disk.state().files) {
    std::erase_if(file.pending, is_dropped);
    if (file.is_shared_memory && file.cached != file.durable && is_dropped(0)) {
      file.is_shared_memory = false;  // Its pages are then the durable ones, its size is the pending one.
    }
  }
}

// -- Death of the process ---------------------------------------------------------------------------------------------

/// Returns the sectors [first, last) of a write.
PendingWrite sectors_of(const PendingWrite& write, std::uint64_t first, std::uint64_t last) {
  PendingWrite part = write;
  const auto begin = static_cast<std::ptrdiff_t>(first * kDeviceSectorBytes);
  const auto end = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(last * kDeviceSectorBytes, write.bytes->size()));
  part.offset = write.offset + first * kDeviceSectorBytes;
  part.bytes = std::make_shared<const std::vector<std::byte>>(write.bytes->begin() + begin, write.bytes->begin() + end);
  return part;
}

/// Returns the parts of a write that were done when the process was killed during it.
std::vector<PendingWrite> parts_done(const PendingWrite& write, RandomSource& random) {
  const std::uint64_t choice = random_below(random, 4);
  if (choice == 0) return {};
  if (choice == 1 || write.bytes == nullptr) return {write};
  const std::uint64_t sector_count = (write.bytes->size() + kDeviceSectorBytes - 1) / kDeviceSectorBytes;
  if (sector_count == 0) return {write};
  if (choice == 2) return {sectors_of(write, 0, random_below(random, sector_count) + 1)};
  std::vector<PendingWrite> parts;
  for (std::uint64_t sector = 0; sector < sector_count; ++sector) {
    if (one_in(random, 2)) parts.push_back(sectors_of(write, sector, sector + 1));
  }
  return parts;
}

void die_in(FileState& file, std::uint64_t& next_sequence, RandomSource& random) {
  std::vector<PendingWrite> pending;
  for (const PendingWrite& write : file.pending) {
    if (!write.in_flight) {
      pending.push_back(write);
      continue;
    }
    for (PendingWrite& part : parts_done(write, random)) {
      part.in_flight = false;
      part.sequence = next_sequence++;
      apply(part, file.cached);
      pending.push_back(std::move(part));
    }
  }
  std::sort(pending.begin(), pending.end(),
            [](const PendingWrite& left, const PendingWrite& right) { return left.sequence < right.sequence; });
  file.pending = std::move(pending);
  file.handle_count = 0;
}

void die_in(DirectoryState& directory, RandomSource& random) {
  std::erase_if(directory.pending, [&](const PendingName& pending) { return pending.in_flight && one_in(random, 2); });
  for (PendingName& pending : directory.pending) {
    if (!std::exchange(pending.in_flight, false)) continue;
    if (pending.file == 0) {
      directory.cached.erase(pending.name);
    } else {
      directory.cached[pending.name] = pending.file;
    }
  }
}

}  // namespace

std::vector<MemoryDisk> subset_images(const MemoryDisk& disk) {
  std::vector<MemoryDisk> images;
  const std::size_t item_count = disk.pending_count();
  if (item_count > kSubsetItemsMax) return images;
  SeededRandom unused(0);
  for (std::uint64_t chosen = 0; chosen < std::uint64_t{1} << item_count; ++chosen) {
    MemoryDisk subset = disk;
    keep_subset(subset, chosen);
    images.push_back(crash_image(subset, CrashPolicy::kEverything, unused));
  }
  return images;
}

std::vector<MemoryDisk> crash_images(const MemoryDisk& disk, RandomSource& random, std::size_t images_max) {
  std::vector<MemoryDisk> images;
  int duplicates_in_a_row = 0;
  const auto add = [&](MemoryDisk image) {
    const bool is_new =
        std::none_of(images.begin(), images.end(), [&](const MemoryDisk& other) { return other.same_content(image); });
    duplicates_in_a_row = is_new ? 0 : duplicates_in_a_row + 1;
    if (is_new) images.push_back(std::move(image));
  };
  for (const CrashPolicy policy : kCrashPolicies) {
    if (images.size() < images_max) add(crash_image(disk, policy, random));
  }
  for (MemoryDisk& image : subset_images(disk)) {
    if (images.size() < images_max) add(std::move(image));
  }
  if (disk.pending_count() <= kSubsetItemsMax && !can_tear(disk)) return images;
  duplicates_in_a_row = 0;
  while (images.size() < images_max && duplicates_in_a_row < kDuplicatesMax) {
    add(crash_image(disk, kRandomPolicies[random_below(random, std::size(kRandomPolicies))], random));
  }
  return images;
}

MemoryDisk process_death_image(const MemoryDisk& disk, RandomSource& random) {
  MemoryDisk image = disk;
  MemoryDisk::State& state = image.state();
  std::erase_if(state.directories, [&](const auto& entry) { return entry.second.in_flight && one_in(random, 2); });
  for (auto& [path, directory] : state.directories) {
    directory.in_flight = false;
    die_in(directory, random);
  }
  for (auto& [id, file] : state.files) die_in(file, state.next_sequence, random);
  forget_nameless_files(state);
  return image;
}

}  // namespace varve::io

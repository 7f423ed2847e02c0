// Owns: the choice of the pending changes that survive a power cut or the death of the process.
// Must never: read the cache for a power cut. After a failed sync, the cache can differ from the pending changes.

#include "io/simulated/crash_image.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "io/simulated/manual_clock.h"

namespace varve::io {

namespace {

constexpr std::uint64_t kAllSequences = std::numeric_limits<std::uint64_t>::max();
/// kTornSectors: one sector in this many is torn.
constexpr std::uint64_t kTornRate = 4;

void fill_with_garbage(std::span<std::byte> bytes, RandomSource& random) {
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next() & 0xFF);
}

bool has_data(const PendingWrite& write) noexcept {
  return write.bytes != nullptr && !write.is_lost;
}

// -- One file ---------------------------------------------------------------------------------------------------------

/// Returns the durable content with the changes below `sequence_end`, in order.
MemoryContent content_up_to(const FileState& file, std::uint64_t sequence_end) {
  MemoryContent content = file.durable;
  for (const PendingWrite& write : file.pending) {
    if (write.sequence < sequence_end) apply(write, content);
  }
  return content;
}

/// Overwrites the part of `bytes` that `write` covers. `bytes` are the file's bytes from `offset`.
void overlay(const PendingWrite& write, std::uint64_t offset, std::span<std::byte> bytes) {
  const std::uint64_t begin = std::max(write.offset, offset);
  const std::uint64_t end = std::min(write.end_offset(), offset + bytes.size());
  if (begin >= end) return;
  std::memcpy(bytes.data() + (begin - offset), write.bytes->data() + (begin - write.offset),
              static_cast<std::size_t>(end - begin));
}

/// Fills the part that `write` covers with garbage, or with new bytes up to a random place and old bytes after it.
void tear(const PendingWrite& write, std::uint64_t offset, std::span<std::byte> bytes, RandomSource& random) {
  const std::uint64_t begin = std::max(write.offset, offset);
  const std::uint64_t end = std::min(write.end_offset(), offset + bytes.size());
  if (begin >= end) return;
  const auto covered = bytes.subspan(static_cast<std::size_t>(begin - offset), static_cast<std::size_t>(end - begin));
  if (one_in(random, 2)) {
    fill_with_garbage(covered, random);
  } else {
    const auto kept = static_cast<std::size_t>(random_below(random, covered.size()));
    std::memcpy(covered.data(), write.bytes->data() + (begin - write.offset), kept);
  }
}

using WritesByPage = std::map<std::uint64_t, std::vector<const PendingWrite*>>;

WritesByPage pending_writes_by_page(const FileState& file) {
  WritesByPage pages;
  for (const PendingWrite& write : file.pending) {
    if (!has_data(write) || write.bytes->empty()) continue;
    for (std::uint64_t page = write.offset / kPageBytes; page * kPageBytes < write.end_offset(); ++page) {
      pages[page].push_back(&write);
    }
  }
  return pages;
}

std::uint64_t size_after(const PendingWrite& write, std::uint64_t size) noexcept {
  if (write.resize_to.has_value()) size = *write.resize_to;
  return write.bytes == nullptr ? size : std::max(size, write.end_offset());
}

std::uint64_t newest_size(const FileState& file) noexcept {
  std::uint64_t size = file.durable.size_bytes();
  for (const PendingWrite& write : file.pending) size = size_after(write, size);
  return size;
}

/// Returns one of the sizes that the file had.
std::uint64_t random_size(const FileState& file, RandomSource& random) {
  std::uint64_t changes = random_below(random, file.pending.size() + 1);
  std::uint64_t size = file.durable.size_bytes();
  for (const PendingWrite& write : file.pending) {
    if (changes-- == 0) break;
    size = size_after(write, size);
  }
  return size;
}

/// Returns each unit of `unit_bytes` (a divisor of a page) in one of the versions that it had.
MemoryContent random_versions(const FileState& file, std::size_t unit_bytes, bool may_tear, RandomSource& random) {
  MemoryContent content = file.durable;
  const std::uint64_t size = random_size(file, random);
  std::array<std::byte, kPageBytes> page_bytes;
  for (const auto& [page, writes] : pending_writes_by_page(file)) {
    const std::uint64_t page_offset = page * kPageBytes;
    content.read(page_offset, page_bytes);
    for (std::size_t unit = 0; unit < kPageBytes; unit += unit_bytes) {
      const auto bytes = std::span(page_bytes).subspan(unit, unit_bytes);
      const std::uint64_t version = random_below(random, writes.size() + 1);
      for (std::uint64_t i = 0; i < version; ++i) overlay(*writes[i], page_offset + unit, bytes);
      if (may_tear && one_in(random, kTornRate)) {
        tear(*writes[random_below(random, writes.size())], page_offset + unit, bytes, random);
      }
    }
    content.write(page_offset, page_bytes);
  }
  content.resize(size);
  return content;
}

MemoryContent size_without_data(const FileState& file, RandomSource& random) {
  MemoryContent content = file.durable;
  content.resize(newest_size(file));
  for (const PendingWrite& write : file.pending) {
    // Space that is new to the file shows the device's former content; older space shows its old bytes.
    const std::uint64_t begin = std::max(write.offset, file.durable.size_bytes());
    const std::uint64_t end = std::min(write.end_offset(), content.size_bytes());
    if (!has_data(write) || begin >= end || one_in(random, 2)) continue;
    std::vector<std::byte> garbage(static_cast<std::size_t>(end - begin));
    fill_with_garbage(garbage, random);
    content.write(begin, garbage);
  }
  return content;
}

MemoryContent data_without_size(const FileState& file) {
  MemoryContent content = content_up_to(file, kAllSequences);
  content.resize(file.durable.size_bytes());
  return content;
}

bool page_never_changed(const FileState& file, std::uint64_t page) noexcept {
  return file.durable.shares_page(file.cached, page) &&
         std::all_of(file.samples.begin(), file.samples.end(),
                     [&](const MemoryContent& sample) { return file.durable.shares_page(sample, page); });
}

/// Returns each unit of shared memory as it was at some moment.
MemoryContent random_moments(const FileState& file, std::size_t unit_bytes, RandomSource& random) {
  MemoryContent content = file.durable;
  std::array<std::byte, kPageBytes> page_bytes;
  for (std::uint64_t offset = 0; offset < file.cached.size_bytes(); offset += kPageBytes) {
    if (page_never_changed(file, offset / kPageBytes)) continue;
    content.read(offset, page_bytes);
    for (std::size_t unit = 0; unit < kPageBytes; unit += unit_bytes) {
      const std::uint64_t moment = random_below(random, file.samples.size() + 2);
      if (moment == 0) continue;  // It was never written back.
      const MemoryContent& source = moment == 1 ? file.cached : file.samples[moment - 2];
      source.read(offset + unit, std::span(page_bytes).subspan(unit, unit_bytes));
    }
    content.write(offset, page_bytes);
  }
  content.resize(random_size(file, random));
  return content;
}

MemoryContent surviving_shared_memory(const FileState& file, CrashPolicy policy, std::uint64_t sequence_end,
                                      RandomSource& random) {
  switch (policy) {
    case CrashPolicy::kNothingUnsynced: return file.durable;
    case CrashPolicy::kDataWithoutSize: {
      MemoryContent content = file.cached;
      content.resize(file.durable.size_bytes());
      return content;
    }
    case CrashPolicy::kSizeWithoutData: return content_up_to(file, kAllSequences);
    case CrashPolicy::kEverything:
    case CrashPolicy::kDirectoryDropped:
    case CrashPolicy::kDirectoryReversed: return file.cached;
    case CrashPolicy::kOrderedPrefix: {
      MemoryContent content = random_moments(file, kPageBytes, random);
      content.resize(content_up_to(file, sequence_end).size_bytes());
      return content;
    }
    case CrashPolicy::kRandomPages: return random_moments(file, kPageBytes, random);
    case CrashPolicy::kRandomSectors:
    case CrashPolicy::kTornSectors: return random_moments(file, kDeviceSectorBytes, random);
  }
  return file.durable;
}

MemoryContent surviving_content(const FileState& file, CrashPolicy policy, std::uint64_t sequence_end,
                                RandomSource& random) {
  if (file.is_shared_memory) return surviving_shared_memory(file, policy, sequence_end, random);
  switch (policy) {
    case CrashPolicy::kNothingUnsynced: return file.durable;
    case CrashPolicy::kEverything:
    case CrashPolicy::kDirectoryDropped:
    case CrashPolicy::kDirectoryReversed: return content_up_to(file, kAllSequences);
    case CrashPolicy::kOrderedPrefix: return content_up_to(file, sequence_end);
    case CrashPolicy::kRandomPages: return random_versions(file, kPageBytes, false, random);
    case CrashPolicy::kRandomSectors: return random_versions(file, kDeviceSectorBytes, false, random);
    case CrashPolicy::kTornSectors: return random_versions(file, kDeviceSectorBytes, true, random);
    case CrashPolicy::kSizeWithoutData: return size_without_data(file, random);
    case CrashPolicy::kDataWithoutSize: return data_without_size(file);
  }
  return file.durable;
}

// -- Names ------------------------------------------------------------------------------------------------------------

using Names = std::map<std::string, FileId, std::less<>>;

void apply(const PendingName& pending, Names& names) {
  if (pending.file == 0) {
    names.erase(pending.name);
  } else {
    names[pending.name] = pending.file;
  }
}

template <typename Keep>
Names names_kept(const DirectoryState& directory, Keep keep) {
  Names names = directory.durable;
  for (const PendingName& pending : directory.pending) {
    if (keep(pending)) apply(pending, names);
  }
  return names;
}

/// Returns each name in one of the states that it had.
Names random_names(const DirectoryState& directory, RandomSource& random) {
  std::map<std::string, std::vector<std::uint64_t>> changes;
  for (const PendingName& pending : directory.pending) changes[pending.name].push_back(pending.sequence);
  std::map<std::string, std::uint64_t> kept_below;
  for (const auto& [name, sequences] : changes) {
    const std::uint64_t version = random_below(random, sequences.size() + 1);
    kept_below[name] = version == sequences.size() ? kAllSequences : sequences[version];
  }
  return names_kept(directory, [&](const PendingName& pending) { return pending.sequence < kept_below[pending.name]; });
}

/// Returns later changes without some of the earlier ones.
Names reversed_names(const DirectoryState& directory, RandomSource& random) {
  if (directory.pending.empty()) return directory.durable;
  const std::uint64_t dropped = 1 + random_below(random, std::max<std::size_t>(directory.pending.size() - 1, 1));
  const std::uint64_t first_kept =
      dropped < directory.pending.size() ? directory.pending[dropped].sequence : kAllSequences;
  return names_kept(directory, [&](const PendingName& pending) { return pending.sequence >= first_kept; });
}

Names surviving_names(const DirectoryState& directory, CrashPolicy policy, std::uint64_t sequence_end,
                      RandomSource& random) {
  switch (policy) {
    case CrashPolicy::kNothingUnsynced: return directory.durable;
    case CrashPolicy::kEverything:
    case CrashPolicy::kSizeWithoutData:
    case CrashPolicy::kDataWithoutSize: return names_kept(directory, [](const PendingName&) { return true; });
    case CrashPolicy::kOrderedPrefix:
      return names_kept(directory, [&](const PendingName& pending) { return pending.sequence < sequence_end; });
    case CrashPolicy::kDirectoryDropped: return one_in(random, 2) ? directory.durable : random_names(directory, random);
    case CrashPolicy::kDirectoryReversed: return reversed_names(directory, random);
    case CrashPolicy::kRandomPages:
    case CrashPolicy::kRandomSectors:
    case CrashPolicy::kTornSectors: return random_names(directory, random);
  }
  return directory.durable;
}

bool directory_survives(const DirectoryState& directory, CrashPolicy policy, RandomSource& random) {
  if (directory.is_durable || policy == CrashPolicy::kEverything) return true;
  if (policy == CrashPolicy::kNothingUnsynced) return false;
  return one_in(random, 2);
}

// -- The whole disk ---------------------------------------------------------------------------------------------------

/// Makes `content` the file's only content, with nothing pending.
void come_to_rest(FileState& file, MemoryContent content) {
  file.durable = std::move(content);
  file.cached = file.durable;
  file.pending.clear();
  file.samples.clear();
  file.mapped.reset();
  file.is_shared_memory = false;
  file.handle_count = 0;
}

void come_to_rest(DirectoryState& directory, Names names) {
  directory.durable = std::move(names);
  directory.cached = directory.durable;
  directory.pending.clear();
  directory.is_durable = true;
  directory.in_flight = false;
}

/// Removes a directory if its parent is removed. (Parents sort before their children. The root has no parent.)
void forget_orphans(MemoryDisk::State& state, const MemoryDisk::State& before) {
  for (auto it = state.directories.begin(); it != state.directories.end();) {
    const std::string parent = split_path(it->first).directory;
    const bool is_orphan = before.directories.contains(parent) && !state.directories.contains(parent);
    it = is_orphan ? state.directories.erase(it) : std::next(it);
  }
}

/// Returns a random moment, as the sequence number that the first later change has.
std::uint64_t random_moment(const MemoryDisk::State& state, RandomSource& random) {
  std::vector<std::uint64_t> moments = {kAllSequences};
  for (const auto& [id, file] : state.files) {
    for (const PendingWrite& write : file.pending) moments.push_back(write.sequence);
  }
  for (const auto& [path, directory] : state.directories) {
    for (const PendingName& pending : directory.pending) moments.push_back(pending.sequence);
  }
  return moments[random_below(random, moments.size())];
}

}  // namespace

std::string_view crash_policy_name(CrashPolicy policy) noexcept {
  switch (policy) {
    case CrashPolicy::kNothingUnsynced: return "NothingUnsynced";
    case CrashPolicy::kEverything: return "Everything";
    case CrashPolicy::kOrderedPrefix: return "OrderedPrefix";
    case CrashPolicy::kRandomPages: return "RandomPages";
    case CrashPolicy::kRandomSectors: return "RandomSectors";
    case CrashPolicy::kTornSectors: return "TornSectors";
    case CrashPolicy::kSizeWithoutData: return "SizeWithoutData";
    case CrashPolicy::kDataWithoutSize: return "DataWithoutSize";
    case CrashPolicy::kDirectoryDropped: return "DirectoryDropped";
    case CrashPolicy::kDirectoryReversed: return "DirectoryReversed";
  }
  return "?";
}

MemoryDisk crash_image(const MemoryDisk& disk, CrashPolicy policy, RandomSource& random) {
  MemoryDisk image = disk;
  MemoryDisk::State& state = image.state();
  const std::uint64_t sequence_end = random_moment(state, random);
  for (auto& [id, file] : state.files) come_to_rest(file, surviving_content(file, policy, sequence_end, random));
  std::erase_if(state.directories, [&](auto& entry) { return !directory_survives(entry.second, policy, random); });
  forget_orphans(state, disk.state());
  for (auto& [path, directory] : state.directories) {
    come_to_rest(directory, surviving_names(directory, policy, sequence_end, random));
  }
  forget_nameless_files(state);
  return image;
}

}  // namespace varve::io

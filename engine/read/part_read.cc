// Owns: the reads of parts (part_read.h).
// Must never: verify a part with the hash of the whole value.
#include "engine/read/part_read.h"

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "engine/read/external_values.h"
#include "engine/read/lookup.h"

namespace varve::engine {

FoundPlace FoundPlace::of(FoundEntry put, const std::optional<format::ValuePointer>& external) noexcept {
  FoundPlace place;
  place.version = put.version;
  place.end = put.end;
  place.bytes = external ? external->bytes : put.value.size();
  if (external) place.pointer_ = *external;
  place.entry_ = std::move(put);
  return place;
}

namespace {

void copy_part(std::string_view value, const WantedPart& part) noexcept {
  const std::string_view wanted = value.substr(part.offset, part.out.size());
  std::copy(wanted.begin(), wanted.end(), part.out.begin());
}

/// Memory for one read of sectors. Gives its tools back at its end.
class SectorRead {
 public:
  explicit SectorRead(BlockReader& blocks) noexcept : blocks_(blocks), tools_(blocks.lend()) {}
  ~SectorRead() {
    if (tools_ != nullptr) blocks_.give_back(std::move(tools_));
  }
  SectorRead(const SectorRead&) = delete;
  SectorRead& operator=(const SectorRead&) = delete;

  /// Prepares for the bytes [begin, end) of the value. Errors: kOutOfMemory.
  Status prepare(const BlockWanted& wanted, std::uint64_t begin, std::uint64_t end) noexcept {
    if (tools_ == nullptr) return Status::out_of_memory();
    value_at_ = wanted.handle.offset;
    return tools_->stored.prepare(value_at_ + begin, end - begin, wanted.file().size_bytes());
  }
  StoredBytes& stored() noexcept { return tools_->stored; }
  /// Copies a part after the read.
  void copy_to(const WantedPart& part) const noexcept {
    copy_part(tools_->stored.of({value_at_ + part.offset, part.out.size()}), {0, part.out});
  }

 private:
  BlockReader& blocks_;
  std::unique_ptr<BlockReader::Tools> tools_;
  std::uint64_t value_at_ = 0;
};

std::uint64_t end_of(const WantedPart& part) noexcept {
  return part.offset + part.out.size();
}

/// Reads all sectors from the first part's begin to the last one's end with one call.
Status read_together(BlockReader& blocks, const BlockWanted& wanted, std::span<const WantedPart> parts) {
  SectorRead read(blocks);
  const std::uint64_t begin = parts.front().offset;
  if (Status ready = read.prepare(wanted, begin, end_of(parts.back())); !ready.ok()) return ready;
  StoredBytes& stored = read.stored();
  if (Status done = wanted.file().read_exactly(stored.offset(), stored.bytes()); !done.ok()) {
    return done.in_file(wanted.name(), wanted.handle.offset + begin);
  }
  blocks.count_read(stored.bytes().size());
  for (const WantedPart& part : parts) read.copy_to(part);
  return Status();
}

/// Reads in flight. Waits for them at its end, because the device may write to their memory until then.
class ReadsInFlight {
 public:
  explicit ReadsInFlight(ReadQueues& queues) : queues_(queues) {
    if (Result<std::unique_ptr<io::ReadQueue>> taken = queues.take(); taken.ok()) queue_ = *std::move(taken);
  }
  ~ReadsInFlight() {
    if (queue_ == nullptr) return;
    (void)finish();
    queues_.give_back(std::move(queue_));
  }
  ReadsInFlight(const ReadsInFlight&) = delete;
  ReadsInFlight& operator=(const ReadsInFlight&) = delete;

  bool begin(const io::ReadableFile& file, StoredBytes& stored, std::uint64_t tag) noexcept {
    return queue_ != nullptr && queue_->submit(file, stored.offset(), stored.bytes(), tag).ok();
  }
  /// Waits for all. Returns the failed read with the lowest tag, or one that is Ok.
  io::FinishedRead finish() noexcept {
    io::FinishedRead failed;
    while (queue_->in_flight() > 0) {
      std::array<io::FinishedRead, 2> finished;
      const std::size_t count = queue_->reap(finished, queue_->in_flight());
      for (io::FinishedRead& read : std::span(finished).first(count)) {
        const bool is_first = failed.status.ok() || read.tag < failed.tag;
        if (!read.status.ok() && is_first) failed = std::move(read);
      }
    }
    return failed;
  }

 private:
  ReadQueues& queues_;
  std::unique_ptr<io::ReadQueue> queue_;
};

/// Returns nothing if the reads cannot be in flight together now.
std::optional<Status> read_beside(BlockReader& blocks, ReadQueues& queues, const BlockWanted& wanted,
                                  const WantedPair& parts) {
  const Result<FilePin> pin = wanted.file().pin_for_long();
  if (!pin.ok()) return std::nullopt;
  std::array<SectorRead, 2> reads{SectorRead(blocks), SectorRead(blocks)};
  ReadsInFlight flight(queues);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!reads[i].prepare(wanted, parts[i].offset, end_of(parts[i])).ok()) return std::nullopt;
    if (!flight.begin(**pin, reads[i].stored(), i)) return std::nullopt;
  }
  if (io::FinishedRead failed = flight.finish(); !failed.status.ok()) {
    return failed.status.in_file(wanted.name(), wanted.handle.offset + parts[failed.tag].offset);
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    blocks.count_read(reads[i].stored().bytes().size());
    reads[i].copy_to(parts[i]);
  }
  return Status();
}

bool sectors_touch(const BlockWanted& wanted, const WantedPair& parts) noexcept {
  const std::uint64_t at = wanted.handle.offset;
  return io::round_up_to_sector(at + end_of(parts[0])) >= io::round_down_to_sector(at + parts[1].offset);
}

Status read_pair(BlockReader& blocks, ReadQueues& queues, const BlockWanted& wanted, const WantedPair& parts) {
  if (sectors_touch(wanted, parts)) return read_together(blocks, wanted, parts);
  if (const std::optional<Status> read = read_beside(blocks, queues, wanted, parts)) return *read;
  for (const WantedPart& part : parts) {
    if (Status read = read_together(blocks, wanted, std::span(&part, 1)); !read.ok()) return read;
  }
  return Status();
}

/// `read` reads the parts from the file.
template <typename Read>
Status read_external(const Levels& levels, BlockReader& blocks, const format::ValuePointer& pointer,
                     std::span<const WantedPart> parts, ReadCost* cost, Read read) {
  const Result<BlockWanted> wanted = locate_value(levels, pointer, cost);
  if (!wanted.ok()) return wanted.status();
  if (const PinnedBlock whole = blocks.cache().pin(wanted->cache_id(), wanted->handle.offset); whole) {
    if (cost != nullptr) ++cost->blocks_from_cache;
    for (const WantedPart& part : parts) copy_part(whole->content(), part);
    return Status();
  }
  if (Status may = may_use_disk(cost); !may.ok()) return may;
  if (cost != nullptr) cost->blocks_read += parts.size();
  return read(*wanted);
}

/// Fills parts of a value in memory, and returns the parts of other values to `external`.
template <typename External>
Status read_parts_of(const FoundPlace& place, std::span<const WantedPart> parts, External external) {
  bool is_empty = true;
  for (const WantedPart& part : parts) {
    if (part.offset > place.bytes || part.out.size() > place.bytes - part.offset) {
      return Status(Code::kInvalidArgument, "the part ends after the value; read at most to the value's length");
    }
    is_empty = is_empty && part.out.empty();
  }
  if (is_empty) return Status();
  if (!place.is_in_file()) {
    for (const WantedPart& part : parts) copy_part(place.value(), part);
    return Status();
  }
  try {
    return external();
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

}  // namespace

Result<std::optional<FoundPlace>> locate_point(const ReadState& state, BlockReader& blocks, std::string_view sort_key,
                                               CommitVersion at_most, ReadCost* cost) {
  const LookupKey key{sort_key, Memtable::hash_of(sort_key), at_most};
  const auto live = [](FoundEntry found, const std::optional<format::ValuePointer>& external = std::nullopt) {
    return found.kind == Kind::kPut ? std::optional(FoundPlace::of(std::move(found), external)) : std::nullopt;
  };
  if (std::optional<FoundEntry> found = read_memtables(state, key)) return live(std::move(*found));
  if (state.tables->file_count() == 0) return std::optional<FoundPlace>();
  try {
    Lookup lookup(*state.tables, key, EntryPart::kPlace, cost, nullptr);
    Result<std::optional<FoundEntry>> found = read_tables(lookup, blocks, cost, EntryPart::kPlace);
    if (!found.ok()) return found.status();
    if (!*found) return std::optional<FoundPlace>();
    return live(std::move(**found), lookup.external());
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

Status read_found_part(const ReadState& state, BlockReader& blocks, const FoundPlace& place, const WantedPart& part,
                       ReadCost* cost) {
  const std::span<const WantedPart> parts(&part, 1);
  return read_parts_of(place, parts, [&] {
    return read_external(*state.tables, blocks, place.pointer(), parts, cost,
                         [&](const BlockWanted& wanted) { return read_together(blocks, wanted, parts); });
  });
}

Status read_found_pair(const ReadState& state, BlockReader& blocks, ReadQueues& queues, const FoundPlace& place,
                       const WantedPair& parts, ReadCost* cost) {
  return read_parts_of(place, parts, [&] {
    return read_external(*state.tables, blocks, place.pointer(), parts, cost,
                         [&](const BlockWanted& wanted) { return read_pair(blocks, queues, wanted, parts); });
  });
}

}  // namespace varve::engine

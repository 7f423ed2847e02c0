// Owns: the parts of the work on WARM (warmer.h).
// Must never: let a failure leave this file.
#include "engine/warm/warmer.h"

#include <algorithm>
#include <array>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "engine/base/sync_points.h"
#include "engine/base/whole_file.h"
#include "format/bytes/bytes.h"
#include "format/log/file_header.h"
#include "io/os_error.h"

namespace varve::engine {

namespace {

/// Reads in flight in one part of the work, and the bytes of each. That is about a megabyte, a few milliseconds.
constexpr std::size_t kReadsAtOnce = 8;
constexpr std::uint64_t kSpanBytesMax = std::uint64_t{128} << 10;
/// Bytes between two listed blocks that cost less than another read.
constexpr std::uint64_t kGapBytesMax = std::uint64_t{16} << 10;
/// The part of the cache that is filled. The rest is left to foreground reads.
constexpr std::uint64_t kCacheParts = 8;
constexpr std::uint64_t kCachePartsFilled = 7;
/// The longest pause between two parts. Foreground reads that never end still let the cache become warm.
constexpr std::chrono::milliseconds kPauseMax{20};

Result<std::optional<format::WarmList>> read_list(io::Directory& directory) {
  const Result<std::string> bytes =
      read_whole_file(directory, format::kWarmListName, format::kWarmListBytesMax, io::ReadMode::kCached);
  if (io::is_missing(bytes.status())) return std::optional<format::WarmList>();
  Result<format::WarmList> list = bytes.ok() ? format::decode_warm_list(*bytes) : bytes.status();
  if (!list.ok()) return list.status().in_file(format::kWarmListName);
  return std::optional<format::WarmList>(*std::move(list));
}

std::map<std::uint64_t, std::shared_ptr<const TableFile>> files_of(const Levels& levels) {
  std::map<std::uint64_t, std::shared_ptr<const TableFile>> files;
  for (std::uint32_t level = 0; level < kLevelCount; ++level) {
    for (const LevelFilePtr& file : levels.level(level)) files[file->entry.number] = file->table;
  }
  return files;
}

}  // namespace

Status check_warm_list(io::Directory& directory, const Levels& levels) {
  const Result<std::optional<format::WarmList>> list = read_list(directory);
  if (!list.ok()) return list.status();
  if (!list->has_value()) return Status();
  const auto files = files_of(levels);
  for (const format::WarmBlocks& blocks : (*list)->files) {
    const auto file = files.find(blocks.file_number);
    if (file == files.end() || file->second->entry().seed == blocks.file_seed) continue;
    return Status::corruption("names another file with the number " + std::to_string(blocks.file_number))
        .in_file(format::kWarmListName);
  }
  return Status();
}

/// A read in flight.
struct Warmer::Reading {
  const Span* span = nullptr;
  StoredBytes stored;
  FilePin pin;
  bool is_here = false;
};

Warmer::Warmer(const io::Env& env, io::Directory& directory, ReadStates& states, BlockReader& blocks,
               ReadQueues& queues, EventSink* events)
    : env_(env), directory_(directory), states_(states), blocks_(blocks), queues_(queues), events_(events) {}

Warmer::~Warmer() = default;

void Warmer::note_failure(std::string_view what, const Status& status) noexcept {
  failures_.fetch_add(1, std::memory_order_relaxed);
  log_failure(events_, what, status);
}

std::chrono::nanoseconds Warmer::work() noexcept {
  const std::chrono::nanoseconds begun = env_.clock.monotonic();
  try {
    if (stage_ == Stage::kNew) begin();
    if (stage_ == Stage::kReadsBack && (!has_room() || !plan())) end_reading_back();
    if (stage_ == Stage::kReadsBack) {
      read_spans();
      const std::uint64_t others = blocks_.reads() - own_reads_;
      if (std::exchange(reads_before_, others) == others) return std::chrono::nanoseconds(0);
      // Others read too: rest as long as this part took.
      return std::min<std::chrono::nanoseconds>(env_.clock.monotonic() - begun, kPauseMax);
    }
    if (begun - last_list_ < kBetweenLists) return kBetweenLists - (begun - last_list_);
    last_list_ = begun;
    if (blocks_.reads() - reads_at_list_ < kReadsWorthListing) return kBetweenLists;
    if (Status written = write_list(); !written.ok())
      note_failure("the list of cached blocks was not written", written);
  } catch (const std::bad_alloc&) {
    end_reading_back();
    note_failure("the list of cached blocks was given up", Status::out_of_memory());
  }
  return kBetweenLists;
}

void Warmer::begin() {
  end_reading_back();
  if (blocks_.cache().bytes_max() == 0) return;
  Result<std::optional<format::WarmList>> list = read_list(directory_);
  if (!list.ok()) return note_failure("the list of cached blocks is not used", list.status());
  if (!list->has_value()) return;
  const ReadStates::Pin pin = states_.pin();
  for (const auto& [number, file] : files_of(*pin->tables)) files_[number] = file;
  std::vector<format::WarmBlocks>& listed = (*list)->files;
  listed_.assign(std::make_move_iterator(listed.begin()), std::make_move_iterator(listed.end()));
  stage_ = Stage::kReadsBack;
  reads_before_ = blocks_.reads();
}

void Warmer::end_reading_back() noexcept {
  stage_ = Stage::kRests;
  listed_.clear();
  files_.clear();
  runs_.clear();
  spans_.clear();
  last_list_ = env_.clock.monotonic();
  reads_at_list_ = blocks_.reads();
}

bool Warmer::has_room() const noexcept {
  const BlockCacheFigures cache = blocks_.cache().figures();
  return cache.used_bytes < cache.bytes_max / kCacheParts * kCachePartsFilled;
}

/// Files and runs that fail are left out: a reader of their blocks gets the error.
bool Warmer::plan() {
  while (spans_.size() < kReadsAtOnce) {
    if (!runs_.empty()) {
      const WarmRun warm = std::move(runs_.front());
      runs_.pop_front();
      add_spans(warm);
    } else if (!listed_.empty()) {
      const format::WarmBlocks blocks = std::move(listed_.front());
      listed_.pop_front();
      const auto found = files_.find(blocks.file_number);
      const auto file = found == files_.end() ? nullptr : found->second.lock();
      if (file == nullptr) continue;
      Result<std::vector<WarmRun>> runs = runs_of(blocks, file);
      if (!runs.ok()) continue;
      runs_.assign(std::make_move_iterator(runs->begin()), std::make_move_iterator(runs->end()));
    } else {
      break;
    }
  }
  return !spans_.empty();
}

void Warmer::add_spans(const WarmRun& warm) {
  const auto add_whole = [&](format::BlockType type, format::BlockHandle block) {
    if (!warm.file->caches(block.offset)) spans_.push_back({warm.file, warm.run, type, {block}});
  };
  if (warm.wants_filter) add_whole(format::BlockType::kFilterPartition, warm.run->filter());
  if (warm.data.empty()) {
    if (warm.wants_index) add_whole(format::BlockType::kIndexPartition, warm.run->index());
    return;
  }
  const std::uint64_t before = blocks_.reads();
  const Result<std::vector<format::BlockHandle>> blocks = blocks_to_read(warm, blocks_);
  own_reads_ += blocks_.reads() - before;
  if (!blocks.ok()) return;
  const auto first_new = static_cast<std::ptrdiff_t>(spans_.size());
  for (const format::BlockHandle& block : *blocks) {
    const bool is_first = static_cast<std::ptrdiff_t>(spans_.size()) == first_new;
    if (is_first || block.offset > spans_.back().end() + kGapBytesMax ||
        block.offset + block.bytes > spans_.back().begin() + kSpanBytesMax) {
      spans_.push_back({warm.file, warm.run, format::BlockType::kData, {}});
    }
    spans_.back().blocks.push_back(block);
  }
}

void Warmer::read_spans() {
  Result<std::unique_ptr<io::ReadQueue>> queue = queues_.take();
  const std::unique_ptr<BlockReader::Tools> tools = std::make_unique<BlockReader::Tools>();
  std::array<Reading, kReadsAtOnce> readings;
  const std::size_t count = std::min(spans_.size(), kReadsAtOnce);
  for (std::size_t i = 0; i < count; ++i) {
    Reading& reading = readings[i];
    reading.span = &spans_[i];
    const HeldFile& file = *reading.span->file->open_already()->file;
    if (!reading.stored.prepare(reading.span->begin(), reading.span->end() - reading.span->begin(), file.size_bytes())
             .ok()) {
      continue;
    }
    Result<FilePin> pin = queue.ok() ? file.pin_for_long() : queue.status();
    if (pin.ok()) {
      reading.pin = *std::move(pin);
      if (!(*queue)->submit(*reading.pin, reading.stored.offset(), reading.stored.bytes(), i).ok()) continue;
    } else {
      reading.is_here = file.read_exactly(reading.stored.offset(), reading.stored.bytes()).ok();
    }
    blocks_.count_read(reading.stored.bytes().size());
    ++own_reads_;
  }
  while (queue.ok() && (*queue)->in_flight() > 0) {
    std::array<io::FinishedRead, kReadsAtOnce> finished;
    const std::size_t done = (*queue)->reap(finished, (*queue)->in_flight());
    for (std::size_t i = 0; i < done; ++i) readings[finished[i].tag].is_here = finished[i].status.ok();
  }
  if (queue.ok()) queues_.give_back(*std::move(queue));
  for (std::size_t i = 0; i < count; ++i) {
    if (readings[i].is_here) take(*readings[i].span, readings[i].stored, *tools);
  }
  for (Reading& reading : readings) reading.pin.release();  // before the files
  spans_.erase(spans_.begin(), spans_.begin() + static_cast<std::ptrdiff_t>(count));
}

/// A block that does not verify is left out: its reader gets the error.
void Warmer::take(const Span& span, const StoredBytes& stored, BlockReader::Tools& tools) noexcept {
  const OpenTable* const table = span.file->open_already();
  // Data evicts nothing. A part of the work has few other blocks, and begins only while there is room.
  const BlockPriority priority =
      span.type == format::BlockType::kData ? BlockPriority::kPassing : priority_of(span.type);
  for (const format::BlockHandle& block : span.blocks) {
    const Result<PinnedBlock> taken = blocks_.take({table, block, span.type, span.run}, stored, tools, priority);
    if (!taken.ok()) continue;
    blocks_read_.fetch_add(1, std::memory_order_relaxed);
    bytes_read_.fetch_add(block.bytes, std::memory_order_relaxed);
  }
}

Status Warmer::write_list() {
  reads_at_list_ = blocks_.reads();
  format::WarmList list;
  {
    const ReadStates::Pin pin = states_.pin();
    list = cached_blocks_of(*pin->tables, blocks_.cache());
  }
  std::size_t count = 0;
  for (const format::WarmBlocks& blocks : list.files) count += blocks.offsets.size();
  if (count < kBlocksWorthListing) return Status();
  const std::string bytes = format::encode_warm_list(list, env_.random.next());
  const Result<std::string> before =
      read_whole_file(directory_, format::kWarmListName, format::kWarmListBytesMax, io::ReadMode::kCached);
  const std::string_view expected = before.ok() ? std::string_view(*before) : std::string_view();
  // A file that is empty or too large cannot be replaced.
  if (before.code() == Code::kCorruption || (before.ok() && expected.empty())) {
    if (Status removed = directory_.remove(format::kWarmListName); !removed.ok()) return removed;
  } else if (!before.ok() && !io::is_missing(before.status())) {
    return before.status();
  }
  const Status written = directory_.replace(format::kWarmListName, format::as_bytes(expected), format::as_bytes(bytes),
                                            sync_points::kWarmList);
  if (written.ok()) lists_.fetch_add(1, std::memory_order_relaxed);
  return written;
}

void Warmer::finish() noexcept {
  try {
    if (stage_ == Stage::kNew) begin();
    if (stage_ != Stage::kRests) return;  // W2
    if (Status written = write_list(); !written.ok())
      note_failure("the list of cached blocks was not written", written);
  } catch (const std::bad_alloc&) {
    note_failure("the list of cached blocks was not written", Status::out_of_memory());
  }
}

void Warmer::add_figures_to(Statistics& figures) const noexcept {
  figures.warm_blocks = blocks_read_.load(std::memory_order_relaxed);
  figures.warm_bytes = bytes_read_.load(std::memory_order_relaxed);
  figures.warm_lists = lists_.load(std::memory_order_relaxed);
  figures.warm_list_failures = failures_.load(std::memory_order_relaxed);
}

}  // namespace varve::engine

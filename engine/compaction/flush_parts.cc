// Owns: the choice of the cuts, and the end of a flush whose parts failed (flush_parts.h).
// Must never: read all entries to choose the cuts.
#include "engine/compaction/flush_parts.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <utility>

namespace varve::engine {
namespace {

/// Entries for each part that show where the memtable's bytes are.
constexpr std::size_t kSamplesOfPart = 64;

std::uint64_t weight_of(const Entry& entry) noexcept {
  return entry.sort_key.size() + (entry.value.size() < kExternalValueBytesMin ? entry.value.size() : 0);
}

/// The weight of the sampled entries up to a key.
class SampledWeight {
 public:
  explicit SampledWeight(const std::vector<Entry>& samples) noexcept : samples_(samples) {
    for (const Entry& entry : samples) all_ += weight_of(entry);
  }
  std::uint64_t all() const noexcept { return all_; }
  /// Returns the weight of the entries below the key. Keys come in ascending order.
  std::uint64_t below(std::string_view key) noexcept {
    for (; place_ < samples_.size() && samples_[place_].sort_key < key; ++place_)
      passed_ += weight_of(samples_[place_]);
    return passed_;
  }

 private:
  const std::vector<Entry>& samples_;
  std::size_t place_ = 0;
  std::uint64_t passed_ = 0;
  std::uint64_t all_ = 0;
};

/// Returns the files that overlap the range in the uppermost level beneath level 0 that has such files.
Levels::Span files_beneath(const Levels& levels, const KeyRange& range) noexcept {
  Levels::Span files;
  for (std::uint32_t level = 1; level < kLevelCount && files.empty(); ++level) files = levels.overlapping(level, range);
  return files;
}

}  // namespace

std::vector<KeySpan> flush_parts(const Memtable& memtable, const Levels& levels, const TreeShape& shape,
                                 std::size_t count_max) {
  std::vector<KeySpan> parts(1);
  const std::uint64_t bytes = memtable.used_bytes() - std::min(memtable.used_bytes(), memtable.large_value_bytes());
  const std::uint64_t count = std::min<std::uint64_t>(count_max, bytes / own_file_bytes(shape));
  if (count < 2) return parts;
  const std::vector<Entry> samples = memtable.spread_entries(count * kSamplesOfPart);
  if (samples.empty()) return parts;
  const KeyRange range{samples.front().sort_key, samples.back().sort_key};
  SampledWeight weight(samples);
  const std::uint64_t share = weight.all() / count;
  std::uint64_t begin = 0;
  for (const LevelFilePtr& file : files_beneath(levels, range)) {
    const std::string_view border = file->entry.smallest_key;
    const std::uint64_t end = weight.below(border);
    if (end - begin < share) continue;
    if (weight.all() - end < share / 2) break;  // The rest is not worth a file of its own.
    parts.back().to = border;
    parts.push_back({border, {}});
    if (parts.size() == count) break;
    begin = end;
  }
  return parts;
}

Result<Rewritten> write_parts(BackgroundPool& pool, const TableSink& sink, const std::vector<KeySpan>& parts,
                              const WritePart& write) {
  if (parts.size() == 1) return write(parts.front());
  std::vector<Rewritten> written(parts.size());
  std::vector<Status> failures(parts.size());
  Rewritten all;
  std::atomic<bool> has_failed{false};
  pool.share(parts.size(), [&](std::size_t number) noexcept {
    if (has_failed.load(std::memory_order_relaxed)) return;
    try {
      Result<Rewritten> part = write(parts[number]);
      if (part.ok()) {
        written[number] = *std::move(part);
        return;
      }
      failures[number] = part.status();
    } catch (const std::bad_alloc&) {
      failures[number] = Status::out_of_memory();
    }
    has_failed.store(true, std::memory_order_relaxed);
  });
  std::size_t files = 0;
  for (const Rewritten& part : written) files += part.files.size();
  try {
    all.files.reserve(files);
  } catch (const std::bad_alloc&) {
    for (const Rewritten& part : written) sink.tables.discard(part.files);
    return Status::out_of_memory();
  }
  for (Rewritten& part : written) {
    all.entries_read += part.entries_read;
    all.bytes_written += part.bytes_written;
    all.bytes_copied += part.bytes_copied;
    for (format::TableFileEntry& file : part.files) all.files.push_back(std::move(file));  // Room was reserved.
  }
  if (!has_failed.load(std::memory_order_relaxed)) return all;
  sink.tables.discard(all.files);
  return *std::find_if(failures.begin(), failures.end(), [](const Status& failure) { return !failure.ok(); });
}

}  // namespace varve::engine

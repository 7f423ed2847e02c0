// Owns: the change of a lane from files to a sorter (load_lane.h).
// Must never: lose a file that was written before the change.
#include "engine/load/load_lane.h"

#include <utility>

#include "engine/compaction/tree.h"

namespace varve::engine {

namespace {

/// Adds to a number that only this thread writes.
void count_more(std::atomic<std::uint64_t>& number, std::uint64_t more) noexcept {
  number.store(number.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

}  // namespace

Status LoadLane::add(std::string_view sort_key, std::string_view value, Kind kind) {
  const bool is_first = entities_.load(std::memory_order_relaxed) == 0;
  if (is_first) {
    // The options of the last level, because nearly all loaded data stays there.
    Result<std::unique_ptr<WriteBehind>> files =
        WriteBehind::start(sink_, table_options(kLastLevel), options_, version_);
    if (!files.ok()) return files.status();
    files_ = *std::move(files);
  }
  if (!sorter_ && !is_first && files_->compare_with_last(sort_key) > 0) {
    if (Status begun = begin_sorting(); !begun.ok()) return begun;
  }
  Status added = sorter_ ? sorter_->add(sort_key, value, kind) : files_->add(sort_key, value, kind);
  if (!added.ok()) return added;
  count_more(entities_, 1);
  count_more(bytes_, sort_key.size() + value.size());
  if (sorter_) count_more(sorted_entities_, 1);
  see_written();
  return added;
}

Status LoadLane::begin_sorting() {
  sorter_ = std::make_unique<Sorter>(sink_, tables_, options_, version_);
  Result<std::vector<format::TableFileEntry>> row = finish_row();
  if (!row.ok()) return row.status();
  sorter_->take_row(*std::move(row));
  return Status();
}

Result<std::vector<format::TableFileEntry>> LoadLane::finish_row() {
  if (!files_) return std::vector<format::TableFileEntry>();
  Result<std::vector<format::TableFileEntry>> row = files_->finish();
  ended_bytes_ += files_->written_bytes();
  files_.reset();
  see_written();
  return row;
}

std::uint64_t LoadLane::end() noexcept {
  see_written();
  ended_bytes_ = written_bytes_.load(std::memory_order_relaxed);
  sorter_.reset();
  files_.reset();
  return ended_bytes_;
}

void LoadLane::see_written() noexcept {
  std::uint64_t bytes = ended_bytes_;
  if (files_) bytes += files_->written_bytes();
  if (sorter_) bytes += sorter_->written_bytes();
  written_bytes_.store(bytes, std::memory_order_relaxed);
}

LoadProgress LoadLane::progress() const noexcept {
  LoadProgress progress;
  progress.entities = entities_.load(std::memory_order_relaxed);
  progress.sorted_entities = sorted_entities_.load(std::memory_order_relaxed);
  progress.bytes = bytes_.load(std::memory_order_relaxed);
  progress.written_bytes = written_bytes_.load(std::memory_order_relaxed);
  return progress;
}

}  // namespace varve::engine

// Owns: the cut of a merge into ranges, and the order of their edits (job_run.h).
// Must never: let a file of level 0 leave before all ranges are published.
#include "engine/compaction/job_run.h"

#include <algorithm>
#include <map>
#include <new>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "engine/compaction/bottom_check.h"
#include "engine/compaction/ended.h"
#include "engine/compaction/output_cuts.h"
#include "engine/compaction/retention.h"
#include "engine/compaction/rewrite.h"
#include "engine/read/external_values.h"
#include "engine/read/merge_cursor.h"
#include "engine/tables/table_scan.h"
#include "io/probe.h"

namespace varve::engine {
namespace {

void add_numbers(std::span<const LevelFilePtr> files, std::vector<std::uint64_t>& numbers) {
  for (const LevelFilePtr& file : files) numbers.push_back(file->entry.number);
}

/// Returns the tables with enough bytes in the job's entries for a file of their own. Errors: those of read_directory().
Result<std::set<TableId>> large_tables(const Job& job, const TreeShape& shape) {
  std::map<TableId, std::uint64_t> bytes;
  for (const LevelFiles* files : {&job.inputs, &job.overlapped}) {
    for (const LevelFilePtr& file : *files) {
      const format::TableFileEntry& entry = file->entry;
      if (entry.first_table == entry.last_table) {
        bytes[entry.first_table] += entry.size_bytes;
        continue;
      }
      const Result<std::vector<format::DirectoryEntry>> directory = read_directory(*file->table);
      if (!directory.ok()) return directory.status();
      for (const format::DirectoryEntry& table : *directory) bytes[table.table] += table.bytes;
    }
  }
  if (job.loaded != nullptr) bytes[job.loaded->table] += job.loaded->bytes;
  std::set<TableId> large;
  for (const auto& [table, table_bytes] : bytes) {
    if (table_bytes >= own_file_bytes(shape)) large.insert(table);
  }
  return large;
}

/// A part of a merge: a span of keys, and all files of the output level in it.
struct MergeRange {
  KeySpan keys;
  std::span<const LevelFilePtr> overlapped;
};

/// Bytes that a merge reads, from a key on.
struct Weight {
  std::string_view key;
  std::uint64_t bytes = 0;
};

/// Returns the weights of all files of the job, by key: of each run of the inputs, and of each file of the output level.
/// Errors: those of opening a file.
Result<std::vector<Weight>> weights_of(const Job& job) {
  std::vector<Weight> weights;
  for (const LevelFilePtr& file : job.inputs) {
    const Result<const OpenTable*> table = file->table->open();
    if (!table.ok()) return table.status().at_place({FileKind::kTable, file->entry.number});
    for (const format::RunEntry& run : (*table)->index.runs()) weights.push_back({run.smallest_key, run.bytes()});
  }
  for (const LevelFilePtr& file : job.overlapped) weights.push_back({file->entry.smallest_key, file->entry.size_bytes});
  std::sort(weights.begin(), weights.end(), [](const Weight& a, const Weight& b) { return a.key < b.key; });
  return weights;
}

/// Cuts a merge (R1). The ranges are views into the job. A rewrite in its own level is one range: its outputs and its
/// inputs would overlap there. Errors: those of opening a file.
Result<std::vector<MergeRange>> ranges_of(const Job& job, const TreeShape& shape) {
  const std::span<const LevelFilePtr> files = job.overlapped;
  std::vector<MergeRange> ranges(1);
  if (job.level > 0 || job.output_level == job.level) {
    ranges.back().overlapped = files;
    return ranges;
  }
  const Result<std::vector<Weight>> weights = weights_of(job);
  if (!weights.ok()) return weights.status();
  std::size_t begin = 0;
  std::size_t end = 0;  // of the files that begin before the key
  std::uint64_t bytes = 0;
  for (const Weight& weight : *weights) {
    while (end < files.size() && files[end]->entry.smallest_key < weight.key) ++end;
    const bool is_in_a_file = end > 0 && weight.key <= files[end - 1]->entry.largest_key;
    if (bytes >= shape.file_bytes && !is_in_a_file && ranges.back().keys.from < weight.key) {
      ranges.back().keys.to = weight.key;
      ranges.back().overlapped = files.subspan(begin, end - begin);
      ranges.push_back({{weight.key, {}}, {}});
      begin = end;
      bytes = 0;
    }
    bytes += weight.bytes;
  }
  ranges.back().overlapped = files.subspan(begin);
  return ranges;
}

class Merge {
 public:
  Merge(const Job& job, const JobView& view, const JobTools& tools, std::set<TableId> large,
        std::vector<MergeRange> ranges)
      : job_(job),
        view_(view),
        tools_(tools),
        large_(std::move(large)),
        ranges_(std::move(ranges)),
        unpublished_(ranges_.size()),
        mutex_(tools.tree.scheduler()) {}

  Status run() {
    if (ranges_.size() > 1) io::probe("a merge was cut into ranges");
    tools_.pool.share(ranges_.size(), [this](std::size_t number) {
      if (Status done = merge_range(ranges_[number]); !done.ok()) keep(done);
    });
    const io::MutexGuard guard(mutex_);
    return failure_;
  }

 private:
  Status merge_range(const MergeRange& range) noexcept {
    try {
      if (Status failed = failure(); !failed.ok()) return failed;  // Level 0 stays anyway.
      Result<Rewritten> written = write(range);
      if (!written.ok()) return written.status();
      tools_.figures.written_bytes.fetch_add(written->bytes_written, std::memory_order_relaxed);
      tools_.figures.copied_bytes.fetch_add(written->bytes_copied, std::memory_order_relaxed);
      return publish(range, *std::move(written));
    } catch (const std::bad_alloc&) {
      return Status::out_of_memory();
    }
  }

  Result<Rewritten> write(const MergeRange& range) {
    const TableSink sink = tools_.tree.sink(tools_.stopping);
    RunReads reads(tools_.read_queues);
    std::vector<std::unique_ptr<EntryStream>> sources;
    const auto add = [&](const LevelFilePtr& file) {
      sources.push_back(std::make_unique<TableScan>(*file->table, tools_.figures.read_bytes, range.keys, &reads));
    };
    for (const LevelFilePtr& file : job_.inputs) {
      if (file->entry.largest_key >= range.keys.from && !range.keys.ends_before(file->entry.smallest_key)) add(file);
    }
    for (const LevelFilePtr& file : range.overlapped) add(file);
    if (job_.loaded != nullptr) {  // a job of one range
      for (std::unique_ptr<EntryStream>& stream : job_.loaded->streams) sources.push_back(std::move(stream));
      job_.loaded->streams.clear();
    }
    RewriteOptions options;
    if (job_.loaded != nullptr) options.is_stopped = &job_.loaded->is_stopped;
    MergeStream input(std::move(sources));
    if (view_.horizon.size() > 1) io::probe("a snapshot held versions over a compaction");
    BottomCheck bottom(*view_.levels, job_);
    Retention retention(
        view_.horizon, view_.dead, [&](std::string_view key) { return bottom.is_bottom(key); }, view_.ended_for_all);
    OutputCuts cuts(*view_.levels, job_, tools_.shape, large_);
    options.pool = &tools_.pool;
    options.chunk_weight_max = tools_.shape.chunk_weight_max;
    options.level = job_.output_level;
    options.table = table_options(job_.output_level);
    options.hot_data = BlockPriority::kSuccessor;
    if (job_.joins_level0()) {  // P4
      io::probe("flushes became one file of level 0");
    } else {
      options.begins_new_file = [&](std::string_view key, std::uint64_t file_bytes, std::uint64_t table_bytes,
                                    std::optional<TableId> new_table) {
        return cuts.begins_new_file(key, file_bytes, table_bytes, new_table);
      };
    }
    ExternalValues values(tools_.blocks, *view_.levels);
    options.leaving_value_files = view_.leaving_value_files;
    options.values = &values;
    return rewrite(input, retention, sink, options);
  }

  /// The edits of one job come one after the other, so that the last one knows that it is the last.
  Status publish(const MergeRange& range, Rewritten written) {
    const TableSink sink = tools_.tree.sink(tools_.stopping);
    for (const format::TableFileEntry& file : written.files) sink.tables.begin_blocks_of(file.number);
    format::ManifestEdit edit;
    edit.added_tables = std::move(written.files);
    const UnaddedFiles unadded(sink.tables, edit.added_tables);
    edit.oldest_readable_version = view_.horizon.back();
    raise_ceiling(view_.ended_for_all, edit);
    add_numbers(range.overlapped, edit.removed_tables);
    const io::MutexGuard guard(mutex_);
    const bool is_last = unpublished_ == 1;
    if (is_last) add_numbers(job_.inputs, edit.removed_tables);
    const Status applied = is_last ? tools_.tree.apply(std::move(edit), [](ReadState&) {})
                                   : tools_.tree.apply_part(std::move(edit), job_.inputs, range.keys);
    if (!applied.ok()) return applied;
    --unpublished_;
    if (!is_last) io::probe("a range of a merge was published");
    return Status();
  }

  void keep(const Status& failure) noexcept {
    const io::MutexGuard guard(mutex_);
    if (failure_.ok()) failure_ = failure;
  }
  Status failure() const {
    const io::MutexGuard guard(mutex_);
    return failure_;
  }

  const Job& job_;
  const JobView& view_;
  const JobTools& tools_;
  const std::set<TableId> large_;
  const std::vector<MergeRange> ranges_;
  std::size_t unpublished_ VARVE_GUARDED_BY(mutex_);
  Status failure_ VARVE_GUARDED_BY(mutex_);
  mutable io::Mutex mutex_;  // held while an edit is applied, so it comes before the tree's
};

Status merge(const Job& job, const JobView& view, const JobTools& tools) {
  Result<std::set<TableId>> large = large_tables(job, tools.shape);
  if (!large.ok()) return large.status();
  Result<std::vector<MergeRange>> ranges = ranges_of(job, tools.shape);
  if (!ranges.ok()) return ranges.status();
  return Merge(job, view, tools, *std::move(large), *std::move(ranges)).run();
}

}  // namespace

Status perform_job(const Job& job, const JobView& view, const JobTools& tools) {
  format::ManifestEdit edit;
  switch (job.kind) {
    case JobKind::kMerge: return merge(job, view, tools);
    case JobKind::kUnlink:
      io::probe("a file of dropped tables went unread");
      if (job.inputs.front()->entry.ends.count > 0) io::probe("a file of ended entities went unread");
      raise_ceiling(view.ended_for_all, edit);
      add_numbers(job.inputs, edit.removed_tables);
      tools.figures.unlinked_files.fetch_add(job.inputs.size(), std::memory_order_relaxed);
      break;
    case JobKind::kMove:
      for (const LevelFilePtr& file : job.inputs) {
        edit.moved_tables.push_back({file->entry.number, job.output_level, {}});
      }
      tools.figures.moved_files.fetch_add(job.inputs.size(), std::memory_order_relaxed);
      break;
  }
  return tools.tree.apply(std::move(edit), [](ReadState&) {});
}

}  // namespace varve::engine

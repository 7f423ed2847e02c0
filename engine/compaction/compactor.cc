// Owns: the rounds of compaction (compactor.h).
// Must never: end its thread because a job failed.
#include "engine/compaction/compactor.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <new>
#include <set>
#include <string>
#include <utility>

#include "engine/compaction/bottom_check.h"
#include "engine/compaction/dead_bytes.h"
#include "engine/compaction/output_cuts.h"
#include "engine/compaction/retention.h"
#include "engine/compaction/value_space.h"
#include "engine/log/log_files.h"
#include "engine/read/merge_cursor.h"
#include "engine/tables/table_file.h"
#include "engine/tables/table_scan.h"
#include "io/probe.h"

namespace varve::engine {

namespace {

/// Longest sleep without work. Unflushed drops are searched as often, so the space of a dropped table is freed within
/// two sleeps.
constexpr std::chrono::milliseconds kSleepMax{500};

/// Steps that concern no single file, and have rests of their own.
constexpr BackOff::Key kRemoval{FileKind::kNone, 1};
constexpr BackOff::Key kSealing{FileKind::kNone, 2};

std::vector<std::uint64_t> numbers_of(const LevelFiles& files) {
  std::vector<std::uint64_t> numbers;
  numbers.reserve(files.size());
  for (const LevelFilePtr& file : files) numbers.push_back(file->entry.number);
  return numbers;
}

bool is_damage_of_file(const Status& status) noexcept {
  return status.code() == Code::kCorruption || status.code() == Code::kUnsupported;
}

/// Returns the tables with enough bytes in the job's files for a file of their own. Errors: those of read_directory().
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
  std::set<TableId> large;
  for (const auto& [table, table_bytes] : bytes) {
    if (table_bytes >= own_file_bytes(shape)) large.insert(table);
  }
  return large;
}

}  // namespace

struct Compactor::View {
  std::shared_ptr<const Levels> levels;
  std::vector<CommitVersion> horizon;
  CommitVersion reclaimable = 0;
  DeadRanges dead;
  /// Value files that must go, and for each table file its bytes in them.
  std::vector<std::uint64_t> leaving_value_files;
  std::map<std::uint64_t, std::uint64_t> leaving_value_bytes;
  /// Table files with only dropped tables. They leave when the manifest contains the drop, so no job reads them.
  std::set<std::uint64_t> leaving_tables;
};

Compactor::Compactor(const io::Env& env, CommitQueue& queue, Snapshots& snapshots, Tree& tree, BlockReader& blocks,
                     EventSink* events)
    : env_(env),
      queue_(queue),
      snapshots_(snapshots),
      tree_(tree),
      blocks_(blocks),
      events_(events),
      mutex_(env.scheduler),
      changed_(env.scheduler) {}

Compactor::~Compactor() {
  stop();
}

Status Compactor::start() {
  Result<io::Thread> thread = env_.scheduler.start("varve-compact", [this] { run(); });
  if (!thread.ok()) return thread.status();
  thread_ = *std::move(thread);
  return Status();
}

void Compactor::stop() noexcept {
  stopping_.store(true, std::memory_order_relaxed);
  {
    const io::MutexGuard guard(mutex_);
    changed_.notify_all();
  }
  thread_.join();
}

void Compactor::wake() noexcept {
  const io::MutexGuard guard(mutex_);
  awake_ = true;
  changed_.notify_all();
}

Status Compactor::wait_until_done() {
  const io::MutexGuard guard(mutex_);
  idle_asked_ = true;
  awake_ = true;
  wakes_all_ = true;
  first_failure_ = Status();
  changed_.notify_all();
  const std::uint64_t before = rounds_done_;
  while (rounds_done_ == before && !stopping_.load(std::memory_order_relaxed)) changed_.wait(mutex_);
  idle_asked_ = false;
  if (rounds_done_ != before) return first_failure_;
  return Status(Code::kClosed, "the store is closing");
}

/// Does spare work until there is other work, or until the longest sleep is over.
bool Compactor::wait_for_work() {
  std::chrono::nanoseconds left = kSleepMax;
  for (;;) {
    const std::chrono::nanoseconds due = spare_work_ && !is_awake() ? std::min(spare_work_(), left) : left;
    const io::MutexGuard guard(mutex_);
    if (!awake_ && !stopping_.load(std::memory_order_relaxed) && due.count() > 0) (void)changed_.wait_for(mutex_, due);
    left -= due;
    if (!awake_ && !stopping_.load(std::memory_order_relaxed) && left.count() > 0) continue;
    awake_ = false;
    return !stopping_.load(std::memory_order_relaxed);
  }
}

bool Compactor::is_awake() noexcept {
  const io::MutexGuard guard(mutex_);
  return awake_ || stopping_.load(std::memory_order_relaxed);
}

void Compactor::run() noexcept {
  std::chrono::nanoseconds rest = BackOff::kFirst;
  while (wait_for_work()) {
    for (bool more = true; more && !stopping_.load(std::memory_order_relaxed);) {
      const Result<bool> worked = try_work();
      more = worked.ok() && *worked;
      const io::MutexGuard guard(mutex_);
      if (!worked.ok() && first_failure_.ok()) first_failure_ = worked.status();
      // A quarantined file is unfinished work, even if it was damaged long ago.
      if (!more && idle_round_ && first_failure_.ok() && !quarantine_.empty())
        first_failure_ = quarantine_.begin()->second;
      if (!more && idle_round_) ++rounds_done_;
      changed_.notify_all();
      if (worked.ok()) {
        rest = BackOff::kFirst;
      } else if (!awake_ && !stopping_.load(std::memory_order_relaxed)) {
        (void)changed_.wait_for(mutex_, rest);
        rest = std::min(2 * rest, BackOff::kLongest);
      }
    }
  }
}

/// Runs one round. A round ends early only for lack of memory. The next round then begins after a rest.
Result<bool> Compactor::try_work() noexcept {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    io::probe("a compaction is tried again");
    log_failure(events_, "compaction pauses", Status::out_of_memory());
    return Status::out_of_memory();
  }
}

void Compactor::begin_round() noexcept {
  const io::MutexGuard guard(mutex_);
  idle_round_ = idle_asked_;
  if (wakes_all_) back_off_.wake_all();
  wakes_all_ = false;
}

Compactor::View Compactor::look(const FileSet& files) const {
  View view;
  view.horizon = snapshots_.horizon([this] { return queue_.visible(); });
  view.levels = tree_.levels();
  view.reclaimable = std::min(view.horizon.front(), files.flushed_version);
  view.dead = DeadRanges(files.dead_ids, view.horizon.front());  // Ids that are dead in the manifest are durably dead.
  return view;
}

Result<bool> Compactor::work() {
  begin_round();
  remove_garbage();
  const FileSet files = tree_.manifest().files();
  View view = look(files);
  if (queue_.health() == Health::kPoisoned) return false;
  forget_gone(files);
  hasten(view);
  read_directories(view);
  look_at_value_files(view, files);
  const std::optional<Job> job = pick(view);
  if (!job) return false;
  const std::optional<Tree::Claim> claim = tree_.claim(*view.levels, *job);
  if (!claim) return true;
  if (Status done = perform(*job, view); done.ok()) {
    jobs_.fetch_add(1, std::memory_order_relaxed);
    for (const std::uint64_t number : numbers_of(job->inputs)) back_off_.succeeded({FileKind::kTable, number});
    for (const std::uint64_t number : numbers_of(job->overlapped)) back_off_.succeeded({FileKind::kTable, number});
  } else if (!stopping_.load(std::memory_order_relaxed)) {
    set_aside(*job, done);
  }
  return true;
}

void Compactor::remove_garbage() {
  if (back_off_.rests(kRemoval, env_.clock.monotonic())) return;
  if (Status removed = tree_.remove_garbage(); !removed.ok()) {
    rest({kRemoval}, "an unused file could not be removed", removed);
  } else {
    back_off_.succeeded(kRemoval);
  }
}

void Compactor::hasten(View& view) {
  const CommitVersion visible = queue_.visible();
  writers_rest_ = visible == seen_version_;
  seen_version_ = visible;
  if (back_off_.rests(kSealing, env_.clock.monotonic())) return;
  Status hastened = hasten_drops(view);
  if (hastened.ok()) hastened = hasten_deletes();
  if (hastened.ok()) return back_off_.succeeded(kSealing);
  keep_failure(hastened);
  rest({kSealing}, "a memtable of deletes and drops could not be sealed", hastened);
}

/// Speeds up drops. A drop frees space only when the manifest contains it, which is after the flush of its memtable. If
/// that frees files or log, or if writers rest, the memtable is sealed before it is full.
Status Compactor::hasten_drops(View& view) {
  const std::vector<format::DeadId> unflushed = queue_.unflushed_drops();
  if (unflushed.empty()) return Status();
  const DeadRanges leaving(unflushed, format::kCommitVersionMax);
  const std::vector<format::DeadId> waiting = queue_.unsealed_drops();
  const DeadRanges ranges(waiting, format::kCommitVersionMax);
  bool frees_files = false;
  for (std::uint32_t level = 0; level < kLevelCount; ++level) {
    for (const LevelFilePtr& file : view.levels->level(level)) {
      const format::TableFileEntry& entry = file->entry;
      if (leaving.covers(entry.first_table, entry.last_table)) view.leaving_tables.insert(entry.number);
      frees_files |= ranges.touches(entry.first_table, entry.last_table);
    }
  }
  if (waiting.empty()) return Status();
  if (dead_bytes(waiting) >= kSegmentBytesMin) return queue_.give_log_back();
  return frees_files || writers_rest_ ? queue_.seal_memtable() : Status();
}

/// Returns the bytes that the log and whole table files have of these ids. It stops counting at one segment.
std::uint64_t Compactor::dead_bytes(const std::vector<format::DeadId>& dropped) const {
  const std::uint64_t known = queue_.recovered_dead_bytes() +
                              dead_whole_file_bytes(*tree_.levels(), DeadRanges(dropped, format::kCommitVersionMax));
  if (known >= kSegmentBytesMin) return known;
  return known + tree_.dead_bytes_in_memory(dropped, kSegmentBytesMin);
}

bool Compactor::has_space_to_give_back() const {
  return dead_bytes(queue_.unflushed_drops()) >= kSegmentBytesMin;
}

void Compactor::unlink_dead() noexcept {
  try {
    const FileSet files = tree_.manifest().files();
    if (files.dead_ids.empty() || queue_.health() == Health::kPoisoned) return;
    const View view = look(files);
    format::ManifestEdit edit;
    for (std::uint32_t level = 0; level < kLevelCount; ++level) {
      for (const LevelFilePtr& file : view.levels->level(level)) {
        if (view.dead.covers(file->entry.first_table, file->entry.last_table)) {
          edit.removed_tables.push_back(file->entry.number);
        }
      }
    }
    if (edit.removed_tables.empty()) return;
    // The next open does what fails here.
    if (tree_.apply(edit, [](ReadState&) {}).ok()) (void)tree_.remove_garbage();
  } catch (const std::bad_alloc&) {
    io::probe("dead files stayed over a close");
  }
}

/// Speeds up deletes. Every scan reads deletes and the entries that they hide, until a compaction removes both. If
/// writers rest, that does not wait until the memtable is full.
Status Compactor::hasten_deletes() {
  return writers_rest_ && tree_.collects_deletes() ? queue_.seal_memtable() : Status();
}

/// Computes the dead bytes of each file that has dead tables.
void Compactor::read_directories(const View& view) {
  dead_bytes_.clear();
  const std::chrono::nanoseconds now = env_.clock.monotonic();
  std::map<std::uint64_t, std::vector<format::DirectoryEntry>> kept;
  for (std::uint32_t level = 0; level < kLevelCount && !view.dead.empty(); ++level) {
    for (const LevelFilePtr& file : view.levels->level(level)) {
      const format::TableFileEntry& entry = file->entry;
      if (!view.dead.touches(entry.first_table, entry.last_table)) continue;
      if (view.dead.covers(entry.first_table, entry.last_table)) {  // It leaves unread.
        dead_bytes_[entry.number] = entry.size_bytes;
        continue;
      }
      auto known = directories_.extract(entry.number);
      if (known.empty()) {
        const BackOff::Key key{FileKind::kTable, entry.number};
        if (quarantined_.contains(entry.number) || back_off_.rests(key, now)) continue;
        Result<std::vector<format::DirectoryEntry>> directory = read_directory(*file->table);
        if (!directory.ok()) {
          if (!is_damage_of_file(directory.status())) keep_failure(directory.status());
          set_aside(key, directory.status());
          continue;
        }
        kept.emplace(entry.number, *std::move(directory));
      } else {
        kept.insert(std::move(known));
      }
      dead_bytes_[entry.number] = dead_bytes_of(kept.at(entry.number), view.dead, entry.size_bytes);
    }
  }
  directories_ = std::move(kept);
}

void Compactor::look_at_value_files(View& view, const FileSet& files) const {
  const bool at_rest = idle_round_ || writers_rest_;
  view.leaving_value_files = wasteful_value_files(files, at_rest ? kWastefulPartAtRest : kWastefulPart);
  const std::chrono::nanoseconds now = env_.clock.monotonic();
  std::erase_if(view.leaving_value_files, [&](std::uint64_t number) {
    const BackOff::Key key{FileKind::kLogSegment, number};
    return quarantine_.contains(key) || back_off_.rests(key, now);
  });
  for (const auto& [number, table] : files.tables) {
    for (const format::ValueFileUse& use : table.value_files) {
      if (std::binary_search(view.leaving_value_files.begin(), view.leaving_value_files.end(), use.number)) {
        view.leaving_value_bytes[number] += use.bytes;
      }
    }
  }
}

std::optional<Job> Compactor::pick(const View& view) {
  std::set<std::uint64_t> resting = back_off_.resting(FileKind::kTable, env_.clock.monotonic());
  resting.insert(view.leaving_tables.begin(), view.leaving_tables.end());
  const PickInput input{*view.levels,
                        {},
                        quarantined_,
                        view.dead,
                        dead_bytes_,
                        view.reclaimable,
                        idle_round_,
                        writers_rest_,
                        &view.leaving_value_bytes,
                        &resting};
  return pick_job(input, shape_);
}

Status Compactor::perform(const Job& job, const View& view) {
  format::ManifestEdit edit;
  switch (job.kind) {
    case JobKind::kUnlink:
      io::probe("a file of dropped tables went unread");
      edit.removed_tables = numbers_of(job.inputs);
      unlinked_files_.fetch_add(job.inputs.size(), std::memory_order_relaxed);
      break;
    case JobKind::kMove:
      for (const LevelFilePtr& file : job.inputs) {
        edit.moved_tables.push_back({file->entry.number, job.output_level, {}});
      }
      moved_files_.fetch_add(job.inputs.size(), std::memory_order_relaxed);
      break;
    case JobKind::kMerge:
      if (Status merged = merge(job, view, edit); !merged.ok()) return merged;
      break;
  }
  return tree_.apply(edit, [](ReadState&) {});
}

Status Compactor::merge(const Job& job, const View& view, format::ManifestEdit& edit) {
  std::vector<std::unique_ptr<EntryStream>> sources;
  for (const LevelFiles* files : {&job.inputs, &job.overlapped}) {
    for (const LevelFilePtr& file : *files) sources.push_back(std::make_unique<TableScan>(*file->table, read_bytes_));
  }
  MergeStream input(std::move(sources));
  if (view.horizon.size() > 1) io::probe("a snapshot held versions over a compaction");
  BottomCheck bottom(*view.levels, job);
  Retention retention(view.horizon, view.dead, [&](std::string_view key) { return bottom.is_bottom(key); });
  Result<std::set<TableId>> large = large_tables(job, shape_);
  if (!large.ok()) return large.status();
  OutputCuts cuts(*view.levels, job, shape_, *std::move(large));
  RewriteOptions options;
  options.level = job.output_level;
  options.table = table_options(job.output_level);
  options.begins_new_file = [&](std::string_view key, std::uint64_t file_bytes, std::uint64_t table_bytes,
                                std::optional<TableId> new_table) {
    return cuts.begins_new_file(key, file_bytes, table_bytes, new_table);
  };
  ExternalValues values(blocks_, *view.levels);
  options.leaving_value_files = view.leaving_value_files;
  options.values = &values;
  Result<Rewritten> written = rewrite(input, retention, tree_.sink(stopping_), options);
  if (!written.ok()) return written.status();
  written_bytes_.fetch_add(written->bytes_written, std::memory_order_relaxed);
  copied_bytes_.fetch_add(written->bytes_copied, std::memory_order_relaxed);
  edit.added_tables = std::move(written->files);
  edit.removed_tables = numbers_of(job.inputs);
  for (const std::uint64_t number : numbers_of(job.overlapped)) edit.removed_tables.push_back(number);
  edit.oldest_readable_version = view.horizon.back();
  return Status();
}

/// Sets the affected files aside. Decides by the failure's fields only: its message is for people.
void Compactor::set_aside(const Job& job, const Status& status) {
  keep_failure(status);
  const StoredPlace place = status.place();
  const BackOff::Key file{place.kind, place.number};
  const bool is_the_jobs = place.kind == FileKind::kTable && job.takes(place.number);
  if (is_the_jobs || place.kind == FileKind::kLogSegment) return set_aside(file, status);
  std::vector<BackOff::Key> keys;
  for (const std::uint64_t number : numbers_of(job.inputs)) keys.emplace_back(FileKind::kTable, number);
  for (const std::uint64_t number : numbers_of(job.overlapped)) keys.emplace_back(FileKind::kTable, number);
  rest(keys, "a compaction failed and will be retried", status);
}

void Compactor::set_aside(BackOff::Key file, const Status& status) {
  if (is_damage_of_file(status)) return quarantine(file, status);
  rest({file}, "a compaction failed and will be retried", status);
}

void Compactor::quarantine(BackOff::Key file, const Status& status) {
  io::probe("a damaged file was left alone");
  if (file.first == FileKind::kTable) quarantined_.insert(file.second);
  quarantine_.insert_or_assign(file, status);
  log_failure(events_, "damaged; no compaction uses this file from now on", status);
}

void Compactor::forget_gone(const FileSet& files) {
  const auto is_there = [&](const BackOff::Key& file) {
    return file.first == FileKind::kTable ? files.tables.contains(file.second)
                                          : files.value_files.contains(file.second);
  };
  for (const FileKind kind : {FileKind::kTable, FileKind::kLogSegment}) {
    back_off_.forget_gone(kind, [&](std::uint64_t number) { return is_there({kind, number}); });
  }
  std::erase_if(quarantine_, [&](const auto& entry) { return !is_there(entry.first); });
  std::erase_if(quarantined_, [&](std::uint64_t number) { return !files.tables.contains(number); });
}

void Compactor::rest(const std::vector<BackOff::Key>& keys, std::string_view what, const Status& status) {
  io::probe("a compaction is tried again");
  const std::chrono::nanoseconds now = env_.clock.monotonic();
  for (const BackOff::Key& key : keys) (void)back_off_.failed(key, now, status.code());
  log_failure(events_, what, status);
}

void Compactor::keep_failure(const Status& status) noexcept {
  const io::MutexGuard guard(mutex_);
  if (first_failure_.ok()) first_failure_ = status;
}

void Compactor::add_figures_to(Statistics& figures) const noexcept {
  figures.compactions = jobs_.load(std::memory_order_relaxed);
  figures.moved_files = moved_files_.load(std::memory_order_relaxed);
  figures.unlinked_files = unlinked_files_.load(std::memory_order_relaxed);
  figures.compaction_read_bytes = read_bytes_.load(std::memory_order_relaxed);
  figures.compaction_written_bytes = written_bytes_.load(std::memory_order_relaxed);
  figures.compaction_copied_bytes = copied_bytes_.load(std::memory_order_relaxed);
}

}  // namespace varve::engine

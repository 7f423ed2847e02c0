// Owns: the rounds of compaction (compactor.h).
// Must never: stop planning because a job failed.
#include "engine/compaction/compactor.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <new>
#include <set>
#include <string>
#include <utility>

#include "engine/compaction/dead_bytes.h"
#include "engine/compaction/ended.h"
#include "engine/compaction/merge_choice.h"
#include "engine/compaction/value_space.h"
#include "engine/log/log_files.h"
#include "engine/tables/table_file.h"
#include "io/probe.h"

namespace varve::engine {

namespace {

/// Longest sleep without work. Unflushed drops are searched as often, so the space of a dropped table is freed within
/// two sleeps.
constexpr std::chrono::milliseconds kSleepMax{500};

/// Dead bytes that are worth an early end of the log's segment while writers are busy, who may have to wait for it. Full
/// memtables give the log's space back meanwhile.
constexpr std::uint64_t kDeadBytesWhileBusy = 16 * kSegmentBytesMin;

/// Bytes of large values whose space is worth a flush and merges of their own while writers rest.
constexpr std::uint64_t kLetGoBytes = std::uint64_t{32} << 20;

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

}  // namespace

struct Compactor::View : JobView {
  CommitVersion reclaimable = 0;
  /// For each table file its bytes in leaving value files.
  std::map<std::uint64_t, std::uint64_t> leaving_value_bytes;
  /// Table files with only dropped tables. They leave when the manifest contains the drop, so no job reads them.
  std::set<std::uint64_t> leaving_tables;
};

struct Compactor::Running {
  Running(Job chosen, JobView seen, Tree::Claim claimed) noexcept
      : job(std::move(chosen)), view(std::move(seen)), claim(std::move(claimed)) {}

  Job job;
  JobView view;
  std::optional<Tree::Claim> claim;
  Beneath* beneath = nullptr;  // the caller who waits for the job, until it has ended
  Status result;
  std::atomic<bool> has_ended{false};  // the worker has left it to the planner
};

Compactor::Compactor(const io::Env& env, BackgroundPool& pool, CommitQueue& queue, Snapshots& snapshots, Tree& tree,
                     BlockReader& blocks, ReadQueues& read_queues, EventSink* events)
    : env_(env),
      pool_(pool),
      queue_(queue),
      snapshots_(snapshots),
      tree_(tree),
      blocks_(blocks),
      read_queues_(read_queues),
      events_(events),
      rest_(BackOff::kFirst),
      mutex_(env.scheduler),
      changed_(env.scheduler),
      seat_(pool, *this, BackgroundPool::Kind::kMerge) {}

Compactor::~Compactor() {
  stop();
}

void Compactor::stop() noexcept {
  stopping_.store(true, std::memory_order_relaxed);
  {
    const io::MutexGuard guard(mutex_);
    changed_.notify_all();
  }
  seat_.leave();
  running_.clear();  // The jobs' files may be removed now.
}

void Compactor::wake() noexcept {
  {
    const io::MutexGuard guard(mutex_);
    plans_again_ = true;
  }
  seat_.wake();
}

Status Compactor::wait_until_done() {
  const io::MutexGuard guard(mutex_);
  // Another caller may not have read its failure yet. So this one may report a failure too many, and none is lost.
  if (callers_++ == 0) first_failure_ = Status();
  const std::uint64_t call = ++calls_;
  plans_again_ = true;
  wakes_all_ = true;
  seat_.wake();
  while (answered_calls_ < call && !stopping_.load(std::memory_order_relaxed)) changed_.wait(mutex_);
  --callers_;
  if (answered_calls_ >= call) return first_failure_;
  return Status(Code::kClosed, "the store is closing");
}

BackgroundPool::Pause Compactor::work(bool /*is_due*/) noexcept {
  if (stopping_.load(std::memory_order_relaxed) || !begin_planning()) return std::nullopt;
  const Result<Running*> planned = try_plan();
  const BackgroundPool::Pause pause = end_planning(planned);
  if (!planned.ok() || *planned == nullptr) return pause;
  seat_.wake();  // Another worker may find a job beside this one.
  perform(**planned);
  wake();
  return pause;
}

bool Compactor::begin_planning() noexcept {
  const io::MutexGuard guard(mutex_);
  plans_again_ = true;
  if (is_planning_) return false;
  is_planning_ = true;
  plans_again_ = false;
  return true;
}

/// Returns when to plan again.
BackgroundPool::Pause Compactor::end_planning(const Result<Running*>& planned) noexcept {
  const io::MutexGuard guard(mutex_);
  is_planning_ = false;
  if (!planned.ok() && first_failure_.ok()) first_failure_ = planned.status();
  // A round that failed could not take note of the jobs that ended. It is the last one that a caller waits for.
  const bool is_last = planned.ok() ? *planned == nullptr && running_.empty() : all_have_ended();
  if (is_last && idle_round_) {
    // A quarantined file is unfinished work, even if it was damaged long ago.
    if (first_failure_.ok() && !quarantine_.empty()) first_failure_ = quarantine_.begin()->second;
    answered_calls_ = round_call_;
  }
  changed_.notify_all();
  if (plans_again_) return std::chrono::nanoseconds(0);
  if (planned.ok()) {
    rest_ = BackOff::kFirst;
    return kSleepMax;
  }
  const std::chrono::nanoseconds rest = rest_;
  rest_ = std::min(2 * rest_, BackOff::kLongest);
  return rest;
}

/// Plans one round. A round fails only for lack of memory. The next round then begins after a rest.
Result<Compactor::Running*> Compactor::try_plan() noexcept {
  try {
    return plan();
  } catch (const std::bad_alloc&) {
    io::probe("a compaction is tried again");
    log_failure(events_, "compaction pauses", Status::out_of_memory());
    return Status::out_of_memory();
  }
}

void Compactor::begin_round() {
  {
    const io::MutexGuard guard(mutex_);
    idle_round_ = is_awaited();
    round_call_ = calls_;  // A later call may follow a change that this round does not see.
    if (wakes_all_) back_off_.wake_all();
    wakes_all_ = false;
  }
  collect_ended();
}

bool Compactor::all_have_ended() const noexcept {
  return std::all_of(running_.begin(), running_.end(), [](const std::unique_ptr<Running>& running) {
    return running->has_ended.load(std::memory_order_acquire);
  });
}

void Compactor::collect_ended() {
  for (auto running = running_.begin(); running != running_.end();) {
    if (!(*running)->has_ended.load(std::memory_order_acquire)) {
      ++running;
      continue;
    }
    note_end(**running);
    running = running_.erase(running);
  }
}

void Compactor::note_end(const Running& ended) {
  if (ended.result.ok()) {
    jobs_.fetch_add(1, std::memory_order_relaxed);
    for (const LevelFiles* files : {&ended.job.inputs, &ended.job.overlapped}) {
      for (const std::uint64_t number : numbers_of(*files)) back_off_.succeeded({FileKind::kTable, number});
    }
  } else if (!stopping_.load(std::memory_order_relaxed) && ended.result.code() != Code::kCancelled) {
    set_aside(ended.job, ended.result);
  }
}

Compactor::View Compactor::look(const FileSet& files) const {
  View view;
  view.horizon = snapshots_.horizon([this] { return queue_.visible(); });
  view.ended_for_all = ended_for_all(files, snapshots_, queue_);
  view.levels = tree_.levels();
  view.reclaimable = std::min(view.horizon.front(), files.flushed_version);
  view.dead = DeadRanges(files.dead_ids, view.horizon.front());  // Ids that are dead in the manifest are durably dead.
  return view;
}

Result<Compactor::Running*> Compactor::plan() {
  while (!stopping_.load(std::memory_order_relaxed)) {
    begin_round();
    remove_garbage();
    const FileSet files = tree_.manifest().files();
    View view = look(files);
    if (queue_.health() == Health::kPoisoned) {
      refuse_beneath(Status(Code::kPoisoned, "a failure stopped the store; reopen it to write"));
      return nullptr;
    }
    forget_gone(files);
    hasten(view);
    read_directories(view);
    look_at_value_files(view, files);
    std::optional<Job> job = pick(view);
    if (!job) return nullptr;
    std::optional<Tree::Claim> claim = tree_.claim(*view.levels, *job);
    if (!claim) continue;  // The levels changed meanwhile.
    auto running = std::make_unique<Running>(*std::move(job), std::move(view), *std::move(claim));
    running_.reserve(running_.size() + 1);
    if (running->job.loaded != nullptr) {
      running->beneath = begin_beneath(running->job);
      if (running->beneath == nullptr) continue;  // Its caller has gone.
    }
    running_.push_back(std::move(running));
    return running_.back().get();
  }
  return nullptr;
}

void Compactor::perform(Running& running) noexcept {
  try {
    running.result =
        perform_job(running.job, running.view, {tree_, blocks_, read_queues_, pool_, shape_, stopping_, figures_});
  } catch (const std::bad_alloc&) {
    running.result = Status::out_of_memory();
  }
  running.claim.reset();
  if (running.beneath != nullptr) end_beneath(*running.beneath, running.result);
  running.has_ended.store(true, std::memory_order_release);
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
  const std::uint64_t enough = writers_rest_ ? kSegmentBytesMin : kDeadBytesWhileBusy;
  const std::uint64_t dead = dead_bytes(waiting, enough);
  if (dead >= enough) return queue_.give_log_back();
  // A flush alone would leave the log's space until the memtables are full.
  if (dead >= kSegmentBytesMin) return Status();
  return frees_files || writers_rest_ ? queue_.seal_memtable() : Status();
}

/// Returns the bytes that the log and whole table files have of these ids. It stops counting at `enough`.
std::uint64_t Compactor::dead_bytes(const std::vector<format::DeadId>& dropped, std::uint64_t enough) const {
  const std::uint64_t known = queue_.recovered_dead_bytes() +
                              dead_whole_file_bytes(*tree_.levels(), DeadRanges(dropped, format::kCommitVersionMax));
  if (known >= enough) return known;
  return known + tree_.dead_bytes_in_memory(dropped, enough - known);
}

bool Compactor::has_space_to_give_back() const {
  return dead_bytes(queue_.unflushed_drops(), kSegmentBytesMin) >= kSegmentBytesMin;
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
/// writers rest, that does not wait until the memtable is full. The same holds for what let go of many large values. A
/// value file keeps them until a compaction merges the entries that name them with those that replace them.
Status Compactor::hasten_deletes() {
  if (!writers_rest_) return Status();
  const std::uint64_t let_go = queue_.let_go_bytes();
  const CommitVersion visible = queue_.visible();  // read after the sum, whose commits are visible
  const bool frees_values = let_go - let_go_seen_ >= kLetGoBytes;
  if (!frees_values && !tree_.collects_deletes()) return Status();
  if (Status sealed = queue_.seal_memtable(); !sealed.ok() || !frees_values) return sealed;
  let_go_seen_ = let_go;
  let_go_upto_ = visible;
  return Status();
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
  if (view.leaving_value_files.empty()) return;
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
  std::vector<Job> running;
  for (const std::unique_ptr<Running>& one : running_) running.push_back(one->job);
  const auto input = [&] {
    return PickInput{*view.levels,
                     running,
                     quarantined_,
                     view.dead,
                     dead_bytes_,
                     view.reclaimable,
                     idle_round_,
                     writers_rest_,
                     &view.leaving_value_bytes,
                     &resting,
                     view.ended_for_all,
                     let_go_upto_};
  };
  if (std::optional<Job> beneath = job_beneath(*view.levels)) {
    if (MergeChoice(input(), shape_).is_free(*beneath)) return beneath;
    running.push_back(*std::move(beneath));  // Other jobs keep out of its way (K4).
  }
  return pick_job(input(), shape_);
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
  figures.moved_files = figures_.moved_files.load(std::memory_order_relaxed);
  figures.unlinked_files = figures_.unlinked_files.load(std::memory_order_relaxed);
  figures.compaction_read_bytes = figures_.read_bytes.load(std::memory_order_relaxed);
  figures.compaction_written_bytes = figures_.written_bytes.load(std::memory_order_relaxed);
  figures.compaction_copied_bytes = figures_.copied_bytes.load(std::memory_order_relaxed);
}

}  // namespace varve::engine

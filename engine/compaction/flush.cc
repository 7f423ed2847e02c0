// Owns: the steps of a flush (flush.h).
// Must never: give up a memtable: a failed flush is tried again.
#include "engine/compaction/flush.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "engine/compaction/ended.h"
#include "engine/compaction/flush_parts.h"
#include "engine/compaction/retention.h"
#include "engine/compaction/rewrite.h"
#include "engine/compaction/value_space.h"
#include "engine/memory/memtable_cursor.h"
#include "io/probe.h"

namespace varve::engine {

namespace {

/// The first and the longest pause before a failed flush is tried again. Each further failure doubles the pause. It is
/// short because writers may wait for the flush. On a full disk the pause stays at the first value, since space may
/// become free at any time.
constexpr std::chrono::milliseconds kFlushRetryFirst{500};
constexpr std::chrono::milliseconds kFlushRetryLongest{4000};
constexpr std::chrono::nanoseconds kAtOnce{0};

/// Adds to the edit the dead ids that the file set does not contain yet.
void add_dead_ids(const std::vector<format::DeadId>& retired, const FileSet& files, format::ManifestEdit& edit) {
  for (const format::DeadId& dead : retired) {
    const auto same = [&](const format::DeadId& known) { return known.prefix == dead.prefix; };
    if (std::any_of(files.dead_ids.begin(), files.dead_ids.end(), same)) continue;
    if (std::any_of(edit.added_dead_ids.begin(), edit.added_dead_ids.end(), same)) continue;
    edit.added_dead_ids.push_back(dead);
  }
}

/// Returns the result of the step. If it throws, memory is lacking.
template <typename Step>
Status without_exceptions(const Step& step) noexcept {
  try {
    return step();
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

/// Returns whether the new table will soon be merged. A table that overlaps nothing moves down unchanged.
bool will_be_merged(const Memtable& memtable, const Levels& levels) {
  MemtableCursor first(memtable);
  first.seek(std::string_view(), format::kCommitVersionMax);
  MemtableCursor last(memtable);
  last.seek_to_last();
  return !levels.all_overlapping({first.entry().sort_key, last.entry().sort_key}).empty();
}

}  // namespace

Flusher::Flusher(BackgroundPool& pool, CommitQueue& queue, Memtables& memtables, Wal& wal, SegmentSupply& supply,
                 Snapshots& snapshots, Tree& tree, EventSink* events)
    : pool_(pool),
      queue_(queue),
      memtables_(memtables),
      wal_(wal),
      supply_(supply),
      snapshots_(snapshots),
      tree_(tree),
      events_(events),
      rest_(kFlushRetryFirst),
      seat_(pool, *this, BackgroundPool::Kind::kFlush) {}

Flusher::~Flusher() {
  stop();
}

void Flusher::start() {
  memtables_.announce_work([this] { seat_.wake(); });
}

void Flusher::stop() noexcept {
  stopping_.store(true, std::memory_order_relaxed);
  memtables_.stop_waiting();
  seat_.leave();
  give_up(ahead_);
}

Status Flusher::do_work(FlushWork& work, bool& is_reported) {
  switch (work.kind) {
    case FlushWork::Kind::kNone: break;
    case FlushWork::Kind::kHeal:
      queue_.resume(Pause::kFlush);
      queue_.resume(Pause::kOthers);
      break;
    case FlushWork::Kind::kSeal: return queue_.seal_memtable();
    case FlushWork::Kind::kFlush: return flush_oldest(work, is_reported);
  }
  return Status();
}

BackgroundPool::Pause Flusher::work(bool is_due) noexcept {
  if (has_ended_ || rests(is_due)) return std::nullopt;
  auto kind = FlushWork::Kind::kFlush;
  bool is_reported = false;
  const Status done = without_exceptions([&] {
    FlushWork work = memtables_.take_work();
    kind = work.kind;
    return do_work(work, is_reported);
  });
  if (kind == FlushWork::Kind::kNone) return std::nullopt;
  if (kind == FlushWork::Kind::kHeal) return kAtOnce;
  if (kind == FlushWork::Kind::kSeal) {
    memtables_.report_seal(done);
  } else if (!is_reported) {
    report(done);
  }
  if (!done.ok()) return note_failure(done);
  failed_ = Code::kOk;
  rest_ = kFlushRetryFirst;
  retry_was_asked_ = false;
  return kAtOnce;
}

bool Flusher::rests(bool is_due) noexcept {
  if (!is_resting_) return false;
  retry_was_asked_ = memtables_.take_retry_request();
  if (!is_due && !retry_was_asked_) return true;
  is_resting_ = false;
  if (!retry_was_asked_) rest_ = failed_ == Code::kNoSpace ? kFlushRetryFirst : std::min(2 * rest_, kFlushRetryLongest);
  return false;
}

/// A drop frees space only when its memtable and the ones before it are flushed.
void Flusher::make_room() noexcept {
  supply_.give_up_released();
  (void)without_exceptions([&] {
    if (!memtables_.sealed_drops().empty()) supply_.lend_ballast();
    return Status();
  });
}

/// Returns the rest before the next attempt.
BackgroundPool::Pause Flusher::note_failure(const Status& failure) noexcept {
  if (failure.code() == Code::kNoSpace) make_room();
  // A poisoned store flushes nothing more. Any other failure may pass.
  if (queue_.health() == Health::kPoisoned) {
    has_ended_ = true;
    memtables_.end_flushing();
    return std::nullopt;
  }
  io::probe("a flush is tried again");
  // Failures of consecutive retries that writers asked for are logged once.
  if (!retry_was_asked_ && !stopping_.load(std::memory_order_relaxed)) {
    log_failure(events_, "a flush failed and will be retried", failure);
  }
  failed_ = failure.code();
  is_resting_ = true;
  return rest_;
}

/// Flushes the oldest memtable and reports the result. Meanwhile writes the next one ahead (L6). Throws std::bad_alloc
/// before it has begun.
Status Flusher::flush_oldest(FlushWork& work, bool& is_reported) {
  Status done;
  Ahead written;
  std::atomic<bool> has_ended{false};
  const std::function<void(std::size_t)> part = [&](std::size_t number) noexcept {
    if (number == 0) {
      done = without_exceptions([&] { return flush(*work.oldest, written); });
      has_ended.store(true, std::memory_order_relaxed);
      work.oldest.reset();  // First: threads that wait for the memtable's room are notified by the report.
      report(done);
      is_reported = true;
    } else if (!has_ended.load(std::memory_order_relaxed)) {
      write_ahead(*work.next);
    }
  };
  std::swap(written, ahead_);
  // After a failure, the oldest gets all of the room that there is.
  const bool has_helper = work.next && failed_ == Code::kOk && pool_.free_threads() > 0;
  pool_.share(has_helper ? 2 : 1, part);
  give_up(written);
  if (!done.ok()) give_up(ahead_);
  return done;
}

void Flusher::report(const Status& flushed) noexcept {
  if (flushed.ok()) flushes_.fetch_add(1, std::memory_order_relaxed);  // before the waiting threads are notified
  memtables_.report_flush(flushed);
}

/// A failure has no effect: the memtable's own flush will report its own.
void Flusher::write_ahead(const SealedMemtable& sealed) noexcept {
  (void)without_exceptions([&] {
    if (Status durable = make_durable(sealed); !durable.ok()) return durable;
    Result<format::ManifestEdit> edit = write_table(sealed, false);
    if (!edit.ok()) return edit.status();
    ahead_ = {sealed.memtable.get(), *std::move(edit)};
    return Status();
  });
}

void Flusher::give_up(Ahead& written) noexcept {
  if (written.memtable != nullptr) tree_.sink(stopping_).tables.discard(written.edit.added_tables);
  written = Ahead();
}

Status Flusher::flush(const SealedMemtable& sealed, Ahead& written) {
  if (Status durable = make_durable(sealed); !durable.ok()) return durable;
  assert(written.memtable == nullptr || written.memtable == sealed.memtable.get());
  const bool is_written = std::exchange(written.memtable, nullptr) != nullptr;
  Result<format::ManifestEdit> edit = is_written ? std::move(written.edit) : write_table(sealed, true);
  if (!edit.ok()) return edit.status();
  const UnaddedFiles unadded(tree_.sink(stopping_).tables, edit->added_tables);
  if (sealed.ends_segment) supply_.wait_until_recorded();
  describe_log(sealed, *edit);
  std::vector<std::uint64_t> segments = edit->removed_segments;
  for (const format::ValueFileEntry& kept : edit->added_value_files) std::erase(segments, kept.number);  // L4
  const Status applied = tree_.apply(*std::move(edit), [&](ReadState& state) {
    assert(state.sealed.back() == sealed.memtable);
    state.sealed.pop_back();
  });
  if (!applied.ok()) return applied;
  for (const std::uint64_t number : segments) release_segment(number);
  supply_.take_ballast_back();
  return Status();
}

/// Gives the file of a segment that the manifest no longer names to the log, or removes it. A hold that begins now does
/// not contain the segment any more. A hold that began earlier may, so its file must stay as it is.
void Flusher::release_segment(std::uint64_t number) noexcept {
  const std::uint64_t removed = tree_.are_names_held() ? number : supply_.release(number);
  if (removed != 0) tree_.remove_file(format::FileType::kLogSegment, removed);
}

/// Makes all commits in the memtable durable. The log flush follows every group placed in the memtable, so all of them
/// are then published and durable.
Status Flusher::make_durable(const SealedMemtable& sealed) {
  const Status flushed = queue_.flush(false);
  assert(!flushed.ok() || queue_.visible() >= sealed.last_version);  // L1
  return flushed;
}

/// `is_oldest` says that no older memtable waits for its flush.
Result<format::ManifestEdit> Flusher::write_table(const SealedMemtable& sealed, bool is_oldest) {
  format::ManifestEdit edit;
  UnaddedFiles unadded(tree_.sink(stopping_).tables, edit.added_tables);
  if (sealed.memtable->entry_count() == 0) return edit;
  JobView view;
  view.horizon = snapshots_.horizon([this] { return queue_.visible(); });
  edit.oldest_readable_version = view.horizon.back();
  const FileSet files = tree_.manifest().files();
  std::vector<format::DeadId> dead_ids = files.dead_ids;
  dead_ids.insert(dead_ids.end(), sealed.retired.begin(), sealed.retired.end());
  view.dead = DeadRanges(dead_ids, view.horizon.front());
  view.levels = tree_.levels();
  view.ended_for_all = ended_for_all(files, snapshots_, queue_);
  raise_ceiling(view.ended_for_all, edit);
  if (Status written = write_entries(sealed, is_oldest, view, edit); !written.ok()) return written;
  unadded.release();
  return edit;
}

Status Flusher::write_entries(const SealedMemtable& sealed, bool is_oldest, const JobView& view,
                              format::ManifestEdit& edit) {
  const Memtable& memtable = *sealed.memtable;
  if (memtable.large_value_bytes() > 0) supply_.wait_until_recorded();
  std::vector<format::ValueFileEntry> kept =
      segments_worth_keeping(memtable, tree_.manifest().files(), sealed.last_version, view.dead);
  RewriteOptions options;
  options.pool = &pool_;
  options.chunk_weight_max = shape_.chunk_weight_max;
  options.level = 0;
  options.table = will_be_merged(memtable, *view.levels) ? passing_table_options() : table_options(0);
  for (const format::ValueFileEntry& segment : kept) options.kept_segments.push_back(segment.number);
  const TableSink sink = tree_.sink(stopping_);
  const std::vector<KeySpan> parts = flush_parts(memtable, *view.levels, shape_, pool_.free_threads() + 1);
  Result<Rewritten> written = write_parts(pool_, sink, parts, [&](const KeySpan& part) {
    PartStream entries(memtable, part);
    Retention retention(
        view.horizon, view.dead,
        [&](std::string_view key) {
          return is_oldest && view.levels->all_overlapping({key, key}).empty();
        },
        view.ended_for_all);
    return rewrite(entries, retention, sink, options);
  });
  if (!written.ok()) return written.status();
  written_bytes_.fetch_add(written->bytes_written, std::memory_order_relaxed);
  edit.added_tables = std::move(written->files);
  // If all values of a segment were overwritten or dropped, nothing points into it, so it need not stay.
  format::ValueFileUses used;
  for (const format::TableFileEntry& table : edit.added_tables) {
    for (const format::ValueFileUse& use : table.value_files) format::add_value_file_use(used, use);
  }
  std::erase_if(kept, [&used](const format::ValueFileEntry& segment) {
    return std::none_of(used.begin(), used.end(),
                        [&segment](const format::ValueFileUse& use) { return use.number == segment.number; });
  });
  if (!kept.empty()) io::probe("a log segment stayed as a value file");
  edit.added_value_files = std::move(kept);
  return Status();
}

void Flusher::describe_log(const SealedMemtable& sealed, format::ManifestEdit& edit) const {
  const FileSet files = tree_.manifest().files();
  edit.flushed_version = sealed.last_version;  // L2
  edit.version_ceiling =
      std::max({edit.version_ceiling.value_or(0), files.version_ceiling, wal_.tracker().durable_ceiling()});
  if (sealed.tag && (!files.commit_tag || files.commit_tag->version < sealed.tag->version))
    edit.commit_tag = sealed.tag;
  add_dead_ids(sealed.retired, files, edit);
  edit.removed_loading_ids = sealed.adopted;  // L3
  for (const auto& [number, segment] : files.segments) {
    if (segment.closed && segment.last_version <= sealed.last_version) edit.removed_segments.push_back(number);
  }
}

}  // namespace varve::engine

// Owns: the thread that creates and announces segments (segment_supply.h).
// Must never: hold the mutex while it works on files.
#include "engine/log/segment_supply.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <utility>

#include "engine/base/sync_points.h"
#include "io/aligned_buffer.h"
#include "io/probe.h"

namespace varve::engine {

namespace {

/// The interval in which the thread itself retries to create a spare on a full device.
constexpr std::chrono::milliseconds kSupplyRetryInterval{250};
/// A request fails only after an attempt that began after the request has failed. An earlier attempt may be in
/// progress.
constexpr int kAttemptsPerRequest = 2;
/// A log of so many segments is short: the one in use, and one that the next flush releases.
constexpr std::size_t kSegmentsOfAShortLog = 2;
/// After this time without a commit, an idle log gives its unused space back.
constexpr std::chrono::milliseconds kKeptWhileIdle{5000};
/// Number of entries that closed() and unused() may add beyond those that take() reserves: for the end of the log.
constexpr std::size_t kEditRoom = 2;

}  // namespace

SegmentSupply::SegmentSupply(const io::Env& env, io::Directory& directory, Manifest& manifest,
                             std::function<void(const Status&)> on_fatal, std::function<void()> on_room)
    : env_(env),
      directory_(directory),
      manifest_(manifest),
      on_fatal_(std::move(on_fatal)),
      on_room_(std::move(on_room)),
      mutex_(env.scheduler),
      changed_(env.scheduler) {
  closed_.reserve(kEditRoom);
  removed_.reserve(kEditRoom);
}

SegmentSupply::~SegmentSupply() {
  {
    const io::MutexGuard guard(mutex_);
    stopping_ = true;
    if (filling_ != nullptr) filling_->stop_filling();
    changed_.notify_all();
  }
  thread_.join();
}

Status SegmentSupply::start() {
  Result<io::Thread> thread = env_.scheduler.start("varve-segments", [this] { run(); });
  if (!thread.ok()) return thread.status();
  thread_ = *std::move(thread);
  return Status();
}

Result<SegmentFile> SegmentSupply::take(std::uint64_t bytes_min, bool may_use_ballast) {
  const io::MutexGuard guard(mutex_);
  for (int attempt = 0; attempt <= kAttemptsPerRequest; ++attempt) {
    if (!fatal_.ok()) return fatal_;
    await_filling();
    if (spare_ && spare_->file->allocated_bytes() < bytes_min) discard_spare();
    if (spare_) {
      // Later steps must not allocate, so their memory is reserved while a failure is still harmless.
      try {
        closed_.reserve(closed_.size() + kEditRoom);
        removed_.reserve(removed_.size() + kEditRoom);
        released_.reserve_one();
      } catch (const std::bad_alloc&) {
        return Status::out_of_memory();
      }
      SegmentFile taken = *std::move(spare_);
      spare_.reset();
      current_bytes_ = taken.file->allocated_bytes();
      released_.begin(taken.number, current_bytes_);
      used_bytes_ = 0;  // The next spare is filled as the taken one is used.
      plan_filling();
      wanted_bytes_ = 0;
      changed_.notify_all();
      return taken;
    }
    if (attempt == kAttemptsPerRequest || stopping_) break;
    wanted_bytes_ = bytes_min;
    wanted_with_ballast_ = may_use_ballast;
    changed_.notify_all();
    const std::uint64_t before = attempts_;
    while (attempts_ == before && fatal_.ok() && !stopping_) changed_.wait(mutex_);
  }
  wanted_bytes_ = 0;
  return last_failure_.ok() ? Status(Code::kClosed, "the store is closing") : last_failure_;
}

void SegmentSupply::begin_small() noexcept {
  give_up_released();
  const io::MutexGuard guard(mutex_);
  // Two attempts: a segment that is already being created has the old size.
  for (int attempt = 0; attempt < kAttemptsPerRequest; ++attempt) {
    if (!last_failure_.ok() || retry_later_) return;  // The remaining space of a full disk is not touched.
    next_bytes_ = kSegmentBytesMin;
    const bool is_large = spare_ && spare_->file->allocated_bytes() > 2 * kSegmentBytesMin;
    if (is_large && removed_.size() < removed_.capacity()) discard_spare();
    changed_.notify_all();
    const std::uint64_t before = attempts_;
    while (!spare_ && attempts_ == before && fatal_.ok() && !stopping_) changed_.wait(mutex_);
  }
}

bool SegmentSupply::may_have_room() const {
  const io::MutexGuard guard(mutex_);
  return last_failure_.ok() && !retry_later_;
}

void SegmentSupply::expect_large_writes(bool expected) noexcept {
  const io::MutexGuard guard(mutex_);
  expects_large_writes_ = expected;
  plan_filling();
}

void SegmentSupply::closed(const format::ClosedSegment& segment) noexcept {
  const io::MutexGuard guard(mutex_);
  assert(closed_.size() < closed_.capacity());  // take() reserved memory for it.
  closed_.push_back(segment);
  released_.close(segment.number, segment.size_bytes);
  ++closed_told_;
  changed_.notify_all();
}

std::vector<format::ClosedSegment> SegmentSupply::unrecorded() const {
  const io::MutexGuard guard(mutex_);
  return closed_;
}

void SegmentSupply::wait_until_recorded() noexcept {
  const io::MutexGuard guard(mutex_);
  const std::uint64_t told = closed_told_;
  while (closed_recorded_ < told && fatal_.ok() && !stopping_ && !edits_rest_) changed_.wait(mutex_);
}

void SegmentSupply::unused(std::uint64_t number) noexcept {
  const io::MutexGuard guard(mutex_);
  assert(removed_.size() < removed_.capacity());
  removed_.push_back(number);
  changed_.notify_all();
}

// -- Filling ----------------------------------------------------------------------------------------------------------

void SegmentSupply::begin_use(std::uint64_t number, std::uint64_t segment_bytes) noexcept {
  const io::MutexGuard guard(mutex_);
  released_.begin(number, segment_bytes);
  pace_ = FillPace(segment_bytes);
  current_bytes_ = segment_bytes;
  used_bytes_ = 0;
  plan_filling();
}

void SegmentSupply::wake_filling(std::uint64_t used_bytes) noexcept {
  const io::MutexGuard guard(mutex_);
  used_bytes_ = used_bytes;
  if (must_fill()) changed_.notify_all();
}

/// Sets the use at which the spare's next step is due.
void SegmentSupply::plan_filling() {
  std::uint64_t due_at = kNoFill;
  if (spare_ && !expects_large_writes_) {
    const std::uint64_t bytes = spare_->file->allocated_bytes();
    const std::uint64_t prepared = spare_->file->prepared_bytes();
    if (prepared < bytes) due_at = pace_.use_at(prepared, bytes);
  }
  fill_due_at_.store(due_at, std::memory_order_relaxed);
}

/// Fills the spare by one step, so that edits need not wait for more. If that fails, the spare is discarded: a later
/// write to it would fail too.
void SegmentSupply::fill_spare() {
  std::shared_ptr<io::LogSegment> file;
  std::uint64_t end = 0;
  {
    const io::MutexGuard guard(mutex_);
    if (!spare_ || !must_fill()) return;
    fill_due_at_.store(kNoFill, std::memory_order_relaxed);  // It stays so if there is no memory.
    removed_.reserve(removed_.size() + kEditRoom + 1);       // for a spare that must be discarded
    file = spare_->file;
    end = std::min(pace_.due(used_bytes_, file->allocated_bytes()), FillPace::step_end(file->prepared_bytes()));
    filling_ = file.get();
  }
  const std::uint64_t bytes_before = file->filled_bytes();
  const std::uint64_t prepared_before = file->prepared_bytes();
  const Status filled = file->fill_to(end);
  filled_bytes_.fetch_add(file->filled_bytes() - bytes_before, std::memory_order_relaxed);
  const io::MutexGuard guard(mutex_);
  filling_ = nullptr;
  changed_.notify_all();
  if (!spare_ || spare_->file != file) return;
  if (!filled.ok() && filled.code() != Code::kOutOfMemory) {
    io::probe("a segment could not be filled");
    discard_spare();
    last_failure_ = filled;
    retry_later_ = true;
  } else if (file->prepared_bytes() > prepared_before) {
    plan_filling();
  }
}

/// Ends the filling of the spare for good. Waits for at most one chunk of zeros. Another spare, or none, may be there
/// after a wait.
void SegmentSupply::await_filling() {
  std::shared_ptr<io::LogSegment> stopped;
  while (spare_ && spare_->file != stopped) {
    stopped = spare_->file;
    stopped->stop_filling();
    while (filling_ != nullptr) changed_.wait(mutex_);
  }
}

// -- Released segments ------------------------------------------------------------------------------------------------

std::uint64_t SegmentSupply::release(std::uint64_t number) noexcept {
  const io::MutexGuard guard(mutex_);
  if (stopping_ || !fatal_.ok()) return number;
  const std::uint64_t removed = released_.release(number);
  changed_.notify_all();  // The thread begins to watch for an idle log.
  return removed;
}

void SegmentSupply::give_up_released() noexcept {
  for (;;) {
    std::optional<ReleasedSegments::Segment> segment;
    {
      const io::MutexGuard guard(mutex_);
      segment = released_.take(0);
    }
    if (!segment) return;
    try {
      (void)directory_.remove(format::file_name(format::FileType::kLogSegment, segment->number));
    } catch (const std::bad_alloc&) {
      continue;  // If the name remains, the next open removes the stray file.
    }
  }
}

bool SegmentSupply::has_idle_space() const {
  return !released_.empty() || (spare_ && spare_->file->allocated_bytes() > 2 * kSegmentBytesMin);
}

/// Replaces the space of a busy log by that of an idle one.
void SegmentSupply::give_space_back() noexcept {
  io::probe("an idle log gave space back");
  give_up_released();
  const io::MutexGuard guard(mutex_);
  next_bytes_ = kSegmentBytesMin;
  const bool is_large = spare_ && spare_->file->allocated_bytes() > 2 * kSegmentBytesMin;
  if (is_large && last_failure_.ok() && removed_.size() < removed_.capacity()) discard_spare();
}

Status SegmentSupply::stop() {
  {
    const io::MutexGuard guard(mutex_);
    stopping_ = true;
    if (filling_ != nullptr) filling_->stop_filling();
    changed_.notify_all();
  }
  thread_.join();
  Job job;
  {
    const io::MutexGuard guard(mutex_);
    if (!fatal_.ok()) return fatal_;
    if (spare_) discard_spare();
    job.closed = std::exchange(closed_, {});
    job.removed = std::exchange(removed_, {});
  }
  return record(nullptr, job);
}

void SegmentSupply::discard_spare() {
  removed_.push_back(spare_->number);
  spare_->file->stop_filling();  // A running fill would delay the next segment.
  spare_.reset();
  plan_filling();
}

void SegmentSupply::run() {
  for (;;) {
    Job job;
    try {
      job = next_job();
      if (job.stop) return;
      if (job.fill) {
        fill_spare();
      } else if (job.rest) {
        give_space_back();
      } else {
        perform(job);
      }
    } catch (const std::bad_alloc&) {
      if (job.fill) continue;  // Unfilled space is only slower.
      // If an edit was taken from the lists and is not recorded, the manifest would miss it. The store must then stop.
      const bool edit_lost = !job.closed.empty() || !job.removed.empty();
      edit_lost ? report_fatal(Status::out_of_memory()) : put_off(Status::out_of_memory());
    }
  }
}

bool SegmentSupply::must_make() const {
  if (spare_) return false;
  return wanted_bytes_ > 0 || !retry_later_;
}

bool SegmentSupply::must_fill() const {
  return spare_ && used_bytes_ >= fill_due_at_.load(std::memory_order_relaxed);
}

/// Waits for a change, for the time of a retry, or until the log was idle for a while.
void SegmentSupply::wait_for_a_while(Job& job) {
  if (retry_later_) {
    if (changed_.wait_for(mutex_, kSupplyRetryInterval)) return;
    retry_later_ = false;
    edits_rest_ = false;
  } else if (has_idle_space()) {
    const std::uint64_t used = used_now_.load(std::memory_order_relaxed);
    if (changed_.wait_for(mutex_, kKeptWhileIdle)) return;
    job.rest = has_idle_space() && used == used_now_.load(std::memory_order_relaxed);
  } else {
    changed_.wait(mutex_);
  }
}

SegmentSupply::Job SegmentSupply::next_job() {
  const io::MutexGuard guard(mutex_);
  const auto has_edit = [this]()
                            VARVE_REQUIRES(mutex_) { return !edits_rest_ && !(closed_.empty() && removed_.empty()); };
  Job job;
  while (!stopping_ && fatal_.ok() && !must_make() && !has_edit() && !must_fill() && !job.rest) wait_for_a_while(job);
  job.stop = stopping_ || !fatal_.ok();
  if (job.stop || job.rest) return job;
  job.fill = !must_make() && !has_edit();
  if (job.fill) return job;
  job.make_spare = must_make();
  job.bytes_min = std::max(kSegmentBytesMin, io::round_up_to_sector(wanted_bytes_));
  // Segments grow while the log spans several of them. A log that flushes keep shorter turns in the ones it has. A new
  // one is at most twice as large as the one in use, because its zeros are written while that one is used.
  const bool grows = current_bytes_ < kRecycledBytesMin || released_.in_use() > kSegmentsOfAShortLog;
  job.bytes = std::max(std::min(next_bytes_, grows ? 2 * current_bytes_ : current_bytes_), job.bytes_min);
  job.may_use_ballast = wanted_bytes_ > 0 && wanted_with_ballast_;
  job.closed = closed_;
  job.removed = removed_;
  removed_.clear();  // It keeps its capacity, which unused() needs.
  return job;
}

void SegmentSupply::perform(const Job& job) {
  Result<SegmentFile> made = job.make_spare ? make(job) : Result<SegmentFile>(Status(Code::kCancelled));
  if (Status recorded = record(made.ok() ? &*made : nullptr, job); !recorded.ok()) {
    return manifest_.is_stopped() ? report_fatal(recorded) : put_back(job, std::move(made), recorded);
  }
  {
    const io::MutexGuard guard(mutex_);
    closed_.erase(closed_.begin(), closed_.begin() + static_cast<std::ptrdiff_t>(job.closed.size()));
    closed_recorded_ += job.closed.size();
    edits_rest_ = false;
    changed_.notify_all();
  }
  for (const std::uint64_t number : job.removed) {
    // If the name remains, the next open removes the stray file.
    (void)directory_.remove(format::file_name(format::FileType::kLogSegment, number));
  }
  if (job.make_spare) report(std::move(made));
}

/// Restores the whole job. The manifest could not check whether it still owns the store, and recorded nothing.
void SegmentSupply::put_back(const Job& job, Result<SegmentFile> made, const Status& why) {
  if (made.ok()) {
    const std::string name = format::file_name(format::FileType::kLogSegment, made->number);
    made = why;
    (void)directory_.remove(name);
  }
  {
    const io::MutexGuard guard(mutex_);
    removed_.insert(removed_.end(), job.removed.begin(), job.removed.end());
  }
  put_off(why);
}

/// Leaves everything to the next retry. Without the rest, this thread would try again at once, for as long as there is no
/// memory, and who waits for the edits would wait as long.
void SegmentSupply::put_off(const Status& why) noexcept {
  {
    const io::MutexGuard guard(mutex_);
    edits_rest_ = true;
  }
  report(why);
}

void SegmentSupply::report(Result<SegmentFile> made) noexcept {
  const bool is_room = made.ok() && !made->is_reserved;
  if (keep(std::move(made)) && is_room) on_room_();
}

/// Returns whether this was the first success after a failure.
bool SegmentSupply::keep(Result<SegmentFile> made) noexcept {
  const io::MutexGuard guard(mutex_);
  ++attempts_;
  const bool had_failed = !last_failure_.ok();
  const bool is_made = made.ok();
  if (is_made) {
    if (last_failure_.code() == Code::kNoSpace) io::probe("there was room for a segment again");
    spare_ = *std::move(made);
    plan_filling();
    last_failure_ = Status();
    retry_later_ = false;
    if (!spare_->is_recycled) next_bytes_ = std::min(2 * next_bytes_, kSegmentBytesMax);
  } else {
    if (made.code() == Code::kNoSpace) io::probe("there was no room for a segment");
    last_failure_ = made.status();
    retry_later_ = true;
    wanted_bytes_ = 0;  // The request is answered; a retry makes a new request.
  }
  changed_.notify_all();
  return is_made && had_failed;
}

void SegmentSupply::report_fatal(const Status& status) noexcept {
  {
    const io::MutexGuard guard(mutex_);
    fatal_ = status;
    ++attempts_;
    changed_.notify_all();
  }
  on_fatal_(status);
}

Result<SegmentFile> SegmentSupply::make(const Job& job) {
  // The ballast is restored before a segment for common commits is created. The disk may be full again before the next
  // segment, and a drop then needs the ballast.
  if (!job.may_use_ballast) {
    Status whole = manifest_.ballast().restore();
    if (whole.code() == Code::kNoSpace) {
      give_up_released();
      whole = manifest_.ballast().restore();
    }
    if (whole.code() == Code::kNoSpace) return whole;
  }
  const Result<std::uint64_t> number = manifest_.next_file_number();
  if (!number.ok()) return number.status();
  Result<SegmentFile> segment = recycle(job, *number);
  if (!segment.ok()) segment = create(job, *number);
  if (!segment.ok()) return segment;
  if (Status named = directory_.sync(sync_points::kSegmentNames); !named.ok()) {
    segment->file.reset();
    (void)directory_.remove(format::file_name(format::FileType::kLogSegment, *number));
    return named;
  }
  if (job.may_use_ballast) {
    segment->is_reserved = manifest_.ballast().restore().code() == Code::kNoSpace;
  }
  return segment;
}

/// Errors: kNotFound (no file waits), those of recycle_segment().
Result<SegmentFile> SegmentSupply::recycle(const Job& job, std::uint64_t number) {
  std::optional<ReleasedSegments::Segment> old;
  {
    const io::MutexGuard guard(mutex_);
    old = released_.take(job.bytes_min);
  }
  if (!old) return Status::not_found("no segment waits for a second life");
  return recycle_segment(env_, directory_, old->number, number, old->allocated_bytes);
}

Result<SegmentFile> SegmentSupply::create(const Job& job, std::uint64_t number) {
  Result<SegmentFile> segment = create_segment(env_, directory_, number, job.bytes);
  if (segment.code() == Code::kNoSpace && job.bytes > job.bytes_min) {
    io::probe("a segment is smaller than was meant");
    segment = create_segment(env_, directory_, number, job.bytes_min);
  }
  if (segment.code() == Code::kNoSpace && job.may_use_ballast) {
    io::probe("the log took the ballast");
    const auto create_least = [&] { return create_segment(env_, directory_, number, job.bytes_min); };
    segment = manifest_.ballast().with_room(create_least);
  }
  return segment;
}

Status SegmentSupply::record(const SegmentFile* announced, const Job& job) {
  format::ManifestEdit edit;
  if (announced != nullptr)
    edit.announced_segments.push_back({announced->number, announced->seed, {}, announced->is_recycled});
  edit.closed_segments = job.closed;
  edit.removed_segments = job.removed;
  if (edit == format::ManifestEdit{}) return Status();
  return manifest_.append(edit);
}

}  // namespace varve::engine

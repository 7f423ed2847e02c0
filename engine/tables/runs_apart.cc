// Owns: the row of chunks between the caller and the threads that help it (runs_apart.h).
// Must never: use a chunk that another thread has taken.
#include "engine/tables/runs_apart.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "io/probe.h"

namespace varve::engine {
namespace {

/// Number of blocks that a chunk should fill. It is below a run's limit, because a chunk slightly above the limit would
/// leave a tiny run.
constexpr std::uint64_t kBlocksOfRunChunk = format::kRunBlocksMax - format::kRunBlocksMax / 8;
/// The smallest chunk, as the inverse share of the largest.
constexpr std::uint64_t kRunChunkShareMin = 8;

}  // namespace

RunsApart::RunsApart(BackgroundPool& pool, io::Scheduler& scheduler, std::uint64_t chunk_weight_max)
    : pool_(pool),
      chunk_weight_max_(chunk_weight_max),
      chunk_weight_(chunk_weight_max),
      mutex_(scheduler),
      made_(scheduler),
      seat_(pool, *this, BackgroundPool::Kind::kMerge) {}

RunsApart::~RunsApart() {
  {
    const io::MutexGuard guard(mutex_);
    for (Slot& slot : slots_) {
      if (slot.state == State::kReady) slot.state = State::kEmpty;
    }
  }
  seat_.leave();
}

void RunsApart::begin(TableWriter& writer, const format::TableOptions& table, Sample sample) {
  assert(first_ == next_ && !is_filling_);
  if (table_.dictionary != table.dictionary) {
    for (Slot& slot : slots_) slot.chunk.forget_options();
  }
  table_ = table;
  writer_ = &writer;
  keeps_hot_ = writer.keeps_hot();
  (void)writer.begin_run();
  known_bytes_ = writer.estimated_bytes();
  stored_per_1024_ = writer.stored_per_1024();
  if (sample.weight == 0) return;
  bytes_per_1024_weight_ = sample.bytes * kOne / sample.weight;
  choose_weight(sample.weight, sample.blocks);
}

/// Assumes that later entries compress like these.
void RunsApart::choose_weight(std::uint64_t weight, std::uint64_t blocks) noexcept {
  if (blocks == 0) return;
  chunk_weight_ =
      std::clamp(weight * kBlocksOfRunChunk / blocks, chunk_weight_max_ / kRunChunkShareMin, chunk_weight_max_);
}

Status RunsApart::add(const Entry& entry, bool was_in_memory, bool stays) {
  if (!is_filling_) {
    if (Status ready = make_place(); !ready.ok()) return ready;
    begin_chunk();
  }
  RunChunk& chunk = slot_of(next_).chunk;
  if (Status added = chunk.add(entry, was_in_memory, stays); !added.ok()) return added;
  unknown_weight_ += RunChunk::weight_of(entry);
  return chunk.weight() < chunk_weight_ ? Status() : end_chunk();
}

/// Appends the first chunks until the next one has a place, and further ones that are made.
Status RunsApart::make_place() {
  while (first_ < next_ && (next_ - first_ == kChunks || is_made(slot_of(first_)))) {
    if (Status appended = append_first(); !appended.ok()) return appended;
  }
  while (learned_ + kChunks <= next_) learn_from(lesson_of(learned_++));
  return Status();
}

void RunsApart::begin_chunk() {
  RunChunk::Plan plan{&table_, stored_per_1024_, chunk_weight_max_, keeps_hot_, pool_.has_free_thread()};
  if (!plan.collects && first_ == next_) {
    plan.writer = writer_;
    plan.file_begin = writer_->begin_run();
  }
  // The first free place. If no thread helps, all chunks use the memory of one.
  const auto is_free = [this](const Slot& slot) {
    return std::none_of(row_.begin(), row_.end(), [&slot](const Slot* used) { return used == &slot; });
  };
  Slot& slot = *std::find_if(slots_.begin(), slots_.end(), is_free);
  slot.chunk.begin(plan);
  row_[next_ % kChunks] = &slot;
  is_filling_ = true;
  const io::MutexGuard guard(mutex_);
  slot.number = next_;
  slot.state = State::kFilling;
}

/// Passes the present chunk on, or ends its runs.
Status RunsApart::end_chunk() {
  Slot& slot = slot_of(next_++);
  is_filling_ = false;
  lesson_of(slot.number).weight = slot.chunk.weight();
  if (!slot.chunk.collects()) {
    make(slot);
    return slot.status;
  }
  {
    const io::MutexGuard guard(mutex_);
    slot.state = State::kReady;
  }
  seat_.wake();
  return Status();
}

void RunsApart::make(Slot& slot) noexcept {
  Status status = slot.chunk.make();
  const io::MutexGuard guard(mutex_);
  slot.status = std::move(status);
  slot.state = State::kMade;
  made_.notify_all();
}

RunsApart::Slot* RunsApart::first_ready() noexcept {
  Slot* first = nullptr;
  for (Slot& slot : slots_) {
    if (slot.state == State::kReady && (first == nullptr || slot.number < first->number)) first = &slot;
  }
  return first;
}

RunsApart::Slot* RunsApart::take_ready() noexcept {
  Slot* const slot = first_ready();
  if (slot != nullptr) slot->state = State::kTaken;
  return slot;
}

BackgroundPool::Pause RunsApart::work(bool /*is_due*/) noexcept {
  Slot* slot = nullptr;
  bool are_more = false;
  {
    const io::MutexGuard guard(mutex_);
    slot = take_ready();
    are_more = first_ready() != nullptr;
  }
  if (slot == nullptr) return std::nullopt;
  if (are_more) seat_.wake();  // Another thread may be free.
  io::probe("a run was made by a helper");
  make(*slot);
  return std::chrono::nanoseconds(0);
}

bool RunsApart::is_made(const Slot& slot) const noexcept {
  const io::MutexGuard guard(mutex_);
  return slot.state == State::kMade;
}

/// Waits until the chunk is made. Meanwhile makes the chunks that no thread has taken.
void RunsApart::await(Slot& slot) noexcept {
  for (;;) {
    Slot* mine = nullptr;
    {
      const io::MutexGuard guard(mutex_);
      if (slot.state == State::kMade) return;
      mine = take_ready();
      if (mine == nullptr) made_.wait(mutex_);
    }
    if (mine == nullptr) continue;
    io::probe("a run was made by the thread that collected it");
    make(*mine);
  }
}

Status RunsApart::append_first() {
  Slot& slot = slot_of(first_);
  await(slot);
  if (!slot.status.ok()) return slot.status;
  const Result<RunChunk::Made> made = slot.chunk.append_to(*writer_);
  if (!made.ok()) return made.status();
  lesson_of(first_).made = *made;
  row_[first_++ % kChunks] = nullptr;
  const io::MutexGuard guard(mutex_);
  slot.state = State::kEmpty;
  return Status();
}

void RunsApart::learn_from(const Lesson& lesson) noexcept {
  known_bytes_ += lesson.made.bytes;
  unknown_weight_ -= lesson.weight;
  stored_per_1024_ = lesson.made.stored_per_1024;
  bytes_per_1024_weight_ = lesson.made.bytes * kOne / lesson.weight;
  choose_weight(lesson.weight, lesson.made.blocks);
}

Status RunsApart::append_all() {
  if (is_filling_) {
    if (Status ended = end_chunk(); !ended.ok()) return ended;
  }
  while (first_ < next_) {
    if (Status appended = append_first(); !appended.ok()) return appended;
  }
  while (learned_ < next_) learn_from(lesson_of(learned_++));
  assert(unknown_weight_ == 0);
  return Status();
}

}  // namespace varve::engine

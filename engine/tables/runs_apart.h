// Owns: making the runs of a new table file on free threads of the pool, while the caller produces the next entries.
// Must never: let the file's bytes depend on the number of threads, or wait for a thread that has not begun its work.
//
// Making runs takes most of the time of a flush or a merge, mostly for zstd. The caller's entries are cut into chunks,
// each filling about one run. If a thread of the pool is free when a chunk begins, the chunk is collected for it.
// Otherwise the caller makes the chunk's runs itself, as the entries come, and copies nothing. The caller appends the
// runs to the file, in order. It also makes a collected chunk that it needs and that no thread has begun.
//
// D1  The cuts depend on the entries and on the chunks that lie at least kChunks back. So they are the same whichever
//     threads were free. The caller may append later chunks earlier, but learns nothing from them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/base/background_pool.h"
#include "engine/tables/run_chunk.h"
#include "engine/tables/table_writer.h"
#include "io/scheduler.h"
#include "varve/result.h"

namespace varve::engine {

/// Used by one thread at a time. After an error or an exception, only destruction is allowed.
class RunsApart final : private BackgroundPool::Source {
 public:
  /// Limit of chunks in memory.
  static constexpr std::size_t kChunks = 4;

  /// `chunk_weight_max` limits a chunk (RunChunk::weight_of()). The pool and its scheduler outlive this object.
  RunsApart(BackgroundPool& pool, io::Scheduler& scheduler, std::uint64_t chunk_weight_max);
  /// Gives up the chunks that were not appended. Waits for threads that are at one.
  ~RunsApart() override;
  RunsApart(const RunsApart&) = delete;
  RunsApart& operator=(const RunsApart&) = delete;

  /// Entries whose runs the file's own builder made.
  struct Sample {
    std::uint64_t weight = 0;
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;  // zero: unknown
  };
  /// Continues a file, which stays until end(). `table` has the file's options and dictionary. Throws std::bad_alloc.
  void begin(TableWriter& writer, const format::TableOptions& table, Sample sample);
  bool is_begun() const noexcept { return writer_ != nullptr; }
  /// Adds an entry. `stays` says that its views outlive this object. Errors: those of TableWriter and of RunMaker.
  /// Throws std::bad_alloc.
  Status add(const Entry& entry, bool was_in_memory, bool stays);
  /// Appends all that was added. Errors: as add().
  Status append_all();
  /// Notes that the caller has added to the file itself. Everything was appended.
  void note_growth() noexcept { known_bytes_ = writer_->estimated_bytes(); }
  /// Ends the file. Everything was appended, or the file is given up.
  void end() noexcept { writer_ = nullptr; }

  /// Returns the approximate size in bytes of the file, as TableWriter::estimated_bytes().
  std::uint64_t estimated_bytes() const noexcept {
    return known_bytes_ + unknown_weight_ * bytes_per_1024_weight_ / kOne;
  }

 private:
  static constexpr std::uint64_t kOne = 1024;

  enum class State : std::uint8_t { kEmpty, kFilling, kReady, kTaken, kMade };
  struct Slot {
    RunChunk chunk;
    std::uint64_t number = 0;
    State state = State::kEmpty;  // guarded by the mutex
    Status status;                // written by the thread that makes the chunk
  };

  BackgroundPool::Pause work(bool is_due) noexcept override;
  /// The figures of a made chunk, for the next ones.
  struct Lesson {
    std::uint64_t weight = 0;
    RunChunk::Made made;
  };
  Lesson& lesson_of(std::uint64_t chunk) noexcept { return lessons_[chunk % kChunks]; }
  Slot& slot_of(std::uint64_t chunk) noexcept { return *row_[chunk % kChunks]; }
  Slot* first_ready() noexcept VARVE_REQUIRES(mutex_);
  Slot* take_ready() noexcept VARVE_REQUIRES(mutex_);
  void make(Slot& slot) noexcept VARVE_EXCLUDES(mutex_);
  void begin_chunk();
  Status make_place();
  Status end_chunk();
  void learn_from(const Lesson& lesson) noexcept;
  void choose_weight(std::uint64_t weight, std::uint64_t blocks) noexcept;
  bool is_made(const Slot& slot) const noexcept;
  void await(Slot& slot) noexcept;
  Status append_first();

  BackgroundPool& pool_;
  const std::uint64_t chunk_weight_max_;
  TableWriter* writer_ = nullptr;
  format::TableOptions table_;
  bool keeps_hot_ = false;

  // Chunks are numbered. The file has those below first_; the present one is next_; those below learned_ determine the
  // figures below.
  std::uint64_t first_ = 0;
  std::uint64_t next_ = 0;
  std::uint64_t learned_ = 0;
  bool is_filling_ = false;
  std::uint64_t chunk_weight_;
  std::uint64_t stored_per_1024_ = 0;
  std::uint64_t bytes_per_1024_weight_ = 0;
  std::uint64_t known_bytes_ = 0;
  std::uint64_t unknown_weight_ = 0;

  mutable io::Mutex mutex_;  // a leaf
  io::Condition made_;
  std::array<Slot, kChunks> slots_;
  std::array<Slot*, kChunks> row_{};  // by the chunk's number
  std::array<Lesson, kChunks> lessons_;
  BackgroundPool::Seat seat_;
};

}  // namespace varve::engine

// Owns: a row of table files that a thread of its own reads and decodes, ahead of the repair's merge.
// Must never: let the number of threads change what the merge learns, or when it learns it.
//
// The thread collects entries in chunks. Three chunks circulate: one is filled, one waits, and the merge reads one.
//
// A1  What the thread found on the way to an entry, losses for example, begins a chunk with that entry. So it is recorded
//     when the merge moves to that entry, as without a thread.
// A2  If the system refuses a thread, the merge's thread fills the chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/entry_cursor.h"
#include "engine/repair/salvage.h"
#include "engine/repair/salvaged_row.h"
#include "io/scheduler.h"
#include "io/thread_annotations.h"

namespace varve::engine {

/// One thread at a time may use it.
class SalvagedAhead final : public EntryStream {
 public:
  static constexpr std::size_t kChunkBytes = std::size_t{256} << 10;

  /// Starts to read. The arguments are as for SalvagedRow, and `scheduler` too must outlive the row. A chunk with
  /// `chunk_bytes` of keys and values is full.
  SalvagedAhead(io::Scheduler& scheduler, std::vector<const TableSource*> sources, Salvage& salvage,
                std::size_t chunk_bytes = kChunkBytes);
  /// Waits for the thread to end.
  ~SalvagedAhead() override;
  SalvagedAhead(const SalvagedAhead&) = delete;
  SalvagedAhead& operator=(const SalvagedAhead&) = delete;

  /// Moves to the first entry. Called once, before the other functions.
  void settle() { take_chunk(); }
  bool valid() const noexcept override { return at_ < chunk_.items.size(); }
  Entry entry() const noexcept override;
  void next() override;
  Status status() const override { return status_; }

 private:
  struct Item {
    std::size_t begin = 0;  // of the key in the chunk's bytes; the value follows
    std::size_t key_bytes = 0;
    std::size_t value_bytes = 0;
    CommitVersion version = 0;
    Kind kind = Kind::kPut;
  };
  struct Chunk {
    /// Found before the first entry. Of the figures, the report's count of table files and its bytes read.
    std::vector<Loss> losses;
    RepairFigures figures;
    std::vector<Item> items;
    std::string bytes;
    bool is_last = false;
    Status status;  // of the last chunk
  };

  void run() noexcept;
  void fill(Chunk& chunk) noexcept;
  void fill_from_row(Chunk& chunk);
  void take_chunk();

  const std::vector<const TableSource*> sources_;
  Salvage& salvage_;
  const std::size_t chunk_bytes_;

  // Used by the thread that fills:
  Salvage found_;
  std::unique_ptr<SalvagedRow> row_;

  // Used by the merge:
  Chunk chunk_;
  std::size_t at_ = 0;
  Status status_;

  io::Mutex mutex_;  // a leaf
  io::Condition changed_;
  Chunk ready_ VARVE_GUARDED_BY(mutex_);
  bool is_ready_ VARVE_GUARDED_BY(mutex_) = false;
  bool is_stopped_ VARVE_GUARDED_BY(mutex_) = false;
  bool has_thread_ = false;
  io::Thread thread_;
};

}  // namespace varve::engine

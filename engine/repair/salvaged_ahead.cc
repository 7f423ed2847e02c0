// Owns: the chunks between the reading thread and the merge (salvaged_ahead.h).
// Must never: move past an entry in whose way something was found, within a chunk.
#include "engine/repair/salvaged_ahead.h"

#include <new>
#include <utility>

namespace varve::engine {

SalvagedAhead::SalvagedAhead(io::Scheduler& scheduler, std::vector<const TableSource*> sources, Salvage& salvage,
                             std::size_t chunk_bytes)
    : sources_(std::move(sources)),
      salvage_(salvage),
      chunk_bytes_(chunk_bytes),
      found_{salvage.directory, {}, {}, salvage.unreadable},
      mutex_(scheduler),
      changed_(scheduler) {
  Result<io::Thread> thread = scheduler.start("varve-check", [this] { run(); });
  if (!thread.ok()) return;
  thread_ = *std::move(thread);
  has_thread_ = true;
}

SalvagedAhead::~SalvagedAhead() {
  {
    const io::MutexGuard guard(mutex_);
    is_stopped_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

// -- The thread that fills --------------------------------------------------------------------------------------------

void SalvagedAhead::run() noexcept {
  Chunk chunk;
  bool is_last = false;
  while (!is_last) {
    fill(chunk);
    is_last = chunk.is_last;
    const io::MutexGuard guard(mutex_);
    while (is_ready_ && !is_stopped_) changed_.wait(mutex_);
    if (is_stopped_) return;
    std::swap(chunk, ready_);
    is_ready_ = true;
    changed_.notify_all();
  }
}

void SalvagedAhead::fill(Chunk& chunk) noexcept {
  try {
    fill_from_row(chunk);
  } catch (const std::bad_alloc&) {
    chunk = Chunk();
    chunk.is_last = true;
    chunk.status = Status::out_of_memory();
  }
}

void SalvagedAhead::fill_from_row(Chunk& chunk) {
  chunk.items.clear();
  chunk.bytes.clear();
  if (!row_) row_ = std::make_unique<SalvagedRow>(sources_, found_);
  chunk.losses = found_.losses.take();
  chunk.figures = std::exchange(found_.figures, RepairFigures());
  found_.losses = Losses();
  chunk.is_last = !row_->valid();
  if (chunk.is_last) chunk.status = row_->status();
  while (row_->valid() && chunk.bytes.size() < chunk_bytes_) {
    const Entry entry = row_->entry();
    chunk.items.push_back({chunk.bytes.size(), entry.sort_key.size(), entry.value.size(), entry.version, entry.kind});
    chunk.bytes.append(entry.sort_key).append(entry.value);
    row_->next();
    if (!found_.losses.empty() || !found_.figures.findings.empty()) return;  // A1
  }
}

// -- The merge --------------------------------------------------------------------------------------------------------

Entry SalvagedAhead::entry() const noexcept {
  const Item& item = chunk_.items[at_];
  const char* const key = chunk_.bytes.data() + item.begin;
  return {{key, item.key_bytes}, item.version, item.kind, {key + item.key_bytes, item.value_bytes}};
}

void SalvagedAhead::next() {
  if (++at_ == chunk_.items.size() && !chunk_.is_last) take_chunk();
}

void SalvagedAhead::take_chunk() {
  if (has_thread_) {
    const io::MutexGuard guard(mutex_);
    while (!is_ready_) changed_.wait(mutex_);
    std::swap(chunk_, ready_);
    is_ready_ = false;
    changed_.notify_all();
  } else {
    fill(chunk_);
  }
  at_ = 0;
  for (Loss& loss : chunk_.losses) salvage_.losses.add(std::move(loss));
  for (std::string& finding : chunk_.figures.findings) salvage_.figures.findings.push_back(std::move(finding));
  const RepairReport& seen = chunk_.figures.report;
  RepairReport& report = salvage_.figures.report;
  report.read_bytes += seen.read_bytes;
  report.table_files.whole += seen.table_files.whole;
  report.table_files.damaged += seen.table_files.damaged;
  report.table_files.missing += seen.table_files.missing;
  if (chunk_.is_last) status_ = chunk_.status;
}

}  // namespace varve::engine

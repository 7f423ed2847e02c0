// Owns: the steps of an installation (beneath_load.h).
// Must never: release the snapshot before the entries are installed.
#include "engine/load/beneath_load.h"

#include <cassert>
#include <memory>
#include <utility>

#include "engine/commit/commit_queue.h"
#include "engine/compaction/compactor.h"
#include "format/keys/sort_key.h"

namespace varve::engine {

BeneathLoad::BeneathLoad(const LoadParts& parts, Memtables& memtables, const LoadOptions& options, TableId table,
                         HeldVersion snapshot)
    : parts_(parts),
      memtables_(memtables),
      options_(options),
      table_(table),
      awaited_(parts.tree.await_files_of(table)),
      snapshot_(std::move(snapshot)),
      sorter_(parts.tree.sink(parts.closed), parts.table_files, options_, snapshot_.version()) {
  assert(snapshot_.version() > 0);
}

BeneathLoad::~BeneathLoad() {
  parts_.counters.written_bytes.fetch_add(sorter_.written_bytes(), std::memory_order_relaxed);
}

Status BeneathLoad::check_open() const {
  if (!parts_.closed.load(std::memory_order_relaxed)) return Status();
  return Status(Code::kClosed, "the store was closed; open it again");
}

Status BeneathLoad::add(std::string_view sort_key, std::string_view value, Kind kind) {
  assert(format::table_id_of(sort_key) == table_);
  if (Status open = check_open(); !open.ok()) return open;
  ++entries_;
  bytes_ += sort_key.size() + value.size();
  return sorter_.add(sort_key, value, kind);
}

Status BeneathLoad::install(const std::function<bool()>& goes_on) {
  if (Status open = check_open(); !open.ok()) return open;
  if (entries_ == 0) return Status();
  if (Status sealed = parts_.queue.seal_memtable(); !sealed.ok()) return sealed;  // A3
  if (Status flushed = memtables_.wait_until_flushed(); !flushed.ok()) return flushed;
  if (goes_on && !goes_on()) return Status(Code::kCancelled, "the installation was stopped");
  Result<std::vector<std::unique_ptr<EntryStream>>> streams = sorter_.streams(goes_on);
  if (!streams.ok()) return streams.status();
  const auto loaded = std::make_shared<LoadedEntries>();
  loaded->smallest = format::encode_table(table_);
  loaded->largest = format::end_of_prefix(loaded->smallest);  // No key is equal to it.
  loaded->table = table_;
  loaded->bytes = bytes_;
  loaded->streams = *std::move(streams);
  if (Status merged = parts_.compactor.merge_beneath(loaded, goes_on); !merged.ok()) return merged;
  // A scan that read around deletes of the table may not have seen the entries. It read at a version below this one.
  parts_.queue.stretches().forget_all(parts_.queue.draw_tick());
  return Status();
}

}  // namespace varve::engine

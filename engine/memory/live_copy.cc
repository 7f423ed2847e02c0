// Owns: copying the live entries into a fresh memtable (live_copy.h).
// Must never: change the memtable that it copies from.
#include "engine/memory/live_copy.h"

#include <string>
#include <utility>

#include "format/keys/batch.h"

namespace varve::engine {

namespace {

bool holds_retired(const Memtable& all, const RetiredIds& retired) {
  for (const format::DeadId& dead : retired.list()) {
    Memtable::Cursor cursor(all);
    cursor.seek(dead.prefix, format::kCommitVersionMax);
    if (cursor.valid() && cursor.entry().sort_key.starts_with(dead.prefix)) return true;
  }
  return false;
}

Status copy_entry(const Entry& entry, Memtable& live) {
  format::BatchBuilder builder;
  if (entry.kind == Kind::kDelete) {
    builder.remove(entry.sort_key);
  } else if (entry.has_end()) {
    builder.put_expiring(entry.sort_key, entry.value);
  } else {
    builder.put(entry.sort_key, entry.value);
  }
  const std::string batch = builder.finish();
  const Result<MemtableDemand> demand = Memtable::demand_of(batch);
  if (!demand.ok()) return demand.status();
  const Result<Memtable::Reservation> room = live.reserve(*demand);
  if (!room.ok()) return room.status();
  live.insert(*room, batch, entry.version);
  return Status();
}

}  // namespace

Result<LiveCopy> without_retired(std::unique_ptr<Memtable> all, const RetiredIds& retired) {
  LiveCopy copy;
  if (!holds_retired(*all, retired)) {
    copy.memtable = std::move(all);
    return copy;
  }
  copy.memtable = std::make_unique<Memtable>();
  Memtable::Cursor cursor(*all);
  for (cursor.seek_to_first(); cursor.valid(); cursor.next()) {
    const Entry entry = cursor.entry();
    if (retired.dropped_at(format::table_id_of(entry.sort_key))) {
      copy.dead_bytes += entry.sort_key.size() + entry.value.size();
      continue;
    }
    if (Status copied = copy_entry(entry, *copy.memtable); !copied.ok()) return copied;
  }
  return copy;
}

}  // namespace varve::engine

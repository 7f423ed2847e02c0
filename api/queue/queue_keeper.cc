// Owns: the sweeps over all queues (queue_keeper.h).
// Must never: hold back a commit of a user: it is not paced, but a part of it is small.
#include "api/queue/queue_keeper.h"

#include <new>
#include <utility>
#include <vector>

#include "api/catalog/catalog.h"
#include "api/catalog/queue_rows.h"
#include "api/commit/commit.h"
#include "api/model/service_error.h"
#include "api/queue/message_change.h"
#include "api/queue/message_walk.h"
#include "engine/read/cursor.h"
#include "format/keys/sort_key.h"

namespace varve {

void QueueKeeper::begin() noexcept {
  if (has_begun_.load(std::memory_order_relaxed)) return;
  if (!has_begun_.exchange(true, std::memory_order_relaxed)) seat_.wake();
}

engine::BackgroundPool::Pause QueueKeeper::work(bool /*is_due*/) noexcept {
  try {
    const Result<std::chrono::nanoseconds> rest = sweep();
    if (rest.ok()) return *rest;
  } catch (const std::bad_alloc&) {
    // The next sweep does what this one could not.
  }
  next_key_.clear();
  return kRestBetweenSweeps;
}

Result<std::chrono::nanoseconds> QueueKeeper::sweep() {
  const Result<Part> part = gather();
  if (!part.ok()) return part.status();
  for (const Visit& visit : part->visits) {
    next_key_ = visit.key;
    const Result<bool> has_more = clean(visit.queue);
    if (!has_more.ok()) return has_more.status();
    if (*has_more) return std::chrono::nanoseconds(0);
  }
  next_key_ = part->next_key;
  return next_key_.empty() ? kRestBetweenSweeps : kRestInSweep;
}

Result<QueueKeeper::Part> QueueKeeper::gather() {
  const engine::ReadView view = backend_.view();
  const std::string prefix = format::encode_table(kQueuesTable);
  engine::Cursor rows = view.cursor(prefix, format::end_of_prefix(prefix));
  Part part;
  for (rows.seek(next_key_.empty() ? prefix : next_key_); rows.valid(); rows.next()) {
    if (part.visits.size() == kQueuesAtOnce) {
      part.next_key = rows.key();
      return part;
    }
    const Result<format::SortKey> key = format::decode_sort_key(rows.key());
    if (!key.ok()) return key.status();
    const Result<QueueRow> row = decode_queue_row(key->partition_key, key->row_key, rows.version(), rows.value());
    if (!row.ok()) return row.status();
    const Result<std::uint64_t> secret = Catalog::queue_secret(view);
    if (!secret.ok()) return secret.status();
    part.visits.push_back(
        {std::string(rows.key()), board_.add(row->id, {row->message_bytes_max, row->release_on_open}, *secret)});
  }
  if (!rows.status().ok()) return rows.status();
  return part;
}

Result<bool> QueueKeeper::clean(const std::shared_ptr<LiveQueue>& queue) {
  Result<std::vector<MessageOperation>> expired =
      walk_expired(backend_.view(), queue, backend_.time(), kMessagesAtOnce);
  if (!expired.ok()) return expired.status();
  if (expired->empty()) return false;
  MessageChange change(*expired, Durability::kBuffered);
  change.paced_bytes = 0;
  const Result<engine::CommitVersion> version = commit(backend_, change);
  // The queue was cleared or deleted, or others removed the same.
  const bool is_overtaken = is_nothing_to_write(version.status()) || service_error::is_table_gone(version.status());
  if (!version.ok() && !is_overtaken) return version.status();
  return version.ok() && expired->size() >= kMessagesAtOnce;
}

}  // namespace varve

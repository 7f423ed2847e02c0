// Owns: the walks over a queue's rows (message_walk.h).
// Must never: read past what the walk needs.
#include "api/queue/message_walk.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/read/cursor.h"
#include "format/keys/sort_key.h"

namespace varve {
namespace {

/// Returns a cursor over all rows of one kind, before its first move.
engine::Cursor rows_of(const engine::ReadView& view, format::TableId queue, char kind,
                       engine::ReadCost* cost = nullptr) {
  const std::string prefix = message_rows_prefix(queue, kind);
  return view.cursor(prefix, format::end_of_prefix(prefix), cost);
}

/// Copies the message, and reads its text if that has a row of its own.
Result<SeenMessage> see(const engine::ReadView& view, format::TableId queue, const TimedPlace& at,
                        engine::CommitVersion version, const WaitingMessage& row, engine::ReadCost* cost) {
  SeenMessage seen;
  seen.sequence = at.sequence;
  seen.visible = at.time;
  seen.version = version;
  seen.id = row.id;
  seen.inserted = row.inserted;
  seen.expires = row.expires;
  seen.deliveries = row.deliveries;
  seen.is_apart = row.is_apart;
  seen.origin = row.origin;
  seen.text = row.text;
  if (!row.is_apart) return seen;
  const auto found = view.get(text_key(queue, at.sequence), cost);
  if (!found.ok()) return found.status();
  if (!*found) return Status::corruption("the text of a message is missing");
  const Result<std::string_view> text = decode_text((*found)->value);
  if (!text.ok()) return text.status();
  seen.text = *text;
  return seen;
}

}  // namespace

Result<SeenMessages> walk_visible(const engine::ReadView& view, format::TableId queue, Ticks now, std::uint32_t count,
                                  const std::function<bool(Sequence)>& takes, engine::ReadCost* cost) {
  SeenMessages seen;
  engine::Cursor cursor = rows_of(view, queue, 'W', cost);
  for (cursor.seek_to_first(); cursor.valid() && seen.messages.size() < count; cursor.next()) {
    const Result<TimedPlace> at = decode_timed_key(cursor.key());
    if (!at.ok()) return at.status();
    if (at->time > now) {
      seen.next_visible = at->time;
      break;
    }
    const Result<WaitingMessage> row = decode_waiting(cursor.value());
    if (!row.ok()) return row.status();
    // Consumers beside each other meet what the others claim. So nothing is copied before it is claimed.
    if (now >= row->expires || !takes(at->sequence)) continue;
    Result<SeenMessage> message = see(view, queue, *at, cursor.version(), *row, cost);
    if (!message.ok()) return message.status();
    seen.messages.push_back(*std::move(message));
  }
  if (!cursor.status().ok()) return cursor.status();
  return seen;
}

Result<std::vector<MessageOperation>> walk_expired(const engine::ReadView& view,
                                                   const std::shared_ptr<LiveQueue>& queue, Ticks now,
                                                   std::uint32_t count) {
  std::vector<MessageOperation> expired;
  engine::Cursor cursor = rows_of(view, queue->id, 'E');
  for (cursor.seek_to_first(); cursor.valid() && expired.size() < count; cursor.next()) {
    const Result<TimedPlace> at = decode_timed_key(cursor.key());
    if (!at.ok()) return at.status();
    if (at->time > now) break;
    MessageOperation& operation = expired.emplace_back();
    operation.kind = MessageOperation::Kind::kExpire;
    operation.queue = queue;
    operation.sequence = at->sequence;
    operation.expires = at->time;
    operation.now = now;
  }
  if (!cursor.status().ok()) return cursor.status();
  const std::size_t limit = expired.size() + count;
  engine::Cursor keys = rows_of(view, queue->id, 'F');
  for (keys.seek_to_first(); keys.valid() && expired.size() < limit; keys.next()) {
    Result<ForgettingPlace> at = decode_forgetting_key(keys.key());
    if (!at.ok()) return at.status();
    if (at->until > now) break;
    MessageOperation& operation = expired.emplace_back();
    operation.kind = MessageOperation::Kind::kForget;
    operation.queue = queue;
    operation.deduplication_key = std::move(at->key);
    operation.remembered_until = at->until;
    operation.now = now;
  }
  if (!keys.status().ok()) return keys.status();
  return expired;
}

Result<QueueFigures> count_messages(const engine::ReadView& view, format::TableId queue, Ticks now) {
  MessageCount total;
  engine::Cursor counters = rows_of(view, queue, 'C');
  for (counters.seek_to_first(); counters.valid(); counters.next()) {
    const Result<MessageCount> stripe = decode_message_count(counters.value());
    if (!stripe.ok()) return stripe.status();
    total.messages += stripe->messages;
    total.text_bytes += stripe->text_bytes;
  }
  if (!counters.status().ok()) return counters.status();

  engine::Cursor expiries = rows_of(view, queue, 'E');
  for (expiries.seek_to_first(); expiries.valid(); expiries.next()) {
    const Result<TimedPlace> at = decode_timed_key(expiries.key());
    if (!at.ok()) return at.status();
    if (at->time > now) break;
    const auto found = view.get(place_key(queue, at->sequence));
    if (!found.ok()) return found.status();
    if (!*found) return Status::corruption("a message has a time of expiry, but no place");
    const Result<MessagePlace> place = decode_place((*found)->value);
    if (!place.ok()) return place.status();
    --total.messages;
    total.text_bytes -= place->text_bytes;
  }
  if (!expiries.status().ok()) return expiries.status();
  if (total.messages < 0 || total.text_bytes < 0) return Status::corruption("the counters of a queue are below zero");
  return QueueFigures{static_cast<std::uint64_t>(total.messages), static_cast<std::uint64_t>(total.text_bytes)};
}

}  // namespace varve

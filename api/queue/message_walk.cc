// Owns: the walks over a queue's rows (message_walk.h).
// Must never: read past what the walk needs.
#include "api/queue/message_walk.h"

#include <algorithm>
#include <optional>
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

/// A walk over the waiting messages of a queue.
class VisibleWalk {
 public:
  VisibleWalk(const engine::ReadView& view, LiveQueue& queue, Ticks now, std::uint32_t count,
              const std::function<bool(Sequence)>& takes, WalkOptions options)
      : view_(view),
        queue_(queue),
        now_(now),
        count_(count),
        takes_(takes),
        options_(options),
        cursor_(rows_of(view, queue.id, 'W', options.cost)) {}

  Result<SeenMessages> run() {
    const std::optional<TimedPlace> released = queue_.released_from();
    // A walk over released messages that ends early would learn too little.
    if (!released && options_.ends == WalkEnds::kEarly) cursor_.stop_after(kDeadRowsMax);
    cursor_.seek_to_first();
    if (released) {
      if (Status walked = see_visible(std::min(queue_.opened_at.time, now_)); !walked.ok()) return walked;
      if (Status walked = see_released(*released); !walked.ok()) return walked;
      cursor_.seek(waiting_key(queue_.id, queue_.opened_at.time + 1, 0));
      passes_released_ = true;
      seen_.next_visible.reset();
    }
    if (Status walked = see_visible(now_); !walked.ok()) return walked;
    seen_.has_stopped = !cursor_.valid() && cursor_.has_stopped();
    if (options_.ahead != nullptr && !released && !has_room()) see_ahead(*options_.ahead);
    return std::move(seen_);
  }

 private:
  bool has_room() const noexcept { return seen_.messages.size() < count_; }

  /// Sees the messages from the cursor on that are visible at `until`.
  Status see_visible(Ticks until) {
    if (!has_room()) return Status();
    for (; cursor_.valid(); cursor_.next()) {
      const Result<TimedPlace> at = decode_timed_key(cursor_.key());
      if (!at.ok()) return at.status();
      if (at->time > until) {
        seen_.next_visible = at->time;
        break;
      }
      const Result<WaitingMessage> row = decode_waiting(cursor_.value());
      if (!row.ok()) return row.status();
      if (passes_released_ && was_held_at_open(*row)) continue;  // see_released() saw it.
      if (Status seen = see_one(*at, *row); !seen.ok()) return seen;
      if (!has_room()) return Status();
    }
    return cursor_.status();
  }

  /// Sees the places after the last message. Errors end it: a reader of these rows gets them.
  void see_ahead(SeenAhead& ahead) {
    cursor_.leave_values();
    cursor_.stop_after(kDeadRowsMax);
    while (cursor_.valid() && ahead.places.size() < ahead.wanted) {
      cursor_.next();
      if (!cursor_.valid()) return;
      const Result<TimedPlace> at = decode_timed_key(cursor_.key());
      if (!at.ok() || at->time > now_) return;
      ahead.places.push_back(*at);
    }
  }

  /// Sees the messages that the open released, from this place on.
  Status see_released(const TimedPlace& from) {
    if (!has_room()) return Status();
    std::optional<TimedPlace> first;
    cursor_.seek(waiting_key(queue_.id, from.time, from.sequence));
    for (; cursor_.valid() && has_room(); cursor_.next()) {
      const Result<WaitingMessage> row = decode_waiting(cursor_.value());
      if (!row.ok()) return row.status();
      if (!was_held_at_open(*row)) continue;
      const Result<TimedPlace> at = decode_timed_key(cursor_.key());
      if (!at.ok()) return at.status();
      if (!first) first = *at;
      if (Status seen = see_one(*at, *row); !seen.ok()) return seen;
    }
    if (!cursor_.status().ok()) return cursor_.status();
    queue_.raise_released(first);
    return Status();
  }

  /// L4 of live_queue.h.
  bool was_held_at_open(const WaitingMessage& row) const noexcept {
    return cursor_.version() <= queue_.opened_at.version && row.deliveries > 0;
  }

  /// Takes the message at the cursor if it is wanted. Consumers beside each other meet what the others claim. So nothing is
  /// copied before it is claimed.
  Status see_one(const TimedPlace& at, const WaitingMessage& row) {
    if (now_ >= row.expires || !takes_(at.sequence)) return Status();
    Result<SeenMessage> message = see(view_, queue_.id, at, cursor_.version(), row, options_.cost);
    if (!message.ok()) return message.status();
    seen_.messages.push_back(*std::move(message));
    return Status();
  }

  const engine::ReadView& view_;
  LiveQueue& queue_;
  const Ticks now_;
  const std::uint32_t count_;
  const std::function<bool(Sequence)>& takes_;
  const WalkOptions options_;
  engine::Cursor cursor_;
  SeenMessages seen_;
  bool passes_released_ = false;
};

}  // namespace

Result<SeenMessages> walk_visible(const engine::ReadView& view, LiveQueue& queue, Ticks now, std::uint32_t count,
                                  const std::function<bool(Sequence)>& takes, WalkOptions options) {
  return VisibleWalk(view, queue, now, count, takes, options).run();
}

Result<std::optional<SeenMessage>> see_at(const engine::ReadView& view, format::TableId queue, const TimedPlace& place,
                                          Ticks now) {
  const auto found = view.get(waiting_key(queue, place.time, place.sequence));
  if (!found.ok()) return found.status();
  if (!*found) return std::optional<SeenMessage>();
  const Result<WaitingMessage> row = decode_waiting((*found)->value);
  if (!row.ok()) return row.status();
  if (now >= row->expires) return std::optional<SeenMessage>();
  Result<SeenMessage> message = see(view, queue, place, (*found)->version, *row, nullptr);
  if (!message.ok()) return message.status();
  return std::optional<SeenMessage>(*std::move(message));
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

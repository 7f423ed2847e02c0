// Owns: the judging of changes of messages, and the rows that they write (message_change.h).
// Must never: write a message's rows at other versions than its place.
#include "api/queue/message_change.h"

#include <algorithm>
#include <utility>

#include "api/model/service_error.h"
#include "api/queue/message_limits.h"
#include "format/keys/sort_key.h"
#include "varve/limits.h"

namespace varve {
namespace {

using MessageKind = MessageOperation::Kind;

/// Rows that a change of one message usually writes at most.
constexpr std::size_t kRowsMax = 5;

/// The name of a refusal that stays inside the store. No rule of a service has it.
constexpr char kNothingToWrite[] = "NothingToWrite";

constexpr bool may_be_left_out(MessageKind kind) noexcept {
  return kind == MessageKind::kTake || kind == MessageKind::kBury || kind == MessageKind::kExpire;
}

/// Returns whether the operation, in a commit that was published, let a message wait at its new time of visibility.
bool writes_waiting_row(const MessageOperation& operation) noexcept {
  if (operation.kind == MessageKind::kPut) return !operation.duplicate;
  if (operation.kind == MessageKind::kUpdate) return true;
  return (operation.kind == MessageKind::kTake || operation.kind == MessageKind::kBury) && !operation.is_left_out;
}

bool never_expires(Ticks expires) noexcept {
  return expires >= limits::kDateTimeTicksMax;
}

Status not_found() {
  return service_error::message_not_found(
      "the message does not exist, has expired, or was got or updated since the receipt was given");
}

}  // namespace

MessageOperation make_put(const std::shared_ptr<LiveQueue>& queue, Sequence sequence, std::string_view text,
                          const PutOptions& options) {
  MessageOperation put;
  put.kind = MessageKind::kPut;
  put.queue = queue;
  put.sequence = sequence;
  put.now = sequence;
  put.visible = after(sequence, options.delay);
  put.expires = after(sequence, options.ttl);
  put.text = std::string(text);
  put.deduplication_key = options.deduplication_key;
  put.remembered_until = after(sequence, options.deduplication_window);
  return put;
}

Result<MessageOperation> make_change_by_receipt(const std::shared_ptr<LiveQueue>& queue, MessageKind kind,
                                                const Guid& id, const PopReceipt& receipt, Ticks now) {
  if (!queue->identity.is_own(receipt)) {
    return service_error::invalid_parameter("this store gave no such receipt; use the receipt of a put, get or update");
  }
  if (MessageIdentity::sequence_of(id) != receipt.sequence) return not_found();
  MessageOperation operation;
  operation.kind = kind;
  operation.queue = queue;
  operation.sequence = receipt.sequence;
  operation.receipt_version = receipt.version;
  operation.now = now;
  return operation;
}

SentMessage sent_message(const MessageOperation& put, engine::CommitVersion version) {
  if (put.duplicate) {
    const Deduplication& first = *put.duplicate;
    return {first.id, {}, DateTime{first.inserted}, DateTime{first.expires}, DateTime{first.visible}, true};
  }
  const MessageIdentity& identity = put.queue->identity;
  return {MessageIdentity::id_of(put.sequence),
          identity.receipt_of(put.sequence, version),
          DateTime{put.now},
          DateTime{put.expires},
          DateTime{put.visible},
          false};
}

Message shown_message(SeenMessage seen) {
  return {seen.id,         DateTime{seen.inserted}, DateTime{seen.expires},
          seen.deliveries, std::move(seen.text),    std::move(seen.origin)};
}

bool is_nothing_to_write(const Status& failure) noexcept {
  return failure.code() == Code::kConflict && failure.service_error() == kNothingToWrite;
}

MessageWork::MessageWork(std::span<MessageOperation> operations) : operations_(operations) {
  keys_.reserve(operations.size() + 2);
  for (MessageOperation& operation : operations_) {
    operation.is_left_out = false;
    operation.is_still_there = false;
    operation.duplicate.reset();
    const format::TableId queue = operation.queue->id;
    if (!operation.deduplication_key.empty()) {
      (void)want(deduplication_row_key(queue, operation.deduplication_key));
    } else if (operation.kind != MessageKind::kPut) {
      (void)want(place_key(queue, operation.sequence));
    }
  }
  for (const MessageOperation& operation : operations_) {
    if (operation.kind == MessageKind::kTake || operation.kind == MessageKind::kForget) continue;
    (void)counter_of(*operation.queue);
    if (operation.target) (void)counter_of(*operation.target);
  }
}

std::size_t MessageWork::want(std::string key) {
  keys_.push_back(std::move(key));
  return keys_.size() - 1;
}

MessageWork::Counter& MessageWork::counter_of(LiveQueue& queue) {
  for (Counter& counter : counters_) {
    if (counter.queue == &queue) return counter;
  }
  std::string key = counter_key(queue.id, queue.next_stripe());
  const std::size_t state = want(key);
  return counters_.emplace_back(Counter{&queue, std::move(key), state, MessageCount()});
}

std::vector<format::TableId> MessageWork::queues() const {
  std::vector<format::TableId> ids;
  for (const MessageOperation& operation : operations_) {
    ids.push_back(operation.queue->id);
    if (operation.target) ids.push_back(operation.target->id);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

std::uint64_t MessageWork::bytes() const noexcept {
  constexpr std::uint64_t kRowsBytes = 256;
  std::uint64_t bytes = 0;
  for (const MessageOperation& operation : operations_) {
    bytes += kRowsBytes + (operation.text ? operation.text->size() : operation.seen.text.size());
  }
  return bytes;
}

Refusal MessageWork::judge(const engine::ReadView& view, std::span<const engine::Newest> states,
                           format::BatchBuilder& batch) {
  const engine::Newest unknown;
  std::size_t next_state = 0;
  engine::CommitVersion rests_on = 0;
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    MessageOperation& operation = operations_[i];
    const bool has_state = operation.kind != MessageKind::kPut || !operation.deduplication_key.empty();
    const engine::Newest& state = has_state ? states[next_state++] : unknown;
    rests_on = std::max(rests_on, state.version);
    const Refusal refusal = judge_one(operation, view, state, batch);
    if (refusal.is_refused()) return {refusal.status.at_operation(static_cast<std::uint32_t>(i)), rests_on};
  }
  rests_on_ = rests_on;
  return count(states, batch);
}

Refusal MessageWork::judge_one(MessageOperation& operation, const engine::ReadView& view, const engine::Newest& state,
                               format::BatchBuilder& batch) {
  if (operation.kind == MessageKind::kPut) return put(operation, state, batch);
  if (operation.kind == MessageKind::kForget) return forget(operation, state, batch);
  MessagePlace place;
  bool is_there = state.value.has_value();
  if (is_there) {
    const Result<MessagePlace> decoded = decode_place(*state.value);
    if (!decoded.ok()) return decoded.status();
    place = *decoded;
  }
  if (may_be_left_out(operation.kind)) {
    const bool is_same = operation.kind == MessageKind::kExpire ? place.expires == operation.expires
                                                                : state.version == operation.seen.version;
    operation.is_left_out = !is_there || !is_same;
    operation.is_still_there = is_there && !is_same && place.visible == operation.seen.visible;
    if (operation.is_left_out) return {};
    if (operation.kind == MessageKind::kTake) take(operation, place, batch);
    if (operation.kind == MessageKind::kBury) bury(operation, place, batch);
    if (operation.kind == MessageKind::kExpire) remove(operation, place, batch);
    return {};
  }
  is_there = is_there && operation.now < place.expires && operation.receipt_version >= state.version;
  if (!is_there) return not_found();
  if (operation.kind == MessageKind::kUpdate) return update(operation, place, view, batch);
  remove(operation, place, batch);
  return {};
}

Status MessageWork::put(MessageOperation& operation, const engine::Newest& known, format::BatchBuilder& batch) {
  const format::TableId queue = operation.queue->id;
  const std::string& text = *operation.text;
  WaitingMessage message;
  message.id = MessageIdentity::id_of(operation.sequence);
  message.inserted = operation.now;
  message.expires = operation.expires;
  message.is_apart = text.size() >= kTextApartBytes;
  message.text = message.is_apart ? std::string_view() : std::string_view(text);
  if (!operation.deduplication_key.empty()) {
    const std::string& key = operation.deduplication_key;
    std::optional<Deduplication> before;
    if (known.value) {
      const Result<Deduplication> decoded = decode_deduplication(*known.value);
      if (!decoded.ok()) return decoded.status();
      before = *decoded;
    }
    if (before && operation.now < before->until) {
      operation.duplicate = before;
      return Status();
    }
    if (before) batch.remove(forgetting_key(queue, before->until, key));
    batch.put(deduplication_row_key(queue, key),
              encode_deduplication({message.id, operation.sequence, message.inserted, message.expires,
                                    operation.visible, operation.remembered_until}));
    batch.put(forgetting_key(queue, operation.remembered_until, key), encode_nothing());
  }
  batch.put(waiting_key(queue, operation.visible, operation.sequence), encode_waiting(message));
  batch.put(
      place_key(queue, operation.sequence),
      encode_place({operation.visible, operation.expires, static_cast<std::uint32_t>(text.size()), message.is_apart}));
  if (message.is_apart) batch.put(text_key(queue, operation.sequence), encode_text(text));
  if (!never_expires(operation.expires)) {
    batch.put(expiry_key(queue, operation.expires, operation.sequence), encode_nothing());
  }
  MessageCount& change = counter_of(*operation.queue).change;
  ++change.messages;
  change.text_bytes += static_cast<std::int64_t>(text.size());
  return Status();
}

Status MessageWork::forget(MessageOperation& operation, const engine::Newest& known, format::BatchBuilder& batch) {
  if (known.value) {
    const Result<Deduplication> row = decode_deduplication(*known.value);
    if (!row.ok()) return row.status();
    operation.is_left_out = row->until != operation.remembered_until;
  }
  if (operation.is_left_out) return Status();  // A later put removed the row that led here.
  const format::TableId queue = operation.queue->id;
  if (known.value) batch.remove(deduplication_row_key(queue, operation.deduplication_key));
  batch.remove(forgetting_key(queue, operation.remembered_until, operation.deduplication_key));
  return Status();
}

void MessageWork::take(MessageOperation& operation, const MessagePlace& place, format::BatchBuilder& batch) {
  const format::TableId queue = operation.queue->id;
  SeenMessage& seen = operation.seen;
  ++seen.deliveries;
  batch.remove(waiting_key(queue, seen.visible, operation.sequence));
  batch.put(waiting_key(queue, operation.visible, operation.sequence),
            encode_waiting({seen.id, seen.inserted, seen.expires, seen.deliveries, seen.is_apart,
                            seen.is_apart ? std::string_view() : std::string_view(seen.text), seen.origin}));
  MessagePlace moved = place;
  moved.visible = operation.visible;
  batch.put(place_key(queue, operation.sequence), encode_place(moved));
}

void MessageWork::bury(MessageOperation& operation, const MessagePlace& place, format::BatchBuilder& batch) {
  remove(operation, place, batch);
  const format::TableId target = operation.target->id;
  const SeenMessage& seen = operation.seen;
  batch.put(waiting_key(target, operation.visible, operation.sequence),
            encode_waiting({seen.id, seen.inserted, limits::kDateTimeTicksMax, seen.deliveries, seen.is_apart,
                            seen.is_apart ? std::string_view() : std::string_view(seen.text), operation.origin}));
  batch.put(place_key(target, operation.sequence),
            encode_place({operation.visible, limits::kDateTimeTicksMax, place.text_bytes, place.is_apart}));
  if (place.is_apart) batch.put(text_key(target, operation.sequence), encode_text(seen.text));
  MessageCount& change = counter_of(*operation.target).change;
  ++change.messages;
  change.text_bytes += place.text_bytes;
}

Status MessageWork::update(MessageOperation& operation, const MessagePlace& place, const engine::ReadView& view,
                           format::BatchBuilder& batch) {
  const format::TableId queue = operation.queue->id;
  const std::string before = waiting_key(queue, place.visible, operation.sequence);
  const std::string after = waiting_key(queue, operation.visible, operation.sequence);
  const Result<engine::Newest> row = view.newest(before);
  if (!row.ok()) return row.status();
  if (!row->value) return Status::corruption("a message has a place, but is not there");
  Result<WaitingMessage> message = decode_waiting(*row->value);
  if (!message.ok()) return message.status();

  MessagePlace moved = place;
  moved.visible = operation.visible;
  if (operation.text) {
    const std::string& text = *operation.text;
    moved.text_bytes = static_cast<std::uint32_t>(text.size());
    moved.is_apart = text.size() >= kTextApartBytes;
    message->is_apart = moved.is_apart;
    message->text = moved.is_apart ? std::string_view() : std::string_view(text);
    if (moved.is_apart) batch.put(text_key(queue, operation.sequence), encode_text(text));
    if (place.is_apart) batch.let_go_of(place.text_bytes);
    if (place.is_apart && !moved.is_apart) batch.remove(text_key(queue, operation.sequence));
    counter_of(*operation.queue).change.text_bytes += std::int64_t{moved.text_bytes} - std::int64_t{place.text_bytes};
  }
  if (before != after) batch.remove(before);
  batch.put(after, encode_waiting(*message));
  batch.put(place_key(queue, operation.sequence), encode_place(moved));
  return Status();
}

void MessageWork::remove(const MessageOperation& operation, const MessagePlace& place, format::BatchBuilder& batch) {
  const format::TableId queue = operation.queue->id;
  batch.remove(waiting_key(queue, place.visible, operation.sequence));
  batch.remove(place_key(queue, operation.sequence));
  if (place.is_apart) {
    batch.remove(text_key(queue, operation.sequence));
    batch.let_go_of(place.text_bytes);
  }
  if (!never_expires(place.expires)) batch.remove(expiry_key(queue, place.expires, operation.sequence));
  MessageCount& change = counter_of(*operation.queue).change;
  --change.messages;
  change.text_bytes -= place.text_bytes;
}

Status MessageWork::count(std::span<const engine::Newest> states, format::BatchBuilder& batch) {
  for (const Counter& counter : counters_) {
    if (counter.change.messages == 0 && counter.change.text_bytes == 0) continue;
    MessageCount total = counter.change;
    if (states[counter.state].value) {
      const Result<MessageCount> before = decode_message_count(*states[counter.state].value);
      if (!before.ok()) return before.status();
      total.messages += before->messages;
      total.text_bytes += before->text_bytes;
    }
    batch.put(counter.key, encode_count(total));
  }
  return Status();
}

Refusal MessageWork::nothing_to_write() const {
  return {Status(Code::kConflict, "the messages are left as they are").with_service_error(kNothingToWrite), rests_on_};
}

void MessageWork::wake() const noexcept {
  for (const MessageOperation& operation : operations_) {
    if (writes_waiting_row(operation)) {
      (operation.target ? operation.target : operation.queue)->note_waiting(operation.visible);
    }
    if (operation.kind == MessageKind::kPut && !operation.duplicate) operation.queue->wake(1);
    if (operation.kind == MessageKind::kUpdate) operation.queue->wake(1);
    if (operation.kind == MessageKind::kBury && !operation.is_left_out) operation.target->wake(1);
  }
}

MessageChange::MessageChange(std::span<MessageOperation> operations, Durability durability, std::string_view tag)
    : work_(operations) {
  paced_bytes = work_.bytes();
  request.tables = work_.queues();
  request.durability = durability;
  batch_.set_tag(tag);
  batch_.reserve(kRowsMax * operations.size(), static_cast<std::size_t>(paced_bytes));
  for (const std::string& key : work_.keys()) {
    wanted_.push_back(key);
    hashes_.push_back(format::partition_hash(format::partition_of(key)));
  }
}

StatesWanted MessageChange::states_wanted() {
  return {wanted_, engine::EntryPart::kAll};
}

Refusal MessageChange::judge(const engine::ReadView& view, std::span<const engine::Newest> states) {
  if (Refusal refusal = work_.judge(view, states, batch_); refusal.is_refused()) return refusal;
  if (batch_.operation_count() > 0) return {};
  return work_.nothing_to_write();
}

}  // namespace varve

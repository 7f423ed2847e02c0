// Owns: changes of messages, in the form that a commit takes: what they lock, how they are judged, what they write.
// Must never: wait, or be judged twice.
//
// M1  The place row of a message is read and written under its lock. All other rows of the message are written in the
//     same commit as the place row, so that they need no lock.
// M2  The counters change in the commit that adds, removes or replaces a message, so they are exact at each version.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/commit/commit.h"
#include "api/queue/live_queue.h"
#include "api/queue/message_rows.h"
#include "format/keys/batch.h"
#include "varve/queue.h"
#include "varve/result.h"

namespace varve {

/// A visible message as a walk found it, at one version of the store.
struct SeenMessage {
  Sequence sequence = 0;
  Ticks visible = 0;
  engine::CommitVersion version = 0;  // of the message's rows
  Guid id;
  Ticks inserted = 0;
  Ticks expires = 0;
  std::uint32_t deliveries = 0;
  bool is_apart = false;
  std::string text;
  std::string origin;
};

/// One change of one message.
struct MessageOperation {
  enum class Kind : std::uint8_t {
    kPut,
    kRemove,  // by receipt
    kUpdate,  // by receipt
    kTake,    // hides a seen message, and counts the delivery
    kBury,    // moves a seen message to `target`
    kExpire,  // removes an expired message
    kForget,  // removes a deduplication key whose time is over
  };

  Kind kind = Kind::kPut;
  std::shared_ptr<LiveQueue> queue;
  Sequence sequence = 0;
  /// The time of the put, or the present time.
  Ticks now = 0;
  /// The new time of visibility, except of kRemove and kExpire.
  Ticks visible = 0;
  /// Used by kPut and kExpire.
  Ticks expires = 0;
  /// Used by kPut, and by an update that replaces the text.
  std::optional<std::string> text{};
  /// Used by kPut and kForget: the key and the end of its time. A put may have none.
  std::string deduplication_key{};
  Ticks remembered_until = 0;
  /// Used by kRemove and kUpdate.
  engine::CommitVersion receipt_version = 0;
  /// Used by kTake and kBury.
  SeenMessage seen{};
  /// Used by kBury.
  std::shared_ptr<LiveQueue> target{};
  std::string origin{};

  // Results of judging:
  /// The message or key was changed meanwhile, so it is left as it is. Puts, removes and updates are refused instead.
  bool is_left_out = false;
  /// It was left out, and waits in the place where it was seen, with other content.
  bool is_still_there = false;
  /// An earlier put had the key, so this put stores nothing.
  std::optional<Deduplication> duplicate{};
};

/// Returns the operation of a put. `sequence` was drawn for it. The text and the options were checked.
MessageOperation make_put(const std::shared_ptr<LiveQueue>& queue, Sequence sequence, std::string_view text,
                          const PutOptions& options);
/// Returns an operation of kRemove or kUpdate. Errors: kInvalidArgument (InvalidQueryParameterValue: the receipt is not of
/// this store), kNotFound (MessageNotFound: the id is not, or the receipt is of another message).
Result<MessageOperation> make_change_by_receipt(const std::shared_ptr<LiveQueue>& queue, MessageOperation::Kind kind,
                                                const Guid& id, const PopReceipt& receipt, Ticks now);
/// Returns the result of a put that was committed with this version.
SentMessage sent_message(const MessageOperation& put, engine::CommitVersion version);
Message shown_message(SeenMessage seen);

/// Returns whether a commit ended because all its messages were left as they are, or were put before. The commits that
/// left them so are published, and not necessarily durable. No caller of a public verb receives this status.
bool is_nothing_to_write(const Status& failure) noexcept;

/// The part of a commit that changes messages. Messages of all operations differ, and so do deduplication keys.
class MessageWork {
 public:
  /// The operations outlive the object, which writes their results.
  explicit MessageWork(std::span<MessageOperation> operations);

  /// The keys whose newest states judge() needs.
  std::span<const std::string> keys() const noexcept { return keys_; }
  /// The ids of all queues that it changes.
  std::vector<format::TableId> queues() const;
  std::uint64_t bytes() const noexcept;

  /// Adds the changes to the batch. `states` are those of keys(), in their order. Refuses with kNotFound
  /// (MessageNotFound), and with the index of the operation, if a receipt is not the last one. Adds nothing if all
  /// messages were left out or put before.
  Refusal judge(const engine::ReadView& view, std::span<const engine::Newest> states, format::BatchBuilder& batch);

  /// Returns the refusal of a commit to which nothing was added. is_nothing_to_write() knows it.
  Refusal nothing_to_write() const;

  /// Wakes those who wait for the messages that the commit made visible, or whose time is now known.
  void wake() const noexcept;

 private:
  struct Counter {
    LiveQueue* queue;
    std::string key;
    std::size_t state;  // index of its key
    MessageCount change;
  };

  std::size_t want(std::string key);
  Counter& counter_of(LiveQueue& queue);
  Refusal judge_one(MessageOperation& operation, const engine::ReadView& view, const engine::Newest& state,
                    format::BatchBuilder& batch);
  Status forget(MessageOperation& operation, const engine::Newest& known, format::BatchBuilder& batch);
  Status put(MessageOperation& operation, const engine::Newest& known, format::BatchBuilder& batch);
  void take(MessageOperation& operation, const MessagePlace& place, format::BatchBuilder& batch);
  void bury(MessageOperation& operation, const MessagePlace& place, format::BatchBuilder& batch);
  Status update(MessageOperation& operation, const MessagePlace& place, const engine::ReadView& view,
                format::BatchBuilder& batch);
  void remove(const MessageOperation& operation, const MessagePlace& place, format::BatchBuilder& batch);
  Status count(std::span<const engine::Newest> states, format::BatchBuilder& batch);

  std::span<MessageOperation> operations_;
  std::vector<std::string> keys_;
  std::vector<Counter> counters_;
  engine::CommitVersion rests_on_ = 0;
};

/// A commit that changes messages alone.
class MessageChange final : public Change {
 public:
  explicit MessageChange(std::span<MessageOperation> operations, Durability durability, std::string_view tag = {});

  std::span<const std::uint64_t> locks_needed() const noexcept override { return hashes_; }
  StatesWanted states_wanted() override;
  Refusal judge(const engine::ReadView& view, std::span<const engine::Newest> states) override;
  std::string take_batch() override {
    request.let_go_bytes = batch_.let_go_bytes();
    return batch_.finish();
  }
  void wake() const noexcept { work_.wake(); }

 private:
  MessageWork work_;
  std::vector<std::string_view> wanted_;
  std::vector<std::uint64_t> hashes_;
  format::BatchBuilder batch_;
};

}  // namespace varve

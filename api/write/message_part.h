// Owns: the messages of a transaction: what they add to the commit of its entities.
// Must never: let a message be committed without the entities, or the entities without it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/core/store_core.h"
#include "api/queue/message_change.h"
#include "api/write/entity_change.h"
#include "varve/queue.h"
#include "varve/result.h"

namespace varve {

/// One attempt to commit the messages.
class MessagePart final : public Extension {
 public:
  /// Checks the writes, and makes them for what their queues are now. The writes outlive the object. Errors name the
  /// operation by its index in `writes` plus `first_index`: those of the verbs of Queue; kInvalidArgument (InvalidInput:
  /// a queue of another store, or a message or deduplication key that is written twice).
  static Result<std::unique_ptr<MessagePart>> make(StoreCore& core, std::vector<const MessageWrite*> writes,
                                                   std::size_t first_index);

  std::vector<std::uint64_t> locks() const;
  std::vector<format::TableId> queues() const { return work_->queues(); }
  std::uint64_t bytes() const noexcept { return work_->bytes(); }

  Refusal extend(const engine::Newest* /*before*/, const PreparedWrite& /*after*/,
                 format::BatchBuilder& /*batch*/) override {
    return {};
  }
  /// Judges the messages, and adds their rows. A receipt that is not the last one is kConflict (MessageNotFound): the
  /// transaction's other work must not happen. If every message was put before, and nothing else is in the batch, refuses
  /// with what is_nothing_to_write() knows.
  Refusal finish(const engine::ReadView& view, format::BatchBuilder& batch) override;
  bool needs_values() const noexcept override { return false; }

  /// Returns whether a queue has another id now, so that another attempt may succeed. Errors: kNotFound (QueueNotFound),
  /// those of reading.
  Result<bool> has_moved() const;
  /// Wakes those who wait for messages, and returns the results of the puts. Allocates nothing. Called once.
  std::vector<SentMessage> committed(engine::CommitVersion version) noexcept;

 private:
  MessagePart(std::vector<const MessageWrite*> writes, std::size_t first_index)
      : writes_(std::move(writes)), first_index_(first_index) {}
  Status blamed(const Status& status, std::size_t index) const {
    return status.at_operation(static_cast<std::uint32_t>(first_index_ + index));
  }
  Result<MessageOperation> make_operation(StoreCore& core, const MessageWrite& write) const;
  Status check_each_once() const;

  const std::vector<const MessageWrite*> writes_;
  const std::size_t first_index_;
  std::vector<MessageOperation> operations_;
  std::unique_ptr<MessageWork> work_;
  std::vector<SentMessage> sent_;  // with room for all puts
};

}  // namespace varve

// Owns: the checks and the making of a transaction's messages (message_part.h).
// Must never: take a lock.
#include "api/write/message_part.h"

#include <set>

#include "api/core/queue_state.h"
#include "api/model/service_error.h"
#include "api/queue/message_limits.h"
#include "format/keys/sort_key.h"

namespace varve {

Result<std::unique_ptr<MessagePart>> MessagePart::make(StoreCore& core, std::vector<const MessageWrite*> writes,
                                                       std::size_t first_index) {
  std::unique_ptr<MessagePart> part(new MessagePart(std::move(writes), first_index));
  part->operations_.reserve(part->writes_.size());
  for (std::size_t i = 0; i < part->writes_.size(); ++i) {
    Result<MessageOperation> operation = part->make_operation(core, *part->writes_[i]);
    if (!operation.ok()) return part->blamed(operation.status(), i);
    part->operations_.push_back(*std::move(operation));
  }
  if (Status once = part->check_each_once(); !once.ok()) return once;
  part->work_ = std::make_unique<MessageWork>(part->operations_);
  part->sent_.reserve(part->writes_.size());
  return part;
}

Result<MessageOperation> MessagePart::make_operation(StoreCore& core, const MessageWrite& write) const {
  const Queue::State& state = *write.queue().state_;
  if (state.core.get() != &core) {
    return service_error::invalid_input("the queue belongs to another store than the transaction");
  }
  const Result<ResolvedQueue> resolved = state.resolve();
  if (!resolved.ok()) return resolved.status();
  const std::shared_ptr<LiveQueue>& queue = resolved->live;
  if (write.text()) {
    if (Status checked = check_message_text(*write.text(), queue->message_bytes_max); !checked.ok()) return checked;
  }
  if (write.kind() == MessageWrite::Kind::kPut) {
    const PutOptions options = write.put_options();
    if (Status checked = check_put_options(options); !checked.ok()) return checked;
    return make_put(queue, core.backend().draw_tick(), *write.text(), options);
  }
  const bool is_update = write.kind() == MessageWrite::Kind::kUpdate;
  if (is_update) {
    if (Status checked = check_hold(write.hold(), std::chrono::milliseconds(0)); !checked.ok()) return checked;
  }
  Result<MessageOperation> operation =
      make_change_by_receipt(queue, is_update ? MessageOperation::Kind::kUpdate : MessageOperation::Kind::kRemove,
                             write.id(), write.receipt(), core.backend().time());
  if (!operation.ok()) return operation;
  operation->visible = after(operation->now, write.hold());
  operation->text = write.text();
  return operation;
}

Status MessagePart::check_each_once() const {
  std::set<std::pair<format::TableId, Sequence>> messages;
  std::set<std::pair<format::TableId, std::string>> keys;
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    const MessageOperation& operation = operations_[i];
    const bool is_new = messages.emplace(operation.queue->id, operation.sequence).second;
    const std::string& key = operation.deduplication_key;
    if (is_new && (key.empty() || keys.emplace(operation.queue->id, key).second)) continue;
    return blamed(service_error::invalid_input(
                      "the transaction writes one message twice, or puts two with one deduplication key"),
                  i);
  }
  return Status();
}

std::vector<std::uint64_t> MessagePart::locks() const {
  std::vector<std::uint64_t> hashes;
  for (const std::string& key : work_->keys()) hashes.push_back(format::partition_hash(format::partition_of(key)));
  return hashes;
}

Refusal MessagePart::finish(const engine::ReadView& view, format::BatchBuilder& batch) {
  const std::vector<std::string_view> keys(work_->keys().begin(), work_->keys().end());
  const Result<std::vector<engine::Newest>> states = view.newest_many(keys, engine::EntryPart::kAll);
  if (!states.ok()) return states.status();
  Refusal refusal = work_->judge(view, *states, batch);
  if (refusal.is_refused()) {
    const std::optional<std::uint32_t> index = refusal.status.operation_index();
    if (refusal.status.service_error() == "MessageNotFound") {
      refusal.status = Status(Code::kConflict, refusal.status.message()).with_service_error("MessageNotFound");
    }
    if (index) refusal.status = blamed(refusal.status, *index);
    return refusal;
  }
  return batch.operation_count() == 0 ? work_->nothing_to_write() : Refusal();
}

Result<bool> MessagePart::has_moved() const {
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    const Result<ResolvedQueue> now = writes_[i]->queue().state_->resolve();
    if (!now.ok()) return blamed(now.status(), i);
    if (now->live->id != operations_[i].queue->id) return true;
  }
  return false;
}

std::vector<SentMessage> MessagePart::committed(engine::CommitVersion version) noexcept {
  work_->wake();
  for (const MessageOperation& operation : operations_) {
    if (operation.kind == MessageOperation::Kind::kPut) sent_.push_back(sent_message(operation, version));
  }
  return std::move(sent_);
}

}  // namespace varve

// Owns: the verbs of a queue (queue.h). The verb get is in queue_get.cc.
// Must never: report a queue's state under an id that the name no longer means.
#include "varve/queue.h"

#include <utility>

#include "api/commit/commit.h"
#include "api/core/queue_state.h"
#include "api/model/guarded.h"
#include "api/model/service_error.h"
#include "api/queue/message_change.h"
#include "api/queue/message_limits.h"
#include "api/queue/message_walk.h"
#include "api/write/entity_write.h"

namespace varve {
namespace {

using MessageKind = MessageOperation::Kind;

/// Commits one operation. `make` takes the queue, and returns the operation. If the queue is cleared meanwhile, makes
/// and commits it again for what the queue is now.
template <typename Make>
Result<std::pair<MessageOperation, engine::CommitVersion>> commit_one(const Queue::State& state, Durability durability,
                                                                      std::string_view tag, Make make) {
  for (;;) {
    const Result<std::shared_ptr<LiveQueue>> live = state.live();
    if (!live.ok()) return live.status();
    Result<MessageOperation> operation = make(*live);
    if (!operation.ok()) return operation.status();
    MessageChange change({&*operation, 1}, durability, tag);
    const Result<engine::CommitVersion> version = commit(state.core->backend(), change);
    if (version.ok()) {
      change.wake();
      return std::pair(*std::move(operation), *version);
    }
    if (service_error::is_table_gone(version.status())) continue;
    const bool was_put_before = is_nothing_to_write(version.status());
    // Rows of a queue that was cleared or deleted may be older than the refused state; or gone.
    const bool rests_on_rows =
        was_put_before || version.code() == Code::kNotFound || version.code() == Code::kCorruption;
    if (!rests_on_rows) return version.status();
    const Result<std::shared_ptr<LiveQueue>> now = state.live();
    if (!now.ok()) return now.status();
    if ((*now)->id != (*live)->id) continue;
    if (!was_put_before) return version.status();
    if (durability == Durability::kSync) {  // The earlier put may have been a buffered one.
      if (Status synced = state.core->engine().sync(); !synced.ok()) return synced;
    }
    return std::pair(*std::move(operation), engine::CommitVersion{0});
  }
}

}  // namespace

Queue::Queue(std::shared_ptr<const State> state) noexcept : state_(std::move(state)) {}

std::string_view Queue::account() const& noexcept {
  return state_->name.account;
}

std::string_view Queue::name() const& noexcept {
  return state_->name.spelling;
}

Result<SentMessage> Queue::put(std::string_view text, const PutOptions& options) {
  return guarded([&]() -> Result<SentMessage> {
    StoreCore& core = *state_->core;
    if (Status writable = core.check_writable(); !writable.ok()) return writable;
    if (Status checked = check_put_options(options); !checked.ok()) return checked;
    const auto make = [&](const std::shared_ptr<LiveQueue>& live) -> Result<MessageOperation> {
      if (Status checked = check_message_text(text, live->message_bytes_max); !checked.ok()) return checked;
      return make_put(live, core.backend().draw_tick(), text, options);
    };
    const Result<std::pair<MessageOperation, engine::CommitVersion>> done =
        commit_one(*state_, options.durability.value_or(core.backend().default_durability()), {}, make);
    if (!done.ok()) return done.status();
    return sent_message(done->first, done->second);
  });
}

Result<std::vector<Message>> Queue::peek(std::uint32_t count) const {
  return guarded([&]() -> Result<std::vector<Message>> {
    StoreCore& core = *state_->core;
    if (Status open = core.check_open(); !open.ok()) return open;
    if (Status checked = check_message_count(count); !checked.ok()) return checked;
    const Result<ResolvedQueue> resolved = state_->resolve();
    if (!resolved.ok()) return resolved.status();
    Result<SeenMessages> seen =
        walk_visible(resolved->view, *resolved->live, core.backend().time(), count, [](Sequence) { return true; });
    if (!seen.ok()) return seen.status();
    std::vector<Message> messages;
    for (SeenMessage& message : seen->messages) messages.push_back(shown_message(std::move(message)));
    return messages;
  });
}

Status Queue::remove(const Guid& id, const PopReceipt& receipt, const WriteOptions& options) {
  return guarded([&]() -> Status {
    StoreCore& core = *state_->core;
    if (Status writable = core.check_writable(); !writable.ok()) return writable;
    if (Status tag = check_tag(options.tag); !tag.ok()) return tag;
    const auto make = [&](const std::shared_ptr<LiveQueue>& live) -> Result<MessageOperation> {
      return make_change_by_receipt(live, MessageKind::kRemove, id, receipt, core.backend().time());
    };
    return commit_one(*state_, core.durability(options), options.tag, make).status();
  });
}

Result<UpdatedMessage> Queue::update(const Guid& id, const PopReceipt& receipt, std::chrono::milliseconds hold,
                                     std::optional<std::string_view> text, const WriteOptions& options) {
  return guarded([&]() -> Result<UpdatedMessage> {
    StoreCore& core = *state_->core;
    if (Status writable = core.check_writable(); !writable.ok()) return writable;
    if (Status tag = check_tag(options.tag); !tag.ok()) return tag;
    if (Status checked = check_hold(hold, std::chrono::milliseconds(0)); !checked.ok()) return checked;
    const auto make = [&](const std::shared_ptr<LiveQueue>& live) -> Result<MessageOperation> {
      if (text) {
        if (Status checked = check_message_text(*text, live->message_bytes_max); !checked.ok()) return checked;
      }
      Result<MessageOperation> operation =
          make_change_by_receipt(live, MessageKind::kUpdate, id, receipt, core.backend().time());
      if (!operation.ok()) return operation;
      operation->visible = after(operation->now, hold);
      if (text) operation->text = std::string(*text);
      return operation;
    };
    const Result<std::pair<MessageOperation, engine::CommitVersion>> done =
        commit_one(*state_, core.durability(options), options.tag, make);
    if (!done.ok()) return done.status();
    const MessageOperation& operation = done->first;
    return UpdatedMessage{operation.queue->identity.receipt_of(operation.sequence, done->second),
                          DateTime{operation.visible}};
  });
}

Status Queue::clear() {
  return guarded([&]() -> Status {
    if (Status writable = state_->core->check_writable(); !writable.ok()) return writable;
    const Result<format::TableId> before = state_->core->catalog().clear_queue(state_->name);
    if (!before.ok()) return before.status();
    state_->core->queues().wake_all_at(*before);
    return Status();
  });
}

Result<QueueFigures> Queue::figures() const {
  return guarded([&]() -> Result<QueueFigures> {
    StoreCore& core = *state_->core;
    if (Status open = core.check_open(); !open.ok()) return open;
    const Result<ResolvedQueue> resolved = state_->resolve();
    if (!resolved.ok()) return resolved.status();
    return count_messages(resolved->view, resolved->live->id, core.backend().time());
  });
}

Status Queue::set_metadata(const std::vector<MetadataPair>& metadata) {
  return guarded([&]() -> Status {
    if (Status writable = state_->core->check_writable(); !writable.ok()) return writable;
    if (Status checked = check_metadata(metadata); !checked.ok()) return checked;
    return state_->core->catalog().set_queue_metadata(state_->name, metadata);
  });
}

Result<std::vector<MetadataPair>> Queue::metadata() const {
  return guarded([&]() -> Result<std::vector<MetadataPair>> {
    if (Status open = state_->core->check_open(); !open.ok()) return open;
    const engine::ReadView view = state_->core->backend().view();
    Result<std::optional<QueueRow>> row = Catalog::find_queue(view, state_->name);
    if (!row.ok()) return row.status();
    if (!*row) return state_->core->catalog().missing_queue(view, state_->name);
    return std::move((*row)->metadata);
  });
}

Status Queue::set_access_policies(std::span<const AccessPolicy> policies) {
  return guarded([&]() -> Status {
    if (Status writable = state_->core->check_writable(); !writable.ok()) return writable;
    if (Status checked = check_queue_access_policies(policies); !checked.ok()) return checked;
    return state_->core->catalog().set_queue_policies(state_->name, policies);
  });
}

Result<std::vector<AccessPolicy>> Queue::access_policies() const {
  return guarded([&]() -> Result<std::vector<AccessPolicy>> {
    if (Status open = state_->core->check_open(); !open.ok()) return open;
    return state_->core->catalog().find_queue_policies(state_->core->backend().view(), state_->name);
  });
}

MessageWrite MessageWrite::put(const Queue& queue, std::string text, const PutOptions& options) {
  MessageWrite write(Kind::kPut, queue);
  write.text_ = std::move(text);
  write.put_options_ = options;
  write.put_options_.deduplication_key = {};
  write.deduplication_key_ = options.deduplication_key;
  return write;
}

MessageWrite MessageWrite::remove(const Queue& queue, const Guid& id, const PopReceipt& receipt) {
  MessageWrite write(Kind::kRemove, queue);
  write.id_ = id;
  write.receipt_ = receipt;
  return write;
}

MessageWrite MessageWrite::update(const Queue& queue, const Guid& id, const PopReceipt& receipt,
                                  std::chrono::milliseconds hold, std::optional<std::string> text) {
  MessageWrite write(Kind::kUpdate, queue);
  write.id_ = id;
  write.receipt_ = receipt;
  write.hold_ = hold;
  write.text_ = std::move(text);
  return write;
}

PutOptions MessageWrite::put_options() const& noexcept {
  PutOptions options = put_options_;
  options.deduplication_key = deduplication_key_;
  return options;
}

}  // namespace varve

// Owns: taking messages out of a queue (Queue::get), and waiting for them.
// Must never: return a message that another get holds.
//
// A round walks the published state, claims the messages it sees, and commits their new times. Under the locks of their
// places each message is judged again. It is left out if it was changed since the walk saw it. If a round ends with
// nothing because of a change that was not published, it waits for the publication and begins again: the walk then sees
// what the change left.
#include <algorithm>
#include <chrono>
#include <utility>

#include "api/commit/commit.h"
#include "api/core/queue_state.h"
#include "api/model/guarded.h"
#include "api/model/service_error.h"
#include "api/queue/message_change.h"
#include "api/queue/message_limits.h"
#include "api/queue/message_walk.h"
#include "varve/queue.h"

namespace varve {
namespace {

using MessageKind = MessageOperation::Kind;

struct Taken {
  std::vector<ReceivedMessage> messages;
  std::optional<Ticks> next_visible;
  /// The queue of the round.
  std::shared_ptr<LiveQueue> from;
  /// The round must be repeated: it only moved dead letters, or the queue changed meanwhile.
  bool goes_on = false;
};

std::vector<MessageOperation> operations_for(SeenMessages seen, const std::shared_ptr<LiveQueue>& live,
                                             const std::shared_ptr<LiveQueue>& dead_letter, std::string_view name,
                                             const GetOptions& options, Ticks now) {
  std::vector<MessageOperation> operations;
  operations.reserve(seen.messages.size());
  for (SeenMessage& message : seen.messages) {
    MessageOperation& operation = operations.emplace_back();
    const bool is_dead = options.deliveries_max != 0 && message.deliveries >= options.deliveries_max;
    operation.kind = is_dead ? MessageKind::kBury : MessageKind::kTake;
    operation.queue = live;
    operation.sequence = message.sequence;
    operation.now = now;
    operation.visible = is_dead ? now : after(now, options.hold);
    if (is_dead) {
      operation.target = dead_letter;
      operation.origin = name;
    }
    operation.seen = std::move(message);
  }
  return operations;
}

/// Fills `messages`, which has room for all of them: after a commit nothing may fail.
void receive(std::vector<MessageOperation>& operations, engine::CommitVersion version,
             std::vector<ReceivedMessage>& messages) noexcept {
  for (MessageOperation& operation : operations) {
    if (operation.kind != MessageKind::kTake || operation.is_left_out) continue;
    ReceivedMessage& message = messages.emplace_back();
    static_cast<Message&>(message) = shown_message(std::move(operation.seen));
    message.receipt = operation.queue->identity.receipt_of(operation.sequence, version);
    message.visible = DateTime{operation.visible};
  }
}

Result<Taken> take_once(const Queue::State& state, const Queue::State* dead_letter, const ResolvedQueue& from,
                        const GetOptions& options) {
  Backend& backend = state.core->backend();
  std::shared_ptr<LiveQueue> grave;
  if (dead_letter != nullptr) {
    const Result<ResolvedQueue> resolved = dead_letter->resolve();
    if (!resolved.ok()) return resolved.status();
    grave = resolved->live;
  }
  const Ticks now = backend.time();
  LiveQueue::Claims claims(*from.live);  // until the commit is published
  Result<SeenMessages> seen = walk_visible(from.view, *from.live, now, options.count,
                                           [&claims](Sequence sequence) { return claims.try_claim(sequence); });
  if (!seen.ok()) return seen.status();
  Taken taken;
  taken.from = from.live;
  taken.next_visible = seen->next_visible;
  if (seen->messages.empty()) return taken;
  std::vector<MessageOperation> operations =
      operations_for(*std::move(seen), from.live, grave, state.name.spelling, options, now);
  MessageChange change(operations, options.durability);
  taken.messages.reserve(operations.size());
  const Result<engine::CommitVersion> version = commit(backend, change);
  if (version.ok()) {
    change.wake();
    receive(operations, *version, taken.messages);
    taken.goes_on = taken.messages.empty();
    return taken;
  }
  taken.goes_on = version.code() == Code::kConflict || service_error::is_table_gone(version.status());
  if (!taken.goes_on) return version.status();
  return taken;
}

/// Takes visible messages. Returns when it found some, or when there is none.
Result<Taken> take(const Queue::State& state, const Queue::State* dead_letter, const GetOptions& options) {
  for (;;) {
    const Result<ResolvedQueue> from = state.resolve();
    if (!from.ok()) return from.status();
    Result<Taken> taken = take_once(state, dead_letter, *from, options);
    if (!taken.ok() || !taken->goes_on) return taken;
  }
}

std::chrono::nanoseconds time_until(Ticks time, Ticks now) noexcept {
  constexpr Ticks kDay = Ticks{86'400} * io::kTicksPerSecond;
  return std::chrono::nanoseconds(time > now ? 100 * std::min(time - now, kDay) : 0);
}

/// A wait beyond this is as good as endless, and can be added to any time.
constexpr std::chrono::milliseconds kWaitMax = std::chrono::hours(24 * 365);

Result<std::vector<ReceivedMessage>> take_or_wait(const Queue::State& state, const Queue::State* dead_letter,
                                                  const GetOptions& options) {
  Backend& backend = state.core->backend();
  io::Clock& clock = backend.env().clock;
  const std::chrono::nanoseconds deadline = clock.monotonic() + std::min(options.wait, kWaitMax);
  std::shared_ptr<LiveQueue> live;
  std::optional<LiveQueue::Waiter> waiter;  // left before the queue
  for (;;) {
    if (waiter) waiter->begin_look();
    Result<Taken> taken = take(state, dead_letter, options);
    if (!taken.ok()) return taken.status();
    if (!taken->messages.empty()) return std::move(taken->messages);
    if (taken->from != live) {  // the first round, or the queue was cleared; what came before is seen by the next look
      waiter.reset();
      live = taken->from;
      waiter.emplace(*live, options.stop);
      continue;
    }
    const std::chrono::nanoseconds left = deadline - clock.monotonic();
    if (left <= std::chrono::nanoseconds(0)) return std::vector<ReceivedMessage>();
    std::optional<std::chrono::nanoseconds> until_visible;
    if (taken->next_visible) until_visible = time_until(*taken->next_visible, backend.time());
    if (!waiter->wait(left, until_visible)) return std::vector<ReceivedMessage>();
  }
}

}  // namespace

Result<std::vector<ReceivedMessage>> Queue::get(const GetOptions& options) {
  return guarded([&]() -> Result<std::vector<ReceivedMessage>> {
    StoreCore& core = *state_->core;
    if (Status writable = core.check_writable(); !writable.ok()) return writable;
    if (Status checked = check_get_options(options); !checked.ok()) return checked;
    const State* const dead_letter = options.dead_letter != nullptr ? options.dead_letter->state_.get() : nullptr;
    if (dead_letter != nullptr && dead_letter->core != state_->core) {
      return service_error::invalid_input("the queue for dead letters belongs to another store");
    }
    if (dead_letter != nullptr && dead_letter->name.account == state_->name.account &&
        dead_letter->name.lower == state_->name.lower) {
      return service_error::invalid_input("a queue cannot keep its own dead letters; name another queue");
    }
    if (options.wait != std::chrono::milliseconds(0)) return take_or_wait(*state_, dead_letter, options);
    Result<Taken> taken = take(*state_, dead_letter, options);
    if (!taken.ok()) return taken.status();
    return std::move(taken->messages);
  });
}

}  // namespace varve

// Owns: taking messages out of a queue (message_take.h).
// Must never: fail after a commit.
#include "api/write/message_take.h"

#include <algorithm>
#include <utility>

#include "api/commit/commit.h"
#include "api/model/service_error.h"
#include "api/queue/message_change.h"
#include "api/queue/message_limits.h"
#include "api/queue/message_walk.h"

namespace varve {
namespace {

std::vector<MessageOperation> operations_for(SeenMessages seen, const std::shared_ptr<LiveQueue>& live,
                                             const std::shared_ptr<LiveQueue>& dead_letter, std::string_view name,
                                             const GetOptions& options, Ticks now) {
  std::vector<MessageOperation> operations;
  operations.reserve(seen.messages.size());
  for (SeenMessage& message : seen.messages) {
    MessageOperation& operation = operations.emplace_back();
    const bool is_dead = options.deliveries_max != 0 && message.deliveries >= options.deliveries_max;
    operation.kind = is_dead ? MessageOperation::Kind::kBury : MessageOperation::Kind::kTake;
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
    if (operation.kind != MessageOperation::Kind::kTake || operation.is_left_out) continue;
    ReceivedMessage& message = messages.emplace_back();
    static_cast<Message&>(message) = shown_message(std::move(operation.seen));
    message.receipt = operation.queue->identity.receipt_of(operation.sequence, version);
    message.visible = DateTime{operation.visible};
  }
}

/// Claims a message that an earlier walk saw ahead, and reads it. Returns nothing if no such message is there any more.
Result<std::optional<SeenMessage>> see_ahead(const ResolvedQueue& from, Ticks now, LiveQueue::Claims& claims) {
  constexpr int kMissesMax = 4;
  for (int misses = 0; misses < kMissesMax; ++misses) {
    const std::optional<TimedPlace> place = claims.claim_ahead(from.view.version(), now);
    if (!place) return std::optional<SeenMessage>();
    Result<std::optional<SeenMessage>> seen = see_at(from.view, from.live->id, *place, now);
    if (!seen.ok() || *seen) return seen;
    claims.let_go_of_newest();
  }
  claims.forget_ahead();
  return std::optional<SeenMessage>();
}

/// Walks the queue and claims what it sees. If the get wants one message, the walk may see places for the next gets.
Result<SeenMessages> walk(const Queue::State& state, ResolvedQueue& from, Ticks now, std::uint32_t count,
                          LiveQueue::Claims& claims, WalkEnds ends) {
  const auto claim = [&claims](Sequence sequence) { return claims.try_claim(sequence); };
  if (count > 1) return walk_visible(from.view, *from.live, now, count, claim, {ends, nullptr, nullptr});
  LiveQueue::Making making(*from.live);
  SeenAhead ahead{making.places_wanted()};
  if (ahead.wanted > 0) {
    Result<ResolvedQueue> again = state.resolve();
    if (!again.ok()) return again.status();
    if (again->live == from.live) {
      from.view = std::move(again->view);
    } else {
      ahead.wanted = 0;
    }
  }
  Result<SeenMessages> seen = walk_visible(from.view, *from.live, now, count, claim, {ends, nullptr, &ahead});
  if (seen.ok() && ahead.wanted > 0) making.end(std::move(ahead.places), from.view.version());
  return seen;
}

/// Claims visible messages. The view ends with the call.
Result<SeenMessages> see_visible(const Queue::State& state, ResolvedQueue from, Ticks now, std::uint32_t count,
                                 LiveQueue::Claims& claims, WalkEnds ends) {
  if (count == 1) {  // For more messages, one walk is cheaper than as many look-ups.
    Result<std::optional<SeenMessage>> ahead = see_ahead(from, now, claims);
    if (!ahead.ok()) return ahead.status();
    if (*ahead) {
      SeenMessages seen;
      seen.messages.push_back(**std::move(ahead));
      return seen;
    }
  }
  return walk(state, from, now, count, claims, ends);
}

bool have_all_moved(const std::vector<MessageOperation>& operations) noexcept {
  return std::none_of(operations.begin(), operations.end(),
                      [](const MessageOperation& operation) { return operation.is_still_there; });
}

Result<TakenMessages> take_once(const Queue::State& state, const Queue::State* dead_letter, ResolvedQueue&& resolved,
                                const GetOptions& options, WalkEnds ends) {
  Backend& backend = state.core->backend();
  std::shared_ptr<LiveQueue> grave;
  if (dead_letter != nullptr) {
    const Result<std::shared_ptr<LiveQueue>> live = dead_letter->live();
    if (!live.ok()) return live.status();
    grave = *live;
  }
  const Ticks now = backend.time();
  const std::shared_ptr<LiveQueue> live = resolved.live;
  LiveQueue::Claims claims(*live);  // until the commit is published
  Result<SeenMessages> seen = see_visible(state, std::move(resolved), now, options.count, claims, ends);
  if (!seen.ok()) return seen.status();
  TakenMessages taken;
  taken.from = live;
  taken.next_visible = seen->next_visible;
  taken.goes_on = seen->messages.empty() && seen->has_stopped;
  if (seen->messages.empty()) return taken;
  std::vector<MessageOperation> operations =
      operations_for(*std::move(seen), live, grave, state.name.spelling, options, now);
  MessageChange change(operations, options.durability);
  taken.messages.reserve(operations.size());
  const Result<engine::CommitVersion> version = commit(backend, change);
  if ((version.ok() || is_nothing_to_write(version.status())) && have_all_moved(operations)) claims.settle();
  if (version.ok()) {
    change.wake();
    receive(operations, *version, taken.messages);
    taken.goes_on = taken.messages.empty();
    return taken;
  }
  taken.goes_on = is_nothing_to_write(version.status()) || service_error::is_table_gone(version.status());
  if (!taken.goes_on) return version.status();
  return taken;
}

}  // namespace

Status check_take(const Queue::State& state, const Queue::State* dead_letter, const GetOptions& options) {
  if (Status writable = state.core->check_writable(); !writable.ok()) return writable;
  if (Status checked = check_get_options(options); !checked.ok()) return checked;
  if (dead_letter != nullptr && dead_letter->core != state.core) {
    return service_error::invalid_input("the queue for dead letters belongs to another store");
  }
  if (dead_letter != nullptr && dead_letter->name.account == state.name.account &&
      dead_letter->name.lower == state.name.lower) {
    return service_error::invalid_input("a queue cannot keep its own dead letters; name another queue");
  }
  return Status();
}

Result<TakenMessages> take_messages(const Queue::State& state, const Queue::State* dead_letter,
                                    const GetOptions& options) {
  for (bool is_first = true;; is_first = false) {
    Result<ResolvedQueue> from = state.resolve();
    if (!from.ok()) return from.status();
    const WalkEnds ends = is_first && from->live->has_claims() ? WalkEnds::kEarly : WalkEnds::kAtLiveRow;
    Result<TakenMessages> taken = take_once(state, dead_letter, *std::move(from), options, ends);
    if (!taken.ok() || !taken->goes_on) return taken;
  }
}

std::optional<std::chrono::nanoseconds> time_until_visible(const TakenMessages& taken, Ticks now) noexcept {
  constexpr Ticks kDay = Ticks{86'400} * io::kTicksPerSecond;
  if (!taken.next_visible) return std::nullopt;
  const Ticks time = *taken.next_visible;
  return std::chrono::nanoseconds(time > now ? 100 * std::min(time - now, kDay) : 0);
}

}  // namespace varve

// Owns: the blocking get of a queue, and its wait for a message (Queue::get).
// Must never: poll.
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "api/core/queue_state.h"
#include "api/model/guarded.h"
#include "api/write/message_take.h"
#include "varve/queue.h"

namespace varve {
namespace {

Result<std::vector<ReceivedMessage>> take_or_wait(const Queue::State& state, const Queue::State* dead_letter,
                                                  const GetOptions& options) {
  Backend& backend = state.core->backend();
  io::Clock& clock = backend.env().clock;
  const std::chrono::nanoseconds deadline = clock.monotonic() + std::min(options.wait, kMessageWaitMax);
  std::shared_ptr<LiveQueue> live;
  std::optional<WaitingRow::Waiter> waiter;  // left before the queue
  for (;;) {
    if (waiter) waiter->begin_look();
    Result<TakenMessages> taken = take_messages(state, dead_letter, options);
    if (!taken.ok()) return taken.status();
    if (!taken->messages.empty()) return std::move(taken->messages);
    if (taken->from != live) {  // the first round, or the queue was cleared; what came before is seen by the next look
      waiter.reset();
      live = taken->from;
      waiter.emplace(live->row(), options.stop);
      continue;
    }
    if (live->has_ended()) return Status(Code::kClosed, "the store was closed; open it again");
    const std::chrono::nanoseconds left = deadline - clock.monotonic();
    if (left <= std::chrono::nanoseconds(0)) return std::vector<ReceivedMessage>();
    if (!waiter->wait(left, time_until_visible(*taken, backend.time()))) return std::vector<ReceivedMessage>();
  }
}

}  // namespace

Result<std::vector<ReceivedMessage>> Queue::get(const GetOptions& options) {
  return guarded([&]() -> Result<std::vector<ReceivedMessage>> {
    const State* const dead_letter = options.dead_letter != nullptr ? options.dead_letter->state_.get() : nullptr;
    if (Status checked = check_take(*state_, dead_letter, options); !checked.ok()) return checked;
    if (options.wait != std::chrono::milliseconds(0)) return take_or_wait(*state_, dead_letter, options);
    Result<TakenMessages> taken = take_messages(*state_, dead_letter, options);
    if (!taken.ok()) return taken.status();
    return std::move(taken->messages);
  });
}

}  // namespace varve

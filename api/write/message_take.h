// Owns: the rounds in which a get takes messages out of a queue (Queue::get).
// Must never: return a message that another get holds.
//
// A round walks the published state, claims the messages it sees, and commits their new times. Under the locks of their
// places each message is judged again. It is left out if it was changed since the walk saw it. If a round ends with
// nothing because of a change that was not published, it waits for the publication and begins again: the walk then sees
// what the change left. If other gets are taking messages, the first round ends its walk early when it meets many dead
// rows: the others may have taken these messages since its view was made, and the next view passes them at once.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "api/core/queue_state.h"
#include "api/queue/live_queue.h"
#include "api/queue/message_rows.h"
#include "varve/queue.h"
#include "varve/result.h"

namespace varve {

/// The result of a round.
struct TakenMessages {
  std::vector<ReceivedMessage> messages;
  std::optional<Ticks> next_visible;
  /// The queue of the round.
  std::shared_ptr<LiveQueue> from;
  /// The round must be repeated: it only moved dead letters, its walk ended early, or the queue changed meanwhile.
  bool goes_on = false;
};

/// A wait beyond this is as good as endless, and can be added to any time.
inline constexpr std::chrono::milliseconds kMessageWaitMax = std::chrono::hours(24 * 365);

/// Checks that a get may begin. `dead_letter` may be null. Errors: as Queue::get.
Status check_take(const Queue::State& state, const Queue::State* dead_letter, const GetOptions& options);
/// Takes visible messages. Returns when it found some, or when there is none.
Result<TakenMessages> take_messages(const Queue::State& state, const Queue::State* dead_letter,
                                    const GetOptions& options);
/// Returns the time until `taken` says that a message will be visible, if that is known.
std::optional<std::chrono::nanoseconds> time_until_visible(const TakenMessages& taken, Ticks now) noexcept;

}  // namespace varve

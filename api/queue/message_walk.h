// Owns: reading a queue in the order of delivery.
// Must never: return a message that is hidden or expired.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "api/queue/message_change.h"
#include "api/queue/message_rows.h"
#include "engine/engine.h"
#include "varve/queue.h"
#include "varve/result.h"

namespace varve {

struct SeenMessages {
  /// In the order of delivery.
  std::vector<SeenMessage> messages;
  /// When the first hidden message is visible. Known only if the walk came to the end of the visible ones.
  std::optional<Ticks> next_visible;
  /// The walk ended early, at kDeadRowsMax. There may be more.
  bool has_stopped = false;
};

/// How far a walk goes over rows of messages that were taken or deleted. A view that was taken long ago cannot pass the
/// newest of them at once. A walk in a newer view can.
enum class WalkEnds : std::uint8_t { kAtLiveRow, kEarly };
/// Rows that a walk which ends early passes from one message to the next. A walk in a new view rarely meets as many.
inline constexpr std::uint64_t kDeadRowsMax = 24;

/// Places of visible messages that a walk sees after those that it returns, claimed ones too.
struct SeenAhead {
  std::size_t wanted = 0;
  std::vector<TimedPlace> places{};
};

struct WalkOptions {
  WalkEnds ends = WalkEnds::kAtLiveRow;
  /// If not null, the costs of the walk are added to it.
  engine::ReadCost* cost = nullptr;
  /// May be null.
  SeenAhead* ahead = nullptr;
};

/// Returns the message at the place, or nothing if it is not there or has expired at `now`. Errors: those of a view's get,
/// kCorruption.
Result<std::optional<SeenMessage>> see_at(const engine::ReadView& view, format::TableId queue, const TimedPlace& place,
                                          Ticks now);

/// Returns up to `count` messages of the queue that are visible at `now` and that `takes` accepts. Messages that the open
/// released come in the order of the moment of the open. Errors: those of a cursor, kCorruption.
Result<SeenMessages> walk_visible(const engine::ReadView& view, LiveQueue& queue, Ticks now, std::uint32_t count,
                                  const std::function<bool(Sequence)>& takes, WalkOptions options = {});

/// Returns messages that have expired at `now`, and deduplication keys whose time is over, at most `count` of each, as
/// operations that remove them. Errors: as above.
Result<std::vector<MessageOperation>> walk_expired(const engine::ReadView& view,
                                                   const std::shared_ptr<LiveQueue>& queue, Ticks now,
                                                   std::uint32_t count);

/// Returns the sum of the counters, without messages that have expired and were not removed yet. Errors: as above.
Result<QueueFigures> count_messages(const engine::ReadView& view, format::TableId queue, Ticks now);

}  // namespace varve

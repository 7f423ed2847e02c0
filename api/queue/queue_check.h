// Owns: the check of one queue's rows: that each message has all of its rows, and that the counters are a recount.
// Must never: keep memory for each message.
#pragma once

#include <cstdint>
#include <string_view>

#include "api/queue/message_rows.h"
#include "engine/engine.h"
#include "varve/status.h"

namespace varve {

class QueueCheck {
 public:
  /// The view outlives the object.
  QueueCheck(const engine::ReadView& view, format::TableId queue) noexcept : view_(&view), id_(queue) {}

  format::TableId queue() const noexcept { return id_; }
  std::uint64_t messages() const noexcept { return waiting_; }

  /// Checks one row. Called for all rows of the queue. Errors: kCorruption, those of reading.
  Status visit(std::string_view key, format::CommitVersion version, std::string_view value);
  /// Compares the rows with each other, after the last one. Errors: kCorruption.
  Status finish() const;

 private:
  Status visit_waiting(std::string_view key, format::CommitVersion version, std::string_view value);

  const engine::ReadView* view_;
  format::TableId id_;
  MessageCount counted_;
  std::uint64_t waiting_ = 0;
  std::uint64_t places_ = 0;
  std::uint64_t expiring_ = 0;
  std::uint64_t expiries_ = 0;
  std::uint64_t apart_ = 0;
  std::uint64_t texts_ = 0;
  std::int64_t text_bytes_ = 0;
};

}  // namespace varve

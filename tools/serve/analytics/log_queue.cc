// Owns: adding entries to batches by their hours (log_queue.h).
// Must never: split an entry.
#include "tools/serve/analytics/log_queue.h"

#include <algorithm>
#include <new>
#include <utility>

#include "tools/serve/analytics/metrics_row.h"

namespace varve::serve {

bool LogRoom::take(std::size_t bytes) noexcept {
  std::size_t present = bytes_.load(std::memory_order_relaxed);
  do {
    if (bytes > bytes_max_ - std::min(present, bytes_max_)) return false;
  } while (!bytes_.compare_exchange_weak(present, present + bytes, std::memory_order_relaxed));
  return true;
}

LogQueue::~LogQueue() {
  room_.give_back(bytes_);
}

/// Returns the batch of the hour, which is among the last ones, or a new one.
LogBatch& LogQueue::batch_for(DateTime hour, std::size_t bytes) {
  const auto fits = [&](const LogBatch& batch) {
    return batch.hour == hour && batch.lines.size() + bytes <= kBatchBytesMax;
  };
  const auto found = std::find_if(batches_.rbegin(), batches_.rend(), fits);
  if (found != batches_.rend()) return *found;
  batches_.push_back({});
  batches_.back().hour = hour;
  return batches_.back();
}

LogQueue::Pushed LogQueue::push(std::string_view line, DateTime start, RequestClass of) noexcept {
  const std::lock_guard lock(mutex_);
  if (line.size() > kBytesMax - bytes_ || !room_.take(line.size())) return Pushed::kDropped;
  try {
    LogBatch& batch = batch_for(interval_start(start, MetricsInterval::kHour), line.size());
    batch.lines.append(line);
    batch.first = batch.entries == 0 ? start : std::min(batch.first, start);
    batch.last = batch.entries == 0 ? start : std::max(batch.last, start);
    ++batch.entries;
    batch.classes = static_cast<std::uint8_t>(batch.classes | class_bit(of));
  } catch (const std::bad_alloc&) {
    room_.give_back(line.size());
    return Pushed::kDropped;
  }
  const bool was_low = bytes_ < kBytesMax / 2;
  bytes_ += line.size();
  return was_low && bytes_ >= kBytesMax / 2 ? Pushed::kHalfFull : Pushed::kKept;
}

std::size_t LogQueue::size() {
  const std::lock_guard lock(mutex_);
  return batches_.size();
}

LogBatch LogQueue::take() {
  const std::lock_guard lock(mutex_);
  LogBatch first = std::move(batches_.front());
  batches_.erase(batches_.begin());
  return first;
}

void LogQueue::done(const LogBatch& batch) noexcept {
  const std::lock_guard lock(mutex_);
  bytes_ -= batch.lines.size();
  room_.give_back(batch.lines.size());
}

}  // namespace varve::serve

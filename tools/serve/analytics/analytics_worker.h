// Owns: the thread that writes the rows of metrics and the entries of logs.
// Must never: keep a server from ending, except for the writes that the thread has begun.
#pragma once

#include <functional>
#include <memory>

#include "tools/serve/analytics/analytics.h"
#include "varve/types.h"

namespace varve::serve {

/// Runs Analytics::update() when a minute of the clock has ended, or when properties may have changed. Runs
/// Analytics::write() every few seconds, if there is something to write.
class AnalyticsWorker {
 public:
  /// Updates once before it returns, so that the next request is counted, and starts the thread. If the system has no
  /// thread to give, rows are written only by finish(). `clock` must outlive this object and may be called by any
  /// thread.
  AnalyticsWorker(Analytics& analytics, std::function<DateTime()> clock);
  /// Calls finish().
  ~AnalyticsWorker();
  AnalyticsWorker(const AnalyticsWorker&) = delete;
  AnalyticsWorker& operator=(const AnalyticsWorker&) = delete;

  /// Makes the thread read the properties of all accounts again. Any thread may call it.
  void wake() noexcept;
  /// Makes the thread write the waiting entries of logs. Any thread may call it.
  void write_soon() noexcept;
  /// Ends the thread, and writes the entries of logs, and the rows of the intervals that have not ended. A second call does nothing.
  void finish() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace varve::serve

#include "tools/serve/watch/store_health.h"

namespace varve::serve {

StoreHealth health_of(const Result<Statistics>& statistics) {
  if (!statistics.ok()) return {false, "unknown", "the store tells no figures: " + statistics.status().to_string()};
  switch (statistics->health) {
    case Health::kPoisoned:
      return {false, "poisoned", "the log failed; reads go on, and a restart of the server opens the store anew"};
    case Health::kWritePaused:
      return {false, "write paused",
              "writes are refused, most often for want of space; they go on by themselves when they can"};
    case Health::kHealthy: break;
  }
  if (statistics->read_only) return {false, "read only", "the store was opened for reading only"};
  return {};
}

}  // namespace varve::serve

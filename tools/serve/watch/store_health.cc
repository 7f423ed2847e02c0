#include "tools/serve/watch/store_health.h"

namespace varve::serve {

StoreHealth health_of(const Result<Statistics>& statistics) {
  if (!statistics.ok())
    return {false, "unknown", "the store's figures cannot be read: " + statistics.status().to_string()};
  switch (statistics->health) {
    case Health::kPoisoned:
      return {false, "poisoned", "the log failed; reads continue; restart the server to accept writes again"};
    case Health::kWritePaused:
      return {false, "write paused",
              "writes are refused, usually for lack of space; they resume by themselves when there is room"};
    case Health::kHealthy: break;
  }
  if (statistics->read_only) return {false, "read only", "the store was opened read-only"};
  return {};
}

StoreHealth standby_health() {
  return {false, "standby", "another process owns the store; this one takes it over when that one is gone"};
}

}  // namespace varve::serve

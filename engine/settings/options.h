// Owns: the engine's options for an open.
// Must never: contain an option that no caller needs. Other limits are named constants next to the code that they
// limit.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/background_pool.h"
#include "engine/cache/block_cache.h"
#include "engine/memory/write_budget.h"
#include "engine/tables/open_files.h"
#include "varve/durability.h"
#include "varve/status.h"

namespace varve::engine {

using varve::Durability;
using varve::Health;

/// Receives internal events. Called without a lock, from any thread. It must not call the store.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void on_health(Health health, const Status& cause) noexcept = 0;
  /// Reports one line for people.
  virtual void on_log(std::string_view line) noexcept = 0;
};

/// Reports "WHAT: STATUS" to `sink`, unless it is null. If there is no memory for that, reports WHAT alone.
inline void log_failure(EventSink* sink, std::string_view what, const Status& status) noexcept {
  if (sink == nullptr) return;
  try {
    sink->on_log(std::string(what).append(": ").append(status.to_string()));
  } catch (const std::bad_alloc&) {
    sink->on_log(what);
  }
}

inline constexpr std::uint64_t kWriteBufferBytes = std::uint64_t{256} << 20;
inline constexpr std::uint64_t kBlockCacheBytes = std::uint64_t{256} << 20;

struct EngineOptions {
  bool create_if_absent = false;
  /// If true, the store writes nothing. Other read-only opens may share the store, but no writer.
  bool read_only = false;
  /// Stored when the store is created (kSync if not given). If an open asks for another value, it is refused.
  std::optional<Durability> default_durability;
  /// Options of the model above, which the engine does not interpret. Stored when the store is created (empty if not
  /// given). If an open asks for other options, it is refused.
  std::optional<std::string> model_options;
  /// Limits the memory for entities of all stores that share it. Null gives the store a budget of its own, of
  /// kWriteBufferBytes.
  std::shared_ptr<WriteBudget> write_budget;
  /// Caches blocks of tables for all stores that share it. Null gives the store a cache of its own, of
  /// kBlockCacheBytes.
  std::shared_ptr<BlockCache> block_cache;
  /// Limits the open table and value files of all stores that share it. Null gives the store one of its own, as large
  /// as the process's descriptor limit allows.
  std::shared_ptr<OpenFiles> open_files;
  /// Has the threads that flush and merge for all stores that share it. Null gives the store threads of its own.
  std::shared_ptr<SharedPool> pool;
  /// Must outlive the engine; may be null.
  EventSink* events = nullptr;
};

}  // namespace varve::engine

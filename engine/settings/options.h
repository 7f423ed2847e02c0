// Owns: what an opener may choose of the engine.
// Must never: hold a choice that nobody needs to make; the rest are named constants beside the code they bound.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "engine/cache/block_cache.h"
#include "engine/memory/write_budget.h"
#include "engine/tables/open_files.h"
#include "varve/status.h"

namespace varve::engine {

enum class Durability : std::uint8_t {
  kSync = 1,      // on stable storage before the commit returns
  kBuffered = 2,  // survives the death of the process at once, and that of the machine within about 10 ms
};

enum class Health : std::uint8_t { kHealthy, kWritePaused, kPoisoned };

/// Told what happens inside. Called under no lock, from any thread; must not call back into the store.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void on_health(Health health, const Status& cause) noexcept = 0;
  /// One line for people.
  virtual void on_log(std::string_view line) noexcept = 0;
};

/// Tells `sink`, if there is one, "WHAT: STATUS", or without memory for that, WHAT alone.
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
  bool create_if_missing = false;
  /// Writes nothing at all; may be shared with other read-only opens, not with a writer.
  bool read_only = false;
  /// Stored when the store is created (kSync if not given); an open that asks for another one is refused.
  std::optional<Durability> default_durability;
  /// Choices of the model above, which mean nothing to the engine: stored when the store is created (empty if not
  /// given); an open that asks for others is refused.
  std::optional<std::string> model_options;
  /// Bounds the memory that holds entities, of all stores that are given it. Null gives the store one of its own, of
  /// kWriteBufferBytes.
  std::shared_ptr<WriteBudget> write_budget;
  /// Holds blocks of tables, of all stores that are given it. Null gives the store one of its own, of kBlockCacheBytes.
  std::shared_ptr<BlockCache> block_cache;
  /// Bounds the table and value files that are open at once, of all stores that are given it. Null gives the store one
  /// of its own, as large as the process's limit of descriptors allows.
  std::shared_ptr<OpenFiles> open_files;
  /// Outlives the engine; may be null.
  EventSink* events = nullptr;
};

}  // namespace varve::engine

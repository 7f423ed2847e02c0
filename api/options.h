// SPDX-License-Identifier: Apache-2.0
// Owns: what an opener of a store may choose, and what one call may choose.
// Must never: hold a choice that nobody needs to make; limits of the table model stand in limits.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "result.h"
#include "status.h"
#include "store_limits.h"

#pragma GCC visibility push(default)

namespace varve {

namespace io {
struct Env;
}

/// What an acknowledged write has survived.
enum class Durability : std::uint8_t {
  /// On stable storage before the call returns: no crash of the process or the machine takes it back.
  kSync = 1,
  /// The death of the process cannot take it back; a power cut can take the last writes, about 10 ms of them, always
  /// the newest ones and never one without all that came after it.
  kBuffered = 2,
};

enum class Health : std::uint8_t {
  kHealthy,
  /// A write was refused because the log or the write buffer has no room, most often on a full disk. The cause is what
  /// the writer is told. Ends by itself when there is room, without a further write.
  kWritePaused,
  /// The log failed: nothing more is written until the store is reopened. Reads go on.
  kPoisoned,
};

/// Told what happens to a store. Called under no lock, from any thread of any store that has it; must return soon and
/// must not call back into a store.
class EventListener {
 public:
  virtual ~EventListener() = default;
  /// `store_path` is as it was given to Store::open. `cause` is Ok for kHealthy.
  virtual void on_health(std::string_view store_path, Health health, const Status& cause) noexcept = 0;
};

/// Takes lines for people. Called as EventListener is.
class Logger {
 public:
  virtual ~Logger() = default;
  /// One line, without its end. `store_path` is as it was given to Store::open.
  virtual void log(std::string_view store_path, std::string_view line) noexcept = 0;
};

struct ResourceOptions {
  /// Bounds the memory that holds entities on their way to table files, in bytes, all stores that share it together.
  /// Writes wait when they come faster than files can be written. A write that lacks room has what any of these stores
  /// holds written to files. A write that needs more than the whole, of which up to an eighth is kept for drops (64 KiB
  /// of 16 MiB), is refused with kNoSpace. So is one whose room a store holds that cannot write files, with the cause.
  /// Up to a quarter of it stays for the next writes when there are none.
  std::uint64_t write_buffer_bytes = std::uint64_t{256} << 20;
  /// Bounds the memory that holds blocks of table files, in bytes, all stores that share it together. Zero caches
  /// nothing.
  std::uint64_t block_cache_bytes = std::uint64_t{256} << 20;
  std::shared_ptr<EventListener> listener{};
  std::shared_ptr<Logger> logger{};
};

/// What several stores of one process may share. Any thread.
class Resources {
 public:
  /// Errors: kInvalidArgument (a write buffer of no bytes), kOutOfMemory.
  static Result<std::shared_ptr<Resources>> create(const ResourceOptions& options);
  ~Resources();
  Resources(const Resources&) = delete;
  Resources& operator=(const Resources&) = delete;

  const ResourceOptions& options() const noexcept;

 private:
  friend class StoreCore;
  struct State;
  explicit Resources(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

struct StoreOptions {
  /// Makes the store, directory and all, where there is none. Its parent directory must exist.
  bool create_if_missing = false;
  /// Writes nothing at all, not even to recover; may be shared with other read-only opens, not with a writer.
  bool read_only = false;
  /// What writes use that do not choose. Stored when the store is made (kSync if not given); an open that asks for
  /// another one is refused, one that does not ask takes what is stored.
  std::optional<Durability> default_durability{};
  /// What writes and queries may hold. Stored when the store is made (the service's limits if not given); an open that
  /// asks for others is refused, one that does not ask takes what is stored.
  std::optional<StoreLimits> limits{};
  /// How long the name of a dropped table cannot be used again; until then creating, loading and dropping it answer
  /// kBusy (TableBeingDeleted). For those who want what the service does, 40 seconds or more there: here a name is free
  /// at once. 0 to 24 hours, by the wall clock; not stored (B-04, X-11).
  std::chrono::milliseconds recreation_delay{0};
  /// For tests of clients: pages of scans and counts end after a few entities, often with none, and go on by their
  /// tokens, as pages of the service may.
  bool short_pages = false;
  /// Shared with other stores. Without it the store has its own, as ResourceOptions has them by default.
  std::shared_ptr<Resources> resources{};
  /// The machine below: for tests. Without it, this machine. Outlives the store and every handle made from it.
  const io::Env* env = nullptr;
};

/// What one write may choose.
struct WriteOptions {
  /// The store's default where not given.
  std::optional<Durability> durability{};
  /// Bounds the wait for other writers of the same partition, not the wait for the disk; zero does not wait. Without it
  /// there is no bound.
  std::optional<std::chrono::milliseconds> wait_max{};
  /// Bytes of the caller's own, committed together with the write, at most limits::kTagBytesMax; see Store::last_tag().
  /// Must live until the call returns. Empty is no tag.
  std::string_view tag{};
};

}  // namespace varve

#pragma GCC visibility pop

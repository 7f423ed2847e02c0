// SPDX-License-Identifier: Apache-2.0
// Owns: the options of opening a store, and the options of one write.
// Must never: contain an option that no user needs. limits.h has the limits of the table model.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "durability.h"
#include "result.h"
#include "status.h"
#include "store_limits.h"
#include "version.h"

namespace varve {

namespace io {
struct Env;
}

/// Receives the events of stores. Any thread of any store that has the listener may call it, and holds no lock then.
/// The listener must return soon and must not call a store.
class VARVE_EXPORT EventListener {
 public:
  virtual ~EventListener() = default;
  /// `store_path` is the path that Store::open received. `cause` is Ok for kHealthy.
  virtual void on_health(std::string_view store_path, Health health, const Status& cause) noexcept = 0;
};

/// Receives log lines for people. The rules of EventListener apply.
class VARVE_EXPORT Logger {
 public:
  virtual ~Logger() = default;
  /// `line` is one line without its line end. `store_path` is the path that Store::open received.
  virtual void log(std::string_view store_path, std::string_view line) noexcept = 0;
};

/// Options of Resources::create().
struct ResourceOptions {
  /// Maximum memory for entities that are not yet in table files, in bytes, for all stores that share it together. If
  /// writes arrive faster than the stores write files, writes wait. If a write lacks room, any of these stores writes
  /// the entities that it holds to files.
  ///
  /// A part is reserved for drops: at most an eighth, for example 64 KiB of 16 MiB. If a write needs more than the
  /// rest, it fails with kNoSpace. If a store holds the room but cannot write files, the write fails with the cause:
  /// with the error of its own store, or with kNoSpace for another store.
  ///
  /// While there are no writes, up to a quarter of the memory stays allocated for the next writes.
  std::uint64_t write_buffer_bytes = std::uint64_t{256} << 20;
  /// Maximum memory for cached blocks of table files, in bytes, for all stores that share it together. Zero disables
  /// the cache.
  std::uint64_t block_cache_bytes = std::uint64_t{256} << 20;
  /// Receives changes of health of all stores that share the resources. Null: nothing receives them.
  std::shared_ptr<EventListener> listener{};
  /// Receives the log lines of all stores that share the resources. Null: they are dropped.
  std::shared_ptr<Logger> logger{};
};

/// Resources that several stores of one process may share: memory, and the threads that write and merge table files. Any
/// thread may use them.
class VARVE_EXPORT Resources {
 public:
  /// Creates resources. Errors: kInvalidArgument (write_buffer_bytes is zero), kOutOfMemory.
  static Result<std::shared_ptr<Resources>> create(const ResourceOptions& options);
  ~Resources();
  Resources(const Resources&) = delete;
  Resources& operator=(const Resources&) = delete;

  /// Returns the options that create() received.
  const ResourceOptions& options() const noexcept;

 private:
  friend class StoreCore;
  struct State;
  explicit Resources(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

/// Options of Store::open().
struct StoreOptions {
  /// If true, creates the store and its directory if they do not exist. The parent directory must exist.
  bool create_if_absent = false;
  /// If true, the store writes nothing, not even to recover. Other read-only opens may share the store, but no writer
  /// may.
  bool read_only = false;
  /// The durability of writes that do not choose one. It is stored when the store is created (kSync if absent). Later
  /// opens use the stored value; an open that asks for another value is refused.
  std::optional<Durability> default_durability{};
  /// The limits of writes and queries. They are stored when the store is created (the service's limits if absent).
  /// Later opens use the stored limits; an open that asks for other limits is refused.
  std::optional<StoreLimits> limits{};
  /// Time for which the name of a dropped table or queue cannot be used again: 0 to 24 hours, by the wall clock. Until
  /// then, creating, loading and dropping the table return kBusy (TableBeingDeleted), and every verb on the queue returns
  /// kBusy (QueueBeingDeleted). With zero, the name is free at once. Set it to imitate the service, which blocks a name
  /// for 40 seconds or more. The option is not stored (B-04, X-11, QB-03).
  std::chrono::milliseconds recreation_delay{0};
  /// Time for which a BlobReader or LargeValueReader keeps its content readable without a read: 1 ms to 36,525 days. A
  /// background thread looks twice a minute. Then the reader's state may be removed from the disk, and its reads return
  /// kClosed. A reader of a blob of a few KiB, whose row has the content, keeps nothing. The option is not stored (BX-11).
  std::chrono::milliseconds reader_idle_max = std::chrono::hours(1);
  /// Time for which the staged blocks of a blob are kept after the last one: 1 ms to 36,525 days. A background thread then
  /// discards them. The option is not stored (BX-30).
  std::chrono::milliseconds staged_blocks_age_max = std::chrono::hours(24 * 7);
  /// If true, pages of scans and counts end after a few entities, often after none, with a continuation. The service
  /// may return such pages, so use it to test clients.
  bool short_pages = false;
  /// Resources shared with other stores. If null, the store has its own, with the defaults of ResourceOptions.
  std::shared_ptr<Resources> resources{};
  /// Replaces the machine, for tests. If null, the store uses this machine. The Env must outlive the store and every
  /// handle made from it.
  const io::Env* env = nullptr;
};

/// Options of one write.
struct WriteOptions {
  /// The durability of the write. If absent, the write uses the store's default.
  std::optional<Durability> durability{};
  /// Maximum wait for other writers of the same partition, in milliseconds. It does not limit the wait for the disk.
  /// Zero does not wait. If absent, the wait has no limit.
  std::optional<std::chrono::milliseconds> wait_max{};
  /// Bytes of the caller that are committed together with the write; see Store::last_tag(). At most
  /// limits::kTagBytesMax bytes. They must stay valid until the call returns; an asynchronous operation copies them.
  /// Empty means no tag.
  std::string_view tag{};
};

}  // namespace varve

// Owns: the connection of one store's parts, their start and their end; the door of the engine.
// Must never: contain an algorithm of its own, know the meaning of a value, or know a table by name.
//
// Threads: any thread may call any function, except close() and the destructor, which come last.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/moment.h"
#include "engine/base/read_cost.h"
#include "engine/base/snapshots.h"
#include "engine/commit/partition_locks.h"
#include "engine/commit_request.h"
#include "engine/load/load_options.h"
#include "engine/memory/read_states.h"
#include "engine/read/cursor.h"
#include "engine/read/held_range.h"
#include "engine/read/part_read.h"
#include "engine/read/point_read.h"
#include "engine/settings/options.h"
#include "format/log/manifest_edit.h"
#include "io/env.h"
#include "varve/result.h"
#include "varve/statistics.h"

namespace varve::engine {

class BeneathLoad;
class Load;
using format::TableId;

/// The newest assigned state of a key, published or not. The caller searches under the key's partition lock, through a
/// view made under that lock.
struct Newest {
  /// Version of the put or delete that the answer is based on. Zero if the key was never written, or is forgotten.
  CommitVersion version = 0;
  /// The value of a put; empty for a deleted or unknown key, and for an entity that has ended. Valid as long as both this
  /// object and its view.
  std::optional<std::string_view> value;
  FoundEntry entry;

  /// Returns the time at which the entity of the last put ends, or has ended; zero if it has no end.
  CommitVersion end() const noexcept { return entry.end; }
};

/// The newest assigned states of a range of keys, published or not, compared with what a reader saw at an earlier moment.
struct RangeState {
  /// The first key that was written after the moment, or whose entity has ended since. Empty if there is none.
  std::string changed_key;
  /// The version of that key's newest state.
  CommitVersion changed_at = 0;
  /// True if the entity of that key has ended, and was not written.
  bool has_ended = false;
  /// The least end of the entities that exist; zero if none will end.
  CommitVersion first_end = 0;
  /// The number of entities that exist, as far as the walk went.
  std::uint64_t entities = 0;
};

/// A key of an entity that exists at the newest assigned states.
struct NewestKey {
  std::string sort_key;
  CommitVersion version = 0;
};

class EngineState;

/// A fixed state of the store: memtables and file set, at one version and one time. Movable, not copyable. While it
/// lives, the values of memtables and the cursors made from it are valid. It must not outlive the engine. Thread-safe.
///
/// An entity whose end is at or below the view's time has ended: to every function here it is absent. The view of a
/// snapshot has the snapshot's time. Any other view has the time of the clock of versions when it was made.
class ReadView {
 public:
  ReadView(ReadView&& other) noexcept
      : state_(other.state_),
        pin_(std::move(other.pin_)),
        version_(other.version_),
        time_(other.time_.load(std::memory_order_relaxed)),
        is_confirmed_(other.is_confirmed_.load(std::memory_order_relaxed)) {}
  ReadView& operator=(ReadView&& other) noexcept {
    state_ = other.state_;
    pin_ = std::move(other.pin_);
    version_ = other.version_;
    time_.store(other.time_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    is_confirmed_.store(other.is_confirmed_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    return *this;
  }

  CommitVersion version() const noexcept { return version_; }
  /// Returns the view's time, which never changes.
  CommitVersion time() const noexcept;
  /// Returns Ok if what the view shows was not out of date when it was made. Each read asks it. Errors: those of
  /// Engine::may_answer().
  Status may_answer() const noexcept;
  /// Returns the version and the time; without a time if no entity of the store can have an end.
  Moment moment() const noexcept;
  /// Removes deletes, and entities that have ended, from entries found at this view: they become empty.
  void keep_live(std::vector<std::optional<FoundEntry>>& found) const noexcept;
  /// Returns the newest state from the newest entry of a key, found at this view.
  Newest newest_of(std::optional<FoundEntry> found) const noexcept;

  /// Returns the key's value at this version, or empty. The value is valid as long as both this view and the result.
  /// Errors: kCorruption, kUnsupported, kIoError, kTooManyFiles, kOutOfMemory, those of Engine::may_answer().
  /// `cost`, here and below, receives the costs of the read; it may be null.
  Result<std::optional<FoundEntry>> get(std::string_view sort_key, ReadCost* cost = nullptr) const;
  /// Returns get() of many keys, in their order. Reads from the disk are made in parallel. Errors: as get(), for the
  /// first key that fails.
  Result<std::vector<std::optional<FoundEntry>>> get_many(std::span<const std::string_view> sort_keys,
                                                          ReadCost* cost = nullptr) const;
  /// Return the same, with values that may be in `room`. A value there needs no memory of its own.
  /// @{
  Result<std::optional<FoundEntry>> get(std::string_view sort_key, ValueRoom& room, ReadCost* cost = nullptr,
                                        Expects expects = Expects::kAnything) const;
  Result<std::vector<std::optional<FoundEntry>>> get_many(std::span<const std::string_view> sort_keys,
                                                          ValueRoom& room) const;
  /// @}
  /// Returns the place of the key's value at this version, or empty. A value in a value file is not read. A value in a
  /// table is read with its block, and verified. Errors: as get().
  Result<std::optional<FoundPlace>> locate(std::string_view sort_key, ReadCost* cost = nullptr) const;
  /// Copies bytes [offset, offset + out.size()) of the value. `place` is of this view. After an error, the content of
  /// `out` is undefined. If the block cache has the value, the bytes come from there. Otherwise only their sectors are
  /// read from the value file, nothing is cached, and the bytes are NOT compared with the entry's content hash: the
  /// caller has hashes of its own for parts.
  /// Errors: kInvalidArgument (the part ends after the value; nothing was done), those of get().
  Status read_part(const FoundPlace& place, std::uint64_t offset, std::span<char> out, ReadCost* cost = nullptr) const;
  /// Fills both parts as read_part() fills one. Reads from the disk are made beside each other.
  Status read_pair(const FoundPlace& place, const WantedPair& parts, ReadCost* cost = nullptr) const;
  /// Returns the newest assigned state, whatever this view's version. With kVersion, the value of a put only says that
  /// it exists. For commits alone: does not check Engine::may_answer(). Errors: as get() otherwise.
  Result<Newest> newest(std::string_view sort_key, EntryPart part = EntryPart::kAll) const;
  /// Returns newest() of many keys, in their order, as get_many() does.
  Result<std::vector<Newest>> newest_many(std::span<const std::string_view> sort_keys, EntryPart part) const;
  /// Walks [lower, upper), whose keys are of one partition, at the newest assigned states. `upper` is not empty. The walk
  /// ends at the first change since the moment, and after `entities_max` + 1 entities. The caller holds the partition's
  /// lock, made this view under it, and holds a snapshot of the moment: so deletes since then are still there. No dead
  /// stretch is believed, since commits that are not published may have put keys there. Reads no values from value files.
  /// Errors: as get().
  Result<RangeState> compare_range(std::string_view lower, std::string_view upper, const Moment& since,
                                   std::uint64_t entities_max) const;
  /// Returns the first key of [lower, upper) whose entity exists at the newest assigned states, or nothing. As
  /// compare_range(), it needs the lock of the keys' partition, and believes no dead stretch. Errors: as get().
  Result<std::optional<NewestKey>> first_newest(std::string_view lower, std::string_view upper) const;
  /// Returns the only entry of [lower, upper) at this version, or that there is none, if memory shows it. `upper` is not
  /// empty. Otherwise, a cursor shows the entries. Errors: those of Engine::may_answer().
  Result<HeldRange> held_range(std::string_view lower, std::string_view upper, ReadCost* cost = nullptr) const;
  /// Returns a cursor over the live keys of [lower, upper) at this version, forward and backward. An empty `upper` is
  /// no bound. `cost` and `judge` outlive the cursor. With a judge, the cursor may leave out keys whose values the
  /// judge does not want. If `entries_expected` (about how many entries the scan reads) is known, their blocks are read
  /// together; zero means unknown.
  Cursor cursor(std::string_view lower, std::string_view upper, ReadCost* cost = nullptr, BlockJudge* judge = nullptr,
                std::uint64_t entries_expected = 0) const;

 private:
  friend class AsyncRead;
  friend class Engine;
  ReadView(const EngineState& state, ReadStates::Pin pin, CommitVersion version, CommitVersion time = 0) noexcept
      : state_(&state), pin_(std::move(pin)), version_(version), time_(time) {}
  /// Returns whether a put with this end, or without one (zero), is visible.
  bool is_live(CommitVersion end) const noexcept { return end == 0 || !has_ended(end); }
  bool has_ended(CommitVersion end) const noexcept;
  Result<std::optional<FoundEntry>> read(std::string_view sort_key, ReadCost* cost, ValueRoom* room,
                                         Expects expects = Expects::kAnything) const;
  Result<std::vector<std::optional<FoundEntry>>> read_many(std::span<const std::string_view> sort_keys, ReadCost* cost,
                                                           ValueRoom* room) const;
  Status check_lease() const noexcept;

  const EngineState* state_;
  ReadStates::Pin pin_;
  CommitVersion version_;
  /// Zero if no entity could have an end when the view was made; then newest() takes a time when it first needs one.
  mutable std::atomic<CommitVersion> time_;
  /// Whether the file system confirmed the owner since the view was made. What the view shows does not change, so one
  /// confirmation serves all its reads.
  mutable std::atomic<bool> is_confirmed_{false};
};

class Engine {
 public:
  /// Opens the store in `path`, or creates it. Errors:
  ///
  /// - kNotFound: there is no store, and options.create_if_absent is not set.
  /// - kInvalidArgument: the directory contains other files, or a requested stored option differs.
  /// - kLocked: another handle or process has the store open.
  /// - kUnsupported: the format is newer, or a feature is unknown; the error names it.
  /// - kCorruption: the error names the damage, with file and offset. Nothing was changed.
  /// - kNoSpace, kIoError, kReadOnly, kTooManyFiles, kOutOfMemory.
  static Result<std::unique_ptr<Engine>> open(const io::Env& env, std::string_view path, const EngineOptions& options);

  /// Closes without losing anything if close() was not called. The errors of that close are lost.
  ~Engine();

  /// Returns false in a fork of the process that opened the store. There only close() and the destructor may be called.
  bool is_usable() const noexcept;

  /// In a fork: releases the lock that the process inherited, and leaves everything else to the parent. Otherwise waits
  /// for commits in progress, ends the log and leaves a clean store. Later calls return kClosed. A poisoned store
  /// writes nothing more.
  /// Errors: kIoError, kNoSpace; kPoisoned or kFenced if the store was stopped before. After an error the next open
  /// recovers the store.
  Status close();

  /// Holds back a commit of about `commit_bytes` bytes while commits are faster than flushes and compaction. The caller
  /// holds no lock and calls it once before each commit; a drop need not. The waits are short and begin early.
  void pace(std::uint64_t commit_bytes) noexcept;
  /// Returns whether pace() may wait now.
  bool is_pacing() const noexcept;
  /// Takes the locks of the partitions with these hashes (format::partition_hash), or of one row (format::row_hash) of one
  /// partition. Errors: kBusy, kOutOfMemory.
  Result<PartitionGuard> lock_partitions(std::span<const std::uint64_t> hashes,
                                         std::optional<std::chrono::milliseconds> wait_max = std::nullopt,
                                         std::optional<std::uint64_t> row = std::nullopt);

  /// Commits. After success the commit is published, so visible to every view made later, and durable as asked. If the
  /// write buffer has no room, the call waits for room that can still come. Errors:
  ///
  /// - kNotFound: a table was retired before this commit's place in the order. Nothing changed.
  /// - kPreconditionFailed: the table that request.load watches was written. Nothing changed.
  /// - kNoSpace: there is no room in the log or the write buffer. Nothing changed.
  /// - kIoError, kTooManyFiles: the log cannot continue, or no memtable can be flushed to make room. Nothing changed.
  /// - kUnknown: the log failed under this commit or an earlier one. Reopen the store to learn whether the commit
  ///   survived.
  /// - kConflict: request.before is not above the commit's place in the order. Nothing changed.
  /// - kConflict (TableReshaped): a table has another shape than the batch was made for. Nothing changed.
  /// - kPoisoned: the store was stopped earlier. Nothing changed.
  /// - kFenced: another owner took over the store. Nothing changed.
  /// - kReadOnly, kClosed, kOutOfMemory, kLocked (called in a forked child): nothing changed.
  Result<CommitVersion> commit(CommitRequest request);

  /// Returns a number that is unique in the store, like a version, and below the version of every commit that begins
  /// later. After a crash, no number returns that is in a commit. The store is open for writing.
  CommitVersion draw_tick() noexcept;
  /// Returns the time by the clock of the versions: it never goes back, and is at or above each version and number that
  /// was given. Read-only stores have the time of the wall clock.
  CommitVersion time() const noexcept;

  /// Lets commits give entities an end from now on, also after the next open. The first call writes a manifest: builds
  /// that know no ends refuse the store from then on. Until then, a commit with ends is kUnsupported. Errors: kClosed,
  /// kReadOnly, those of Manifest::add_features().
  Status allow_ends();
  bool has_ends() const noexcept;
  /// Does for indexes of tables what allow_ends() does for ends: builds that know no indexes would not maintain them. The
  /// engine accepts entries without it; the caller asks before it declares an index. Errors: as allow_ends().
  Status allow_indexes();
  bool has_indexes() const noexcept;

  bool is_published(CommitVersion version) const noexcept;
  /// Returns Ok if an answer from memory is not out of date. A refusal is such an answer. Errors: kFenced (another owner
  /// took over), kBusy (this process does not know whether it still owns the store; repeat the call).
  Status may_answer() const noexcept;
  /// Returns whether may_answer() and the first read of a view may wait for the file system, whatever they find in memory.
  bool answers_wait() const noexcept;
  /// Waits until the commit with this version is published. A refusal based on an unpublished version is returned only
  /// after that. Errors: kPoisoned, kFenced, kBusy (may_answer()).
  Status await_published(CommitVersion version);

  /// Makes every commit acknowledged so far durable. Errors: as commit().
  Status sync();
  /// Writes everything committed so far to tables. Errors: as commit(), and those of writing files.
  Status flush();
  /// Writes everything committed so far to tables. Then compacts until no work is left that helps readers or space, and
  /// waits for that. Errors: as flush(); that of the first job that failed, returned when all other jobs are done.
  Status compact();

  /// Creates an independent store with everything acknowledged so far, in a directory that is absent or empty. Commits,
  /// flushes, compactions and drops may run meanwhile. Errors: those of make_checkpoint() (engine/checkpoint),
  /// kReadOnly, kClosed.
  Result<CheckpointStatistics> checkpoint(std::string_view path);

  /// Begins to load a table without the log. The load must not outlive the engine. Errors: kClosed, kReadOnly.
  Result<std::unique_ptr<Load>> begin_load(const LoadOptions& options = {});

  /// Begins to load entries of a table that writers use already, as of a snapshot that this takes. The load must not outlive
  /// the engine. Errors: kClosed, kReadOnly.
  Result<std::unique_ptr<BeneathLoad>> begin_load_beneath(TableId table, const LoadOptions& options = {});

  /// Returns a view of the current published state.
  ReadView view() const noexcept;
  /// Returns a view at the version and the time of a snapshot, which is held meanwhile.
  ReadView view_at(const HeldVersion& snapshot) const noexcept;
  /// Returns a snapshot, which keeps the current published state readable until it is released.
  HeldVersion snapshot();

  /// Returns the caller's tag on the last commit with a tag, recovered at the open or committed since.
  std::optional<format::CommitTag> last_tag() const;

  /// Returns whether the table, or its account, was dropped before this open. Its remains in files are no longer used,
  /// and will be removed.
  bool was_dropped(TableId table) const noexcept;

  /// Reads and checks every byte of every live table file and value file, several files at once. For each file, in a
  /// fixed order and on this thread, calls `on_file` with its bytes and the result of its check. Returns when all files
  /// were read.
  void check_tables(const std::function<void(std::uint64_t bytes, const Status& found)>& on_file) const;
  /// Checks the list of cached blocks, if there is one. Errors: those of check_warm_list().
  Status check_warm_list() const;

  Statistics statistics() const;
  /// Returns the values that the store was created with.
  Durability default_durability() const noexcept;
  const std::string& model_options() const noexcept;
  const io::Env& env() const noexcept;
  bool read_only() const noexcept;

 private:
  friend class AsyncCommit;
  friend class AsyncEngine;
  Engine() noexcept;
  Result<CommitVersion> commit_request(CommitRequest& request);
  static ReadView view_of(const EngineState& state) noexcept;
  /// Learns from the deletes of a commit, which is visible with this version, what keys are dead around them
  /// (look_around.h). Each commit that deletes calls it. `cost` may be null; it says whether a search may wait.
  static void learn_from_deletes(EngineState& state, std::string_view batch, std::uint64_t deletes,
                                 CommitVersion version, ReadCost* cost = nullptr) noexcept;
  std::unique_ptr<EngineState> state_;
};

}  // namespace varve::engine

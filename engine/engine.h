// Owns: the wiring of one store's parts, their start and their end; the door of the engine.
// Must never: hold an algorithm of its own, know what a value means, or know a table by name.
//
// Threads: every verb may be called from any thread, except close() and the destructor, which come last.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/read_cost.h"
#include "engine/base/snapshots.h"
#include "engine/commit/partition_locks.h"
#include "engine/commit_request.h"
#include "engine/load/load_options.h"
#include "engine/memory/read_states.h"
#include "engine/read/cursor.h"
#include "engine/read/point_read.h"
#include "engine/settings/options.h"
#include "engine/settings/statistics.h"
#include "format/log/manifest_edit.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

class Load;
using format::TableId;

/// The newest assigned state of a key, published or not. Look under the key's partition lock, by a view made under it.
struct Newest {
  /// Of the put or delete the answer rests on; zero when the key was never written, or is forgotten.
  CommitVersion version = 0;
  /// The value of a put; empty for a deleted or unknown key. Valid as long as both this and the view it came from.
  std::optional<std::string_view> value;
  FoundEntry entry;

  static Newest of(std::optional<FoundEntry> found) noexcept;
};

/// Of what was found, only what is there: deletes become nothing.
void keep_live(std::vector<std::optional<FoundEntry>>& found) noexcept;

class EngineState;

/// A fixed state of the store: memtables and file set, at one version. Moves, does not copy. Values of memtables and
/// cursors made from it are valid while it lives; it must not outlive the engine. Any thread.
class ReadView {
 public:
  ReadView(ReadView&&) noexcept = default;
  ReadView& operator=(ReadView&&) noexcept = default;

  CommitVersion version() const noexcept { return version_; }

  /// The key's value at this version, or empty. The value is valid as long as both this view and what is returned.
  /// Errors: kCorruption, kUnsupported, kIoError, kTooManyFiles, kOutOfMemory.
  /// `cost`, here and below, is told what the read cost, and may be null.
  Result<std::optional<FoundEntry>> get(std::string_view sort_key, ReadCost* cost = nullptr) const;
  /// get() of many keys, in their order; what must be read from the disk is read side by side. Errors: as get(), of the
  /// first key that fails.
  Result<std::vector<std::optional<FoundEntry>>> get_many(std::span<const std::string_view> sort_keys,
                                                          ReadCost* cost = nullptr) const;
  /// The newest assigned state, whatever this view's version. With kVersion the value of a put says nothing but that it
  /// is there. Errors: as get().
  Result<Newest> newest(std::string_view sort_key, EntryPart part = EntryPart::kAll) const;
  /// newest() of many keys, in their order, as get_many().
  Result<std::vector<Newest>> newest_many(std::span<const std::string_view> sort_keys, EntryPart part) const;
  /// Walks the live keys of [lower, upper) at this version, forward and backward. An empty `upper` is no bound.
  /// `cost` and `judge` outlive the cursor. With a judge the walk may leave out keys whose values it does not want.
  /// Where it is known about how many entries the walk comes to, what lies on its way is read at once; zero: not known.
  Cursor cursor(std::string_view lower, std::string_view upper, ReadCost* cost = nullptr, BlockJudge* judge = nullptr,
                std::uint64_t entries_expected = 0) const;

 private:
  friend class AsyncRead;
  friend class Engine;
  ReadView(const EngineState& state, ReadStates::Pin pin, CommitVersion version) noexcept
      : state_(&state), pin_(std::move(pin)), version_(version) {}
  const EngineState* state_;
  ReadStates::Pin pin_;
  CommitVersion version_;
};

class Engine {
 public:
  /// Opens, or makes, the store in `path`.
  /// Errors   kNotFound           no store there, and options.create_if_missing is not set
  ///          kInvalidArgument    the directory holds other things; or stored options asked for differ
  ///          kLocked             another handle or process has it
  ///          kUnsupported        a newer format or an unknown feature, named
  ///          kCorruption         what is damaged is named, with file and offset; nothing was changed
  ///          kNoSpace, kIoError, kReadOnly, kTooManyFiles, kOutOfMemory
  static Result<std::unique_ptr<Engine>> open(const io::Env& env, std::string_view path, const EngineOptions& options);

  /// Closes without losing anything if close() was not called; its errors are then lost.
  ~Engine();

  /// False in a fork of the process that opened it. There only close() and the destructor may be called.
  bool is_usable() const noexcept;

  /// In a fork: lets go of the lock that the process inherited, and leaves everything else to the parent. Otherwise
  /// waits for commits under way, seals the log and leaves a clean store. Later verbs answer kClosed. A poisoned store
  /// writes nothing more; the next open recovers it. Errors: kIoError, kNoSpace; the next open recovers then too.
  Status close();

  /// Asked once before each commit, about so many bytes long, by who holds no lock: where commits come faster than they
  /// can be written to tables and merged, this is where they wait, a little each and early. A drop need not ask.
  void pace(std::uint64_t commit_bytes) noexcept;
  /// Whether pace() may wait now.
  bool is_pacing() const noexcept;
  /// Locks of the partitions whose hashes (format::partition_hash) are given. Errors: kBusy, kOutOfMemory.
  Result<PartitionGuard> lock_partitions(std::span<const std::uint64_t> hashes,
                                         std::optional<std::chrono::milliseconds> wait_max = std::nullopt);

  /// Commits. On success: published, so visible to every view made later, and durable as asked.
  /// Errors   kNotFound     a table was retired before this commit's place in the order; nothing changed
  ///          kPreconditionFailed    the table that request.load watches was written; nothing changed
  ///          kNoSpace      no room in the log or the write buffer; nothing changed; it waits for what can be made
  ///          kIoError, kTooManyFiles    the log cannot go on, or no memtable be flushed to make room; nothing changed
  ///          kUnknown      the log failed under this commit or one before it; reopen to learn whether it survived
  ///          kPoisoned     the store was stopped earlier; nothing changed
  ///          kReadOnly, kClosed, kOutOfMemory, kLocked (called in a forked child); nothing changed
  Result<CommitVersion> commit(CommitRequest request);

  bool is_published(CommitVersion version) const noexcept;
  /// Waits until the commit with this version is published. A refusal that rests on an unpublished version is told only
  /// after that. Errors: kPoisoned.
  Status await_published(CommitVersion version);

  /// Makes every commit acknowledged so far durable. Errors: as commit().
  Status sync();
  /// Brings everything committed so far to tables. Errors: as commit(), and those of writing files.
  Status flush();
  /// Brings everything committed so far to tables, and compacts until nothing is left to do that helps readers or
  /// space. Waits for all of it. Errors: as flush(), and that of the first job that failed, when all others are done.
  Status compact();

  /// Makes a store of its own of everything acknowledged so far, in a directory that is absent or empty, beside
  /// commits, flushes, compactions and drops. Errors: those of make_checkpoint() (engine/checkpoint), kReadOnly,
  /// kClosed.
  Result<CheckpointFigures> checkpoint(std::string_view path);

  /// Begins to load a table beside the log. What is returned must not outlive the engine. Errors: kClosed, kReadOnly.
  Result<std::unique_ptr<Load>> begin_load(const LoadOptions& options = {});

  /// The published state now.
  ReadView view() const noexcept;
  /// A version that a snapshot holds.
  ReadView view_at(CommitVersion version) const noexcept;
  /// Keeps the published state now readable until it is let go.
  Snapshot snapshot();

  /// The caller's tag on the last commit that carried one, as recovered at open or committed since.
  std::optional<format::CommitTag> last_tag() const;

  /// Whether the table, or its account, was dropped before this open. What remains of it in files is nobody's, and
  /// goes.
  bool was_dropped(TableId table) const noexcept;

  /// Reads every byte of every live table file and judges it, one after the other. `on_file` is told of each: its bytes
  /// and how it was found. Returns when all were read.
  void check_tables(const std::function<void(std::uint64_t bytes, const Status& found)>& on_file) const;

  Statistics statistics() const;
  /// What the store was created with.
  Durability default_durability() const noexcept;
  const std::string& model_options() const noexcept;
  const io::Env& env() const noexcept;
  bool read_only() const noexcept;

 private:
  friend class AsyncEngine;
  Engine() noexcept;
  Result<CommitVersion> commit_request(CommitRequest& request);
  std::unique_ptr<EngineState> state_;
};

}  // namespace varve::engine

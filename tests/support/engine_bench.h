// Owns: the environment of an engine test: a disk, a clock, randomness and a scheduler of its own, and short functions
// for commits.
// Must never: check results. The tests check them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "engine/tables/open_files.h"
#include "format/bytes/bytes.h"
#include "format/keys/batch.h"
#include "format/keys/ends.h"
#include "format/keys/sort_key.h"
#include "io/simulated/manual_clock.h"
#include "io/simulated/memory_file_system.h"
#include "io/simulated/seeded_scheduler.h"

namespace varve::test {

inline constexpr std::string_view kStorePath = "/store";

/// Returns a limit so small that even a small test closes some files to open others.
inline std::shared_ptr<engine::OpenFiles> few_open_files(io::Scheduler& scheduler) {
  return std::make_shared<engine::OpenFiles>(scheduler, 2);
}

/// Selects a machine whose threads run one at a time, in an order that its seed determines.
struct OneThreadAtATime {};

/// A machine with a disk. Declared before the engine that runs on it.
class Machine {
 public:
  explicit Machine(std::uint64_t seed = 1, io::MemoryDisk disk = io::MemoryDisk())
      : random(seed), files(std::make_unique<io::MemoryFileSystem>(std::move(disk))) {}
  Machine(std::uint64_t seed, OneThreadAtATime, io::MemoryDisk disk = io::MemoryDisk())
      : random(seed),
        simulation_(std::make_unique<io::SeededScheduler>(seed, clock)),
        files(std::make_unique<io::MemoryFileSystem>(simulation_->scheduler(), std::move(disk))) {}

  io::Scheduler& scheduler() { return simulation_ ? simulation_->scheduler() : scheduler_; }
  io::SeededScheduler& simulation() { return *simulation_; }
  io::Env env() { return io::Env{*files, clock, random, scheduler()}; }

  Result<std::unique_ptr<engine::Engine>> open(engine::EngineOptions options = writable()) {
    return engine::Engine::open(env(), kStorePath, options);
  }
  static engine::EngineOptions writable() {
    engine::EngineOptions options;
    options.create_if_absent = true;
    return options;
  }
  static engine::EngineOptions reading() {
    engine::EngineOptions options;
    options.read_only = true;
    return options;
  }

  io::ManualClock clock;
  io::SeededRandom random;

 private:
  io::Scheduler scheduler_;
  std::unique_ptr<io::SeededScheduler> simulation_;

 public:
  std::unique_ptr<io::MemoryFileSystem> files;
};

inline constexpr format::TableId kTable = format::make_table_id(7, 1);

inline std::string key_of(std::string_view partition, std::string_view row, format::TableId table = kTable) {
  return *format::encode_sort_key(table, partition, row);
}

/// Builds one commit with few words: puts and deletes of rows, locked and committed.
class Change {
 public:
  explicit Change(format::TableId table = kTable) : table_(table) {}
  Change& put(std::string_view partition, std::string_view row, std::string_view value) {
    batch_.put(key_of(partition, row, table_), value);
    return lock(partition);
  }
  /// Puts an entity with an end, or with an age (format/keys/ends.h). The engine must allow ends.
  Change& put_until(std::string_view partition, std::string_view row, std::uint64_t end, std::string_view value) {
    std::string stored;
    format::append_u64(stored, end);
    stored.append(value);
    batch_.put_expiring(key_of(partition, row, table_), stored);
    return lock(partition);
  }
  /// The commit is refused unless its version is below this one.
  Change& before(format::CommitVersion end) {
    before_ = end;
    return *this;
  }
  /// The batch was made for this shape of its table.
  Change& made_for(std::uint64_t shape) {
    shapes_ = {{table_, shape}};
    return *this;
  }
  /// The commit gives its table this shape.
  Change& reshape(std::uint64_t shape) {
    reshapes_ = engine::TableShape{table_, shape};
    return *this;
  }
  Change& remove(std::string_view partition, std::string_view row) {
    batch_.remove(key_of(partition, row, table_));
    return lock(partition);
  }
  Change& retire(format::TableId table) {
    batch_.retire_table(table);
    frees_space_ = true;
    return *this;
  }
  Change& tag(std::string_view tag) {
    batch_.set_tag(tag);
    return *this;
  }
  /// Says that the batch replaces or removes so many bytes of large values.
  Change& let_go_of(std::uint64_t bytes) {
    let_go_bytes_ = bytes;
    return *this;
  }
  Change& buffered() {
    durability_ = Durability::kBuffered;
    return *this;
  }
  Result<format::CommitVersion> commit(engine::Engine& engine) {
    engine::CommitRequest request;
    request.batch = batch_.finish();
    request.tables = {table_};
    request.durability = durability_;
    request.frees_space = frees_space_;
    request.before = before_;
    request.let_go_bytes = let_go_bytes_;
    request.shapes = shapes_;
    request.reshapes = reshapes_;
    if (!frees_space_) engine.pace(request.batch.size());
    Result<engine::PartitionGuard> guard = engine.lock_partitions(locks_);
    if (!guard.ok()) return guard.status();
    request.locks = *std::move(guard);
    return engine.commit(std::move(request));
  }

 private:
  Change& lock(std::string_view partition) {
    locks_.push_back(format::partition_hash(*format::encode_partition(table_, partition)));
    return *this;
  }
  format::TableId table_;
  format::BatchBuilder batch_;
  std::vector<std::uint64_t> locks_;
  Durability durability_ = Durability::kSync;
  bool frees_space_ = false;
  format::CommitVersion before_ = 0;
  std::uint64_t let_go_bytes_ = 0;
  std::vector<engine::TableShape> shapes_;
  std::optional<engine::TableShape> reshapes_;
};

/// Returns the value at the published version, or "-".
inline std::string value_of(const engine::Engine& engine, std::string_view partition, std::string_view row) {
  const engine::ReadView view = engine.view();
  const auto found = view.get(key_of(partition, row));
  if (!found.ok()) return found.status().to_string();
  return *found ? std::string((*found)->value) : "-";
}

}  // namespace varve::test

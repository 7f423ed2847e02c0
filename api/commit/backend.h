// Owns: the verbs of an engine that the rooms of api use to read and to commit, as an interface.
// Must never: know an entity, a name or a file.
//
// The rooms that read and write take a Backend, and no room but core and doors names the engine's own class. So a store
// whose keys are spread over several engines can take the place of one engine here. A virtual call for each view and
// each commit cost nothing that tools/dev/instructions shows. What runs once for each entry stays concrete: ReadView, its
// point reads and its Cursor are the engine's own types, whose calls the compiler can inline into a scan.
//
// The asynchronous forms of a lock and a commit belong to engine::AsyncEngine, which StoreCore::async() starts.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "engine/engine.h"
#include "engine/load/beneath_load.h"
#include "engine/load/load.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve {

/// Each function works as the function of the same name of engine::Engine. Any thread.
class Backend {
 public:
  Backend() = default;
  virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  virtual void pace(std::uint64_t commit_bytes) noexcept = 0;
  virtual bool is_pacing() const noexcept = 0;
  virtual Result<engine::PartitionGuard> lock_partitions(std::span<const std::uint64_t> hashes,
                                                         std::optional<std::chrono::milliseconds> wait_max,
                                                         std::optional<std::uint64_t> row) = 0;
  virtual engine::ReadView view() const noexcept = 0;
  virtual engine::ReadView view_at(const engine::HeldVersion& snapshot) const noexcept = 0;
  virtual engine::HeldVersion snapshot() = 0;
  virtual Result<engine::CommitVersion> commit(engine::CommitRequest&& request) = 0;
  virtual engine::CommitVersion draw_tick() noexcept = 0;
  virtual engine::CommitVersion time() const noexcept = 0;
  virtual Status allow_ends() = 0;
  virtual bool has_ends() const noexcept = 0;
  virtual Status allow_indexes() = 0;
  virtual bool has_indexes() const noexcept = 0;
  virtual bool is_published(engine::CommitVersion version) const noexcept = 0;
  virtual Status may_answer() const noexcept = 0;
  virtual bool answers_wait() const noexcept = 0;
  virtual Status await_published(engine::CommitVersion version) = 0;
  virtual Result<std::unique_ptr<engine::Load>> begin_load() = 0;
  virtual Result<std::unique_ptr<engine::BeneathLoad>> begin_load_beneath(format::TableId table) = 0;
  virtual Durability default_durability() const noexcept = 0;
  virtual bool read_only() const noexcept = 0;
  virtual const io::Env& env() const noexcept = 0;
};

/// One engine, which outlives the object.
class EngineBackend final : public Backend {
 public:
  explicit EngineBackend(engine::Engine& engine) noexcept : engine_(engine) {}

  void pace(std::uint64_t commit_bytes) noexcept override { engine_.pace(commit_bytes); }
  bool is_pacing() const noexcept override { return engine_.is_pacing(); }
  Result<engine::PartitionGuard> lock_partitions(std::span<const std::uint64_t> hashes,
                                                 std::optional<std::chrono::milliseconds> wait_max,
                                                 std::optional<std::uint64_t> row) override {
    return engine_.lock_partitions(hashes, wait_max, row);
  }
  engine::ReadView view() const noexcept override { return engine_.view(); }
  engine::ReadView view_at(const engine::HeldVersion& snapshot) const noexcept override {
    return engine_.view_at(snapshot);
  }
  engine::HeldVersion snapshot() override { return engine_.snapshot(); }
  Result<engine::CommitVersion> commit(engine::CommitRequest&& request) override {
    return engine_.commit(std::move(request));
  }
  engine::CommitVersion draw_tick() noexcept override { return engine_.draw_tick(); }
  engine::CommitVersion time() const noexcept override { return engine_.time(); }
  Status allow_ends() override { return engine_.allow_ends(); }
  bool has_ends() const noexcept override { return engine_.has_ends(); }
  Status allow_indexes() override { return engine_.allow_indexes(); }
  bool has_indexes() const noexcept override { return engine_.has_indexes(); }
  bool is_published(engine::CommitVersion version) const noexcept override { return engine_.is_published(version); }
  Status may_answer() const noexcept override { return engine_.may_answer(); }
  bool answers_wait() const noexcept override { return engine_.answers_wait(); }
  Status await_published(engine::CommitVersion version) override { return engine_.await_published(version); }
  Result<std::unique_ptr<engine::Load>> begin_load() override { return engine_.begin_load(); }
  Result<std::unique_ptr<engine::BeneathLoad>> begin_load_beneath(format::TableId table) override {
    return engine_.begin_load_beneath(table);
  }
  Durability default_durability() const noexcept override { return engine_.default_durability(); }
  bool read_only() const noexcept override { return engine_.read_only(); }
  const io::Env& env() const noexcept override { return engine_.env(); }

 private:
  engine::Engine& engine_;
};

}  // namespace varve

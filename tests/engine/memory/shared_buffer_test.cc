// Goal: a shared write buffer frees all room that can be freed. A commit that fits an empty buffer succeeds, whatever
// other stores use. The exception is a store that cannot write its data to tables: the writer then receives that
// store's error, and health reports it until there is room.
// Method: generated neighbours, each on a disk of its own, and commits of all sizes, compared with a model. Threads run
// one at a time, by many printed seeds.
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/memory/memtable.h"
#include "io/simulated/manual_clock.h"
#include "io/simulated/memory_file_system.h"
#include "io/simulated/seeded_scheduler.h"
#include "tests/support/effort.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::shared_buffer_test {
namespace {

using test::Change;

constexpr std::uint64_t kBufferBytes = 512 << 10;
constexpr std::uint64_t kSeeds = 30;

enum class State : std::uint8_t { kIdle, kFullDisk, kFailingDisk, kPoisoned, kClosed, kReadOnly };
constexpr std::size_t kStates = 6;

const char* name_of(State state) {
  switch (state) {
    case State::kIdle: return "idle";
    case State::kFullDisk: return "full disk";
    case State::kFailingDisk: return "failing disk";
    case State::kPoisoned: return "poisoned";
    case State::kClosed: return "closed";
    case State::kReadOnly: return "read only";
  }
  return "?";
}

/// Returns a batch of about this many bytes, in rows of random sizes. No row comes twice.
std::string batch_of(std::uint64_t bytes, io::RandomSource& random) {
  format::BatchBuilder batch;
  std::set<std::uint64_t> rows;
  for (std::uint64_t row = 0, done = 0; done < bytes; ++row) {
    std::string value(1 + io::random_below(random, std::min<std::uint64_t>(bytes - done, 20'000)), '.');
    for (char& byte : value) byte = static_cast<char>(io::random_below(random, 256));  // incompressible
    std::uint64_t number = io::random_below(random, 1'000'000);
    while (!rows.insert(number).second) ++number;
    batch.put(test::key_of("p", std::to_string(number)), value);
    done += value.size() + 100;
  }
  return batch.finish();
}

Status commit(Engine& engine, std::string batch) {
  CommitRequest request;
  request.batch = std::move(batch);
  request.tables = {test::kTable};
  return engine.commit(std::move(request)).status();
}

class Causes final : public EventSink {
 public:
  void on_health(Health health, const Status& cause) noexcept override {
    if (health == Health::kWritePaused) last_ = cause;
  }
  void on_log(std::string_view /*line*/) noexcept override {}
  const Status& last() const { return last_; }

 private:
  Status last_;
};

/// One store with a disk of its own.
class Neighbour {
 public:
  Neighbour(io::SeededScheduler& simulation, io::ManualClock& clock, io::RandomSource& random, std::string path,
            const std::shared_ptr<WriteBudget>& budget)
      : env_{files_storage(simulation), clock, random, simulation.scheduler()}, path_(std::move(path)) {
    options_.create_if_absent = true;
    options_.write_budget = budget;
    options_.events = &causes_;
    open(options_);
  }

  Engine& engine() { return *engine_; }
  const Causes& causes() const { return causes_; }
  const std::string& path() const { return path_; }
  State state() const { return state_; }
  std::uint64_t held_bytes() const {
    return engine_ && state_ != State::kReadOnly ? engine_->statistics().memtable_bytes : 0;
  }
  /// Returns the bytes that cannot be freed until heal().
  std::uint64_t stuck_bytes() const { return state_ == State::kIdle ? 0 : held_bytes(); }

  void fill(std::uint64_t bytes, io::RandomSource& random) {
    while (held_bytes() < bytes && commit(*engine_, batch_of(1 + io::random_below(random, bytes), random)).ok()) {
    }
  }

  void become(State state) {
    state_ = state;
    switch (state) {
      case State::kIdle: break;
      case State::kFullDisk: files_->set_capacity_bytes(files_->used_bytes()); break;
      case State::kFailingDisk: {
        io::FaultRule rule;
        rule.name_suffix = ".sst";
        rule.mutating_only = true;
        rule.fail_count = io::FaultRule::kFromThenOn;
        files_->faults().add(rule);
        break;
      }
      case State::kPoisoned: {
        io::FaultRule rule;
        rule.kind = io::OperationKind::kLogWrite;
        rule.sync_point = "log group commit";
        files_->faults().add(rule);
        EXPECT_FALSE(Change().put("p", "poison", "v").commit(*engine_).ok());
        EXPECT_EQ(engine_->statistics().health, Health::kPoisoned);
        break;
      }
      case State::kClosed: EXPECT_TRUE(engine_->close().ok()); break;
      case State::kReadOnly: {
        EXPECT_TRUE(engine_->close().ok());
        engine_.reset();
        EngineOptions reading;
        reading.read_only = true;
        open(reading);
        break;
      }
    }
  }

  void heal() {
    files_->set_capacity_bytes(io::MemoryFileSystem::kUnlimited);
    files_->faults().clear();
    if (state_ == State::kPoisoned || state_ == State::kClosed) engine_.reset();
    state_ = State::kIdle;
  }

  void check_rows() const {
    if (engine_) engine_->check_tables([](std::uint64_t, const Status& found) { EXPECT_EQ(found.to_string(), "Ok"); });
  }

 private:
  io::MemoryFileSystem& files_storage(io::SeededScheduler& simulation) {
    files_ = std::make_unique<io::MemoryFileSystem>(simulation.scheduler());
    files_->keep_no_samples();
    return *files_;
  }
  void open(const EngineOptions& options) {
    auto engine = Engine::open(env_, path_, options);
    ASSERT_TRUE(engine.ok()) << engine.status().to_string();
    engine_ = *std::move(engine);
  }

  std::unique_ptr<io::MemoryFileSystem> files_;
  io::Env env_;
  std::string path_;
  EngineOptions options_;
  Causes causes_;
  std::unique_ptr<Engine> engine_;
  State state_ = State::kIdle;
};

class SharedBuffer : public testing::TestWithParam<std::uint64_t> {
 protected:
  SharedBuffer() : random_(GetParam()), simulation_(GetParam(), clock_) {
    simulation_.set_decisions_max(std::uint64_t{1} << 32);
  }

  std::unique_ptr<Neighbour> make(const std::string& path) {
    return std::make_unique<Neighbour>(simulation_, clock_, random_, path, budget_);
  }
  void pass_time(std::chrono::milliseconds time) {
    io::Mutex mutex(simulation_.scheduler());
    io::Condition never(simulation_.scheduler());
    const io::MutexGuard guard(mutex);
    constexpr std::chrono::milliseconds kStep{20};  // in which other threads run
    for (std::chrono::milliseconds passed{0}; passed < time; passed += kStep) (void)never.wait_for(mutex, kStep);
  }
  std::uint64_t stuck_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& neighbour : neighbours_) bytes += neighbour->stuck_bytes();
    return bytes;
  }

  /// Makes one commit, and compares it with the model.
  void commit_beside_model(Neighbour& own, std::uint64_t bytes) {
    const std::string batch = batch_of(bytes, random_);
    const std::uint64_t need = Memtable::needed_bytes_at_first(*Memtable::demand_of(batch));
    const std::uint64_t bound = budget_->bytes_for(BudgetPart::kCommon);
    const Health before = own.engine().statistics().health;
    const std::uint64_t stuck_before = stuck_bytes();
    const Status outcome = commit(own.engine(), batch);
    const std::uint64_t stuck =
        outcome.ok() ? stuck_bytes() : stuck_before;  // What is full may have had a little room.
    const std::uint64_t there = bound - std::min(bound, stuck);
    // The towers of a memtable depend on its earlier content.
    constexpr std::uint64_t kTowers = 4 << 10;
    if (need > there - std::min(there, kTowers) && need < there + kTowers) return;
    SCOPED_TRACE("needs " + std::to_string(need) + " of " + std::to_string(there) + ", stuck " + std::to_string(stuck) +
                 ": " + outcome.to_string());
    if (need < there) {
      EXPECT_TRUE(outcome.ok());
      return;
    }
    EXPECT_EQ(outcome.code(), Code::kNoSpace);
    if (need > bound) {
      EXPECT_NE(outcome.message().find(std::to_string(kBufferBytes)), std::string_view::npos);
      const bool was_healthy = before == Health::kHealthy;
      EXPECT_FALSE(was_healthy && own.engine().statistics().health != before) << "no pause makes it fit";
      return;
    }
    bool is_named = false;
    for (const auto& neighbour : neighbours_) {
      if (neighbour->stuck_bytes() == 0) continue;
      is_named |= outcome.message().find(neighbour->path() + ":") != std::string_view::npos;
    }
    EXPECT_TRUE(is_named);
    EXPECT_EQ(own.engine().statistics().health, Health::kWritePaused);
    was_paused_ = true;
  }

  io::ManualClock clock_;
  io::SeededRandom random_;
  io::SeededScheduler simulation_;
  std::shared_ptr<WriteBudget> budget_ = std::make_shared<WriteBudget>(simulation_.scheduler(), kBufferBytes);
  std::vector<std::unique_ptr<Neighbour>> neighbours_;
  bool was_paused_ = false;
};

TEST_P(SharedBuffer, ACommitThatFitsWhatStoresCanGiveBackSucceedsAndElseTheirCauseIsTold) {
  std::string described;
  const std::uint64_t count = io::random_below(random_, 12);
  const auto own = make("/own");
  for (std::uint64_t i = 0; i < count; ++i) neighbours_.push_back(make("/neighbour" + std::to_string(i)));
  for (const auto& neighbour : neighbours_) {
    neighbour->fill(io::random_below(random_, 2 * kBufferBytes / count), random_);
  }
  for (const auto& neighbour : neighbours_) {
    const bool is_idle = io::one_in(random_, 2);
    neighbour->become(is_idle ? State::kIdle : static_cast<State>(io::random_below(random_, kStates)));
    described += std::string(" ") + name_of(neighbour->state()) + " " + std::to_string(neighbour->held_bytes());
  }
  SCOPED_TRACE("seed " + std::to_string(GetParam()) + ":" + described);
  for (int i = 0; i < 12; ++i) {
    const std::uint64_t bytes_max = io::one_in(random_, 2) ? kBufferBytes + kBufferBytes / 8 : kBufferBytes / 64;
    commit_beside_model(*own, 1 + io::random_below(random_, bytes_max));
  }
  for (const auto& neighbour : neighbours_) neighbour->heal();
  pass_time(std::chrono::seconds(10));
  EXPECT_EQ(own->engine().statistics().health, Health::kHealthy) << "heals without a further write";
  commit_beside_model(*own, kBufferBytes * 9 / 10);
  own->check_rows();
  for (const auto& neighbour : neighbours_) neighbour->check_rows();
  neighbours_.clear();
  ASSERT_TRUE(own->engine().flush().ok());
  pass_time(std::chrono::seconds(1));
  EXPECT_EQ(budget_->used_bytes(), own->held_bytes()) << "what is counted is held";
}

TEST_P(SharedBuffer, ManySmallIdleStoresDoNotStopAnActiveOne) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  const auto own = make("/own");
  // Each is below a thirty-second of the buffer, and all together are nearly the whole buffer.
  for (int i = 0; i < 48; ++i) neighbours_.push_back(make("/neighbour" + std::to_string(i)));
  const std::uint64_t each = kBufferBytes / (49 + io::random_below(random_, 8));
  for (const auto& neighbour : neighbours_) {
    ASSERT_TRUE(commit(neighbour->engine(), batch_of(each, random_)).ok());
  }
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(Change().put("p", std::to_string(i), std::string(kBufferBytes / 100, 'v')).commit(own->engine()).ok());
  }
}

TEST_P(SharedBuffer, ALargeCommitGetsItsRoomBesideAStreamOfSmallOnes) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  const auto own = make("/own");
  neighbours_.push_back(make("/neighbour"));
  bool is_done = false;
  std::vector<io::Thread> writers;
  for (Engine* const engine : {&own->engine(), &neighbours_.front()->engine()}) {
    auto writer = simulation_.scheduler().start("writer", [&is_done, engine] {
      for (int i = 0; !is_done; ++i) {
        const Status put =
            Change().put("q", std::to_string(i), std::string(5'000, 'v')).buffered().commit(*engine).status();
        ASSERT_TRUE(put.ok()) << put.to_string();
      }
    });
    ASSERT_TRUE(writer.ok());
    writers.push_back(*std::move(writer));
  }
  for (int i = 0; i < 3; ++i) {
    const Status large = commit(own->engine(), batch_of(kBufferBytes * 8 / 10, random_));
    EXPECT_TRUE(large.ok()) << large.to_string();
  }
  is_done = true;
  writers.clear();
}

TEST_P(SharedBuffer, OnAFullDiskEveryWriterIsToldTheDiskAndHealthSaysSoUntilThereIsRoom) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  const auto own = make("/own");
  own->fill(1 + io::random_below(random_, kBufferBytes / 4), random_);
  own->become(State::kFullDisk);
  int refused = 0;
  for (int i = 0; refused < 20; ++i) {
    ASSERT_LT(i, 10'000);
    const Status put = commit(own->engine(), batch_of(1 + io::random_below(random_, kBufferBytes / 8), random_));
    if (put.ok()) continue;
    ++refused;
    EXPECT_EQ(put.code(), Code::kNoSpace) << put.to_string();
    EXPECT_NE(put.message().find("No space left on device"), std::string_view::npos) << put.to_string();
    EXPECT_EQ(put.to_string(), own->causes().last().to_string()) << "the writer and health are told the same";
    EXPECT_EQ(own->engine().statistics().health, Health::kWritePaused);
  }
  own->heal();
  pass_time(std::chrono::seconds(2));
  EXPECT_EQ(own->engine().statistics().health, Health::kHealthy) << "heals without a further write";
  const Status put = commit(own->engine(), batch_of(kBufferBytes / 2, random_));
  EXPECT_TRUE(put.ok()) << put.to_string();
}

TEST(SharedBufferOfOne, ATransactionOfMostOfTheBufferIsTakenEachTime) {
  test::Machine machine;
  EngineOptions options = test::Machine::writable();
  options.write_budget = std::make_shared<WriteBudget>(machine.scheduler(), 16 << 20);
  auto engine = machine.open(options);
  ASSERT_TRUE(engine.ok());
  for (int i = 0; i < test::effort(20); ++i) {
    // Not enough for a memtable to be sealed by itself.
    for (int row = 0; row < 39; ++row) {
      ASSERT_TRUE(Change().put("before", std::to_string(row), std::string(100'000, 'v')).commit(**engine).ok());
    }
    Change change;
    for (int row = 0; row < 136; ++row) change.put("p", std::to_string(row), std::string(100'000, 'v'));
    const auto committed = change.commit(**engine);
    EXPECT_TRUE(committed.ok()) << i << ": " << committed.status().to_string();
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, SharedBuffer, testing::Range(std::uint64_t{1}, test::effort(kSeeds) + 1));

}  // namespace
}  // namespace varve::engine::shared_buffer_test

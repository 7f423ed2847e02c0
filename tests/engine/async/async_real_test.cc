// Goal: the asynchronous threads of a store on this machine's own disk, clock and threads. Reads use a ring if
// available. Concurrent posts, timers and commits finish, and reads are correct.
// Method: many threads post at once to a store whose cache holds almost nothing. Seeded schedules cannot run this, so
// the sanitizers check it.
#include <array>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "engine/async/async_engine.h"
#include "engine/async/async_read.h"
#include "tests/engine/async/async_bench.h"
#include "tests/io/temporary_directory.h"
#include "tests/support/effort.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::async_real_test {
namespace {

using test::Call;
using test::Change;
using test::Machine;

constexpr int kRows = 600;

std::string row_of(int number) {
  return std::to_string(10'000 + number);
}
/// Returns random bytes that the number determines, so that different values have nothing in common.
std::string value_at(int number) {
  std::mt19937_64 random(static_cast<std::uint64_t>(number));
  std::string text;
  while (text.size() < 500) text.push_back(static_cast<char>(random()));
  return text;
}

/// Reads some rows, then waits for a timer, then writes a row of its own: one operation in steps.
class Errand final : public Step {
 public:
  Errand(Engine& engine, AsyncEngine& async, std::uint64_t number)
      : engine_(engine), async_(async), number_(number), view_(engine.view()) {
    std::mt19937_64 random(number);
    for (int i = 0; i < 8; ++i) rows_.push_back(static_cast<int>(random() % kRows));
    for (const int row : rows_) keys_.push_back(test::key_of("p", row_of(row)));
  }
  void run() noexcept override {
    const std::vector<std::string_view> keys(keys_.begin(), keys_.end());
    const Result<bool> has_all = read_.look(keys, view_.version(), EntryPart::kAll);
    ASSERT_TRUE(has_all.ok());
    if (*has_all) return end_read();
    read_.begin(read_end_);
  }
  bool succeeded() const noexcept { return succeeded_; }

 private:
  void end_read() {
    const auto found = read_.take();
    ASSERT_TRUE(found.ok()) << found.status().to_string();
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      EXPECT_TRUE((*found)[i] && (*found)[i]->value == value_at(rows_[i])) << "row " << rows_[i];
    }
    at_ = engine_.env().clock.monotonic() + std::chrono::microseconds(number_ % 5 * 50);
    ASSERT_TRUE(async_.executor().set(timer_, at_).ok());
  }
  void end_pause() {
    EXPECT_GE(engine_.env().clock.monotonic(), at_);
    ASSERT_TRUE(locks_.ask(std::array{number_ % 3}).ok());
    advance();
  }
  void advance() {
    const Result<bool> held = locks_.advance();
    ASSERT_TRUE(held.ok());
    if (!*held) return;
    format::BatchBuilder batch;
    batch.put(test::key_of("own", std::to_string(number_)), "done");
    CommitRequest request;
    request.batch = batch.finish();
    request.tables = {test::kTable};
    request.durability = Durability::kBuffered;
    request.locks = locks_.take();
    commit_.reset(new AsyncCommit(async_.commit(std::move(request), commit_end_, async_.executor())));
    ASSERT_TRUE(commit_->begin().ok());
  }
  void end_commit() {
    succeeded_ = commit_->end().ok();
    commit_.reset();
    async_.executor().end_operation();
  }

  Engine& engine_;
  AsyncEngine& async_;
  const std::uint64_t number_;
  const ReadView view_;
  std::vector<int> rows_;
  std::vector<std::string> keys_;
  Call read_end_{[this] { end_read(); }};
  Call pause_end_{[this] { end_pause(); }};
  Call turn_{[this] { advance(); }};
  Call commit_end_{[this] { end_commit(); }};
  AsyncRead read_{async_.executor(), view_};
  Executor::Timer timer_{pause_end_};
  std::chrono::nanoseconds at_{0};
  LockRequest locks_ = async_.lock_request(turn_);
  std::unique_ptr<AsyncCommit> commit_;
  bool succeeded_ = false;
};

class AsyncReal : public testing::Test {
 protected:
  /// Opens a store on the machine's files, or on files in memory that threads read.
  void open(const io::Env& env, const std::string& path) {
    EngineOptions options = Machine::writable();
    options.block_cache = std::make_shared<BlockCache>(env.scheduler, 16 << 10);
    engine_ = *Engine::open(env, path, options);
    Change change;
    for (int row = 0; row < kRows; ++row) change.put("p", row_of(row), value_at(row));
    ASSERT_TRUE(change.buffered().commit(*engine_).ok());
    ASSERT_TRUE(engine_->flush().ok());
  }

  /// Runs the errands, and returns when all have ended. stop() is called while they run.
  void run_errands() {
    constexpr std::uint64_t kThreads = 3;
    constexpr std::uint64_t kErrands = 20;
    const std::unique_ptr<AsyncEngine> async = *AsyncEngine::start(*engine_);
    std::vector<std::deque<Errand>> errands(kThreads);
    std::vector<std::thread> threads;
    for (std::uint64_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        for (std::uint64_t i = 0; i < kErrands; ++i) {
          Errand& errand = errands[thread].emplace_back(*engine_, *async, thread * kErrands + i);
          ASSERT_TRUE(async->executor().begin_operation());
          async->executor().post(errand);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    async->stop();
    for (const std::deque<Errand>& some : errands) {
      for (const Errand& errand : some) EXPECT_TRUE(errand.succeeded());
    }
  }

  std::unique_ptr<Engine> engine_;
};

TEST_F(AsyncReal, ErrandsOnThisMachinesDiskAllEndAndReadRight) {
  const io::TemporaryDirectory directory;
  ASSERT_NO_FATAL_FAILURE(open(io::system_env(), directory.path() + "/store"));
  for (int round = 0; round < test::effort(6); ++round) run_errands();
  engine_.reset();
}

TEST_F(AsyncReal, SoTheyDoWhereThreadsRead) {
  const io::Env& machine = io::system_env();
  io::MemoryFileSystem memory;
  test::GatedFiles files(memory, machine.scheduler);
  ASSERT_NO_FATAL_FAILURE(open({files, machine.clock, machine.random, machine.scheduler}, "/store"));
  for (int round = 0; round < test::effort(6); ++round) run_errands();
  engine_.reset();
}

}  // namespace
}  // namespace varve::engine::async_real_test

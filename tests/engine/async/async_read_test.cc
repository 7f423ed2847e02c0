// Goal: an AsyncRead returns the keys that ReadView::get_many returns at the same version, with any number of
// concurrent reads. An error of the disk is returned to the operation that read.
// Method: a store with tables, deletes and a memtable, and snapshots of its past. Random keys are read over files in
// memory (any order of reads) and over threads that read (seeded schedules). The cache holds almost nothing, or
// everything.
#include "engine/async/async_read.h"

#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/async/async_engine.h"
#include "tests/engine/async/async_bench.h"
#include "tests/io/temporary_directory.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/effort.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::async_read_test {
namespace {

using test::Call;
using test::Change;
using test::Countdown;
using test::Machine;

constexpr int kRows = 400;
constexpr std::uint64_t kColdBytes = 16 << 10;
constexpr std::uint64_t kWarmBytes = 16 << 20;

std::string key(int row) {
  return test::key_of("p", std::to_string(10'000 + row));
}
std::string random_text(std::mt19937_64& random, std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text.push_back(static_cast<char>(random()));
  return text;
}
std::vector<std::string_view> views_of(const std::vector<std::string>& keys) {
  return {keys.begin(), keys.end()};
}

using Found = Result<std::vector<std::optional<FoundEntry>>>;

/// Returns the found values without deleted ones, or the error.
std::string text_of(Found found) {
  if (!found.ok()) return found.status().to_string();
  std::string text;
  for (const std::optional<FoundEntry>& entry : *found) {
    const bool is_live = entry && entry->kind == Kind::kPut;
    text += is_live ? std::to_string(entry->version) + "=" + std::string(entry->value) : "-";
    text += ";";
  }
  return text;
}

/// One operation that reads keys at a version. It is its own first step.
class Reading final : public Step {
 public:
  Reading(AsyncEngine& async, ReadView view, std::vector<std::string> keys, Countdown& done)
      : async_(async), view_(std::move(view)), keys_(std::move(keys)), done_(done) {}

  void run() noexcept override {
    const Result<bool> has_all = read_.look(views_of(keys_), view_.version(), EntryPart::kAll);
    ASSERT_TRUE(has_all.ok());
    needed_no_wait_ = *has_all;
    if (*has_all) return end();
    read_.begin(end_);
  }
  std::string expected() const { return text_of(view_.get_many(views_of(keys_))); }
  const std::string& text() const noexcept { return text_; }
  bool needed_no_wait() const noexcept { return needed_no_wait_; }

 private:
  void end() {
    EXPECT_TRUE(async_.is_on_its_thread());
    text_ = text_of(read_.take());
    async_.executor().end_operation();
    done_.tick();
  }

  AsyncEngine& async_;
  const ReadView view_;
  const std::vector<std::string> keys_;
  Countdown& done_;
  AsyncRead read_{async_.executor(), view_};
  Call end_{[this] { end(); }};
  std::string text_;
  bool needed_no_wait_ = false;
};

/// A store on a machine, and reads of it.
class Store {
 public:
  Store(Machine& machine, const io::Env& env, std::uint64_t cache_bytes, std::uint64_t seed,
        std::string_view path = test::kStorePath)
      : machine_(machine), random_(seed) {
    EngineOptions options = Machine::writable();
    options.block_cache = std::make_shared<BlockCache>(machine.scheduler(), cache_bytes);
    engine_ = *Engine::open(env, path, options);
    async_ = *AsyncEngine::start(*engine_);
  }

  Engine& engine() { return *engine_; }
  AsyncEngine& async() { return *async_; }

  /// Writes puts and deletes: some in tables, the last in memtables, with snapshots in between.
  void fill() {
    for (int round = 0; round < 6; ++round) {
      Change change;
      for (int row = 0; row < kRows; ++row) {
        if (random_() % 3 != 0) continue;
        const std::string name = std::to_string(10'000 + row);
        if (random_() % 4 == 0) {
          change.remove("p", name);
        } else {
          change.put("p", name, random_text(random_, random_() % 800));
        }
      }
      ASSERT_TRUE(change.commit(*engine_).ok());
      snapshots_.push_back(engine_->snapshot());
      ASSERT_TRUE(round % 2 == 0 || round == 5 || engine_->flush().ok());
    }
  }
  std::vector<std::string> random_keys() {
    std::vector<std::string> keys(random_() % 30);
    for (std::string& one : keys) one = key(static_cast<int>(random_() % (kRows + 20)));
    return keys;
  }
  ReadView random_view() {
    const std::size_t chosen = random_() % (snapshots_.size() + 1);
    return chosen == snapshots_.size() ? engine_->view() : engine_->view_at(snapshots_[chosen]);
  }

  /// Runs concurrent reads.
  std::deque<Reading> read(std::vector<std::pair<ReadView, std::vector<std::string>>> wanted) {
    Countdown done(machine_.scheduler(), wanted.size() + 1);  // including the step that begins them
    std::deque<Reading> readings;
    for (auto& [view, keys] : wanted) readings.emplace_back(*async_, std::move(view), std::move(keys), done);
    Call all([&readings, &done] {
      for (Reading& reading : readings) reading.run();
      done.tick();
    });
    for (std::size_t i = 0; i < readings.size(); ++i) EXPECT_TRUE(async_->executor().begin_operation());
    async_->executor().post(all);
    done.wait();
    return readings;
  }
  std::string read_one(std::vector<std::string> keys) {
    std::vector<std::pair<ReadView, std::vector<std::string>>> wanted;
    wanted.emplace_back(engine_->view(), std::move(keys));
    return read(std::move(wanted)).front().text();
  }
  void read_at_random_and_compare(std::size_t count) {
    std::vector<std::pair<ReadView, std::vector<std::string>>> wanted;
    for (std::size_t i = 0; i < count; ++i) wanted.emplace_back(random_view(), random_keys());
    for (const Reading& reading : read(std::move(wanted))) ASSERT_EQ(reading.text(), reading.expected());
  }

 private:
  Machine& machine_;
  std::mt19937_64 random_;
  std::unique_ptr<Engine> engine_;
  std::vector<HeldVersion> snapshots_;
  std::unique_ptr<AsyncEngine> async_;
};

TEST(AsyncRead, RandomKeysAtRandomVersionsAreFoundAsByGetMany) {
  for (const std::uint64_t cache_bytes : {kColdBytes, kWarmBytes}) {
    for (std::uint64_t seed = 1; seed <= test::effort(4U); ++seed) {
      SCOPED_TRACE(std::to_string(cache_bytes) + " bytes of cache, seed " + std::to_string(seed));
      Machine machine(seed);
      Store store(machine, machine.env(), cache_bytes, seed);
      ASSERT_NO_FATAL_FAILURE(store.fill());
      for (std::size_t count = 1; count < 12; ++count) ASSERT_NO_FATAL_FAILURE(store.read_at_random_and_compare(count));
    }
  }
}

TEST(AsyncRead, WhereThreadsReadTheSameIsFoundUnderEverySchedule) {
  for (std::uint64_t seed = 1; seed <= test::effort(12U); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Machine machine(seed, test::OneThreadAtATime());
    test::GatedFiles files(*machine.files, machine.scheduler());
    const io::Env env{files, machine.clock, machine.random, machine.scheduler()};
    Store store(machine, env, kColdBytes, seed);
    ASSERT_NO_FATAL_FAILURE(store.fill());
    for (std::size_t count = 1; count < 5; ++count) ASSERT_NO_FATAL_FAILURE(store.read_at_random_and_compare(count));
  }
}

TEST(AsyncRead, ReadsGoOnBesideFlushesAndCompactions) {
  Machine machine;
  Store store(machine, machine.env(), kColdBytes, 3);
  ASSERT_NO_FATAL_FAILURE(store.fill());
  Result<io::Thread> writer = machine.scheduler().start("writer", [&store] {
    for (int i = 0; i < 10; ++i) {
      EXPECT_TRUE(Change().put("p", "other", std::to_string(i)).commit(store.engine()).ok());
      EXPECT_TRUE(i % 5 == 4 ? store.engine().compact().ok() : store.engine().flush().ok());
    }
  });
  for (int i = 0; i < 40; ++i) ASSERT_NO_FATAL_FAILURE(store.read_at_random_and_compare(4));
}

TEST(AsyncRead, WhatIsInMemoryOrNowhereNeedsNoWait) {
  Machine machine;
  Store store(machine, machine.env(), kWarmBytes, 1);
  ASSERT_TRUE(Change().put("p", "10001", "one").remove("p", "10002").commit(store.engine()).ok());
  std::vector<std::pair<ReadView, std::vector<std::string>>> wanted;
  wanted.emplace_back(store.engine().view(), std::vector<std::string>{key(1), key(2), key(3), key(1)});
  wanted.emplace_back(store.engine().view(), std::vector<std::string>{});
  const std::deque<Reading> readings = store.read(std::move(wanted));
  for (const Reading& reading : readings) {
    EXPECT_TRUE(reading.needed_no_wait());
    EXPECT_EQ(reading.text(), reading.expected());
  }
  EXPECT_EQ(readings.back().text(), "");
}

TEST(AsyncRead, ALookOnAnyThreadFindsWhatTheCacheHasAndIsGoneOnWithWhereItHasNot) {
  Machine machine;
  Store store(machine, machine.env(), kWarmBytes, 3);
  ASSERT_NO_FATAL_FAILURE(store.fill());
  ASSERT_TRUE(store.engine().flush().ok());
  const std::vector<std::string> keys = {key(1), key(kRows / 2), key(kRows - 1)};
  const ReadView view = store.engine().view();
  const std::string right = text_of(view.get_many(views_of(keys)));  // The blocks are in the cache after this.
  const std::uint64_t reads = store.engine().statistics().block_reads;
  AsyncRead warm(store.async().executor(), view);
  const Result<bool> has_all = warm.look(views_of(keys), view.version(), EntryPart::kAll);
  ASSERT_TRUE(has_all.ok() && *has_all);
  EXPECT_EQ(text_of(warm.take()), right);
  EXPECT_EQ(store.engine().statistics().block_reads, reads);
}

/// A lookup finds no blocks, and another reader then brings all of them into the cache: they are not read twice.
TEST(AsyncRead, ABlockThatCameSinceTheLookIsTakenFromTheCache) {
  Machine machine;
  {
    Store store(machine, machine.env(), kWarmBytes, 4);
    ASSERT_NO_FATAL_FAILURE(store.fill());
    ASSERT_TRUE(store.engine().compact().ok());
  }
  Store store(machine, machine.env(), kWarmBytes, 4);
  const std::vector<std::string> keys = {key(1), key(kRows / 2), key(kRows - 1)};
  const ReadView view = store.engine().view();
  ASSERT_TRUE(view.get_many(views_of({key(kRows + 10)})).ok());  // The files are open after this.
  AsyncRead cold(store.async().executor(), view);
  const Result<bool> has_all = cold.look(views_of(keys), view.version(), EntryPart::kAll);
  ASSERT_TRUE(has_all.ok());
  ASSERT_FALSE(*has_all);
  const std::string right = text_of(view.get_many(views_of(keys)));
  const std::uint64_t reads = store.engine().statistics().block_reads;
  Countdown done(machine.scheduler(), 1);
  Call end([&] { done.tick(); });
  Call begin([&] { cold.begin(end); });
  store.async().executor().post(begin);
  done.wait();
  EXPECT_EQ(text_of(cold.take()), right);
  EXPECT_EQ(store.engine().statistics().block_reads, reads);
}

TEST(AsyncRead, ABlockThatManyReadsWantIsReadOnce) {
  Machine machine;
  Store store(machine, machine.env(), kColdBytes, 2);
  ASSERT_NO_FATAL_FAILURE(store.fill());
  const auto blocks_of = [&store](std::size_t count) {
    std::vector<std::string> others;
    for (int row = 0; row < kRows - 100; ++row) others.push_back(key(row));
    EXPECT_TRUE(store.engine().view().get_many(views_of(others)).ok());  // evicts the other blocks from the cache
    const std::uint64_t before = store.engine().statistics().block_reads;
    std::vector<std::pair<ReadView, std::vector<std::string>>> wanted;
    for (std::size_t i = 0; i < count; ++i) wanted.emplace_back(store.engine().view(), std::vector{key(kRows + 50)});
    (void)store.read(std::move(wanted));
    return store.engine().statistics().block_reads - before;
  };
  (void)blocks_of(1);  // The files are open after this.
  EXPECT_LE(blocks_of(20), blocks_of(1) + 2);
}

TEST(AsyncRead, AFailedReadIsToldAndTheNextOneWorks) {
  Machine machine;
  Store store(machine, machine.env(), kColdBytes, 4);
  ASSERT_NO_FATAL_FAILURE(store.fill());
  std::vector<std::string> keys;
  for (int row = 0; row < kRows; row += 7) keys.push_back(key(row));
  const std::string right = store.read_one(keys);
  EXPECT_EQ(right, text_of(store.engine().view().get_many(views_of(keys))));
  int failures = 0;
  for (std::uint64_t skipped = 0; skipped < 20; ++skipped) {
    io::FaultRule rule;
    rule.kind = io::OperationKind::kRead;
    rule.name_suffix = ".sst";
    rule.skip_count = skipped;
    rule.effect = skipped % 2 == 0 ? io::FaultEffect::kError : io::FaultEffect::kFlipBitOnce;
    machine.files->faults().add(rule);
    const std::string read = store.read_one(keys);
    machine.files->faults().clear();
    if (read != right) {
      ++failures;
      EXPECT_NE(read.find(".sst"), std::string::npos) << read;
    }
    ASSERT_EQ(store.read_one(keys), right);
  }
  EXPECT_GT(failures, 5);
}

/// One operation whose n-th allocation on the executor's thread fails, counted from its beginning to its end.
class ReadingShortOfMemory final : public Step {
 public:
  ReadingShortOfMemory(Store& store, const std::vector<std::string>& keys, std::uint64_t nth, Countdown& done)
      : async_(store.async()), view_(store.engine().view()), keys_(views_of(keys)), nth_(nth), done_(done) {}
  void run() noexcept override {
    failure_ = std::make_unique<test::AllocationFailure>(nth_);
    const Result<bool> has_all = read_.look(keys_, view_.version(), EntryPart::kAll);
    if (!has_all.ok()) {
      end(has_all.status());
    } else if (*has_all) {
      end(read_.take());
    } else {
      read_.begin(end_);
    }
  }
  bool happened() const noexcept { return happened_; }
  const std::string& text() const noexcept { return text_; }

 private:
  void end(Found found) {
    happened_ = failure_->happened();
    failure_.reset();
    text_ = text_of(std::move(found));
    async_.executor().end_operation();
    done_.tick();
  }
  AsyncEngine& async_;
  const ReadView view_;
  const std::vector<std::string_view> keys_;
  const std::uint64_t nth_;
  Countdown& done_;
  AsyncRead read_{async_.executor(), view_};
  Call end_{[this] { end(read_.take()); }};
  std::unique_ptr<test::AllocationFailure> failure_;
  bool happened_ = false;
  std::string text_;
};

TEST(AsyncRead, WithoutMemoryItFailsAndTheNextOneWorks) {
  const io::TemporaryDirectory directory;  // files in memory would need memory to be read
  Machine machine;
  Store store(machine, io::system_env(), kColdBytes, 6, directory.path_of("store"));
  ASSERT_NO_FATAL_FAILURE(store.fill());
  std::vector<std::string> keys;
  for (int row = 0; row < kRows; row += 20) keys.push_back(key(row));
  const std::string right = store.read_one(keys);
  int failures = 0;
  for (std::uint64_t nth = 1;; ++nth) {
    SCOPED_TRACE(nth);
    Countdown done(machine.scheduler(), 1);
    ReadingShortOfMemory reading(store, keys, nth, done);
    ASSERT_TRUE(store.async().executor().begin_operation());
    store.async().executor().post(reading);
    done.wait();
    if (!reading.happened()) break;
    if (reading.text() != right) {
      ++failures;
      EXPECT_EQ(reading.text().find("OutOfMemory"), 0U) << reading.text();
    }
    ASSERT_EQ(store.read_one(keys), right);
  }
  EXPECT_GT(failures, 5);
}

TEST(AsyncRead, OneReadFailsAndThoseBesideItDoNotMix) {
  Machine machine;
  Store store(machine, machine.env(), kColdBytes, 5);
  ASSERT_NO_FATAL_FAILURE(store.fill());
  for (std::uint64_t skipped = 0; skipped < 10; ++skipped) {
    std::vector<std::pair<ReadView, std::vector<std::string>>> wanted;
    for (int row = 0; row < kRows; row += 40) wanted.emplace_back(store.engine().view(), std::vector{key(row)});
    io::FaultRule rule;
    rule.kind = io::OperationKind::kRead;
    rule.name_suffix = ".sst";
    rule.skip_count = skipped;
    machine.files->faults().add(rule);
    const std::deque<Reading> readings = store.read(std::move(wanted));
    machine.files->faults().clear();
    for (const Reading& reading : readings) {
      const bool failed = reading.text().find(".sst") != std::string::npos;
      EXPECT_TRUE(failed || reading.text() == reading.expected());
    }
  }
}

}  // namespace
}  // namespace varve::engine::async_read_test

// Goal: a load whose memory, threads or files fail reports it, leaves no files, and does not affect the store.
// Method: the n-th step of a load that spills and merges fails, with n increasing until no step fails.
#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

#include "engine/load/load.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/effort.h"
#include "tests/support/engine_bench.h"
#include "tests/support/table_file_faults.h"
#include "tests/support/thread_refusal.h"

namespace varve::engine::load_fault_test {
namespace {

using test::Change;
using test::Machine;

constexpr format::TableId kLoadedTable = format::make_table_id(7, 41);
constexpr std::size_t kRows = 260;

/// A store, and a load of rows in random order. The rows exceed the sort buffer about ten times.
class LoadBench {
 public:
  explicit LoadBench(Machine& machine) : LoadBench(machine, machine.env()) {}
  LoadBench(Machine& machine, const io::Env& env) : machine_(machine), env_(env) {
    auto opened = Engine::open(env_, test::kStorePath, Machine::writable());
    EXPECT_TRUE(opened.ok()) << opened.status().to_string();
    engine_ = *std::move(opened);
    options_.sort_buffer_bytes = 4 << 10;
    options_.merge_width = 3;
    options_.file_bytes = 8 << 10;
    options_.chunk_bytes_max = 2 << 10;
    for (std::size_t i = 0; i < kRows; ++i) {
      keys_.push_back(test::key_of("p", std::to_string(100'000 + i * 7919 % kRows), kLoadedTable));
    }
  }

  std::unique_ptr<Load> begin() {
    auto load = engine_->begin_load(options_);
    EXPECT_TRUE(load.ok()) << load.status().to_string();
    const auto version = Change().put("catalog", "counter", "next").commit(*engine_);
    EXPECT_TRUE(version.ok()) << version.status().to_string();
    (*load)->begin(kLoadedTable, *version);
    return *std::move(load);
  }
  /// Adds all rows and installs the load. Stops at the first error.
  Status fill_and_install(Load& load) {
    for (const std::string& key : keys_) {
      if (Status added = load.add(key, value_); !added.ok()) return added;
    }
    return load.install();
  }
  Status adopt(Load& load) {
    CommitRequest request;
    format::BatchBuilder batch;
    batch.adopt(kLoadedTable);
    request.batch = batch.finish();
    request.tables = {kLoadedTable};
    request.load = &load;
    return engine_->commit(std::move(request)).status();
  }
  /// Returns the number of entries of the loaded table that a reader sees.
  std::size_t loaded_rows() const {
    std::size_t rows = 0;
    const std::string prefix = format::encode_table(kLoadedTable);
    const ReadView view = engine_->view();
    Cursor cursor = view.cursor(prefix, format::end_of_prefix(prefix));
    for (cursor.seek_to_first(); cursor.valid(); cursor.next()) ++rows;
    EXPECT_TRUE(cursor.status().ok()) << cursor.status().to_string();
    return rows;
  }
  std::size_t table_files() const {
    const std::vector<std::string> names = machine_.files->snapshot().file_names(test::kStorePath);
    return static_cast<std::size_t>(
        std::count_if(names.begin(), names.end(), [](const std::string& name) { return name.ends_with(".sst"); }));
  }
  void reopen() {
    engine_.reset();
    auto opened = Engine::open(env_, test::kStorePath, Machine::writable());
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    engine_ = *std::move(opened);
  }
  /// Expects that no row of a failed load is visible, and that a second load succeeds.
  void expect_whole_again() {
    EXPECT_EQ(loaded_rows(), 0U);
    ASSERT_TRUE(Change().put("p", "beside", "v").commit(*engine_).ok()) << "the store goes on";
    const auto again = begin();
    const Status done = fill_and_install(*again);
    ASSERT_TRUE(done.ok()) << done.to_string();
    ASSERT_TRUE(adopt(*again).ok());
    EXPECT_EQ(loaded_rows(), kRows);
  }
  Engine& engine() { return *engine_; }

 private:
  Machine& machine_;
  const io::Env env_;
  std::unique_ptr<Engine> engine_;
  LoadOptions options_;
  std::vector<std::string> keys_;
  const std::string value_ = std::string(120, 'v');
};

/// The tests' disk allocates memory where a real one does not.
class LoadMemory : public testing::Test {
 protected:
  void SetUp() override { test::exempt_allocations(io::inside_memory_file_system); }
  void TearDown() override { test::exempt_allocations(nullptr); }
};

/// Fails the n-th step of one kind on table files, for each n. Returns how often it failed before a load succeeded.
std::uint64_t fail_each(io::OperationKind kind, std::uint64_t stride) {
  std::uint64_t failed = 0;
  for (std::uint64_t nth = 0;; nth += stride) {
    SCOPED_TRACE(std::string(io::operation_name(kind)) + " " + std::to_string(nth));
    Machine machine(1, test::OneThreadAtATime{});
    LoadBench bench(machine);
    auto load = bench.begin();
    machine.files->faults().add(test::fail_table_files(kind, nth));
    const Status done = bench.fill_and_install(*load);
    machine.files->faults().clear();
    if (done.ok()) {
      EXPECT_TRUE(bench.adopt(*load).ok());
      EXPECT_EQ(bench.loaded_rows(), kRows);
      return failed;
    }
    ++failed;
    EXPECT_EQ(done.code(), Code::kIoError) << done.to_string();
    EXPECT_NE(done.message().find(".sst"), std::string::npos) << done.to_string();
    EXPECT_EQ(load->add(test::key_of("p", "more", kLoadedTable), "v").to_string(), done.to_string()) << "it is kept";
    EXPECT_EQ(load->install().to_string(), done.to_string());
    EXPECT_EQ(bench.table_files(), 0U);
    load.reset();
    bench.expect_whole_again();
    if (testing::Test::HasFailure()) return failed;
  }
}

TEST(LoadFault, AFailingStepOnAFileIsToldByItsNameAndLeavesNoFile) {
  EXPECT_GE(fail_each(io::OperationKind::kCreate, 3), 5U);
  EXPECT_GE(fail_each(io::OperationKind::kAppend, 3), 5U);
  EXPECT_GE(fail_each(io::OperationKind::kSync, 3), 5U);
  EXPECT_GE(fail_each(io::OperationKind::kOpen, 7), 3U);
  EXPECT_GE(fail_each(io::OperationKind::kRead, 13), 3U);
}

TEST(LoadFault, AThreadThatIsRefusedEndsIt) {
  std::uint64_t refused = 0;
  for (;; ++refused) {
    SCOPED_TRACE("thread " + std::to_string(refused));
    Machine machine(1, test::OneThreadAtATime{});
    test::ThreadRefusal threads(machine.simulation());
    LoadBench bench(machine, io::Env{*machine.files, machine.clock, machine.random, threads.scheduler()});
    auto load = bench.begin();
    threads.refuse(refused);
    const Status done = bench.fill_and_install(*load);
    threads.refuse_none();
    if (!threads.happened()) {
      ASSERT_TRUE(done.ok()) << done.to_string();
      break;
    }
    ASSERT_EQ(done.code(), Code::kOutOfMemory) << done.to_string();
    EXPECT_EQ(bench.table_files(), 0U);
    load.reset();
    bench.expect_whole_again();
    if (HasFailure()) return;
  }
  EXPECT_GE(refused, 3U) << "the first file, merges of rows, and the last merge each have a thread";
}

/// Refuses one allocation of a load on this thread, or on the other threads.
template <typename Failure, typename... More>
std::uint64_t refuse_memory(More... more) {
  std::uint64_t refused = 0;
  for (std::uint64_t nth = 1;; nth += 1 + nth / 4) {
    SCOPED_TRACE("allocation " + std::to_string(nth));
    Machine machine;
    LoadBench bench(machine);
    auto load = bench.begin();
    Status done;
    bool happened = false;
    {
      const Failure failure(nth, more...);
      done = bench.fill_and_install(*load);
      happened = failure.happened();
    }
    if (!done.ok()) {
      ++refused;
      EXPECT_TRUE(happened) << done.to_string();
      EXPECT_EQ(done.code(), Code::kOutOfMemory) << done.to_string();
      load.reset();
      EXPECT_EQ(bench.table_files(), 0U);
      bench.expect_whole_again();
    } else {
      EXPECT_TRUE(bench.adopt(*load).ok());
      EXPECT_EQ(bench.loaded_rows(), kRows);
    }
    if (!happened || testing::Test::HasFailure()) return refused;
  }
}

TEST_F(LoadMemory, WithoutItALoadEndsAndTheStoreGoesOn) {
  EXPECT_GE(refuse_memory<test::AllocationFailure>(), 8U);
  EXPECT_GE(refuse_memory<test::OtherThreadsAllocationFailure>(false), 3U);
}

TEST(LoadFault, WhatWasInstalledInAStoreThatStoppedIsDroppedByTheNextOpen) {
  for (const bool closed : {false, true}) {
    SCOPED_TRACE(closed);
    Machine machine(1, test::OneThreadAtATime{});
    LoadBench bench(machine);
    auto load = bench.begin();
    ASSERT_TRUE(bench.fill_and_install(*load).ok());
    EXPECT_GT(bench.table_files(), 0U);
    if (closed) {
      ASSERT_TRUE(bench.engine().close().ok());
      EXPECT_EQ(bench.adopt(*load).code(), Code::kClosed);
    } else {
      io::FaultRule rule;
      rule.kind = io::OperationKind::kLogWrite;
      rule.fail_count = io::FaultRule::kFromThenOn;
      machine.files->faults().add(rule);
      EXPECT_EQ(Change().put("p", "r", "v").commit(bench.engine()).code(), Code::kUnknown);
      machine.files->faults().clear();
      EXPECT_EQ(Change().put("p", "r", "v").commit(bench.engine()).code(), Code::kPoisoned);
      load->abandon();
    }
    load.reset();
    bench.reopen();
    bench.expect_whole_again();
  }
}

}  // namespace
}  // namespace varve::engine::load_fault_test

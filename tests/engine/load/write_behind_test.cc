// Goal: files that several threads make of one load have its entries in order. If the load fails or is given up, all of
// them are removed, in any state of the threads.
// Method: entries of random text, enough that the first file learns a dictionary and later runs are built separately.
// The chunks are far smaller than a file.
#include "engine/load/write_behind.h"

#include <gtest/gtest.h>

#include "engine/load/load.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/engine_bench.h"
#include "tests/support/table_file_faults.h"

namespace varve::engine::write_behind_test {
namespace {

using test::Change;
using test::Machine;

constexpr format::TableId kFilled = format::make_table_id(7, 42);
constexpr std::size_t kEntriesOfLoad = 20'000;
constexpr std::size_t kTextBytes = 256;

std::string make_text() {
  io::SeededRandom random(11);
  std::string text(std::size_t{1} << 20, ' ');
  for (char& letter : text) letter = static_cast<char>('0' + io::random_below(random, 64));
  return text;
}

std::string value_of_entry(std::size_t i) {
  static const std::string text = make_text();
  return text.substr(i * 7919 % (text.size() - kTextBytes), kTextBytes);
}

std::string key_of_entry(std::size_t i) {
  return test::key_of("p", std::to_string(1'000'000 + i), kFilled);
}

class WriteBehindBench {
 public:
  explicit WriteBehindBench(Machine& machine, std::size_t threads = 2) : machine_(machine) {
    auto opened = machine.open();
    EXPECT_TRUE(opened.ok()) << opened.status().to_string();
    engine_ = *std::move(opened);
    options_.file_bytes = std::size_t{5} << 18;  // more than a run, which the dictionary is learned from
    options_.chunk_bytes_max = std::size_t{64} << 10;
    options_.write_threads = threads;
  }

  std::unique_ptr<Load> begin() {
    auto load = engine_->begin_load(options_);
    EXPECT_TRUE(load.ok()) << load.status().to_string();
    const auto version = Change().put("catalog", "counter", "next").commit(*engine_);
    EXPECT_TRUE(version.ok()) << version.status().to_string();
    (*load)->begin(kFilled, *version);
    return *std::move(load);
  }
  static Status fill(Load& load, std::size_t count = kEntriesOfLoad) {
    for (std::size_t i = 0; i < count; ++i) {
      if (Status added = load.add(key_of_entry(i), value_of_entry(i)); !added.ok()) return added;
    }
    return Status();
  }
  static Status fill_and_install(Load& load) {
    if (Status filled = fill(load); !filled.ok()) return filled;
    return load.install();
  }
  void adopt_and_check(Load& load) {
    CommitRequest request;
    format::BatchBuilder batch;
    batch.adopt(kFilled);
    request.batch = batch.finish();
    request.tables = {kFilled};
    request.load = &load;
    ASSERT_TRUE(engine_->commit(std::move(request)).ok());
    const std::string prefix = format::encode_table(kFilled);
    const ReadView view = engine_->view();
    Cursor cursor = view.cursor(prefix, format::end_of_prefix(prefix));
    std::size_t i = 0;
    for (cursor.seek_to_first(); cursor.valid(); cursor.next(), ++i) {
      ASSERT_EQ(cursor.key(), key_of_entry(i));
      ASSERT_EQ(cursor.value(), value_of_entry(i));
    }
    ASSERT_TRUE(cursor.status().ok()) << cursor.status().to_string();
    EXPECT_EQ(i, kEntriesOfLoad);
    for (i = 0; i < kEntriesOfLoad; i += 97) ASSERT_TRUE((*view.get(key_of_entry(i))).has_value()) << i;
  }
  std::size_t table_files() const {
    const std::vector<std::string> names = machine_.files->snapshot().file_names(test::kStorePath);
    return static_cast<std::size_t>(
        std::count_if(names.begin(), names.end(), [](const std::string& name) { return name.ends_with(".sst"); }));
  }
  Engine& engine() { return *engine_; }

 private:
  Machine& machine_;
  std::unique_ptr<Engine> engine_;
  LoadOptions options_;
};

TEST(WriteBehind, AnyNumberOfThreadsBringsAllEntriesInOrderInFilesThatDoNotOverlap) {
  for (const std::size_t threads : {1U, 2U, 3U}) {
    SCOPED_TRACE(threads);
    Machine machine;
    WriteBehindBench bench(machine, threads);
    const auto load = bench.begin();
    ASSERT_TRUE(bench.fill_and_install(*load).ok());
    bench.adopt_and_check(*load);
    const Statistics figures = bench.engine().statistics();
    EXPECT_GE(figures.levels[kLastLevel].files, 3U);
    EXPECT_EQ(figures.levels[kLastLevel].files, bench.table_files());
    EXPECT_EQ(figures.levels[kLastLevel].entries, kEntriesOfLoad);
    EXPECT_EQ(figures.load_written_bytes, figures.levels[kLastLevel].bytes);
  }
}

TEST(WriteBehind, InWhateverOrderTheThreadsRun) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    Machine machine(seed, test::OneThreadAtATime{});
    WriteBehindBench bench(machine, 3);
    const auto load = bench.begin();
    ASSERT_TRUE(bench.fill_and_install(*load).ok());
    bench.adopt_and_check(*load);
  }
}

/// Fails the n-th step of this kind on table files and all later ones, with n increasing until no step fails.
void fail_each_step(io::OperationKind kind, std::uint64_t stride, std::uint64_t failures_min) {
  std::uint64_t nth = 0;
  for (;; nth += stride) {
    SCOPED_TRACE(std::string(io::operation_name(kind)) + " " + std::to_string(nth));
    Machine machine(nth + 1, test::OneThreadAtATime{});
    WriteBehindBench bench(machine);
    auto load = bench.begin();
    machine.files->faults().add(test::fail_table_files(kind, nth));
    const Status done = bench.fill_and_install(*load);
    machine.files->faults().clear();
    if (done.ok()) break;
    ASSERT_EQ(done.code(), Code::kIoError) << done.to_string();
    EXPECT_NE(done.message().find(".sst"), std::string::npos) << done.to_string();
    EXPECT_EQ(load->install().to_string(), done.to_string()) << "it is kept";
    ASSERT_EQ(bench.table_files(), 0U);
  }
  EXPECT_GE(nth, failures_min * stride);
}

TEST(WriteBehind, AFailingStepOfOneThreadEndsAllAndLeavesNoFile) {
  fail_each_step(io::OperationKind::kCreate, 1, 3);
  fail_each_step(io::OperationKind::kSync, 1, 3);
  fail_each_step(io::OperationKind::kAppend, 11, 3);
  fail_each_step(io::OperationKind::kRead, 23, 3);
}

TEST(WriteBehind, WithoutMemoryInOneThreadItEndsAndLeavesNoFile) {
  test::exempt_allocations(io::inside_memory_file_system);
  std::uint64_t refused = 0;
  for (std::uint64_t nth = 1;; nth += 1 + nth / 2) {
    SCOPED_TRACE(nth);
    Machine machine;
    WriteBehindBench bench(machine);
    auto load = bench.begin();
    bool happened = false;
    {
      const test::OtherThreadsAllocationFailure failure(nth, true);
      const Status done = bench.fill_and_install(*load);
      happened = failure.happened();
      if (!done.ok()) {
        ++refused;
        EXPECT_EQ(done.code(), Code::kOutOfMemory) << done.to_string();
      }
    }
    if (!happened || testing::Test::HasFailure()) break;
    load.reset();
    EXPECT_EQ(bench.table_files(), 0U);
  }
  EXPECT_GE(refused, 8U);
  test::exempt_allocations(nullptr);
}

TEST(WriteBehind, GivenUpAnywhereItLeavesNoFile) {
  for (const std::size_t count : {1U, 500U, 5'000U, 9'000U, 19'000U}) {
    SCOPED_TRACE(count);
    Machine machine(count, test::OneThreadAtATime{});
    WriteBehindBench bench(machine);
    auto load = bench.begin();
    ASSERT_TRUE(bench.fill(*load, count).ok());
    load->abandon();
    EXPECT_EQ(bench.table_files(), 0U);
    EXPECT_EQ(load->install().code(), Code::kClosed);
  }
}

TEST(WriteBehind, AStoreThatClosesEndsIt) {
  for (const std::size_t count : {500U, 9'000U, 19'000U}) {
    SCOPED_TRACE(count);
    Machine machine(count, test::OneThreadAtATime{});
    WriteBehindBench bench(machine);
    auto load = bench.begin();
    ASSERT_TRUE(bench.fill(*load, count).ok());
    ASSERT_TRUE(bench.engine().close().ok());
    EXPECT_EQ(load->install().code(), Code::kClosed);
    load.reset();
    EXPECT_EQ(bench.table_files(), 0U);
  }
}

}  // namespace
}  // namespace varve::engine::write_behind_test

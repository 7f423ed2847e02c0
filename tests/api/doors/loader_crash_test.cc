// Goal: a load is complete or absent, and leaves no file. This holds if the power fails, the process is killed, the
// device is full or a call fails, at any moment.
// Method: a load runs on the in-memory disk. Images of the disk are taken at every step, or every step fails in turn.
// Then the store is reopened and checked.
#include <gtest/gtest.h>

#include "tests/api/store_bench.h"
#include "varve/loader.h"
#include "varve/verify.h"

namespace varve::loader_crash_test {
namespace {

using test::kAccount;
using test::kTableNotFound;
using test::Machine;
using test::said;
using test::StoreBench;
using test::value_in;
using test::with_value;

constexpr int kEntities = 60;
const IndexDefinition kByValue{"ByValue", {{"V"}}, {}};

struct Shape {
  bool in_order = true;
  bool into_empty_table = false;
  bool has_index = false;  // of the empty table
};

void PrintTo(const Shape& shape, std::ostream* out) {
  *out << (shape.in_order ? "in order" : "in any order") << (shape.into_empty_table ? ", into an empty table" : "")
       << (shape.has_index ? " with an index" : "");
}

std::string row_name(int i) {
  return std::to_string(100 + i);
}

/// Returns text that compresses little, so that the files have several pages.
std::string value_of(int row) {
  io::SeededRandom random(static_cast<std::uint64_t>(row));
  std::string value(800, ' ');
  for (char& character : value) character = static_cast<char>(' ' + io::random_below(random, 95));
  return value;
}

Status load_all(Store& store, const Shape& shape) {
  Result<Loader> loader = store.load_table(kAccount, "Loaded");
  if (!loader.ok()) return loader.status();
  for (int i = 0; i < kEntities; ++i) {
    const int row = shape.in_order ? i : i * 17 % kEntities;
    if (Status added = loader->add(with_value("p", row_name(row), value_of(row))); !added.ok()) return added;
  }
  return loader->finish().status();
}

/// Returns the number of entities, or -1 if there is no table.
int entities_in(Store& store) {
  const Result<Table> table = store.open_table(kAccount, "Loaded");
  if (!table.ok()) {
    EXPECT_EQ(said(table), kTableNotFound) << table.status().to_string();
    return -1;
  }
  const Result<Page> page = table->scan(Scan());
  EXPECT_TRUE(page.ok()) << page.status().to_string();
  return page.ok() ? static_cast<int>(page->entities.size()) : -2;
}

/// Checks that the load is complete or absent, that no unnamed file exists, and that the store continues.
void check(StoreBench& bench, const Shape& shape, bool finished) {
  Store& store = *bench.store;
  const int found = entities_in(store);
  if (finished || found > 0) {
    ASSERT_EQ(found, kEntities);
  } else {
    ASSERT_EQ(found, shape.into_empty_table ? 0 : -1);
  }
  std::uint64_t named = 0;
  const Result<Statistics> figures = store.statistics();
  ASSERT_TRUE(figures.ok());
  for (const LevelStatistics& level : figures->levels) named += level.files;
  std::uint64_t files = 0;
  for (const std::string& name : bench.machine.files->snapshot().file_names(test::kStorePath)) {
    if (name.ends_with(".sst")) ++files;
  }
  ASSERT_EQ(files, named);
  Result<Table> kept = store.open_table(kAccount, "Kept");
  ASSERT_TRUE(kept.ok());
  ASSERT_EQ(value_in(*kept, "p", "r"), "kept");
  ASSERT_TRUE(kept->insert(with_value("p", "after", "v")).ok());
  if (found <= 0) {
    const Status again = load_all(store, shape);
    ASSERT_TRUE(again.ok()) << again.to_string();
    ASSERT_EQ(entities_in(store), kEntities);
  }
  if (!shape.has_index) return;
  // The index may have to be built again. Then it has what the table has.
  ASSERT_EQ(said(store.create_index(kAccount, "Loaded", kByValue)), test::kFine);
  bench.store.reset();
  const Result<VerifyReport> report = Store::verify(test::kStorePath, bench.options());
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  ASSERT_TRUE(report->sound()) << report->findings.front();
  ASSERT_EQ(report->index_entries, static_cast<std::uint64_t>(kEntities));
}

void prepare(StoreBench& bench, const Shape& shape) {
  Table kept = bench.table("Kept");
  ASSERT_TRUE(kept.insert(with_value("p", "r", "kept")).ok());
  if (shape.into_empty_table) bench.table("Loaded");
  if (shape.has_index) {
    ASSERT_EQ(said(bench.store->create_index(kAccount, "Loaded", kByValue)), test::kFine);
  }
}

class LoaderCrash : public ::testing::TestWithParam<Shape> {};

TEST_P(LoaderCrash, LeavesAllOrNothingAtEveryStep) {
  struct Image {
    io::MemoryDisk disk;
    bool finished = false;
    std::string where;
  };
  std::vector<Image> images;
  {
    StoreBench bench(11, test::OneThreadAtATime{});
    prepare(bench, GetParam());
    io::SeededRandom picks(12);
    bool finished = false;
    bench.machine.files->set_observer([&](const io::Operation& operation, io::Moment moment) {
      if (moment == io::Moment::kBefore) return;
      const std::string where = std::string(io::operation_name(operation.kind)) + " " + std::string(operation.name) +
                                " " + std::string(operation.sync_point) +
                                (moment == io::Moment::kDuring ? " during" : " after");
      for (io::MemoryDisk& disk : bench.machine.files->power_cuts(picks, 3)) {
        images.push_back({std::move(disk), finished, where + ", power cut"});
      }
      images.push_back({bench.machine.files->process_death(picks), finished, where + ", kill"});
    });
    const Status loaded = load_all(*bench.store, GetParam());
    ASSERT_TRUE(loaded.ok()) << loaded.to_string();
    finished = true;
    ASSERT_TRUE(bench.store->close().ok());
    bench.machine.files->set_observer({});
  }
  EXPECT_GT(images.size(), 60u);
  for (Image& image : images) {
    SCOPED_TRACE(image.where);
    StoreBench after(13, std::move(image.disk));
    after.open();
    check(after, GetParam(), image.finished);
    if (HasFatalFailure()) return;
  }
}

TEST_P(LoaderCrash, OnAFullDeviceEndsWithNoSpaceAndTheStoreGoesOn) {
  bool succeeded = false;
  int refused = 0;
  for (std::uint64_t pages = 0; !succeeded; ++pages) {
    SCOPED_TRACE(std::to_string(pages) + " pages left");
    ASSERT_LT(pages, 1000u);
    StoreBench bench(21);
    prepare(bench, GetParam());
    bench.machine.files->set_capacity_bytes(bench.machine.files->used_bytes() + pages * 4096);
    const Status loaded = load_all(*bench.store, GetParam());
    succeeded = loaded.ok();
    if (!succeeded) {
      ++refused;
      ASSERT_EQ(loaded.code(), Code::kNoSpace) << loaded.to_string();
    }
    bench.machine.files->set_capacity_bytes(io::MemoryFileSystem::kUnlimited);
    ASSERT_EQ((*bench.store->statistics()).health == Health::kPoisoned, false);
    Table kept = *bench.store->open_table(kAccount, "Kept");
    ASSERT_TRUE(kept.insert(with_value("p", "at once", "v")).ok());
    bench.open();
    check(bench, GetParam(), succeeded);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(refused, 8);
}

TEST_P(LoaderCrash, AfterAnyFailedCallLeavesAllOrNothing) {
  for (const io::FaultEffect effect : {io::FaultEffect::kError, io::FaultEffect::kErrorAfterwards}) {
    bool reached_the_end = false;
    for (std::uint64_t n = 0; !reached_the_end; ++n) {
      SCOPED_TRACE("failing step " + std::to_string(n));
      ASSERT_LT(n, 1000u);
      io::MemoryDisk disk;
      bool finished = false;
      {
        StoreBench bench(31, test::OneThreadAtATime{});
        prepare(bench, GetParam());
        io::FaultRule rule;
        rule.mutating_only = true;
        rule.skip_count = n;
        rule.effect = effect;
        bench.machine.files->faults().add(rule);
        finished = load_all(*bench.store, GetParam()).ok();
        reached_the_end = bench.machine.files->faults().hit_count() == 0;
        bench.machine.files->faults().clear();
        disk = bench.machine.files->power_cut(io::CrashPolicy::kNothingUnsynced, bench.machine.random);
        (void)bench.store->close();
      }
      StoreBench after(32, std::move(disk));
      after.open();
      check(after, GetParam(), finished);
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, LoaderCrash,
                         ::testing::Values(Shape{true, false}, Shape{false, false}, Shape{true, true},
                                           Shape{false, true, true}));

}  // namespace
}  // namespace varve::loader_crash_test

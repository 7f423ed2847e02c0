// Goal: concurrent loads, compactions, flushes, writers and drops do not disturb each other. Every load is adopted, and
// at the end each table has its content.
// Method: all threads run one at a time, by seed.
#include <gtest/gtest.h>

#include "engine/load/load.h"
#include "tests/support/effort.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::load_beside_test {
namespace {

using test::Change;
using test::Machine;

constexpr std::uint32_t kLoads = 12;
constexpr std::size_t kEntries = 40;
constexpr int kRounds = 24;

/// The ids of loaded tables are between two tables that are written all the time, so that nearly every other file spans
/// them.
constexpr format::TableId loaded_table(std::uint32_t i) {
  return format::make_table_id(7, 40 + i);
}
constexpr format::TableId kBefore = format::make_table_id(7, 1);
constexpr format::TableId kBehind = format::make_table_id(7, 900);

class LoadsBeside : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  void write(Engine& engine) {
    for (int round = 0; round < kRounds; ++round) {
      const std::string row = "r" + std::to_string(round);
      ASSERT_TRUE(Change(kBefore).put("p", row, std::string(200, 'n')).commit(engine).ok());
      ASSERT_TRUE(Change(kBehind).put("p", row, std::string(200, 'n')).commit(engine).ok());
      const Status flushed = engine.flush();
      ASSERT_TRUE(flushed.ok()) << flushed.to_string();
    }
  }

  void load(Engine& engine, std::uint32_t i) {
    LoadOptions small;
    small.sort_buffer_bytes = 2 << 10;
    small.merge_width = 2;
    small.file_bytes = 4 << 10;
    small.chunk_bytes_max = 2 << 10;
    auto begun = engine.begin_load(small);
    ASSERT_TRUE(begun.ok());
    Load& load = **begun;
    const auto version = Change().put("catalog", "counter", "next").commit(engine);
    ASSERT_TRUE(version.ok());
    load.begin(loaded_table(i), *version);
    for (std::size_t k = 0; k < kEntries; ++k) {
      const std::string row = std::to_string(100 + k * 7 % kEntries);
      ASSERT_TRUE(load.add(test::key_of("p", row, loaded_table(i)), std::string(100, 'v')).ok());
    }
    const Status installed = load.install();
    ASSERT_TRUE(installed.ok()) << installed.to_string();
    if (i % 3 == 2) return;  // this load is given up
    CommitRequest request;
    format::BatchBuilder batch;
    batch.adopt(loaded_table(i));
    request.batch = batch.finish();
    request.load = &load;
    ASSERT_TRUE(engine.commit(std::move(request)).ok());
    ASSERT_TRUE(Change(loaded_table(i)).put("p", "100", "newer").commit(engine).ok());
  }

  static void check(const Engine& engine) {
    const ReadView view = engine.view();
    for (std::uint32_t i = 0; i < kLoads; ++i) {
      if (i % 3 == 2) continue;
      const std::string prefix = format::encode_table(loaded_table(i));
      std::size_t entries = 0;
      Cursor cursor = view.cursor(prefix, format::end_of_prefix(prefix));
      for (cursor.seek_to_first(); cursor.valid(); cursor.next()) ++entries;
      ASSERT_TRUE(cursor.status().ok()) << cursor.status().to_string();
      ASSERT_EQ(entries, kEntries) << "load " << i;
      ASSERT_EQ((*view.get(test::key_of("p", "100", loaded_table(i)))).value().value, "newer") << "load " << i;
    }
    for (int round = 0; round < kRounds; ++round) {
      for (const format::TableId table : {kBefore, kBehind}) {
        const auto found = view.get(test::key_of("p", "r" + std::to_string(round), table));
        ASSERT_TRUE(found.ok() && *found);
      }
    }
  }

  /// Checks the files. A job that could not be finished would have left files that no level names.
  void check_files(const Engine& engine) {
    std::uint64_t named = 0;
    const Statistics figures = engine.statistics();
    for (const LevelStatistics& level : figures.levels) named += level.files;
    std::uint64_t files = 0;
    for (const std::string& name : machine_.files->snapshot().file_names(test::kStorePath)) {
      if (name.ends_with(".sst")) ++files;
    }
    ASSERT_EQ(files, named);
  }

  Machine machine_{GetParam(), test::OneThreadAtATime{}};
};

TEST_P(LoadsBeside, CompactionsAndWritersNothingIsLost) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  {
    auto opened = machine_.open();
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    Engine& engine = **opened;
    {
      auto writer = machine_.scheduler().start("writer", [&] { write(engine); });
      auto loader = machine_.scheduler().start("loader", [&] {
        for (std::uint32_t i = 0; i < kLoads; i += 2) load(engine, i);
      });
      auto other = machine_.scheduler().start("loader2", [&] {
        for (std::uint32_t i = 1; i < kLoads; i += 2) load(engine, i);
      });
      ASSERT_TRUE(writer.ok() && loader.ok() && other.ok());
    }
    if (HasFatalFailure()) return;
    check(engine);
    const Status compacted = engine.compact();
    ASSERT_TRUE(compacted.ok()) << compacted.to_string();
    check(engine);
    check_files(engine);
    ASSERT_TRUE(engine.close().ok());
  }
  auto opened = machine_.open();
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  check(**opened);
  ASSERT_TRUE((*opened)->close().ok());
}

INSTANTIATE_TEST_SUITE_P(Seeds, LoadsBeside, testing::Range<std::uint64_t>(1, 1 + test::effort<std::uint64_t>(30)));

}  // namespace
}  // namespace varve::engine::load_beside_test

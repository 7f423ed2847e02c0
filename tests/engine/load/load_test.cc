// Goal: a load stores its entries, given in any order, sorted and each key once. It removes everything if it ends
// without an adoption.
// Method: small buffers, files and merges, so that few entries reach every path.
#include "engine/load/load.h"

#include <gtest/gtest.h>

#include "tests/support/engine_bench.h"

namespace varve::engine::load_test {
namespace {

using test::Change;
using test::Machine;

constexpr format::TableId kLoaded = format::make_table_id(7, 40);

std::string row_name(std::size_t i) {
  std::string digits = std::to_string(i);
  return std::string(6 - digits.size(), '0') + digits;
}

class LoadTest : public ::testing::Test {
 protected:
  LoadTest() {
    auto opened = machine_.open();
    EXPECT_TRUE(opened.ok()) << opened.status().to_string();
    engine_ = *std::move(opened);
    small_.sort_buffer_bytes = 4 << 10;
    small_.merge_width = 3;
    small_.file_bytes = 16 << 10;
    small_.chunk_bytes_max = 4 << 10;
  }

  std::unique_ptr<Load> begin(const LoadOptions& options, format::TableId table = kLoaded) {
    auto load = engine_->begin_load(options);
    EXPECT_TRUE(load.ok()) << load.status().to_string();
    const auto version = Change().put("catalog", "counter", "next").commit(*engine_);
    EXPECT_TRUE(version.ok()) << version.status().to_string();
    begun_ = *version;
    (*load)->begin(table, *version);
    return *std::move(load);
  }
  Status add(Load& load, std::size_t i, format::TableId table = kLoaded) {
    return load.add(test::key_of("p" + std::to_string(i % 3), row_name(i), table), value_for(i));
  }
  static std::string value_for(std::size_t i) { return std::string(60 + i % 50, static_cast<char>('a' + i % 26)); }

  Result<format::CommitVersion> adopt(Load& load) {
    CommitRequest request;
    format::BatchBuilder batch;
    batch.put(test::key_of("catalog", "name"), "loaded");
    if (load.has_entries()) batch.adopt(load.table());
    request.batch = batch.finish();
    request.tables = {load.table()};
    request.load = &load;
    return engine_->commit(std::move(request));
  }

  /// Returns the keys with their values in order, of the loaded table, each at the version of the load.
  std::vector<std::string> content(const Engine& engine, format::TableId table = kLoaded) const {
    std::vector<std::string> found;
    const std::string prefix = format::encode_table(table);
    const ReadView view = engine.view();
    Cursor cursor = view.cursor(prefix, format::end_of_prefix(prefix));
    for (cursor.seek_to_first(); cursor.valid(); cursor.next()) {
      EXPECT_EQ(cursor.version(), begun_);
      found.push_back(std::string(cursor.key()) + "=" + std::string(cursor.value()));
    }
    EXPECT_TRUE(cursor.status().ok()) << cursor.status().to_string();
    return found;
  }
  static std::vector<std::string> expected(const std::vector<std::size_t>& rows, format::TableId table = kLoaded) {
    std::vector<std::string> all;
    for (const std::size_t i : rows) {
      all.push_back(test::key_of("p" + std::to_string(i % 3), row_name(i), table) + "=" + value_for(i));
    }
    std::sort(all.begin(), all.end());
    return all;
  }
  std::size_t table_files() {
    std::size_t files = 0;
    for (const std::string& name : machine_.files->snapshot().file_names(test::kStorePath)) {
      if (name.ends_with(".sst")) ++files;
    }
    return files;
  }
  std::uint64_t files_named() const {
    std::uint64_t files = 0;
    const Statistics figures = engine_->statistics();
    for (const LevelStatistics& level : figures.levels) files += level.files;
    return files;
  }
  void reopen() {
    engine_.reset();
    auto opened = machine_.open();
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    engine_ = *std::move(opened);
  }

  Machine machine_;
  std::unique_ptr<Engine> engine_;
  LoadOptions small_;
  CommitVersion begun_ = 0;
};

std::vector<std::size_t> in_order(std::size_t count) {
  std::vector<std::size_t> rows;
  for (std::size_t p = 0; p < 3; ++p) {
    for (std::size_t i = p; i < count; i += 3) rows.push_back(i);
  }
  return rows;
}

std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> rows = in_order(count);
  io::SeededRandom random(seed);
  for (std::size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[io::random_below(random, i)]);
  return rows;
}

TEST_F(LoadTest, BringsSortedEntriesInSeveralFilesToTheLastLevel) {
  const auto rows = in_order(3000);
  auto load = begin(small_);
  for (const std::size_t i : rows) ASSERT_TRUE(add(*load, i).ok());
  EXPECT_TRUE(content(*engine_).empty());
  ASSERT_TRUE(load->install().ok());
  EXPECT_GT(table_files(), 3u);
  EXPECT_EQ(load->progress().sorted_entities, 0u);
  const auto adopted = adopt(*load);
  ASSERT_TRUE(adopted.ok()) << adopted.status().to_string();
  EXPECT_EQ(content(*engine_), expected(rows));
  const Statistics figures = engine_->statistics();
  EXPECT_EQ(figures.levels[kLastLevel].entries, 3000u);
  EXPECT_EQ(figures.levels[kLastLevel].files, table_files());
  EXPECT_EQ(figures.loads, 1u);
  EXPECT_EQ(figures.loaded_entities, 3000u);
  EXPECT_EQ(figures.load_written_bytes, figures.levels[kLastLevel].bytes);
}

TEST_F(LoadTest, SortsWhatComesInAnyOrderByMergesInSeveralPasses) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(seed);
    const format::TableId table = kLoaded + seed;
    const auto rows = shuffled(3000, seed);
    auto load = begin(small_, table);
    for (const std::size_t i : rows) ASSERT_TRUE(add(*load, i, table).ok());
    EXPECT_GT(table_files(), 50u);  // spilled: far more files than one merge reads
    ASSERT_TRUE(load->install().ok());
    const auto adopted = adopt(*load);
    ASSERT_TRUE(adopted.ok()) << adopted.status().to_string();
    EXPECT_EQ(content(*engine_, table), expected(rows, table));
    EXPECT_EQ(table_files(), files_named());  // no file of the sorting is left
    EXPECT_GT(load->progress().sorted_entities, 2900u);
  }
}

TEST_F(LoadTest, SortsInMemoryWhatFitsThere) {
  const auto rows = shuffled(500, 4);
  auto load = begin(LoadOptions());
  for (const std::size_t i : rows) ASSERT_TRUE(add(*load, i).ok());
  EXPECT_LE(table_files(), 1u);  // at most the row before the first entry out of order
  ASSERT_TRUE(load->install().ok());
  ASSERT_TRUE(adopt(*load).ok());
  EXPECT_EQ(content(*engine_), expected(rows));
}

TEST_F(LoadTest, SortsWhatComesInOrderButForTheEnd) {
  auto rows = in_order(2000);
  rows.push_back(2003);  // after all of p2, whose partition ended long ago
  rows.push_back(2001);
  auto load = begin(small_);
  for (const std::size_t i : rows) ASSERT_TRUE(add(*load, i).ok());
  ASSERT_TRUE(load->install().ok());
  ASSERT_TRUE(adopt(*load).ok());
  EXPECT_EQ(content(*engine_), expected(rows));
  EXPECT_EQ(load->progress().sorted_entities, 1u);  // 2003 is of p2, so only 2001 is out of order
}

TEST_F(LoadTest, NamesAKeyThatIsGivenTwice) {
  auto load = begin(small_);
  ASSERT_TRUE(add(*load, 0).ok());
  const Status again = add(*load, 0);
  EXPECT_EQ(again.code(), Code::kExists);
  EXPECT_NE(again.to_string().find("'p0', '000000'"), std::string::npos) << again.to_string();
  EXPECT_EQ(add(*load, 3).code(), Code::kExists);  // The load has ended.
  EXPECT_EQ(load->install().code(), Code::kExists);
  EXPECT_EQ(table_files(), 0u);
}

TEST_F(LoadTest, NamesAKeyThatIsGivenTwiceInAnyOrder) {
  for (const std::size_t count : {5u, 3000u}) {  // within the buffer, and with spilled files
    SCOPED_TRACE(count);
    auto rows = shuffled(count, 5);
    rows.push_back(rows[1]);
    auto load = begin(small_, kLoaded + count);
    Status ended;
    for (const std::size_t i : rows) {
      if (ended = add(*load, i, kLoaded + count); !ended.ok()) break;
    }
    if (ended.ok()) ended = load->install();
    EXPECT_EQ(ended.code(), Code::kExists) << ended.to_string();
    EXPECT_NE(ended.to_string().find("'" + row_name(rows[1]) + "'"), std::string::npos) << ended.to_string();
    EXPECT_EQ(table_files(), 0u);
  }
}

TEST_F(LoadTest, OfNothingNeedsNoFile) {
  auto load = begin(small_);
  ASSERT_TRUE(load->install().ok());
  ASSERT_TRUE(adopt(*load).ok());
  EXPECT_EQ(table_files(), 0u);
  reopen();
  EXPECT_TRUE(content(*engine_).empty());
}

TEST_F(LoadTest, StaysAfterAReopenBeforeAndAfterItsLogIsGone) {
  const auto rows = in_order(600);
  {
    auto load = begin(small_);
    for (const std::size_t i : rows) ASSERT_TRUE(add(*load, i).ok());
    ASSERT_TRUE(load->install().ok());
    ASSERT_TRUE(adopt(*load).ok());
  }
  reopen();  // The adoption is in the log.
  EXPECT_EQ(content(*engine_), expected(rows));
  ASSERT_TRUE(engine_->flush().ok());
  EXPECT_EQ(content(*engine_), expected(rows));
  reopen();  // It is in the manifest now.
  EXPECT_EQ(engine_->statistics().recovery.commits, 0u);
  EXPECT_EQ(content(*engine_), expected(rows));
  EXPECT_EQ(table_files(), files_named());
}

TEST_F(LoadTest, LeavesNothingWhenItIsGivenUp) {
  for (const bool sorted : {true, false}) {
    auto load = begin(small_, kLoaded + (sorted ? 1 : 0));
    for (const std::size_t i : sorted ? in_order(2000) : shuffled(2000, 6)) {
      ASSERT_TRUE(add(*load, i, load->table()).ok());
    }
    EXPECT_GT(table_files(), 0u);
    load->abandon();
    EXPECT_EQ(table_files(), 0u);
    EXPECT_EQ(load->add(test::key_of("p", "r", load->table()), "v").code(), Code::kClosed);
  }
}

TEST_F(LoadTest, LeavesNothingWhenItIsGivenUpAfterItWasInstalled) {
  {
    auto load = begin(small_);
    for (const std::size_t i : in_order(2000)) ASSERT_TRUE(add(*load, i).ok());
    ASSERT_TRUE(load->install().ok());
    EXPECT_GT(files_named(), 0u);
  }
  ASSERT_TRUE(engine_->compact().ok());  // until no work is left; unneeded files are removed in the next round
  EXPECT_EQ(engine_->statistics().compaction_written_bytes, 0u);
  std::uint64_t entries = 0;
  for (const LevelStatistics& level : engine_->statistics().levels) entries += level.entries;
  EXPECT_LE(entries, 1u);  // from the commit that began the load
  reopen();
  EXPECT_EQ(table_files(), files_named());
  EXPECT_TRUE(content(*engine_).empty());
}

TEST_F(LoadTest, IsDeadAtOpenWhenNobodyAdoptedIt) {
  auto load = begin(small_);
  for (const std::size_t i : in_order(2000)) ASSERT_TRUE(add(*load, i).ok());
  ASSERT_TRUE(load->install().ok());
  io::MemoryDisk disk = machine_.files->power_cut(io::CrashPolicy::kNothingUnsynced, machine_.random);
  {
    Machine reader(2, disk);
    auto engine = reader.open(Machine::reading());
    ASSERT_TRUE(engine.ok()) << engine.status().to_string();
    EXPECT_TRUE(content(**engine).empty());
  }
  Machine after(3, disk);
  auto engine = after.open();
  ASSERT_TRUE(engine.ok()) << engine.status().to_string();
  EXPECT_TRUE(content(**engine).empty());
  EXPECT_EQ((*engine)->statistics().retired_ids, 0u);
  for (const std::string& name : after.files->snapshot().file_names(test::kStorePath)) {
    EXPECT_FALSE(name.ends_with(".sst")) << name;
  }
}

TEST_F(LoadTest, GoesBesideAFileThatSpansItsKeys) {
  // One file of the last level has a table before the loaded one, and a table after it.
  ASSERT_TRUE(Change(kLoaded - 1).put("p", "r", "before").commit(*engine_).ok());
  ASSERT_TRUE(Change(kLoaded + 1).put("p", "r", "behind").commit(*engine_).ok());
  ASSERT_TRUE(engine_->compact().ok());
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(Change(kLoaded + 1).put("p", "r" + std::to_string(i), "more").commit(*engine_).ok());
    ASSERT_TRUE(Change(kLoaded - 1).put("p", "r" + std::to_string(i), "more").commit(*engine_).ok());
    ASSERT_TRUE(engine_->flush().ok());
  }
  ASSERT_TRUE(engine_->compact().ok());
  ASSERT_EQ(engine_->statistics().levels[kLastLevel].files, 1u);
  const auto rows = in_order(900);
  auto load = begin(small_);
  for (const std::size_t i : rows) ASSERT_TRUE(add(*load, i).ok());
  ASSERT_TRUE(load->install().ok());
  ASSERT_TRUE(engine_->compact().ok());  // It may be moved, and merged with the others, before the adoption.
  ASSERT_TRUE(adopt(*load).ok());
  EXPECT_EQ(content(*engine_), expected(rows));
  EXPECT_EQ((*engine_->view().get(test::key_of("p", "r7", kLoaded - 1))).value().value, "more");
  EXPECT_EQ((*engine_->view().get(test::key_of("p", "r7", kLoaded + 1))).value().value, "more");
}

TEST_F(LoadTest, MergedWithOthersAndThenGivenUpItIsCutOut) {
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(Change(kLoaded + 1).put("p", "r" + std::to_string(i), "more").commit(*engine_).ok());
    ASSERT_TRUE(Change(kLoaded - 1).put("p", "r" + std::to_string(i), "more").commit(*engine_).ok());
    ASSERT_TRUE(engine_->flush().ok());
  }
  ASSERT_TRUE(engine_->compact().ok());
  auto load = begin(small_);
  for (const std::size_t i : in_order(900)) ASSERT_TRUE(add(*load, i).ok());
  ASSERT_TRUE(load->install().ok());
  ASSERT_TRUE(engine_->compact().ok());
  io::MemoryDisk crashed = machine_.files->power_cut(io::CrashPolicy::kNothingUnsynced, machine_.random);
  const auto remains = [](const Engine& engine) {
    std::uint64_t entries = 0;
    const Statistics figures = engine.statistics();
    for (const LevelStatistics& level : figures.levels) entries += level.entries;
    return entries;
  };
  load.reset();
  ASSERT_TRUE(engine_->compact().ok());
  EXPECT_LT(remains(*engine_), 40u);
  EXPECT_TRUE(content(*engine_).empty());

  Machine after(3, std::move(crashed));
  auto engine = after.open();
  ASSERT_TRUE(engine.ok()) << engine.status().to_string();
  ASSERT_TRUE((*engine)->compact().ok());
  EXPECT_LT(remains(**engine), 40u);
  EXPECT_EQ((*(*engine)->view().get(test::key_of("p", "r7", kLoaded - 1))).value().value, "more");
}

TEST_F(LoadTest, IsRefusedWhenTheTableThatItWatchesIsWritten) {
  auto load = engine_->begin_load(small_);
  ASSERT_TRUE(load.ok());
  (*load)->watch(test::kTable);
  const auto version = Change(kLoaded + 9).put("catalog", "counter", "next").commit(*engine_);
  (*load)->begin(kLoaded, *version);
  ASSERT_TRUE(add(**load, 1).ok());
  ASSERT_TRUE(Change().put("p", "r", "a write").commit(*engine_).ok());
  ASSERT_TRUE((*load)->install().ok());
  EXPECT_EQ(adopt(**load).code(), Code::kPreconditionFailed);
  EXPECT_EQ(test::value_of(*engine_, "p", "r"), "a write");
  ASSERT_TRUE(engine_->compact().ok());
  EXPECT_TRUE(content(*engine_).empty());
}

TEST_F(LoadTest, AdoptsNothingThatItDidNotLoad) {
  format::BatchBuilder batch;
  batch.adopt(kLoaded);
  CommitRequest request;
  request.batch = batch.finish();
  EXPECT_EQ(engine_->commit(std::move(request)).code(), Code::kUnsupported);

  auto load = begin(small_);
  ASSERT_TRUE(add(*load, 1).ok());
  batch.adopt(kLoaded);
  CommitRequest early;
  early.batch = batch.finish();
  early.load = load.get();
  EXPECT_EQ(engine_->commit(std::move(early)).code(), Code::kUnsupported);  // not installed yet
}

TEST_F(LoadTest, IsInACheckpointWholeOnceItIsAdoptedAndBeforeThatNotAtAll) {
  const std::vector<std::size_t> rows = in_order(900);
  auto load = begin(small_);
  for (const std::size_t i : rows) ASSERT_TRUE(add(*load, i).ok());
  ASSERT_TRUE(load->install().ok());
  ASSERT_TRUE(engine_->checkpoint("/installed").ok());
  ASSERT_TRUE(adopt(*load).ok());
  ASSERT_TRUE(engine_->checkpoint("/adopted").ok());

  for (const bool read_only : {true, false}) {
    SCOPED_TRACE(read_only);
    const EngineOptions options = read_only ? Machine::reading() : Machine::writable();
    const auto before = Engine::open(machine_.env(), "/installed", options);
    ASSERT_TRUE(before.ok()) << before.status().to_string();
    EXPECT_TRUE(content(**before).empty());
    const auto after = Engine::open(machine_.env(), "/adopted", options);
    ASSERT_TRUE(after.ok()) << after.status().to_string();
    EXPECT_EQ(content(**after), expected(rows));
    if (read_only) continue;
    ASSERT_TRUE((*before)->compact().ok());
    std::uint64_t entries = 0;
    const Statistics figures = (*before)->statistics();
    for (const LevelStatistics& level : figures.levels) entries += level.entries;
    EXPECT_LT(entries, 10u) << "what nobody adopted takes space";
  }
  EXPECT_EQ(content(*engine_), expected(rows));
}

TEST_F(LoadTest, AnswersClosedOnceTheStoreIsClosed) {
  auto load = begin(small_);
  for (const std::size_t i : in_order(2000)) ASSERT_TRUE(add(*load, i).ok());
  ASSERT_TRUE(engine_->close().ok());
  EXPECT_EQ(load->add(test::key_of("p9", "r", kLoaded), "v").code(), Code::kClosed);
  EXPECT_EQ(load->install().code(), Code::kClosed);
  load.reset();
  EXPECT_EQ(table_files(), 0u);
  EXPECT_EQ(engine_->begin_load().code(), Code::kClosed);
}

}  // namespace
}  // namespace varve::engine::load_test

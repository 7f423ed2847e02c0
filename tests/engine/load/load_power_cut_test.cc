// Goal: if the power fails at any moment of a load that spills and merges, beside compactions and flushes, the table is
// complete or absent. Acknowledged data is there, and no unnamed file is left.
// Method: the store's threads run one at a time by seed on the in-memory disk. Images are taken at every step.
#include <gtest/gtest.h>

#include "engine/load/load.h"
#include "tests/support/effort.h"
#include "tests/support/engine_bench.h"
#include "tests/support/store_image.h"

namespace varve::engine::load_power_cut_test {
namespace {

using test::Change;
using test::Machine;

constexpr format::TableId kLoaded = format::make_table_id(7, 40);
constexpr std::size_t kEntries = 150;

struct Image {
  io::MemoryDisk disk;
  bool adopted = false;
  bool dropped = false;
  std::string where;
};

std::string row_of(std::size_t i) {
  return std::to_string(1000 + i * 61 % kEntries);
}

class LoadPowerCut : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  void look(const io::Operation& operation, io::Moment moment) {
    if (moment == io::Moment::kBefore) return;
    const std::string where = std::string(io::operation_name(operation.kind)) + " " + std::string(operation.name) +
                              " #" + std::to_string(operation.index);
    for (io::MemoryDisk& disk : machine_.files->power_cuts(picks_, 1)) {
      images_.push_back({std::move(disk), adopted_, dropped_, where + ", power cut"});
    }
    if (moment == io::Moment::kAfter) return;
    images_.push_back({machine_.files->process_death(picks_), adopted_, dropped_, where + ", kill"});
  }

  /// Writes tables before and after the loaded one, so that compaction has files that span it.
  void write_neighbours(Engine& engine, int round) {
    const std::string row = "r" + std::to_string(round);
    ASSERT_TRUE(Change(kLoaded - 1).put("p", row, std::string(300, 'n')).commit(engine).ok());
    ASSERT_TRUE(Change(kLoaded + 1).put("p", row, std::string(300, 'n')).commit(engine).ok());
  }

  void run() {
    auto opened = machine_.open();
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    Engine& engine = **opened;
    for (int round = 0; round < 6; ++round) {
      write_neighbours(engine, round);
      ASSERT_TRUE(engine.flush().ok());
    }
    ASSERT_TRUE(engine.compact().ok());
    machine_.files->set_observer(
        [this](const io::Operation& operation, io::Moment moment) { look(operation, moment); });
    load(engine);
    machine_.files->set_observer({});
    ASSERT_TRUE(engine.close().ok());
  }

  void load(Engine& engine) {
    LoadOptions small;
    small.sort_buffer_bytes = 4 << 10;
    small.merge_width = 2;
    small.file_bytes = 8 << 10;
    small.chunk_bytes_max = 4 << 10;
    auto begun = engine.begin_load(small);
    ASSERT_TRUE(begun.ok());
    Load& load = **begun;
    const auto version = Change().put("catalog", "counter", "next").commit(engine);
    ASSERT_TRUE(version.ok());
    load.begin(kLoaded, *version);
    for (std::size_t i = 0; i < kEntries; ++i) {
      ASSERT_TRUE(load.add(test::key_of("p", row_of(i), kLoaded), std::string(90, 'v')).ok());
    }
    const bool flushes = GetParam() % 2 == 0;
    if (flushes) write_neighbours(engine, 6);
    ASSERT_TRUE(load.install().ok());
    if (GetParam() % 3 == 0) {
      ASSERT_TRUE(engine.compact().ok());  // may merge the installed files with their neighbours
    }
    CommitRequest request;
    format::BatchBuilder batch;
    batch.put(test::key_of("catalog", "name"), "loaded");
    batch.adopt(kLoaded);
    request.batch = batch.finish();
    request.load = &load;
    ASSERT_TRUE(engine.commit(std::move(request)).ok());
    adopted_ = true;
    if (flushes) {
      ASSERT_TRUE(engine.flush().ok());
    }
    if (GetParam() % 5 == 0) {
      dropping_ = true;
      ASSERT_TRUE(Change(kLoaded).retire(kLoaded).commit(engine).ok());
      dropped_ = true;
      ASSERT_TRUE(engine.compact().ok());
    }
  }

  /// Checks the files without compaction, which begins as soon as the store is open.
  static void check_files(const io::MemoryDisk& disk) {
    test::StoreMachine machine(disk);
    const Status opened = machine.open();
    ASSERT_TRUE(opened.ok()) << opened.to_string();
    std::size_t files = 0;
    for (const std::string& name : machine.files.snapshot().file_names(test::kImagePath)) {
      if (name.ends_with(".sst")) ++files;
    }
    ASSERT_EQ(files, machine.recovered.files.tables.size());
    ASSERT_EQ(machine.recovered.files.loading_ids, machine.recovered.adopted);
  }

  void check(Image& image) {
    check_files(image.disk);
    if (HasFatalFailure()) return;
    Machine machine(GetParam() + 7, std::move(image.disk));
    auto opened = machine.open();
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    Engine& engine = **opened;
    const bool named = test::value_of(engine, "catalog", "name") == "loaded";
    ASSERT_TRUE(named || !image.adopted);
    std::size_t entries = 0;
    const std::string prefix = format::encode_table(kLoaded);
    const ReadView view = engine.view();
    Cursor cursor = view.cursor(prefix, format::end_of_prefix(prefix));
    for (cursor.seek_to_first(); cursor.valid(); cursor.next()) ++entries;
    ASSERT_TRUE(cursor.status().ok()) << cursor.status().to_string();
    const bool dropped = engine.was_dropped(kLoaded);
    if (named && !dropped && !dropping_) {
      ASSERT_EQ(entries, kEntries);
    }
    if (named && !dropped && dropping_ && !image.dropped) {
      ASSERT_TRUE(entries == kEntries || entries == 0) << entries;
    }
    if (!named && !dropped) {
      ASSERT_EQ(entries, 0u);
    }
    for (int round = 0; round < 6; ++round) {
      for (const format::TableId table : {kLoaded - 1, kLoaded + 1}) {
        const auto found = view.get(test::key_of("p", "r" + std::to_string(round), table));
        ASSERT_TRUE(found.ok() && *found) << "table " << table << " row " << round;
      }
    }
    const auto version = Change().put("after", "row", "v").commit(engine);
    ASSERT_TRUE(version.ok()) << version.status().to_string();
  }

  void cut_and_check() {
    SCOPED_TRACE("seed " + std::to_string(GetParam()));
    run();
    if (HasFailure()) return;
    EXPECT_GT(images_.size(), 100u);
    for (std::size_t i = 0; i < images_.size(); i += test::kStride) {
      Image& image = images_[i];
      SCOPED_TRACE(image.where);
      check(image);
      if (HasFailure()) return;
    }
  }

  Machine machine_{GetParam(), test::OneThreadAtATime{}};
  io::SeededRandom picks_{GetParam() + 1};
  std::vector<Image> images_;
  bool adopted_ = false;
  bool dropping_ = false;
  bool dropped_ = false;
};

TEST_P(LoadPowerCut, LeavesTheTableWholeOrNotThere) {
  cut_and_check();
}

INSTANTIATE_TEST_SUITE_P(Seeds, LoadPowerCut, testing::Range<std::uint64_t>(1, 2));

class LoadPowerCutLong : public LoadPowerCut {};

TEST_P(LoadPowerCutLong, LeavesTheTableWholeOrNotThere) {
  cut_and_check();
}

INSTANTIATE_TEST_SUITE_P(Seeds, LoadPowerCutLong, testing::Range<std::uint64_t>(2, 7));

}  // namespace
}  // namespace varve::engine::load_power_cut_test

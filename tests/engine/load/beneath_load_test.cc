// Goal: entries that are loaded into a table in use lie beneath all that writers have put or removed since, whatever
// compaction did meanwhile, and at any end of the process they are all there or none is (A1 to A5).
// Method: writers remove keys that are not there yet. Their deletes are flushed and compacted before the entries come.
#include "engine/load/beneath_load.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/effort.h"
#include "tests/support/engine_bench.h"
#include "tests/support/store_image.h"
#include "tests/support/table_file_faults.h"

namespace varve::engine::beneath_load_test {
namespace {

using test::Change;
using test::Machine;
using Content = std::map<std::string, std::string>;

constexpr format::TableId kUsed = format::make_table_id(7, 40);
constexpr int kRows = 120;

std::string row_of(int i) {
  return std::to_string(1000 + i);
}

/// Row 3n was removed by a writer, row 3n + 1 was changed by one, and row 3n + 2 is as it was loaded.
Content whole() {
  Content content;
  for (int i = 0; i < kRows; ++i) {
    if (i % 3 > 0) content[row_of(i)] = i % 3 == 1 ? "changed" : "loaded";
  }
  return content;
}
Content of_writers() {
  Content content;
  for (int i = 1; i < kRows; i += 3) content[row_of(i)] = "changed";
  return content;
}

LoadOptions small() {
  LoadOptions options;
  options.sort_buffer_bytes = 2 << 10;
  options.merge_width = 2;
  options.file_bytes = 4 << 10;
  options.chunk_bytes_max = 2 << 10;
  return options;
}

/// Returns the rows of the table by their keys.
Content content_of(const Engine& engine) {
  Content found;
  const std::string prefix = format::encode_table(kUsed);
  const ReadView view = engine.view();
  Cursor cursor = view.cursor(prefix, format::end_of_prefix(prefix));
  for (cursor.seek_to_first(); cursor.valid(); cursor.next()) {
    const auto key = format::decode_sort_key(cursor.key());
    EXPECT_TRUE(key.ok());
    found[key->row_key] = std::string(cursor.value());
    const auto got = view.get(cursor.key());
    EXPECT_TRUE(got.ok() && *got && (*got)->value == cursor.value()) << key->row_key;
  }
  EXPECT_TRUE(cursor.status().ok()) << cursor.status().to_string();
  return found;
}

void write_neighbours(Engine& engine, int round) {
  const std::string row = "r" + std::to_string(round);
  ASSERT_TRUE(Change(kUsed - 1).put("p", row, std::string(300, 'n')).commit(engine).ok());
  ASSERT_TRUE(Change(kUsed + 1).put("p", row, std::string(300, 'n')).commit(engine).ok());
}

/// Changes and removes rows as whole() says, flushed and merged down as far as they go.
void write(Engine& engine) {
  Change changes(kUsed);
  for (int i = 0; i < kRows; ++i) {
    if (i % 3 == 0) changes.remove("p", row_of(i));
    if (i % 3 == 1) changes.put("p", row_of(i), "changed");
  }
  ASSERT_TRUE(changes.commit(engine).ok());
  write_neighbours(engine, 1);
  ASSERT_TRUE(engine.compact().ok());
}

Status add_all(BeneathLoad& load) {
  for (int i = 0; i < kRows; ++i) {
    const std::string row = row_of(i * 61 % kRows);
    if (Status added = load.add(test::key_of("p", row, kUsed), "loaded"); !added.ok()) return added;
  }
  return Status();
}

std::unique_ptr<Engine> open(Machine& machine) {
  auto opened = machine.open();
  EXPECT_TRUE(opened.ok()) << opened.status().to_string();
  return opened.ok() ? *std::move(opened) : nullptr;
}

TEST(BeneathLoad, A1_DeletesThatWereCompactedBeforeTheEntriesCameHideThem) {
  Machine machine;
  std::unique_ptr<Engine> engine = open(machine);
  write_neighbours(*engine, 0);
  auto load = *engine->begin_load_beneath(kUsed, small());
  write(*engine);
  ASSERT_TRUE(add_all(*load).ok());
  EXPECT_EQ(content_of(*engine), of_writers());
  ASSERT_TRUE(load->install().ok());
  EXPECT_EQ(content_of(*engine), whole());
  load.reset();
  ASSERT_TRUE(engine->compact().ok());
  EXPECT_EQ(content_of(*engine), whole());
  engine.reset();
  engine = open(machine);
  EXPECT_EQ(content_of(*engine), whole());
}

TEST(BeneathLoad, A2_ASecondLoadOfTheSameEntriesChangesNothing) {
  Machine machine;
  std::unique_ptr<Engine> engine = open(machine);
  write_neighbours(*engine, 0);
  auto load = *engine->begin_load_beneath(kUsed, small());
  ASSERT_TRUE(add_all(*load).ok());
  ASSERT_TRUE(load->install().ok());
  load.reset();
  EXPECT_EQ(content_of(*engine).size(), static_cast<std::size_t>(kRows));
  write(*engine);
  load = *engine->begin_load_beneath(kUsed, small());
  for (const auto& [row, value] : whole()) {
    ASSERT_TRUE(load->add(test::key_of("p", row, kUsed), value).ok());
  }
  ASSERT_TRUE(Change(kUsed).remove("p", row_of(2)).commit(*engine).ok());
  ASSERT_TRUE(engine->compact().ok());
  ASSERT_TRUE(load->install().ok());
  load.reset();
  Content expected = whole();
  expected.erase(row_of(2));
  EXPECT_EQ(content_of(*engine), expected);
  ASSERT_TRUE(engine->compact().ok());
  EXPECT_EQ(content_of(*engine), expected);
}

TEST(BeneathLoad, EntriesBetweenKeysThatAreKnownToBeDeletedAreFound) {
  Machine machine;
  std::unique_ptr<Engine> engine = open(machine);
  write_neighbours(*engine, 0);
  auto load = *engine->begin_load_beneath(kUsed, small());
  for (int i = 0; i < kRows; i += 3) {  // enough deletes that a committer looks around them
    ASSERT_TRUE(Change(kUsed).remove("p", row_of(i)).commit(*engine).ok());
    ASSERT_TRUE(Change(kUsed).remove("p", row_of(i)).commit(*engine).ok());
  }
  EXPECT_TRUE(content_of(*engine).empty());
  ASSERT_TRUE(add_all(*load).ok());
  ASSERT_TRUE(load->install().ok());
  EXPECT_EQ(content_of(*engine).size(), static_cast<std::size_t>(kRows / 3 * 2));
}

TEST(BeneathLoad, A3_WhatTheEntriesFollowFromIsDurableBeforeThem) {
  Machine machine(1, test::OneThreadAtATime{});  // No time passes, so no timer writes what is buffered.
  std::unique_ptr<Engine> engine = open(machine);
  ASSERT_TRUE(Change().put("p", "first", "v").buffered().commit(*engine).ok());  // It begins the log.
  ASSERT_TRUE(Change().put("p", "source", "v").buffered().commit(*engine).ok());
  auto load = *engine->begin_load_beneath(kUsed, small());
  ASSERT_TRUE(add_all(*load).ok());
  ASSERT_TRUE(load->install().ok());
  io::SeededRandom picks(3);
  for (io::MemoryDisk& disk : machine.files->power_cuts(picks, 4)) {
    Machine after(4, std::move(disk));
    const std::unique_ptr<Engine> reopened = open(after);
    ASSERT_NE(reopened, nullptr);
    EXPECT_EQ(content_of(*reopened).size(), static_cast<std::size_t>(kRows));
    EXPECT_EQ(test::value_of(*reopened, "p", "source"), "v");
  }
}

TEST(BeneathLoad, A4_EntriesOfATableThatWasDroppedMeanwhileLeave) {
  Machine machine;
  std::unique_ptr<Engine> engine = open(machine);
  ASSERT_TRUE(Change().put("p", "r", "v").commit(*engine).ok());
  auto load = *engine->begin_load_beneath(kUsed, small());
  ASSERT_TRUE(add_all(*load).ok());
  ASSERT_TRUE(Change(kUsed).retire(kUsed).commit(*engine).ok());
  ASSERT_TRUE(engine->compact().ok());  // No file of the tree has anything of the table.
  ASSERT_TRUE(load->install().ok());
  load.reset();
  engine.reset();
  engine = open(machine);
  ASSERT_TRUE(Change().put("p", "r", "w").commit(*engine).ok());
  ASSERT_TRUE(engine->compact().ok());
  EXPECT_TRUE(content_of(*engine).empty());
  engine.reset();
  io::SeededRandom picks(5);
  test::StoreMachine reader(machine.files->process_death(picks));
  const auto recovered = reader.read();
  ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
  EXPECT_TRUE(recovered->files.dead_ids.empty());
  for (const auto& [number, table] : recovered->files.tables) EXPECT_LT(table.last_table, kUsed) << number;
}

TEST(BeneathLoad, A5_ALoadThatIsGivenUpLeavesNoFile) {
  Machine machine;
  std::unique_ptr<Engine> engine = open(machine);
  const auto files = [&] {
    const std::vector<std::string> names = machine.files->snapshot().file_names(test::kStorePath);
    return std::count_if(names.begin(), names.end(), [](const std::string& name) { return name.ends_with(".sst"); });
  };
  write_neighbours(*engine, 0);  // A snapshot is not at version zero.
  auto load = *engine->begin_load_beneath(kUsed, small());
  ASSERT_TRUE(add_all(*load).ok());
  EXPECT_GT(files(), 0);
  load.reset();
  EXPECT_EQ(files(), 0);
  load = *engine->begin_load_beneath(kUsed, small());
  ASSERT_TRUE(add_all(*load).ok());
  ASSERT_TRUE(engine->close().ok());
  EXPECT_EQ(load->install().code(), Code::kClosed);
}

TEST(BeneathLoad, AnInstallationThatIsStoppedAnywhereCanBeRepeated) {
  for (int calls = 0;; ++calls) {
    SCOPED_TRACE("stopped at look " + std::to_string(calls));
    Machine machine(1, test::OneThreadAtATime{});
    std::unique_ptr<Engine> engine = open(machine);
    write_neighbours(*engine, 0);
    auto load = *engine->begin_load_beneath(kUsed, small());
    write(*engine);
    ASSERT_TRUE(add_all(*load).ok());
    int left = calls;
    const Status stopped = load->install([&left] { return left-- > 0; });
    if (!stopped.ok()) {
      ASSERT_EQ(stopped.code(), Code::kCancelled) << stopped.to_string();
      EXPECT_EQ(content_of(*engine), of_writers());
      ASSERT_TRUE(engine->compact().ok()) << "a stopped merge is no failure of its files";
      const Status again = load->install();
      ASSERT_TRUE(again.ok()) << again.to_string();
    }
    load.reset();
    EXPECT_EQ(content_of(*engine), whole());
    ASSERT_TRUE(engine->close().ok());
    if (stopped.ok()) {
      EXPECT_GT(calls, 0);
      break;
    }
  }
}

/// Fails the n-th step of one kind on table files, for each n. Returns how often that made a load fail.
int fail_each(io::OperationKind kind) {
  for (int nth = 0;; ++nth) {
    SCOPED_TRACE(std::string(io::operation_name(kind)) + " " + std::to_string(nth));
    Machine machine(1, test::OneThreadAtATime{});
    std::unique_ptr<Engine> engine = open(machine);
    write_neighbours(*engine, 0);
    auto load = *engine->begin_load_beneath(kUsed, small());
    write(*engine);
    machine.files->faults().add(test::fail_table_files(kind, static_cast<std::uint64_t>(nth)));
    Status done = add_all(*load);
    if (done.ok()) done = load->install();
    machine.files->faults().clear();
    load.reset();
    EXPECT_EQ(content_of(*engine), done.ok() ? whole() : of_writers()) << done.to_string();
    if (done.ok()) return nth;
    EXPECT_EQ(done.code(), Code::kIoError) << done.to_string();
    load = *engine->begin_load_beneath(kUsed, small());
    for (const auto& [row, value] : whole()) {
      EXPECT_TRUE(load->add(test::key_of("p", row, kUsed), value).ok());
    }
    const Status again = load->install();
    EXPECT_TRUE(again.ok()) << again.to_string();
    EXPECT_EQ(content_of(*engine), whole());
    if (testing::Test::HasFailure()) return nth;
  }
}

TEST(BeneathLoad, AFailedStepInstallsNothingAndAnotherLoadSucceeds) {
  EXPECT_GT(fail_each(io::OperationKind::kAppend), 3);
  EXPECT_GT(fail_each(io::OperationKind::kSync), 1);
}

/// The last rows may be written while the caller adds no more: their failure is one of the installation.
TEST(BeneathLoad, AnInstallationThatFailedCanBeRepeated) {
  int failed = 0;
  for (int nth = 0;; ++nth) {
    SCOPED_TRACE("append " + std::to_string(nth));
    Machine machine(1, test::OneThreadAtATime{});
    std::unique_ptr<Engine> engine = open(machine);
    write_neighbours(*engine, 0);
    auto load = *engine->begin_load_beneath(kUsed, small());
    write(*engine);
    machine.files->faults().add(test::fail_table_files(io::OperationKind::kAppend, static_cast<std::uint64_t>(nth)));
    const Status added = add_all(*load);
    const Status first = added.ok() ? load->install() : added;
    machine.files->faults().clear();
    if (!added.ok()) continue;
    if (!first.ok()) {
      ++failed;
      ASSERT_EQ(first.code(), Code::kIoError) << first.to_string();
      EXPECT_EQ(content_of(*engine), of_writers());
      const Status again = load->install();
      ASSERT_TRUE(again.ok()) << again.to_string();
    }
    load.reset();
    EXPECT_EQ(content_of(*engine), whole());
    if (first.ok()) break;
  }
  EXPECT_GT(failed, 3);
}

struct Image {
  io::MemoryDisk disk;
  bool is_installed = false;
  std::string where;
};

class BeneathLoadPowerCut : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  void look(const io::Operation& operation, io::Moment moment) {
    if (moment == io::Moment::kBefore) return;
    const std::string where = std::string(io::operation_name(operation.kind)) + " " + std::string(operation.name) +
                              " #" + std::to_string(operation.index);
    for (io::MemoryDisk& disk : machine_.files->power_cuts(picks_, 1)) {
      images_.push_back({std::move(disk), is_installed_, where + ", power cut"});
    }
  }

  void run() {
    std::unique_ptr<Engine> engine = open(machine_);
    write_neighbours(*engine, 0);
    auto load = *engine->begin_load_beneath(kUsed, small());
    write(*engine);
    machine_.files->set_observer(
        [this](const io::Operation& operation, io::Moment moment) { look(operation, moment); });
    ASSERT_TRUE(add_all(*load).ok());
    write_neighbours(*engine, 2);
    ASSERT_TRUE(load->install().ok());
    is_installed_ = true;
    load.reset();
    write_neighbours(*engine, 3);
    ASSERT_TRUE(engine->compact().ok());
    machine_.files->set_observer({});
    ASSERT_TRUE(engine->close().ok());
  }

  void check(Image& image) {
    Machine machine(GetParam() + 7, std::move(image.disk));
    std::unique_ptr<Engine> engine = open(machine);
    ASSERT_NE(engine, nullptr);
    const Content found = content_of(*engine);
    ASSERT_TRUE(found == whole() || (!image.is_installed && found == of_writers())) << found.size();
    auto again = *engine->begin_load_beneath(kUsed, small());
    for (const auto& [row, value] : whole()) {
      ASSERT_TRUE(again->add(test::key_of("p", row, kUsed), value).ok());
    }
    ASSERT_TRUE(again->install().ok());
    again.reset();
    ASSERT_EQ(content_of(*engine), whole());
  }

  Machine machine_{GetParam(), test::OneThreadAtATime{}};
  io::SeededRandom picks_{GetParam() + 1};
  std::vector<Image> images_;
  bool is_installed_ = false;
};

TEST_P(BeneathLoadPowerCut, A5_LeavesAllEntriesOrNone) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  run();
  if (HasFailure()) return;
  EXPECT_GT(images_.size(), 50U);
  std::size_t installed = 0;
  for (std::size_t i = 0; i < images_.size(); i += test::kStride) {
    SCOPED_TRACE(images_[i].where);
    if (images_[i].is_installed) ++installed;
    check(images_[i]);
    if (HasFailure()) return;
  }
  EXPECT_GT(installed, 0U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, BeneathLoadPowerCut, testing::Range<std::uint64_t>(1, 2));

}  // namespace
}  // namespace varve::engine::beneath_load_test

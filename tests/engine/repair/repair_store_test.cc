// Goal: a repair trusts the manifest until the log contradicts it. It restores no table that was dropped or never
// finished. It ends with any error, and then leaves no store.
// Method: a small store's files and log made by hand, and a model that keeps everything except dropped tables.
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/engine.h"
#include "engine/manifest/manifest_file.h"
#include "engine/repair/repair.h"
#include "format/keys/batch.h"
#include "format/log/file_header.h"
#include "tests/support/store_image.h"

namespace varve::engine::repair_store_test {
namespace {

using test::LogWriter;
using test::StoreImage;
using test::StoreMachine;

constexpr std::string_view kTargetPath = "/target";
constexpr format::TableId kOfRows = format::make_table_id(5, 9);  // the table in which test::put_of() writes

/// Keeps everything except dropped tables. On request it fails at the end.
class PlainModel final : public RepairModel {
 public:
  void take_system_rows(const SystemRows& rows) override { rows_ = &rows; }
  bool keeps(format::TableId table) override { return !rows_->is_dropped(table); }
  Result<std::vector<SystemRow>> mended_rows(CommitVersion) override {
    if (!failure.ok()) return failure;
    return rows_->rows;
  }
  Status failure;

 private:
  const SystemRows* rows_ = nullptr;
};

class RepairStoreTest : public testing::Test {
 protected:
  /// Writes a log whose records have this mark of the manifest.
  void write_log(const std::vector<std::string>& batches, ManifestMark mark) {
    LogWriter log = image_.log();
    log.manifest_mark(mark);
    log.group(10, batches);
    log.end_write();
    image_.write_log(log);
  }
  void write_log(const std::vector<std::string>& batches) { write_log(batches, image_.manifest_mark()); }

  Result<RepairFigures> repair(std::string_view path = test::kImagePath, std::string_view target = kTargetPath) {
    machine_ = std::make_unique<StoreMachine>(image_.disk);
    return repair_store(machine_->env, path, target, model_, [this](const RepairReport&) { ++progress_calls_; });
  }
  /// Returns the value of a row of the repaired store, or "-".
  std::string saved(std::string_view row) {
    EngineOptions reading;
    reading.read_only = true;
    const auto opened = Engine::open(machine_->env, kTargetPath, reading);
    if (!opened.ok()) return opened.status().to_string();
    const ReadView view = (*opened)->view();
    const auto found = view.get(test::key_of_row(row));
    if (!found.ok()) return found.status().to_string();
    return *found ? std::string((*found)->value) : "-";
  }
  void expect_untouched() const {
    const io::MemoryDisk after = machine_->files.snapshot();
    ASSERT_EQ(after.file_names(test::kImagePath), image_.names());
    for (const std::string& name : image_.names()) {
      EXPECT_EQ(*after.read_file(test::path_of(name)), *image_.disk.read_file(test::path_of(name))) << name;
    }
  }
  void expect_no_store_in_target() {
    EngineOptions reading;
    reading.read_only = true;
    EXPECT_EQ(Engine::open(machine_->env, kTargetPath, reading).code(), Code::kNotFound);
  }

  StoreImage image_;
  PlainModel model_;
  std::unique_ptr<StoreMachine> machine_;
  int progress_calls_ = 0;
};

TEST_F(RepairStoreTest, BelievesTheManifestThatTheLogKnows) {
  write_log({test::put_of("r", "v")});
  const Result<RepairFigures> figures = repair();
  ASSERT_TRUE(figures.ok()) << figures.status().to_string();
  EXPECT_TRUE(figures->report.files_are_certain);
  EXPECT_TRUE(figures->losses.empty());
  EXPECT_EQ(saved("r"), "v");
  expect_untouched();
}

TEST_F(RepairStoreTest, DoubtsAManifestOfWhichTheLogKnowsMore) {
  ManifestMark mark = image_.manifest_mark();
  mark.durable_bytes += 64;
  write_log({test::put_of("r", "v")}, mark);
  const Result<RepairFigures> figures = repair();
  ASSERT_TRUE(figures.ok()) << figures.status().to_string();
  EXPECT_FALSE(figures->report.files_are_certain);
  EXPECT_EQ(figures->report.current.damaged, 1u);
  EXPECT_EQ(figures->losses.size(), 1u);
  EXPECT_EQ(figures->report.entities_possibly_stale, 1u);
  EXPECT_EQ(saved("r"), "v");
  expect_untouched();
}

TEST_F(RepairStoreTest, BelievesANewerManifestThatTheLogKnowsWhereCurrentIsOfAnEarlierDay) {
  constexpr std::uint64_t kNewer = 50;
  {
    StoreMachine machine(image_.disk);
    FileSet files = (*machine.read()).files;
    files.file_number_ceiling = kNewer + 100;
    ASSERT_TRUE(ManifestFile::create(machine.env, *machine.directory, kNewer, files).ok());
    image_.disk = machine.files.snapshot();
    image_.disk.settle();
  }
  write_log({test::put_of("r", "v")}, {kNewer, format::kFileHeaderBytes});
  const Result<RepairFigures> figures = repair();
  ASSERT_TRUE(figures.ok()) << figures.status().to_string();
  EXPECT_TRUE(figures->report.files_are_certain);
  EXPECT_EQ(figures->report.current.damaged, 1u);
  EXPECT_TRUE(figures->losses.empty());
  EXPECT_EQ(saved("r"), "v");
}

TEST_F(RepairStoreTest, LeavesOutATableWhoseLoadWasNotFinished) {
  format::ManifestEdit edit;
  edit.added_loading_ids.push_back(kOfRows);
  image_.append_edit(edit);
  write_log({test::put_of("r", "v")});
  const Result<RepairFigures> figures = repair();
  ASSERT_TRUE(figures.ok()) << figures.status().to_string();
  EXPECT_EQ(figures->report.entities, 0u);
  EXPECT_EQ(figures->report.entities_left_out, 0u) << "it is known to be none";
  EXPECT_EQ(saved("r"), "-");
}

TEST_F(RepairStoreTest, KeepsATableWhoseLoadTheLogHasAdopted) {
  format::ManifestEdit edit;
  edit.added_loading_ids.push_back(kOfRows);
  image_.append_edit(edit);
  format::BatchBuilder adopts;
  adopts.adopt(kOfRows);
  write_log({adopts.finish(), test::put_of("r", "v")});
  const Result<RepairFigures> figures = repair();
  ASSERT_TRUE(figures.ok()) << figures.status().to_string();
  EXPECT_EQ(figures->report.entities, 1u);
  EXPECT_EQ(saved("r"), "v");
}

TEST_F(RepairStoreTest, LeavesOutATableThatTheLogRetires) {
  format::BatchBuilder drops;
  drops.retire_table(kOfRows);
  write_log({test::put_of("r", "v"), drops.finish()});
  const Result<RepairFigures> figures = repair();
  ASSERT_TRUE(figures.ok()) << figures.status().to_string();
  EXPECT_EQ(saved("r"), "-");
}

TEST_F(RepairStoreTest, DropsByTheManifestOnlyWhatHasADropVersion) {
  format::ManifestEdit edit;
  edit.added_dead_ids.push_back({format::encode_table(kOfRows), 0, {}});
  image_.append_edit(edit);
  write_log({test::put_of("r", "v")});
  ASSERT_TRUE(repair().ok());
  EXPECT_EQ(saved("r"), "v");

  format::ManifestEdit dropped;
  dropped.removed_dead_ids.push_back(format::encode_table(kOfRows));
  image_.append_edit(dropped);
  edit.added_dead_ids.front().drop_version = 11;
  image_.append_edit(edit);
  ASSERT_TRUE(repair().ok());
  EXPECT_EQ(saved("r"), "-");
}

TEST_F(RepairStoreTest, TellsItsProgress) {
  constexpr int kRows = 65'536 + 10;
  LogWriter log(image_.segment_number, image_.segment_seed, 8 << 20);
  log.manifest_mark(image_.manifest_mark());
  for (int row = 0; row < kRows;) {
    format::BatchBuilder batch;
    for (int i = 0; i < 1'000 && row < kRows; ++i, ++row) batch.put(test::key_of_row(std::to_string(row)), "v");
    log.group(log.last_version() + 1, {batch.finish()});
  }
  log.end_write();
  image_.write_log(log);
  const Result<RepairFigures> figures = repair();
  ASSERT_TRUE(figures.ok()) << figures.status().to_string();
  EXPECT_EQ(figures->report.entities, static_cast<std::uint64_t>(kRows));
  EXPECT_EQ(progress_calls_, 1);
}

TEST_F(RepairStoreTest, EndsWithTheModelsErrorAndLeavesNoStore) {
  write_log({test::put_of("r", "v")});
  model_.failure = Status::out_of_memory();
  const Result<RepairFigures> figures = repair();
  EXPECT_EQ(figures.code(), Code::kOutOfMemory) << figures.status().to_string();
  expect_no_store_in_target();
  expect_untouched();
}

TEST_F(RepairStoreTest, RefusesATargetInTheStoreAndTakesOneBesideIt) {
  write_log({test::put_of("r", "v")});
  EXPECT_EQ(repair("/store", "/store/inside").code(), Code::kInvalidArgument);
  EXPECT_EQ(repair("/store/", "/store/inside").code(), Code::kInvalidArgument);
  expect_untouched();
  EXPECT_TRUE(repair("/store", "/store2").ok());
}

/// Fails every step of a repair in turn. The store has a table file, a manifest in doubt and a log.
TEST_F(RepairStoreTest, TellsEveryErrorOfAStoreInDoubt) {
  ManifestMark mark = image_.manifest_mark();
  mark.durable_bytes += 64;
  write_log({test::put_of("r", "v")}, mark);
  std::uint64_t step = 0;
  for (;; ++step) {
    SCOPED_TRACE(step);
    machine_ = std::make_unique<StoreMachine>(image_.disk);
    machine_->files.faults().fail_nth(step, Code::kIoError);
    const Result<RepairFigures> figures = repair_store(machine_->env, test::kImagePath, kTargetPath, model_, {});
    const bool was_hit = machine_->files.faults().hit_count() > 0;
    machine_->files.faults().clear();
    if (!was_hit) {
      ASSERT_TRUE(figures.ok()) << figures.status().to_string();
      break;
    }
    if (figures.ok()) {
      EXPECT_EQ(figures->report.entities, 1U) << "a read that failed once was not tried again";
    } else {
      ASSERT_EQ(figures.code(), Code::kIoError) << "the error was not told";
    }
    expect_untouched();
  }
  EXPECT_GT(step, 40u);
}

}  // namespace
}  // namespace varve::engine::repair_store_test

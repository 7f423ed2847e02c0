// Goal: a manifest that verifies but is impossible, or is unknown to this build, is refused by name. Every error of the
// device during an open is reported.
// Method: a small store's manifest with one more edit, and each step of reading it failing in turn.
#include <string>

#include <gtest/gtest.h>

#include "engine/engine.h"
#include "format/log/file_header.h"
#include "format/table/table_builder.h"
#include "tests/support/store_image.h"

namespace varve::engine::recovery_manifest_test {
namespace {

using test::LogWriter;
using test::StoreImage;
using test::StoreMachine;

constexpr format::TableId kOneTable = format::make_table_id(5, 9);

class RecoveryManifest : public testing::Test {
 protected:
  RecoveryManifest() { image_.write(kLockName, ""); }  // A reader creates none.
  /// Adds a table file with these rows to the manifest at that level.
  void add_table(std::uint64_t number, const std::vector<std::string>& rows, std::uint32_t level) {
    const auto builder = *format::TableBuilder::make(number, number, format::TableOptions());
    for (const std::string& row : rows) {
      ASSERT_TRUE(builder->add({test::key_of_row(row), 7, Kind::kPut, "v"}).ok());
    }
    format::ManifestEdit edit;
    edit.added_tables.push_back(*builder->finish());
    edit.added_tables.front().level = level;
    image_.append_edit(edit);
    image_.write(format::file_name(format::FileType::kTable, number), builder->pending());
  }
  Status open() const {
    StoreMachine machine(image_.disk);
    EngineOptions reading;
    reading.read_only = true;
    return Engine::open(machine.env, test::kImagePath, reading).status();
  }
  void expect_refused(Code code, std::string_view what) const {
    const Status opened = open();
    EXPECT_EQ(opened.code(), code) << opened.to_string();
    EXPECT_NE(opened.message().find(what), std::string_view::npos) << opened.to_string();
  }

  StoreImage image_;
};

TEST_F(RecoveryManifest, WithFeaturesOfANewerBuildIsRefusedByName) {
  format::ManifestEdit edit;
  edit.features = format::Features{0, 0, 32};
  image_.append_edit(edit);
  expect_refused(Code::kUnsupported, "incompatible");
  expect_refused(Code::kUnsupported, image_.manifest_name());
}

TEST_F(RecoveryManifest, WithADeadIdThatNothingDroppedIsDamage) {
  format::ManifestEdit edit;
  edit.added_dead_ids.push_back({format::encode_table(kOneTable), 0, {}});
  image_.append_edit(edit);
  expect_refused(Code::kCorruption, "a dead id has no drop version");
  expect_refused(Code::kCorruption, image_.manifest_name());
}

TEST_F(RecoveryManifest, WithALoadThatIsDeadAlreadyIsDamage) {
  const auto builder = *format::TableBuilder::make(5, 5, format::TableOptions());
  const std::string other = *format::encode_sort_key(kOneTable + 1, "partition", "row");
  ASSERT_TRUE(builder->add({test::key_of_row("r"), 7, Kind::kPut, "v"}).ok());
  ASSERT_TRUE(builder->add({other, 7, Kind::kPut, "v"}).ok());
  format::ManifestEdit edit;
  edit.added_tables.push_back(*builder->finish());
  edit.added_loading_ids.push_back(kOneTable);
  edit.added_dead_ids.push_back({format::encode_table(kOneTable), 3, {}});
  image_.append_edit(edit);
  image_.write(format::file_name(format::FileType::kTable, 5), builder->pending());
  expect_refused(Code::kCorruption, image_.manifest_name());
}

TEST_F(RecoveryManifest, WithTablesOfALevelThatOverlapIsDamage) {
  add_table(5, {"a", "c"}, 3);
  EXPECT_TRUE(open().ok()) << open().to_string();
  add_table(6, {"b"}, 3);
  expect_refused(Code::kCorruption, "overlap in keys");
}

TEST_F(RecoveryManifest, WithATableOfALevelThatIsNotThereIsDamage) {
  add_table(5, {"a"}, 200);
  expect_refused(Code::kCorruption, "is in level 200");
}

TEST_F(RecoveryManifest, IsReadWithEveryErrorOnTheWayTold) {
  add_table(5, {"a", "c"}, 3);
  LogWriter log = image_.log();
  log.manifest_mark(image_.manifest_mark());
  log.put(10, "x", "v");
  log.end_write();
  image_.write_log(log);
  std::uint64_t step = 0;
  for (;; ++step) {
    SCOPED_TRACE(step);
    StoreMachine machine(image_.disk);
    io::FaultRule failing;
    failing.skip_count = step;
    failing.code = Code::kIoError;
    // A listing that fails costs an open of each file, and nothing else (PresenceCheck.*).
    failing.predicate = [](const io::Operation& operation) { return operation.kind != io::OperationKind::kList; };
    machine.files.faults().add(failing);
    EngineOptions reading;
    reading.read_only = true;
    const Status opened = Engine::open(machine.env, test::kImagePath, reading).status();
    if (machine.files.faults().hit_count() == 0) {
      ASSERT_TRUE(opened.ok()) << opened.to_string();
      break;
    }
    ASSERT_EQ(opened.code(), Code::kIoError) << opened.to_string();
    ASSERT_TRUE(machine.files.snapshot().same_content(image_.disk));
  }
  EXPECT_GT(step, 10u);
}

}  // namespace
}  // namespace varve::engine::recovery_manifest_test

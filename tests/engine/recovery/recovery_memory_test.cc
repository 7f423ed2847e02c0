// Goal: if an open or a repair gets no memory for any one allocation, it reports this and changes nothing. The next
// attempt finds all data.
// Method: a small store with drops in its manifest and in its log, and rows in both. Each allocation of the calling
// thread is refused in turn.
#include <functional>
#include <new>
#include <string>

#include <gtest/gtest.h>

#include "engine/engine.h"
#include "engine/repair/repair.h"
#include "format/keys/batch.h"
#include "format/log/file_header.h"
#include "format/table/table_builder.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/store_image.h"

namespace varve::engine::recovery_memory_test {
namespace {

using test::LogWriter;
using test::StoreImage;
using test::StoreMachine;

constexpr format::TableId kDropped = format::make_table_id(5, 10);
constexpr format::TableId kUnloaded = format::make_table_id(5, 11);

/// Keeps everything except dropped tables.
class UndroppedModel final : public RepairModel {
 public:
  void take_system_rows(const SystemRows& rows) override { rows_ = &rows; }
  bool keeps(format::TableId table) override { return !rows_->is_dropped(table); }
  Result<std::vector<SystemRow>> mended_rows(CommitVersion) override { return rows_->rows; }

 private:
  const SystemRows* rows_ = nullptr;
};

class RecoveryMemory : public testing::Test {
 protected:
  void SetUp() override {
    test::exempt_allocations(io::inside_memory_file_system);
    image_.write(kLockName, "");
    add_table();
    format::ManifestEdit edit;
    edit.added_dead_ids.push_back({format::encode_table(format::make_table_id(6, 1)), 8, {}});
    edit.added_loading_ids.push_back(kUnloaded);
    image_.append_edit(edit);
    format::BatchBuilder drops;
    drops.retire_table(kDropped);
    format::BatchBuilder writes;
    writes.put(*format::encode_sort_key(kDropped, "partition", "row"), "dropped");
    LogWriter log = image_.log();
    log.manifest_mark(image_.manifest_mark());
    log.group(10, {test::put_of("in the log", "v"), writes.finish(), drops.finish()});
    log.end_write();
    image_.write_log(log);
  }
  void TearDown() override { test::exempt_allocations(nullptr); }

  /// Adds a file of two tables, one of which is a load without an adoption.
  void add_table() {
    const auto builder = *format::TableBuilder::make(5, 5, format::TableOptions());
    ASSERT_TRUE(builder->add({test::key_of_row("in a table"), 7, Kind::kPut, "v"}).ok());
    ASSERT_TRUE(builder->add({*format::encode_sort_key(kUnloaded, "p", "r"), 7, Kind::kPut, "unloaded"}).ok());
    format::ManifestEdit edit;
    edit.added_tables.push_back(*builder->finish());
    image_.append_edit(edit);
    image_.write(format::file_name(format::FileType::kTable, 5), builder->pending());
  }
  static void expect_rows(const Engine& engine) {
    const ReadView view = engine.view();
    for (const char* const row : {"in the log", "in a table"}) {
      const auto found = view.get(test::key_of_row(row));
      ASSERT_TRUE(found.ok()) << found.status().to_string();
      EXPECT_TRUE(found->has_value()) << row;
    }
    EXPECT_FALSE((*view.get(*format::encode_sort_key(kDropped, "partition", "row"))).has_value());
  }

  /// Refuses each allocation of `attempt` in turn.
  void sweep(std::uint64_t allocations_min, const std::function<Status(StoreMachine&)>& attempt) {
    std::uint64_t nth = 1;
    for (;; ++nth) {
      SCOPED_TRACE(nth);
      StoreMachine machine(image_.disk);
      Status told;
      bool happened = false;
      {
        const test::AllocationFailure failure(nth);
        try {
          told = attempt(machine);
        } catch (const std::bad_alloc&) {
          told = Status::out_of_memory();
        }
        happened = failure.happened();
      }
      if (!happened) {
        ASSERT_TRUE(told.ok()) << told.to_string();
        break;
      }
      if (!told.ok()) {
        ASSERT_EQ(told.code(), Code::kOutOfMemory) << told.to_string();
      }
      const Status again = attempt(machine);
      ASSERT_TRUE(again.ok() || again.code() == Code::kExists) << again.to_string();
    }
    EXPECT_GT(nth, allocations_min);
  }

  StoreImage image_;
};

TEST_F(RecoveryMemory, RefusedToAnOpenForReadingIsTold) {
  sweep(30, [](StoreMachine& machine) -> Status {
    EngineOptions reading;
    reading.read_only = true;
    const auto opened = Engine::open(machine.env, test::kImagePath, reading);
    return opened.status();
  });
  StoreMachine machine(image_.disk);
  EngineOptions reading;
  reading.read_only = true;
  const auto opened = Engine::open(machine.env, test::kImagePath, reading);
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  expect_rows(**opened);
}

TEST_F(RecoveryMemory, RefusedToARepairIsTold) {
  sweep(30, [](StoreMachine& machine) {
    UndroppedModel model;
    return repair_store(machine.env, test::kImagePath, "/target", model, {}).status();
  });
}

}  // namespace
}  // namespace varve::engine::recovery_memory_test

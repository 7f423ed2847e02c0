// Goal: a table's file has the written bytes or does not exist. A file of the same name, a size or a byte that changed
// after the last write, and failing steps are reported with the file's name.
// Method: the disk is changed between the steps.
#include "engine/tables/table_writer.h"

#include <functional>

#include <gtest/gtest.h>

#include "engine/compaction/tree.h"
#include "format/bytes/bytes.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::table_writer_test {
namespace {

constexpr std::string_view kTableName = "000009.sst";

struct WriterBench {
  WriterBench() {
    EXPECT_TRUE(machine.files->create_directory(test::kStorePath, {"test"}).ok());
    directory = *machine.files->open_directory(test::kStorePath);
  }
  Result<std::unique_ptr<TableWriter>> create() { return TableWriter::create(env, *directory, 9, table_options(0)); }
  /// Writes a table of two entries.
  Result<format::TableFileEntry> write() {
    Result<std::unique_ptr<TableWriter>> writer = create();
    if (!writer.ok()) return writer.status();
    for (const char* const row : {"a", "b"}) {
      const std::string key = test::key_of("p", row);
      if (Status added = (*writer)->add({key, 5, Kind::kPut, "value"}); !added.ok()) return added;
    }
    Result<format::TableFileEntry> entry = (*writer)->finish(0);
    EXPECT_TRUE(!entry.ok() || entry->entry_count == 2);
    return entry;
  }
  void fail(io::OperationKind kind, io::FaultEffect effect = io::FaultEffect::kError) {
    io::FaultRule rule;
    rule.kind = kind;
    rule.effect = effect;
    rule.name_suffix = ".sst";
    machine.files->faults().add(rule);
  }
  /// Changes the file once after it was synced.
  void change_behind_sync(const std::function<void(std::string&)>& change) {
    machine.files->set_observer([this, change](const io::Operation& operation, io::Moment moment) {
      if (operation.kind != io::OperationKind::kSync || moment != io::Moment::kAfter) return;
      machine.files->set_observer({});
      machine.files->change_disk([&](io::MemoryDisk& disk) {
        const std::string path = std::string(test::kStorePath).append("/").append(kTableName);
        std::string bytes(format::as_text(*disk.read_file(path)));
        change(bytes);
        disk.write_file(path, format::as_bytes(bytes));
      });
    });
  }
  bool is_there() const {
    return machine.files->snapshot().contains(std::string(test::kStorePath).append("/").append(kTableName));
  }
  void expect_told(Code code, std::string_view why) {
    const auto written = write();
    EXPECT_EQ(written.code(), code) << written.status().to_string();
    EXPECT_NE(written.status().message().find(kTableName), std::string::npos) << written.status().to_string();
    EXPECT_NE(written.status().message().find(why), std::string::npos) << written.status().to_string();
    EXPECT_FALSE(is_there());
  }

  test::Machine machine;
  const io::Env env = machine.env();
  std::unique_ptr<io::Directory> directory;
};

TEST(TableWriterTest, AFileOfTheSameNameIsReplaced) {
  WriterBench bench;
  bench.machine.files->change_disk([](io::MemoryDisk& disk) {
    disk.write_file(std::string(test::kStorePath).append("/").append(kTableName), format::as_bytes("of a crash"));
  });
  const auto written = bench.write();
  ASSERT_TRUE(written.ok()) << written.status().to_string();
  EXPECT_EQ(written->number, 9U);
  EXPECT_EQ(written->entry_count, 2U);
}

TEST(TableWriterTest, AFileOfTheSameNameThatCannotBeRemovedIsToldAndStays) {
  WriterBench bench;
  bench.machine.files->change_disk([](io::MemoryDisk& disk) {
    disk.write_file(std::string(test::kStorePath).append("/").append(kTableName), format::as_bytes("of a crash"));
  });
  bench.fail(io::OperationKind::kRemove);
  const auto refused = bench.create();
  EXPECT_EQ(refused.code(), Code::kIoError);
  EXPECT_NE(refused.status().message().find(kTableName), std::string::npos) << refused.status().to_string();
  EXPECT_TRUE(bench.is_there());
}

TEST(TableWriterTest, ASizeThatChangedBehindTheLastSyncIsTold) {
  WriterBench bench;
  bench.change_behind_sync([](std::string& bytes) { bytes.pop_back(); });
  bench.expect_told(Code::kCorruption, "were written");
}

TEST(TableWriterTest, AByteThatChangedOnItsWayToTheFileIsTold) {
  WriterBench bench;
  bench.fail(io::OperationKind::kRead, io::FaultEffect::kFlipBitPersistently);
  bench.expect_told(Code::kCorruption, "reads back differently from what was written");
}

TEST(TableWriterTest, EveryStepThatFailsIsToldAndLeavesNoFile) {
  for (const io::OperationKind kind : {io::OperationKind::kCreate, io::OperationKind::kAppend, io::OperationKind::kSync,
                                       io::OperationKind::kOpen, io::OperationKind::kRead}) {
    SCOPED_TRACE(io::operation_name(kind));
    WriterBench bench;
    bench.fail(kind);
    bench.expect_told(Code::kIoError, "Input/output error");
    const auto again = bench.write();
    EXPECT_TRUE(again.ok()) << again.status().to_string();
  }
}

}  // namespace
}  // namespace varve::engine::table_writer_test

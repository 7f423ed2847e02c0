// Goal: a store opened for reading changes no byte and no name in any directory. Other readers can share it, a writer
// cannot.
// Method: the in-memory disk counts every step that could change data, and is compared before and after.
#include <string>
#include <vector>

#include "engine/manifest/manifest.h"
#include "tests/engine/checkpoint/checkpoint_bench.h"
#include "tests/support/store_image.h"

namespace varve::engine::read_only_test {
namespace {

using test::Change;
using test::Machine;
using test::value_of;

/// Returns the disk of a killed writer: rows in tables, in closed segments, in the segment in use, and only in the log
/// buffer. Its threads run one at a time, so that the disk is always equal. Otherwise a slow machine would leave more
/// in the log.
io::MemoryDisk disk_of_a_killed_writer(Rows* rows, CommitVersion* version) {
  Machine machine(1, test::OneThreadAtATime{});
  const auto engine = machine.open();
  EXPECT_TRUE(engine.ok());
  fill(**engine);
  EXPECT_TRUE((*engine)->checkpoint("/aside").ok());  // It closes a segment.
  EXPECT_TRUE(Change().put("p", "in the segment in use", "s").commit(**engine).ok());
  EXPECT_TRUE(Change().put("p", "in the buffer alone", "b").buffered().commit(**engine).ok());
  *rows = rows_of(**engine);
  *version = version_of(**engine);
  return machine.files->process_death(machine.random);
}

class ReadOnly : public testing::Test {
 protected:
  ReadOnly() : machine_(2, disk_of_a_killed_writer(&rows_, &version_)) { look(); }

  /// Records the state that must not change.
  void look() {
    steps_ = machine_.files->operation_count();
    before_ = machine_.files->snapshot();
  }
  void expect_untouched() {
    EXPECT_EQ(machine_.files->operation_count(), steps_) << "a step that changes something was made";
    EXPECT_TRUE(machine_.files->snapshot().same_content(before_));
    EXPECT_EQ(machine_.files->snapshot().pending_count(), before_.pending_count());
  }
  void expect_whole(const Engine& engine) {
    EXPECT_EQ(rows_of(engine), rows_);
    EXPECT_EQ(version_of(engine), version_);
    EXPECT_TRUE(tables_of(engine).ok());
  }
  /// Returns CURRENT and the files that an open reads because of it. Other segments, new or unneeded, may exist beside
  /// them.
  std::vector<std::string> names_that_are_read() {
    std::vector<std::string> names{"CURRENT"};
    const auto recovered = test::StoreMachine(before_).read(false);
    EXPECT_TRUE(recovered.ok()) << recovered.status().to_string();
    if (!recovered.ok()) return names;
    names.push_back(format::file_name(format::FileType::kManifest, recovered->root.root().manifest_number));
    for (const auto& [number, segment] : recovered->files.segments) {
      names.push_back(format::file_name(format::FileType::kLogSegment, number));
    }
    EXPECT_GE(names.size(), 4U) << "a closed segment and one in use";
    return names;
  }
  std::unique_ptr<Engine> open_reading() {
    auto opened = machine_.open(Machine::reading());
    EXPECT_TRUE(opened.ok()) << opened.status().to_string();
    return opened.ok() ? *std::move(opened) : nullptr;
  }

  Rows rows_;
  CommitVersion version_ = 0;
  Machine machine_;
  std::uint64_t steps_ = 0;
  io::MemoryDisk before_;
};

TEST_F(ReadOnly, TablesLogAndLogBufferAreReadAndNothingIsWritten) {
  {
    const auto engine = open_reading();
    expect_whole(*engine);
    EXPECT_FALSE(engine->statistics().recovery.clean);
    EXPECT_GT(engine->statistics().recovery.commits_from_buffer, 0u);
    EXPECT_TRUE(engine->was_dropped(kOtherTable));
    const HeldVersion snapshot = engine->snapshot();
    EXPECT_EQ(snapshot.version(), version_);
    EXPECT_TRUE(engine->sync().ok());
    EXPECT_EQ(engine->flush().code(), Code::kReadOnly);
    EXPECT_EQ(engine->compact().code(), Code::kReadOnly);
    EXPECT_EQ(engine->checkpoint(kCopyPath).code(), Code::kReadOnly);
    EXPECT_EQ(Change().put("p", "r", "v").commit(*engine).code(), Code::kReadOnly);
    expect_untouched();
  }
  expect_untouched();
}

TEST_F(ReadOnly, AnyNumberShareTheStoreAndEachSeesAllOfIt) {
  std::vector<std::unique_ptr<Engine>> readers;
  for (int i = 0; i < 5; ++i) readers.push_back(open_reading());
  for (const auto& reader : readers) expect_whole(*reader);
  readers.erase(readers.begin(), readers.begin() + 3);
  for (const auto& reader : readers) expect_whole(*reader);
  readers.push_back(open_reading());
  expect_whole(*readers.back());
  readers.clear();
  expect_untouched();
}

TEST_F(ReadOnly, AWriterWaitsForTheLastReaderToGo) {
  std::vector<std::unique_ptr<Engine>> readers;
  for (int i = 0; i < 2; ++i) readers.push_back(open_reading());
  while (!readers.empty()) {
    const auto refused = machine_.open();
    ASSERT_EQ(refused.code(), Code::kLocked);
    EXPECT_NE(refused.status().message().find("/store/LOCK"), std::string::npos) << refused.status().to_string();
    expect_untouched();
    expect_whole(*readers.back());
    readers.pop_back();
  }
  const auto writer = machine_.open();
  ASSERT_TRUE(writer.ok()) << writer.status().to_string();
  ASSERT_TRUE(Change().put("p", "r", "v").commit(**writer).ok());
}

TEST_F(ReadOnly, AReaderIsRefusedWhileAWriterHasIt) {
  {
    const auto writer = machine_.open();
    ASSERT_TRUE(writer.ok()) << writer.status().to_string();
    const auto refused = machine_.open(Machine::reading());
    ASSERT_EQ(refused.code(), Code::kLocked);
    EXPECT_NE(refused.status().message().find("/store/LOCK"), std::string::npos) << refused.status().to_string();
    ASSERT_TRUE(Change().put("p", "r", "v").commit(**writer).ok()) << "the writer has not noticed";
    ASSERT_TRUE((*writer)->close().ok());
  }
  EXPECT_EQ(value_of(*open_reading(), "p", "r"), "v");
}

TEST_F(ReadOnly, BesideAWriterACheckpointIsRead) {
  const auto writer = machine_.open();
  ASSERT_TRUE(writer.ok()) << writer.status().to_string();
  const auto made = (*writer)->checkpoint(kCopyPath);
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  const std::uint64_t steps = machine_.files->operation_count();
  const io::MemoryDisk before = machine_.files->snapshot();
  {
    const auto first = open_at(machine_, kCopyPath, Machine::reading());
    const auto second = open_at(machine_, kCopyPath, Machine::reading());
    ASSERT_TRUE(first.ok()) << first.status().to_string();
    ASSERT_TRUE(second.ok()) << second.status().to_string();
    expect_whole(**first);
    expect_whole(**second);
    EXPECT_EQ(open_at(machine_, kCopyPath, Machine::writable()).code(), Code::kLocked);
  }
  for (const std::string& name : before.file_names(kCopyPath)) {
    const std::string path = std::string(kCopyPath) + "/" + name;
    EXPECT_EQ(*machine_.files->snapshot().read_file(path), *before.read_file(path)) << name;
  }
  EXPECT_GE(machine_.files->operation_count(), steps);  // The writer may mark the end of its idle log meanwhile.
}

TEST_F(ReadOnly, StraysAreLeftAsTheyAreDamagedOrNot) {
  machine_.files->change_disk([](io::MemoryDisk& disk) {
    for (const char* const name :
         {"000900.sst", "000901.wal", "000902.buf", "000903.val", "MANIFEST-000904", "CURRENT.tmp", "foreign"}) {
      disk.write_file(std::string("/store/") + name, format::as_bytes("damaged, or of an unfinished load"));
    }
    disk.write_file("/store/000905.sst", {});
  });
  look();
  expect_whole(*open_reading());
  expect_untouched();
}

TEST_F(ReadOnly, WhatIsDamagedIsToldAndLeftAsItIs) {
  for (const std::string& name : names_that_are_read()) {
    SCOPED_TRACE(name);
    Machine damaged(3, before_);
    damaged.files->change_disk(
        [&](io::MemoryDisk& disk) { ASSERT_TRUE(disk.flip_bit("/store/" + name, 20, std::byte{4}).ok()); });
    const io::MemoryDisk before = damaged.files->snapshot();
    EXPECT_EQ(damaged.open(Machine::reading()).code(), Code::kCorruption);
    EXPECT_TRUE(damaged.files->snapshot().same_content(before));
    EXPECT_EQ(damaged.files->operation_count(), 0u);
  }
}

TEST_F(ReadOnly, NoStoreIsMadeOrFinished) {
  ASSERT_TRUE(machine_.files->create_directory("/empty", {"test"}).ok());
  look();
  EngineOptions options = Machine::reading();
  options.create_if_absent = true;
  EXPECT_EQ(open_at(machine_, "/absent", options).code(), Code::kNotFound);
  EXPECT_EQ(open_at(machine_, "/empty", options).code(), Code::kNotFound);
  expect_untouched();
}

TEST_F(ReadOnly, AllOfItFailsCleanlyWhereNothingMayBeWritten) {
  // Every step that changes data is refused, as on a read-only file system. The open must not need any of them.
  io::FaultRule rule;
  rule.mutating_only = true;
  rule.fail_count = io::FaultRule::kFromThenOn;
  rule.os_error = EROFS;
  machine_.files->faults().add(rule);
  expect_whole(*open_reading());
  EXPECT_EQ(machine_.open().code(), Code::kReadOnly) << "a writer is told";
  EXPECT_EQ(machine_.files->snapshot().file_names(test::kStorePath), before_.file_names(test::kStorePath));
}

}  // namespace
}  // namespace varve::engine::read_only_test

// Goal: if table files use the last descriptors, everything else that the store must open finds room. A refusal is
// reported if no table file can be closed.
// Method: each operation is refused once, with open table files and without.
#include "engine/tables/room_directory.h"

#include <cerrno>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/bytes/bytes.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::room_directory_test {
namespace {

struct Verb {
  io::OperationKind step;
  std::function<Status(io::Directory&)> call;
};

class RoomDirectoryTest : public testing::Test {
 protected:
  RoomDirectoryTest() {
    machine_.files->change_disk([](io::MemoryDisk& disk) {
      for (const char* name : {"/store/a.sst", "/store/b.sst"}) disk.write_file(name, format::as_bytes("content"));
    });
    raw_ = *machine_.files->open_directory(test::kStorePath);
    directory_ = std::make_unique<RoomDirectory>(*machine_.files->open_directory(test::kStorePath), open_files_);
  }
  std::unique_ptr<HeldFile> open(const std::string& name) {
    return *HeldFile::open(*open_files_, machine_.scheduler(), *raw_, name, 7);
  }
  void refuse_once(io::OperationKind step) {
    machine_.files->faults().clear();
    io::FaultRule rule;
    rule.kind = step;
    rule.os_error = EMFILE;
    machine_.files->faults().add(rule);
  }
  static const std::vector<Verb>& verbs() {
    static const std::vector<Verb> all = {
        {io::OperationKind::kList, [](io::Directory& in) { return in.list().status(); }},
        {io::OperationKind::kList, [](io::Directory& in) { return in.list_names().status(); }},
        {io::OperationKind::kCreate, [](io::Directory& in) { return in.create("new").status(); }},
        {io::OperationKind::kOpen, [](io::Directory& in) { return in.open("a.sst", io::ReadMode::kCached).status(); }},
        {io::OperationKind::kCreateLogSegment,
         [](io::Directory& in) { return in.create_log_segment("1.wal", 8192).status(); }},
        {io::OperationKind::kCreateSharedMemory,
         [](io::Directory& in) { return in.create_shared_memory("1.buf", 8192).status(); }},
        {io::OperationKind::kBallast, [](io::Directory& in) { return in.set_ballast("BALLAST", 4096); }},
    };
    return all;
  }

  test::Machine machine_;
  const std::shared_ptr<OpenFiles> open_files_ = std::make_shared<OpenFiles>(machine_.scheduler(), 64);
  std::unique_ptr<io::Directory> raw_;
  std::unique_ptr<io::Directory> directory_;
};

TEST_F(RoomDirectoryTest, TableFilesAreClosedForWhateverElseIsOpened) {
  for (const Verb& verb : verbs()) {
    SCOPED_TRACE(io::operation_name(verb.step));
    const auto first = open("a.sst");
    const auto second = open("b.sst");
    refuse_once(verb.step);
    EXPECT_EQ(verb.call(*directory_).to_string(), "Ok");
    EXPECT_LT(open_files_->open_count(), 2U);
  }
}

TEST_F(RoomDirectoryTest, WithNothingToCloseTheRefusalIsTold) {
  const auto held = open("a.sst");
  const Result<FilePin> pin = held->pin();
  for (const Verb& verb : verbs()) {
    SCOPED_TRACE(io::operation_name(verb.step));
    refuse_once(verb.step);
    EXPECT_EQ(verb.call(*directory_).code(), Code::kTooManyFiles);
  }
}

TEST_F(RoomDirectoryTest, OtherErrorsAreToldAsTheyAre) {
  const auto held = open("a.sst");
  EXPECT_EQ(directory_->open("absent", io::ReadMode::kCached).status().os_error(), ENOENT);
  EXPECT_EQ(directory_->create("a.sst").status().os_error(), EEXIST);
  EXPECT_EQ(open_files_->open_count(), 1U) << "and no file is closed for them";
}

}  // namespace
}  // namespace varve::engine::room_directory_test

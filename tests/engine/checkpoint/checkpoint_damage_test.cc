// Goal: a checkpoint never includes a file that differs from the manifest's entry. It reports the file and both sizes,
// leaves no copy, and the origin continues.
// Method: a table file of the origin is cut or cannot be read, with links and without them.
#include <functional>

#include "format/bytes/bytes.h"
#include "tests/engine/checkpoint/checkpoint_bench.h"

namespace varve::engine::checkpoint_damage_test {
namespace {

using test::Change;
using test::Machine;

class CheckpointDamage : public testing::TestWithParam<bool> {
 protected:
  CheckpointDamage() : engine_(*machine_.open()) {
    fill(*engine_, false);
    for (const std::string& name : machine_.files->snapshot().file_names(test::kStorePath)) {
      if (name.ends_with(".sst")) table_ = name;
    }
    EXPECT_FALSE(table_.empty());
    if (!with_links()) forbid_links(machine_);
  }
  static bool with_links() { return GetParam(); }

  /// Expects that the checkpoint fails with these words, nothing of it remains, and the origin commits.
  void expect_refused(Code code, const std::vector<std::string>& words) {
    const auto made = engine_->checkpoint(kCopyPath);
    ASSERT_EQ(made.code(), code) << made.status().to_string();
    for (const std::string& word : words) {
      EXPECT_NE(made.status().message().find(word), std::string::npos) << made.status().to_string();
    }
    for (const std::string& name : machine_.files->snapshot().file_names(kCopyPath)) EXPECT_EQ(name, "LOCK");
    EXPECT_TRUE(Change().put("p", "behind", "v").commit(*engine_).ok());
  }

  Machine machine_{1, test::OneThreadAtATime{}};
  std::unique_ptr<Engine> engine_;
  std::string table_;
};

TEST_P(CheckpointDamage, ATableOfAnotherSizeIsToldWithBothSizes) {
  const std::string path = std::string(test::kStorePath).append("/").append(table_);
  std::size_t size = 0;
  machine_.files->change_disk([&](io::MemoryDisk& disk) {
    std::string bytes(format::as_text(*disk.read_file(path)));
    size = bytes.size();
    bytes.resize(size - 1);
    disk.write_file(path, format::as_bytes(bytes));
  });
  expect_refused(Code::kCorruption, {table_, std::to_string(size - 1) + " bytes", std::to_string(size)});
}

TEST_P(CheckpointDamage, ATableThatCannotBeOpenedIsTold) {
  io::FaultRule rule;
  rule.kind = io::OperationKind::kOpen;
  rule.name_suffix = table_;
  machine_.files->faults().add(rule);
  expect_refused(Code::kIoError, {table_});
  EXPECT_TRUE(engine_->checkpoint(kCopyPath).ok());
}

TEST_P(CheckpointDamage, AReadThatFailsIsToldWhereATableIsRead) {
  io::FaultRule rule;
  rule.kind = io::OperationKind::kRead;
  rule.name_suffix = table_;
  machine_.files->faults().add(rule);
  if (!with_links()) expect_refused(Code::kIoError, {table_});
  EXPECT_TRUE(engine_->checkpoint(kCopyPath).ok()) << "nothing of a linked table is read";
}

INSTANTIATE_TEST_SUITE_P(Links, CheckpointDamage, testing::Bool());

}  // namespace
}  // namespace varve::engine::checkpoint_damage_test

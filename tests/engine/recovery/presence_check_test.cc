// Goal: one listing of the directory checks many files, and the error is the one that opening each file would give.
// Method: directories in memory with random damage, each checked with a listing and without.
#include "engine/recovery/presence_check.h"

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/bytes/bytes.h"
#include "tests/support/effort.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::presence_check_test {
namespace {

constexpr std::size_t kFiles = 300;

class PresenceCheck : public testing::Test {
 protected:
  void make(std::unique_ptr<test::Machine> machine) {
    machine_ = std::move(machine);
    files_.clear();
    machine_->files->change_disk([this](io::MemoryDisk& disk) {
      for (std::uint64_t number = 1; number <= kFiles; ++number) {
        disk.write_file(path_of(number), format::as_bytes(std::string(number, 'x')));
        files_.push_back({{format::FileType::kTable, number}, number, "table file"});
      }
    });
    directory_ = *machine_->files->open_directory(test::kStorePath);
  }
  static std::string path_of(std::uint64_t number) {
    return std::string(test::kStorePath) + "/" + format::file_name(format::FileType::kTable, number);
  }
  void damage(io::RandomSource& random) {
    for (auto left = io::random_below(random, 4); left > 0; --left) {
      const std::uint64_t number = 1 + io::random_below(random, kFiles);
      if (io::random_below(random, 2) == 0) {
        (void)directory_->remove(format::file_name(format::FileType::kTable, number));
      } else {
        files_[number - 1].size_bytes += 1 + number;
      }
    }
  }
  void fail(io::OperationKind kind, int error, std::string_view suffix = "") {
    io::FaultRule rule;
    rule.kind = kind;
    rule.name_suffix = suffix;
    rule.os_error = error;
    rule.fail_count = io::FaultRule::kFromThenOn;
    machine_->files->faults().add(rule);
  }
  /// Returns the result of opening each file.
  Status one_by_one() {
    fail(io::OperationKind::kList, EIO);
    const Status found = check();
    machine_->files->faults().clear();
    return found;
  }
  Status check() { return check_presence(*directory_, files_); }
  /// Counts the operations of a kind from now on.
  std::shared_ptr<std::size_t> count(io::OperationKind kind) {
    auto seen = std::make_shared<std::size_t>(0);
    io::FaultRule rule;
    rule.kind = kind;
    rule.predicate = [seen](const io::Operation&) {
      ++*seen;
      return false;
    };
    machine_->files->faults().add(rule);
    return seen;
  }

  std::unique_ptr<test::Machine> machine_;
  std::unique_ptr<io::Directory> directory_;
  std::vector<WrittenFile> files_;
};

TEST_F(PresenceCheck, ReportsWhatOpeningEachFileReports) {
  constexpr std::uint64_t kSeeds = test::kEffortDivisor > 1 ? 20 : 100;
  std::uint64_t damaged = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    make(std::make_unique<test::Machine>(seed));
    io::SeededRandom random(seed);
    damage(random);
    const Status expected = one_by_one();
    const Status found = check();
    ASSERT_EQ(found.to_string(), expected.to_string());
    ASSERT_EQ(found.code(), expected.code());
    if (!expected.ok()) ++damaged;
  }
  EXPECT_GT(damaged, kSeeds / 4);
  EXPECT_LT(damaged, kSeeds);
}

TEST_F(PresenceCheck, ListsTheDirectoryOnceAndOpensNothing) {
  make(std::make_unique<test::Machine>());
  const std::shared_ptr<std::size_t> opened = count(io::OperationKind::kOpen);
  const std::shared_ptr<std::size_t> listed = count(io::OperationKind::kList);
  EXPECT_EQ(check().to_string(), "Ok");
  EXPECT_EQ(*opened, 0u);
  EXPECT_EQ(*listed, 1u);
}

TEST_F(PresenceCheck, OpensAFileThatTheListingDoesNotConfirm) {
  make(std::make_unique<test::Machine>());
  const std::string name = format::file_name(format::FileType::kTable, 7);
  ASSERT_TRUE(directory_->remove(name).ok());
  fail(io::OperationKind::kOpen, EIO, name);
  const Status found = check();
  EXPECT_EQ(found.code(), Code::kIoError) << "only the open can report the file as missing: " << found.to_string();
  EXPECT_EQ(found.os_error(), EIO);
}

TEST_F(PresenceCheck, WithoutAListingOpensEachFile) {
  make(std::make_unique<test::Machine>());
  fail(io::OperationKind::kList, EMFILE);
  const std::shared_ptr<std::size_t> opened = count(io::OperationKind::kOpen);
  EXPECT_EQ(check().to_string(), "Ok");
  EXPECT_EQ(*opened, kFiles);
}

}  // namespace
}  // namespace varve::engine::presence_check_test

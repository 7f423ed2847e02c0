// Goal: several threads check many files, and report the error that one thread would report if it checked them in
// order.
// Method: directories in memory with random damage, each checked as a whole and file by file.
#include "engine/recovery/presence_check.h"

#include <atomic>
#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/bytes/bytes.h"
#include "tests/support/engine_bench.h"

namespace varve::engine {
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
      const std::string name = format::file_name(format::FileType::kTable, number);
      switch (io::random_below(random, 3)) {
        case 0: (void)directory_->remove(name); break;
        case 1: files_[number - 1].size_bytes += 1 + number; break;
        default: {
          io::FaultRule rule;
          rule.kind = io::OperationKind::kOpen;
          rule.name_suffix = name;
          rule.os_error = EIO;
          rule.fail_count = io::FaultRule::kFromThenOn;
          machine_->files->faults().add(rule);
        }
      }
    }
  }
  /// Returns the result of one thread.
  Status one_by_one() {
    for (const WrittenFile& file : files_) {
      if (Status found = check_presence(machine_->env(), *directory_, {&file, 1}); !found.ok()) return found;
    }
    return Status();
  }
  Status together() { return check_presence(machine_->env(), *directory_, files_); }

  std::unique_ptr<test::Machine> machine_;
  std::unique_ptr<io::Directory> directory_;
  std::vector<WrittenFile> files_;
};

TEST_F(PresenceCheck, TellsOfManyFilesWhatOneThreadWouldTell) {
  int damaged = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    make(seed % 4 == 0 ? std::make_unique<test::Machine>(seed, test::OneThreadAtATime())
                       : std::make_unique<test::Machine>(seed));
    io::SeededRandom random(seed);
    damage(random);
    const Status expected = one_by_one();
    const Status found = together();
    ASSERT_EQ(found.to_string(), expected.to_string());
    ASSERT_EQ(found.code(), expected.code());
    ASSERT_EQ(found.os_error(), expected.os_error());
    damaged += expected.ok() ? 0 : 1;
  }
  EXPECT_GT(damaged, 30);
  EXPECT_LT(damaged, 100);
}

TEST_F(PresenceCheck, ARefusalThatOneThreadWouldNotMeetIsNotTold) {
  for (const int error : {EMFILE, ENOMEM}) {
    make(std::make_unique<test::Machine>());
    io::FaultRule rule;
    rule.kind = io::OperationKind::kOpen;
    rule.os_error = error;
    rule.skip_count = 50;
    machine_->files->faults().add(rule);
    EXPECT_EQ(together().to_string(), "Ok") << error;
    EXPECT_EQ(machine_->files->faults().hit_count(), 1U);
  }
}

TEST_F(PresenceCheck, SeveralThreadsShareManyFiles) {
  make(std::make_unique<test::Machine>());
  io::FaultRule never;
  never.kind = io::OperationKind::kOpen;
  never.name_suffix = format::file_name(format::FileType::kTable, 1);
  never.effect = io::FaultEffect::kNever;
  machine_->files->faults().add(never);
  std::atomic<std::size_t> opened{0};
  io::FaultRule count;
  count.kind = io::OperationKind::kOpen;
  count.predicate = [&](const io::Operation&) {
    ++opened;
    opened.notify_all();
    return false;
  };
  machine_->files->faults().add(count);
  Status found;
  io::Thread checking = *machine_->scheduler().start("checking", [&] { found = together(); });
  machine_->files->await_stuck(1);
  for (std::size_t seen = opened; seen < kFiles - 1; seen = opened) opened.wait(seen);  // by other threads meanwhile
  machine_->files->let_go();
  checking.join();
  EXPECT_EQ(found.to_string(), "Ok");
}

}  // namespace
}  // namespace varve::engine

// Goal: a backup beside running writers holds every write that was acknowledged before its start, and a table comes
// back into a store that a server has open.
// Method: server, writers and backups run as processes.
#include <atomic>
#include <filesystem>
#include <mutex>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>

#include "tests/serve/socket/served_program.h"
#include "tests/tools/run_program.h"

namespace varve::serve {
namespace {

namespace fs = std::filesystem;
using test::ProgramOptions;
using test::ServedProgram;
using ::testing::HasSubstr;
using varve::test::ProgramResult;
using varve::test::run_program;

/// Writers of a served store, and the keys that the server has acknowledged.
class Writers {
 public:
  Writers(const ServedProgram& server, int count) {
    for (int writer = 0; writer < count; ++writer) {
      threads_.emplace_back([this, writer, address = "http://127.0.0.1:" + std::to_string(server.port())] {
        for (int row = 0; !is_ended_; ++row) {
          const std::string key = std::to_string(row);
          const std::string partition = "w" + std::to_string(writer);
          if (run_program({"put", address, "Rows", partition, key, "N=1"}).exit_code != 0) continue;
          const std::lock_guard lock(mutex_);
          acknowledged_.insert(partition + "/" + key);
        }
      });
    }
  }
  ~Writers() {
    is_ended_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  Writers(const Writers&) = delete;
  Writers& operator=(const Writers&) = delete;

  std::set<std::string> acknowledged() {
    const std::lock_guard lock(mutex_);
    return acknowledged_;
  }
  /// Waits until this number of writes was acknowledged.
  void await(std::size_t count) {
    while (acknowledged().size() < count) ::sched_yield();
  }

 private:
  std::mutex mutex_;
  std::set<std::string> acknowledged_;
  std::atomic<bool> is_ended_{false};
  std::vector<std::thread> threads_;
};

bool is_in(const std::string& exported, const std::string& key) {
  const std::size_t slash = key.find('/');
  return exported.find(R"("PartitionKey":")" + key.substr(0, slash) + R"(","RowKey":")" + key.substr(slash + 1) +
                       "\"") != std::string::npos;
}

TEST(ServedBackup, HoldsEveryWriteThatWasAcknowledgedBeforeItsStart) {
  const ServedProgram server(ProgramOptions{});
  ASSERT_TRUE(server.is_ready()) << server.err();
  const varve::test::ScratchDirectory scratch;
  ASSERT_EQ(run_program({"table", "create", server.data(), "Rows"}).exit_code, 0);
  Writers writers(server, 4);
  for (std::size_t round = 1; round <= 3; ++round) {
    writers.await(round * 8);
    const std::set<std::string> before = writers.acknowledged();
    const ProgramResult made = run_program({"backup", server.data(), scratch.path("backups")});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    const std::string restored = scratch.path("restored" + std::to_string(round));
    ASSERT_EQ(run_program({"restore", scratch.path("backups"), restored}).exit_code, 0);
    const std::string exported = run_program({"export", restored, "Rows"}).out;
    for (const std::string& key : before) EXPECT_TRUE(is_in(exported, key)) << key;
  }
  EXPECT_EQ(run_program({"verify", scratch.path("backups")}).exit_code, 0);
}

TEST(ServedBackup, GivesATableBackBesideTheServer) {
  const ServedProgram server(ProgramOptions{});
  ASSERT_TRUE(server.is_ready()) << server.err();
  const varve::test::ScratchDirectory scratch;
  std::string rows = "PartitionKey,RowKey,N\n";
  for (int row = 1000; row < 1350; ++row) rows += "p" + std::to_string(row % 3) + "," + std::to_string(row) + ",1\n";
  ASSERT_EQ(run_program({"import", server.data(), "Rows", "-", "--format", "csv"}, rows).exit_code, 0);
  const std::string before = run_program({"export", server.data(), "Rows", "--format", "csv"}).out;
  ASSERT_EQ(run_program({"backup", server.data(), scratch.path("backups")}).exit_code, 0);
  const std::vector<std::string> restore = {"restore", scratch.path("backups"), server.data(), "--table", "Rows"};
  EXPECT_EQ(run_program(restore).exit_code, 1) << "the table is there";
  ASSERT_EQ(run_program({"table", "drop", server.data(), "Rows"}).exit_code, 0);
  const ProgramResult restored = run_program(restore);
  ASSERT_EQ(restored.exit_code, 0) << restored.err;
  EXPECT_THAT(restored.out, HasSubstr("350 entities"));
  EXPECT_EQ(run_program({"export", server.data(), "Rows", "--format", "csv"}).out, before);
}

TEST(ServedBackup, StaysWholeIfTheServerIsKilledMeanwhile) {
  const varve::test::ScratchDirectory scratch;
  const std::string backups = scratch.path("backups");
  for (std::size_t contents = 1; contents < 4; ++contents) {
    ServedProgram server(ProgramOptions{});
    ASSERT_TRUE(server.is_ready()) << server.err();
    ASSERT_EQ(run_program({"put", server.data(), "Rows", "p", "r", "N=1"}).exit_code, 0);
    varve::test::RunningProgram backup({"backup", server.data(), backups});
    const auto count = [&backups] {
      std::size_t found = 0;
      std::error_code ignored;
      for (const auto& entry : fs::recursive_directory_iterator(backups + "/contents", ignored))
        found += entry.is_regular_file(ignored) ? 1U : 0U;
      return found;
    };
    siginfo_t ended{};
    while (count() < contents && ended.si_pid == 0) {
      ::waitid(P_PID, static_cast<id_t>(backup.process()), &ended, WEXITED | WNOHANG | WNOWAIT);
      ::sched_yield();
    }
    server.signal(SIGKILL);
    server.finish();
    backup.finish();
    EXPECT_EQ(run_program({"verify", backups}).exit_code, 0);
    const ProgramResult again = run_program({"backup", server.data(), backups});
    EXPECT_EQ(again.exit_code, 0) << again.err;
    EXPECT_FALSE(fs::exists(server.data() + "/SERVED")) << "what the server left is gone";
    EXPECT_EQ(run_program({"verify", backups}).exit_code, 0);
    fs::remove_all(backups);
  }
}

}  // namespace
}  // namespace varve::serve

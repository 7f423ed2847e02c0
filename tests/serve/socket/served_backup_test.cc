// Goal: a backup beside running writers holds every write that was acknowledged before its start, and a table comes
// back into a store that a server has open.
// Method: server, writers and backups run as processes.
#include <atomic>
#include <filesystem>
#include <iostream>
#include <set>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sched.h>
#include <sys/wait.h>

#include "tests/serve/socket/http_client.h"
#include "tests/serve/socket/served_program.h"
#include "tests/serve/socket/signed_bytes.h"
#include "tests/tools/run_program.h"
#include "tests/tools/stored_objects.h"

namespace varve::serve::served_backup_test {
namespace {

namespace fs = std::filesystem;
using test::ProgramOptions;
using test::ServedProgram;
using ::testing::HasSubstr;
using varve::test::ProgramResult;
using varve::test::run_program;

/// Threads that insert entities over a connection each, and the keys that the server has acknowledged.
class Writers {
 public:
  Writers(const ServedProgram& server, std::size_t count) : acknowledged_(count) {
    for (std::size_t writer = 0; writer < count; ++writer) {
      threads_.emplace_back([this, writer, port = server.port()] {
        test::HttpClient client(port);
        for (int row = 0; !is_ended_; ++row) {
          const std::string body = R"({"PartitionKey":"w)" + std::to_string(writer) + R"(","RowKey":")" +
                                   std::to_string(row) + R"(","N":1})";
          client.send(test::signed_bytes("POST", "Rows", body, {{"Content-Type", "application/json"}}));
          const std::optional<HttpResponse> answer = client.read();
          has_failed_ = has_failed_ || !answer || answer->status != 201;
          if (has_failed_) return;
          acknowledged_[writer] = row + 1;
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

  /// Returns how many rows of each writer were acknowledged. Its rows are 0, 1 and so on.
  std::vector<int> acknowledged() const { return {acknowledged_.begin(), acknowledged_.end()}; }
  /// Waits until each writer has had this number of writes more acknowledged than in `before`. Returns false if a write
  /// failed.
  bool await(const std::vector<int>& before, int more) const {
    for (std::size_t writer = 0; writer < before.size(); ++writer) {
      while (!has_failed_ && acknowledged_[writer] < before[writer] + more) ::sched_yield();
    }
    return !has_failed_;
  }

 private:
  std::vector<std::atomic<int>> acknowledged_;
  std::atomic<bool> is_ended_{false};
  std::atomic<bool> has_failed_{false};
  std::vector<std::thread> threads_;
};

/// Returns the number of entities in each writer's partition. There must be no gap in its rows.
std::vector<int> rows_of_writers(const std::string& store, std::size_t writers) {
  std::vector<std::set<int>> rows(writers);
  std::istringstream lines(run_program({"export", store, "Rows"}).out);
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json entity = nlohmann::json::parse(line, nullptr, false);
    const std::string partition = entity.value("PartitionKey", "w0");
    rows[std::stoul(partition.substr(1))].insert(std::stoi(entity.value("RowKey", "-1")));
  }
  std::vector<int> counts;
  for (const std::set<int>& of_writer : rows) {
    counts.push_back(static_cast<int>(of_writer.size()));
    EXPECT_TRUE(of_writer.empty() || *of_writer.rbegin() == counts.back() - 1) << "a write is missing before another";
  }
  return counts;
}

/// Backs up beside 16 writers, `rounds` times, and restores each backup.
void back_up_beside_writers(std::size_t rounds, int rows_between) {
  constexpr std::size_t kWriters = 16;
  const ServedProgram server(ProgramOptions{});
  ASSERT_TRUE(server.is_ready()) << server.err();
  const varve::test::ScratchDirectory scratch;
  ASSERT_EQ(run_program({"table", "create", server.data(), "Rows"}).exit_code, 0);
  const Writers writers(server, kWriters);
  std::vector<int> before(kWriters, 0);
  std::uint64_t checked = 0;
  std::uint64_t meanwhile = 0;
  for (std::size_t round = 1; round <= rounds; ++round) {
    ASSERT_TRUE(writers.await(before, rows_between)) << "round " << round;
    before = writers.acknowledged();
    const ProgramResult made = run_program({"backup", server.data(), scratch.path("backups")});
    const std::vector<int> after = writers.acknowledged();
    ASSERT_EQ(made.exit_code, 0) << made.err;
    const std::string restored = scratch.path("restored");
    ASSERT_EQ(run_program({"restore", scratch.path("backups"), restored}).exit_code, 0);
    const std::vector<int> found = rows_of_writers(restored, kWriters);
    for (std::size_t writer = 0; writer < kWriters; ++writer) {
      EXPECT_GE(found[writer], before[writer]) << "writer " << writer << " in round " << round;
      checked += static_cast<std::uint64_t>(before[writer]);
      meanwhile += static_cast<std::uint64_t>(after[writer] - before[writer]);
    }
    fs::remove_all(restored);
  }
  EXPECT_EQ(run_program({"verify", scratch.path("backups")}).exit_code, 0);
  EXPECT_GT(meanwhile, 0U) << "the writers went on while the backups were made";
  std::cout << rounds << " backups beside " << kWriters << " writers: " << checked
            << " acknowledged writes, all there; " << meanwhile << " writes meanwhile\n";
}

TEST(ServedBackup, HoldsEveryWriteThatWasAcknowledgedBeforeItsStart) {
  back_up_beside_writers(3, 20);
}

TEST(ServedBackupLong, HoldsEveryWriteThatWasAcknowledgedBeforeItsStart) {
  back_up_beside_writers(8, 100);
}

TEST(ServedBackup, GivesATableBackBesideTheServer) {
  const ServedProgram server(ProgramOptions{});
  ASSERT_TRUE(server.is_ready()) << server.err();
  const varve::test::ScratchDirectory scratch;
  std::string rows = "PartitionKey,RowKey,N\n";
  for (int row = 1000; row < 1350; ++row) rows += "p" + std::to_string(row % 3) + "," + std::to_string(row) + ",1\n";
  ASSERT_EQ(run_program({"import", server.data(), "Rows", "-", "--format", "csv"}, rows).exit_code, 0);
  ASSERT_EQ(run_program({"table", "expiry", server.data(), "Rows", "--expire-after", "30d"}).exit_code, 0);
  const std::string before = run_program({"export", server.data(), "Rows", "--format", "csv"}).out;
  ASSERT_EQ(run_program({"backup", server.data(), scratch.path("backups")}).exit_code, 0);
  const std::vector<std::string> restore = {"restore", scratch.path("backups"), server.data(), "--table", "Rows"};
  EXPECT_EQ(run_program(restore).exit_code, 1) << "the table is there";
  ASSERT_EQ(run_program({"table", "drop", server.data(), "Rows"}).exit_code, 0);
  const ProgramResult restored = run_program(restore);
  ASSERT_EQ(restored.exit_code, 0) << restored.err;
  EXPECT_THAT(restored.out, HasSubstr("350 entities"));
  EXPECT_THAT(restored.err, HasSubstr("restored entities end once they are written again"));
  EXPECT_EQ(run_program({"export", server.data(), "Rows", "--format", "csv"}).out, before);
  EXPECT_THAT(run_program({"table", "expiry", server.data(), "Rows"}).out, HasSubstr("end 30d after"));
}

TEST(ServedBackup, QX01_BX22_HasQueuesBlobsAndLargeValues) {
  const ServedProgram server(ProgramOptions{});
  ASSERT_TRUE(server.is_ready()) << server.err();
  const varve::test::ScratchDirectory scratch;
  varve::test::put_objects(server.data());
  const std::string shown = varve::test::shown_objects(server.data());
  ASSERT_EQ(run_program({"backup", server.data(), scratch.path("backups")}).exit_code, 0);
  ASSERT_EQ(run_program({"blob", "delete", server.data(), "photos", "film"}).exit_code, 0);
  EXPECT_EQ(run_program({"verify", scratch.path("backups")}).exit_code, 0);
  const ProgramResult done = run_program({"restore", scratch.path("backups"), scratch.path("restored")});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  varve::test::expect_objects(scratch.path("restored"), shown);
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
}  // namespace varve::serve::served_backup_test

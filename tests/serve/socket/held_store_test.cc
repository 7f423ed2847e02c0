// Goal: the program works on a store that a server has open: it finds the server by the socket in the store, and needs
// no key. If another process has the store open, the error names that process.
// Method: server and program run as processes, on the real file system.
#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/serve/socket/served_program.h"
#include "tests/tools/run_program.h"
#include "tools/varve/base/owned_descriptor.h"
#include "varve/store.h"

namespace varve::serve::held_store_test {
namespace {

namespace fs = std::filesystem;
using test::ProgramOptions;
using test::ServedProgram;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using varve::test::ProgramResult;
using varve::test::run_program;
using Words = std::vector<std::string>;

/// Runs the program, which must succeed. Returns its output.
std::string done(const Words& words, const std::string& input = "") {
  const ProgramResult result = run_program(words, input);
  EXPECT_EQ(result.exit_code, 0) << words.front() << ": " << result.err;
  return result.out;
}

std::string served_directory(const std::string& store) {
  return store + "/SERVED";
}

/// Returns the names in SERVED except the socket: the checkpoints.
std::vector<std::string> checkpoints_of(const std::string& store) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(served_directory(store), ignored)) {
    if (entry.path().filename() != "SOCKET") names.push_back(entry.path().filename());
  }
  return names;
}

/// Waits until the server has removed the checkpoints of clients that are gone.
bool has_no_checkpoints_soon(const std::string& store) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!checkpoints_of(store).empty()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    ::sched_yield();
  }
  return true;
}

TEST(HeldStore, AnswersTheVerbsOnEntitiesWithoutAKey) {
  const ServedProgram server(ProgramOptions{});
  ASSERT_TRUE(server.is_ready()) << server.err();
  const std::string store = server.data();
  const std::string inserted =
      done({"put", store, "Orders", "eu", "0001", "Customer=Ann", "Lines=3", "Big=5000000000"});
  EXPECT_THAT(inserted, HasSubstr("W/\""));
  EXPECT_THAT(done({"get", store, "Orders", "eu", "0001"}), HasSubstr("Customer      Ann"));
  EXPECT_THAT(done({"get", store, "Orders", "eu", "0001", "--select", "Big", "--json"}),
              HasSubstr(R"("Big@odata.type":"Edm.Int64","Big":"5000000000")"));
  done({"put", store, "Orders", "eu", "0001", "Lines=4", "--mode", "merge"});
  EXPECT_THAT(done({"get", store, "Orders", "eu", "0001", "--json"}), HasSubstr(R"("Customer":"Ann")"));
  EXPECT_EQ(run_program({"put", store, "Orders", "eu", "0001", "--mode", "insert"}).exit_code, 1);
  EXPECT_EQ(run_program({"delete", store, "Orders", "eu", "0001", "--if-match", "W/\"old\""}).exit_code, 1);
  done({"delete", store, "Orders", "eu", "0001"});
  const ProgramResult gone = run_program({"get", store, "Orders", "eu", "0001"});
  EXPECT_EQ(gone.exit_code, 1);
  EXPECT_THAT(gone.err, HasSubstr("has no entity"));
  EXPECT_THAT(run_program({"get", store, "Absent", "eu", "0001"}).err, HasSubstr("TableNotFound"));
}

TEST(HeldStore, AnswersTheVerbsOnTablesAndAccounts) {
  const ServedProgram server(ProgramOptions{});
  ASSERT_TRUE(server.is_ready()) << server.err();
  const std::string store = server.data();
  done({"table", "create", store, "Orders"});
  done({"table", "create", store, "Other", "--account", "second"});
  EXPECT_EQ(done({"table", "list", store}), "Orders\n");
  EXPECT_EQ(done({"table", "list", store, "--account", "second"}), "Other\n");
  EXPECT_EQ(done({"account", "list", store}), "devstoreaccount1\nsecond\n");
  EXPECT_EQ(run_program({"table", "create", store, "Orders"}).exit_code, 1);
  done({"table", "drop", store, "Orders"});
  EXPECT_EQ(done({"table", "list", store}), "");
  done({"account", "drop", store, "second", "--yes"});
  EXPECT_EQ(done({"account", "list", store}), "devstoreaccount1\n");
}

TEST(HeldStore, ImportsAndReadsOneStateOfATable) {
  const ServedProgram server(ProgramOptions{});
  ASSERT_TRUE(server.is_ready()) << server.err();
  const std::string store = server.data();
  std::string rows = "PartitionKey,RowKey,Lines\n";
  for (int row = 1000; row < 1250; ++row) rows += "eu," + std::to_string(row) + ",7\n";
  const std::string report = done({"import", store, "Orders", "-", "--format", "csv", "--json"}, rows);
  EXPECT_THAT(report, HasSubstr(R"("imported":250,"repeated":0,"refused":0)"));
  const std::string again = done({"import", store, "Orders", "-", "--format", "csv", "--json"}, rows + "eu,1000,8\n");
  EXPECT_THAT(again, HasSubstr(R"("imported":250,"repeated":1,"refused":0)"));
  EXPECT_EQ(done({"query", store, "Orders", "--count"}), "250\n");
  EXPECT_THAT(done({"query", store, "Orders", "--backward", "--top", "1"}), HasSubstr("1249"));
  const std::string exported = done({"export", store, "Orders", "--format", "csv"});
  EXPECT_EQ(std::count(exported.begin(), exported.end(), '\n'), 251);
  const ProgramResult explained = run_program({"query", store, "Orders", "--from", "eu", "--explain"});
  EXPECT_EQ(explained.exit_code, 0) << "the plan is that of a checkpoint";
  EXPECT_THAT(explained.err, HasSubstr("plan"));
  EXPECT_TRUE(has_no_checkpoints_soon(store));
}

TEST(HeldStore, RefusesWhatNeedsTheStoreItselfAndSaysWhatWorksInstead) {
  const ServedProgram server(ProgramOptions{});
  ASSERT_TRUE(server.is_ready()) << server.err();
  const std::string store = server.data();
  done({"put", store, "Orders", "eu", "0001", "Lines=3"});
  const ProgramResult loaded =
      run_program({"import", store, "New", "-", "--format", "csv", "--load"}, "PartitionKey,RowKey\neu,1\n");
  EXPECT_EQ(loaded.exit_code, 1);
  EXPECT_THAT(loaded.err, HasSubstr("a server has open; import without --load"));
  EXPECT_EQ(done({"table", "list", store}), "Orders\n") << "the refused import left no table";
  const std::string holder = "process " + std::to_string(server.process()) + " (varve) has the store open";
  const struct {
    Words words;
    const char* instead;
  } refusals[] = {{{"compact", store}, "whoever has the store open compacts it"},
                  {{"shell", store}, "varve shell --read-only"},
                  {{"table", "copy", store, "Orders", "Copy"}, "Beside `varve serve` most verbs work"}};
  for (const auto& refusal : refusals) {
    const ProgramResult refused = run_program(refusal.words);
    EXPECT_EQ(refused.exit_code, 4) << refusal.words.front();
    EXPECT_THAT(refused.err, HasSubstr(holder));
    EXPECT_THAT(refused.err, HasSubstr(refusal.instead));
  }
  EXPECT_THAT(run_program({"shell", store, "Orders", "--read-only"}, "count\n").out, HasSubstr("1"));
}

TEST(HeldStore, IsVerifiedMeasuredAndCopiedThroughACheckpoint) {
  const ServedProgram server(ProgramOptions{});
  ASSERT_TRUE(server.is_ready()) << server.err();
  const std::string store = server.data();
  varve::test::ScratchDirectory scratch;
  done({"put", store, "Orders", "eu", "0001", "Lines=3"});
  EXPECT_THAT(done({"verify", store}), HasSubstr("entities  1"));
  EXPECT_THAT(done({"stats", store}), HasSubstr("1 table"));
  done({"checkpoint", store, scratch.path("copy")});
  EXPECT_THAT(done({"get", scratch.path("copy"), "Orders", "eu", "0001"}), HasSubstr("Lines"));
  EXPECT_TRUE(has_no_checkpoints_soon(store));
  EXPECT_EQ(run_program({"compact", store}).exit_code, 4);  // it would have to write to the store itself
}

TEST(HeldStore, AnswersMoreProgramsThanItsSocketHasConnections) {
  const ServedProgram server(ProgramOptions{});
  ASSERT_TRUE(server.is_ready()) << server.err();
  const std::string store = server.data();
  done({"put", store, "Orders", "eu", "0001", "N=1"});
  // All connections but one are held by clients that send nothing.
  std::vector<tool::OwnedDescriptor> held;
  for (int i = 0; i < 31; ++i) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = served_directory(store) + "/SOCKET";
    ASSERT_LT(path.size(), sizeof(address.sun_path));
    std::copy(path.begin(), path.end(), address.sun_path);
    held.emplace_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::connect(held.back().number(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  }
  std::vector<std::thread> programs;
  for (int i = 0; i < 8; ++i) {
    programs.emplace_back([&] {
      for (int round = 0; round < 3; ++round) {
        const ProgramResult read = run_program({"get", store, "Orders", "eu", "0001"});
        EXPECT_EQ(read.exit_code, 0) << read.err;
      }
    });
  }
  for (std::thread& program : programs) program.join();
}

TEST(HeldStore, HasASocketThatOnlyItsOwnerCanUse) {
  ServedProgram server(ProgramOptions{});
  ASSERT_TRUE(server.is_ready()) << server.err();
  struct stat about {};
  ASSERT_EQ(::lstat(served_directory(server.data()).c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0700U);
  ASSERT_EQ(::lstat((served_directory(server.data()) + "/SOCKET").c_str(), &about), 0);
  EXPECT_TRUE(S_ISSOCK(about.st_mode));
  EXPECT_EQ(about.st_mode & 0777U, 0600U);
  server.signal(SIGTERM);
  EXPECT_EQ(server.finish(), 0);
  EXPECT_FALSE(fs::exists(served_directory(server.data()))) << "a clean close removes it";
}

TEST(HeldStore, OpensAfterItsServerWasKilled) {
  ServedProgram server(ProgramOptions{});
  ASSERT_TRUE(server.is_ready()) << server.err();
  const std::string store = server.data();
  done({"put", store, "Orders", "eu", "0001", "Lines=3"});
  server.signal(SIGKILL);
  server.finish();
  ASSERT_TRUE(fs::exists(served_directory(store) + "/SOCKET"));
  fs::create_directory(served_directory(store) + "/7");
  EXPECT_THAT(done({"get", store, "Orders", "eu", "0001"}), HasSubstr("Lines"));
  EXPECT_THAT(done({"verify", store}), HasSubstr("sound"));
  varve::test::ScratchDirectory scratch;
  done({"checkpoint", store, scratch.path("copy")});
  EXPECT_FALSE(fs::exists(scratch.path("copy") + "/SERVED"));
  done({"repair", store, scratch.path("repaired")});
  EXPECT_FALSE(fs::exists(scratch.path("repaired") + "/SERVED"));
}

TEST(HeldStore, NamesTheProcessThatHasItOpenIfThatIsNoServer) {
  varve::test::ScratchDirectory scratch;
  StoreOptions options;
  options.create_if_absent = true;
  const Result<std::unique_ptr<Store>> store = Store::open(scratch.path("store"), options);
  ASSERT_TRUE(store.ok());
  const std::string name = varve::test::content_of("/proc/self/comm");
  for (const char* const verb : {"verify", "stats"}) {
    const ProgramResult refused = run_program({verb, scratch.path("store")});
    EXPECT_EQ(refused.exit_code, 4);
    EXPECT_THAT(refused.err,
                HasSubstr("process " + std::to_string(::getpid()) + " (" + name.substr(0, name.find('\n')) + ")"));
    EXPECT_THAT(refused.err, HasSubstr("Store::checkpoint"));
  }
}

TEST(HeldStore, IsNotConfusedWithACopyThatHasItsSocket) {
  // The copy has the id of the store, and a link to the socket of its server.
  const varve::test::ScratchDirectory scratch;
  const std::string store = scratch.path("store");
  const std::string copy = scratch.path("copy");
  done({"put", store, "Orders", "eu", "0001", "Lines=3"});
  fs::copy(store, copy);
  varve::test::RunningProgram server({"serve", "--data", store, "--listen", "127.0.0.1:0"});
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!fs::exists(served_directory(store) + "/SOCKET") && std::chrono::steady_clock::now() < deadline)
    ::sched_yield();
  fs::create_directory(served_directory(copy));
  EXPECT_EQ(::link((served_directory(store) + "/SOCKET").c_str(), (served_directory(copy) + "/SOCKET").c_str()), 0);
  {
    const Result<std::unique_ptr<Store>> held = Store::open(copy);
    EXPECT_TRUE(held.ok());
    const ProgramResult refused = run_program({"get", copy, "Orders", "eu", "0001"});
    EXPECT_EQ(refused.exit_code, 4) << refused.out;
    EXPECT_THAT(refused.err, HasSubstr("process " + std::to_string(::getpid())));
  }
  done({"put", copy, "Orders", "eu", "0002", "Lines=3"});
  EXPECT_EQ(run_program({"get", store, "Orders", "eu", "0002"}).exit_code, 1) << "the write went to the copy alone";
  ::kill(server.process(), SIGTERM);
  EXPECT_EQ(server.finish().exit_code, 0);
}

TEST(HeldStore, MayHaveAPathLongerThanTheAddressOfASocket) {
  ProgramOptions options;
  options.data = std::string(90, 'a') + "/" + std::string(90, 'b') + "/store";
  const ServedProgram server(options);
  ASSERT_TRUE(server.is_ready()) << server.err();
  ASSERT_GT(server.data().size(), 107U);
  done({"put", server.data(), "Orders", "eu", "0001", "Lines=3"});
  EXPECT_THAT(done({"get", server.data(), "Orders", "eu", "0001"}), HasSubstr("Lines"));
  EXPECT_EQ(done({"query", server.data(), "Orders", "--count"}), "1\n");
}

TEST(HeldStore, LosesTheCheckpointOfAClientThatIsKilled) {
  const ServedProgram server(ProgramOptions{});
  ASSERT_TRUE(server.is_ready()) << server.err();
  std::string rows = "PartitionKey,RowKey,Text\n";
  for (int row = 0; row < 3000; ++row) rows += "eu," + std::to_string(row) + "," + std::string(100, 'x') + "\n";
  done({"import", server.data(), "Orders", "-", "--format", "csv"}, rows);
  // The client writes to a full pipe, so it stays in the middle of its work.
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const pid_t client = ::fork();
  if (client == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::execl(VARVE_PROGRAM, VARVE_PROGRAM, "query", server.data().c_str(), "Orders", static_cast<char*>(nullptr));
    ::_exit(127);
  }
  std::array<char, 1> first{};
  ASSERT_EQ(::read(ends[0], first.data(), 1), 1);
  EXPECT_THAT(checkpoints_of(server.data()), Not(IsEmpty()));
  ::kill(client, SIGKILL);
  ASSERT_EQ(::waitpid(client, nullptr, 0), client);
  EXPECT_TRUE(has_no_checkpoints_soon(server.data()));
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace varve::serve::held_store_test

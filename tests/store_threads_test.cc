// Goal: a store starts the threads that varve/store.h lists, under these names, and ends them with its close.
// Method: the names of this process's threads in /proc, before, while and after a store is open on a real directory.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "tests/io/temporary_directory.h"
#include "tests/support/source_text.h"
#include "varve/async.h"
#include "varve/store.h"

namespace varve::store_threads_test {
namespace {

using Counts = std::map<std::string, int>;

/// Returns how many threads of a store there are by each name. A thread may end while it is read.
Counts threads_of_stores() {
  Counts counts;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(entry.path() / "comm");
    std::string name;
    if (std::getline(file, name) && name.starts_with("varve-")) ++counts[name];
  }
  return counts;
}

/// Returns whether the threads are these. Of `up_to` there are at least one, and at most as many as expected.
bool are_expected(const Counts& found, Counts expected, const std::set<std::string>& up_to) {
  for (const std::string& name : up_to) {
    const auto some = found.find(name);
    if (some != found.end() && some->second <= expected[name]) expected[name] = some->second;
  }
  return found == expected;
}

/// Waits until the threads are these. A thread names itself, and leaves /proc a little after its end.
void expect_threads(const Counts& expected, const std::set<std::string>& up_to = {}) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  Counts found = threads_of_stores();
  while (!are_expected(found, expected, up_to) && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
    found = threads_of_stores();
  }
  EXPECT_TRUE(are_expected(found, expected, up_to))
      << ::testing::PrintToString(found) << " in place of " << ::testing::PrintToString(expected);
}

// As store.h says: one more than half of the processors, at least 3 and at most 17.
const int kWorkers = 1 + std::clamp(static_cast<int>(std::thread::hardware_concurrency()) / 2, 2, 16);
const Counts kWriter = {{"varve-log", 1}, {"varve-segments", 1}, {"varve-work", kWorkers}};

TEST(StoreThreads, AreThoseOfTheListFromOpenToClose) {
  const io::TemporaryDirectory directory;
  expect_threads({});
  auto store = Store::open(directory.path_of("store"), {.create_if_absent = true});
  ASSERT_TRUE(store.ok()) << store.status().to_string();
  expect_threads(kWriter);
  ASSERT_TRUE((*store)->create_account("account").ok());
  const Result<Table> table = (*store)->create_table("account", "Orders");
  ASSERT_TRUE(table.ok());
  EXPECT_TRUE(wait(AsyncTable(*table).insert(Entity("p", "r"))).ok());
  Counts asynchronous = kWriter;
  asynchronous.insert({{"varve-async", 1}, {"varve-unpack", 1}, {"varve-lead", 33}, {"varve-call", 64}});
  expect_threads(asynchronous, {"varve-lead", "varve-call"});
  ASSERT_TRUE((*store)->close().ok());
  expect_threads({});
}

TEST(StoreThreads, AReadOnlyStoreStartsNone) {
  const io::TemporaryDirectory directory;
  {
    auto store = Store::open(directory.path_of("store"), {.create_if_absent = true});
    ASSERT_TRUE(store.ok());
    ASSERT_TRUE((*store)->create_account("account").ok());
  }
  const auto store = Store::open(directory.path_of("store"), {.read_only = true});
  ASSERT_TRUE(store.ok()) << store.status().to_string();
  expect_threads({});
}

TEST(StoreThreads, TheListOfTheHeaderNamesEveryThreadThatTheSourcesStart) {
  const auto names_in = [](const std::string& text, const std::regex& pattern) {
    std::set<std::string> names;
    for (std::sregex_iterator it(text.begin(), text.end(), pattern); it != std::sregex_iterator(); ++it) {
      names.insert((*it)[1]);
    }
    return names;
  };
  std::set<std::string> started;
  for (const char* layer : {"io", "engine"}) {
    for (const test::SourceFile& file : test::read_sources(VARVE_SOURCE_DIR, layer, {".cc", ".h"})) {
      if (file.path.find("io/rados/") != std::string::npos) continue;  // a library of its own, which no store opens
      started.merge(names_in(file.text, std::regex("\"(varve-[a-z]+)\"")));
    }
  }
  std::set<std::string> listed;
  for (const test::SourceFile& file : test::read_sources(VARVE_SOURCE_DIR, "api/include/varve", {"store.h"})) {
    listed.merge(names_in(file.text, std::regex("///   (varve-[a-z]+) ")));
  }
  EXPECT_EQ(listed, started);
  EXPECT_TRUE(started.contains("varve-work"));
}

}  // namespace
}  // namespace varve::store_threads_test

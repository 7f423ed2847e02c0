// Goal: `varve serve` takes its options from its command line and from a file, and reports each fault before it opens a
// store.
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/tools/run_program.h"
#include "varve/store.h"

namespace varve::test::options_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kKey = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

TEST(ServeOptions, ArePrintedAsAFileThatMeansTheSame) {
  const ScratchDirectory scratch;
  const std::string config = scratch.file("serve.toml", "data = \"a store\"\nmemory = \"1G\"\ndrain-seconds = 30\n");
  const ProgramResult printed = run_program({"serve", "--config", config, "--memory", "2G", "--print-config"});
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out, AllOf(HasSubstr("\ndata = \"a store\"\n"), HasSubstr("\nmemory = \"2G\"\n"),
                                 HasSubstr("\ndrain-seconds = 30\n"), HasSubstr("\nlisten = \"127.0.0.1:10002\"\n")));
  const ProgramResult again =
      run_program({"serve", "--config", scratch.file("again.toml", printed.out), "--print-config"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.out, printed.out);
}

TEST(ServeOptions, ArePrintedWithoutKeys) {
  const ProgramResult printed =
      run_program({"serve", "--account", "shop:" + std::string(kKey), "--account", "other:@file", "--print-config"});
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("account = [\"shop:***\", \"other:@file\"]"));
  EXPECT_THAT(printed.out + printed.err, Not(HasSubstr(std::string(kKey).substr(0, 8))));
}

TEST(ServeOptions, WithAFaultMakeNoStore) {
  const ScratchDirectory scratch;
  const std::string data = scratch.path("data");
  const std::string config = scratch.file("serve.toml", "# the server\ndata = \"" + data + "\"\nlisen = \"x\"\n");
  const ProgramResult unknown = run_program({"serve", "--config", config});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.err, HasSubstr(config + ":3: there is no option \"lisen\"; did you mean \"listen\"?"));
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--tls-cert", "chain.pem"},
                                                {"--tls-key", "key.pem"},
                                                {"--status-page", "on"},
                                                {"--log-format", "xml"}}) {
    std::vector<std::string> all = {"serve", "--data", data};
    all.insert(all.end(), words.begin(), words.end());
    EXPECT_EQ(run_program(all).exit_code, 2) << words.front();
  }
  EXPECT_EQ(run_program({"serve"}).exit_code, 2);
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--listen", "localhost:1"},
                                                {"--memory", "1M"},
                                                {"--drain-seconds", "1"},
                                                {"--account", "shop"},
                                                {"--config", scratch.path("none.toml")}}) {
    std::vector<std::string> all = {"serve", "--data", data};
    all.insert(all.end(), words.begin(), words.end());
    const ProgramResult refused = run_program(all);
    EXPECT_EQ(refused.exit_code, 1) << words.front() << refused.err;
  }
  EXPECT_FALSE(std::filesystem::exists(data));
}

TEST(ServeOptions, ForAStoreOnCephAreRefusedForADirectory) {
  const ScratchDirectory scratch;
  const std::string data = scratch.path("data");
  const ProgramResult verified = run_program({"serve", "--data", data, "--verified-reads", "on"});
  EXPECT_EQ(verified.exit_code, 1);
  EXPECT_THAT(verified.err, HasSubstr("--verified-reads is for a store on Ceph, and " + data + " is a directory"));
  const ProgramResult cached = run_program({"serve", "--data", data, "--local-cache", scratch.path("cache") + ":8M"});
  EXPECT_EQ(cached.exit_code, 1);
  EXPECT_THAT(cached.err, HasSubstr("--local-cache is for a store on Ceph"));
  EXPECT_FALSE(std::filesystem::exists(data));
}

TEST(ServeOptions, CountTheIndexOfALocalCacheAsMemoryOfTheServer) {
  const ScratchDirectory scratch;
  const std::vector<std::string> begin = {"serve", "--data", scratch.path("data"), "--local-cache"};
  const auto refusal = [&](std::vector<std::string> words) {
    words.insert(words.begin(), begin.begin(), begin.end());
    const ProgramResult refused = run_program(words);
    EXPECT_EQ(refused.exit_code, 1);
    return refused.err;
  };
  EXPECT_THAT(refusal({"/cache:64G", "--memory", "64MiB"}),
              AllOf(HasSubstr("--memory is too little"), HasSubstr("and 257 MiB more for the index of --local-cache")));
  EXPECT_THAT(refusal({"/cache:90000T"}), AllOf(HasSubstr("the memory that this process may have is too little"),
                                                HasSubstr("and 368640001 MiB more for the index of --local-cache")));
  EXPECT_THAT(refusal({"/cache:64M"}), HasSubstr("is for a store on Ceph")) << "so the plan was made";
}

/// Returns the messages of the lines, which must be JSON, without those of lower levels than an error.
std::vector<std::string> errors_of_json(const std::string& log) {
  std::vector<std::string> messages;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json parsed = nlohmann::json::parse(line, nullptr, false);
    EXPECT_TRUE(parsed.is_object()) << line;
    if (parsed.is_object() && parsed.value("level", "") == "error") messages.push_back(parsed.value("message", ""));
  }
  return messages;
}

TEST(ServeOptions, WithALogOfJsonGiveEachFailureOfAStartAsOneLineOfIt) {
  const ScratchDirectory scratch;
  const std::string data = scratch.path("data");
  const std::string config = scratch.file("serve.toml", "data = \"" + data + "\"\nlog-format = \"json\"\n");
  const std::string unknown = scratch.file("unknown.toml", "lisen = \"x\"\n");
  StoreOptions options;
  options.create_if_absent = true;
  const Result<std::unique_ptr<Store>> held = Store::open(scratch.path("held"), options);
  ASSERT_TRUE(held.ok());
  ASSERT_TRUE((*Store::open(scratch.path("damaged"), options))->close().ok());
  std::ofstream(scratch.path("damaged") + "/CURRENT") << "no manifest";
  const struct {
    std::vector<std::string> words;
    int exit_code;
    const char* message;
  } starts[] = {
      {{"--log-format", "json"}, 2, "--data is required"},
      {{"--log-format", "json", "--config", unknown}, 1, "there is no option"},
      {{"--config", config, "--tls-cert", "chain.pem"}, 2, "--tls-cert requires --tls-key"},
      {{"--config", config, "--listen", "localhost:1"}, 1, "--listen"},
      {{"--config", config, "--memory", "1M"}, 1, "--memory"},
      {{"--config", config, "--account", "shop"}, 1, "--account"},
      {{"--config", config, "--account", "shop:@/none"}, 1, "key file"},
      {{"--config", config, "--account", "shop:" + std::string(kKey), "--tls-cert", "/none", "--tls-key", "/none"},
       1,
       "/none"},
      {{"--config", config, "--data", scratch.path("held")}, 4, "Locked"},
      {{"--config", config, "--data", scratch.path("damaged")}, 3, "varve verify"},
      {{"--config", config, "--listen", "0.0.0.0:1"}, 1, "needs accounts"},
  };
  for (const auto& start : starts) {
    std::vector<std::string> all = {"serve"};
    all.insert(all.end(), start.words.begin(), start.words.end());
    const ProgramResult failed = run_program(all);
    EXPECT_EQ(failed.exit_code, start.exit_code) << failed.err;
    EXPECT_THAT(errors_of_json(failed.err), ::testing::ElementsAre(HasSubstr(start.message)));
    EXPECT_EQ(failed.out, "");
  }
}

TEST(ServeOptions, AreDescribedInTheHelp) {
  const ProgramResult help = run_program({"serve", "--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* const option : {"--config", "--print-config", "--data", "--listen", "--listen-queues",
                                   "--dead-letter", "--extensions", "--account", "--tls-cert", "--tls-key", "--memory",
                                   "--metrics", "--status-page", "--request-log", "--log-format", "--drain-seconds"}) {
    EXPECT_THAT(help.out, HasSubstr(option));
  }
}

}  // namespace
}  // namespace varve::test::options_test

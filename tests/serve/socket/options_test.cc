// Goal: `varve serve` takes its options from its command line and from a file, and reports each fault before it opens a
// store.
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/run_program.h"

namespace varve::test {
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

TEST(ServeOptions, AreDescribedInTheHelp) {
  const ProgramResult help = run_program({"serve", "--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* const option :
       {"--config", "--print-config", "--data", "--listen", "--account", "--tls-cert", "--tls-key", "--memory",
        "--metrics", "--status-page", "--request-log", "--log-format", "--drain-seconds"}) {
    EXPECT_THAT(help.out, HasSubstr(option));
  }
}

}  // namespace
}  // namespace varve::test

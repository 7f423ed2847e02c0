// Goal: the verbs on tables work at the address of a server, with a key from a file or from the environment.
// Method: server and program run as processes. Reads at the address are compared with reads in the directory.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/serve/socket/served_program.h"
#include "tests/serve/socket/variable.h"
#include "tests/tools/run_program.h"

namespace varve::serve::service_address_test {
namespace {

using test::ProgramOptions;
using test::ServedProgram;
using test::Variable;
using ::testing::HasSubstr;
using ::testing::Not;
using varve::test::ProgramResult;
using varve::test::run_program;

constexpr const char* kKey = "bm8tb25lLXdpbGwtZ3Vlc3MtdGhpcy1rZXktb2YtYS10ZXN0";

std::string address_of(const ServedProgram& server) {
  return "http://127.0.0.1:" + std::to_string(server.port());
}

TEST(ServiceAddress, AnswersTheVerbsOnTables) {
  const ServedProgram server(ProgramOptions{});
  ASSERT_TRUE(server.is_ready()) << server.err();
  const std::string address = address_of(server);
  EXPECT_EQ(run_program({"put", address, "Orders", "eu", "0001", "Customer=Ann", "Lines=3"}).exit_code, 0);
  EXPECT_THAT(run_program({"get", address, "Orders", "eu", "0001"}).out, HasSubstr("Customer      Ann"));
  EXPECT_EQ(run_program({"update", address, "Orders", "eu", "0001", "Lines=4"}).exit_code, 0);
  EXPECT_EQ(run_program({"update", address, "Orders", "eu", "0009", "Lines=4"}).exit_code, 1);
  const ProgramResult patch = run_program({"patch", address, "Orders", "eu", "0001", "--increment", "Lines=1"});
  EXPECT_EQ(patch.exit_code, 1);
  EXPECT_THAT(patch.err, HasSubstr("a service takes no patch"));
  EXPECT_EQ(run_program({"count", address, "Orders", "--filter", "Lines eq 4"}).out, "1\n");
  EXPECT_EQ(run_program({"aggregate", address, "Orders", "--count", "--sum", "Lines"}).out,
            "{\"count()\":1,\"sum(Lines)\":4}\n");
  EXPECT_EQ(run_program({"table", "list", address}).out, "Orders\n");
  EXPECT_EQ(run_program({"delete", address, "Orders", "eu", "0001"}).exit_code, 0);
  EXPECT_EQ(run_program({"table", "drop", address, "Orders"}).exit_code, 0);
  EXPECT_EQ(run_program({"get", address, "Orders", "eu", "0001"}).exit_code, 1);
  for (const char* const verb : {"stats", "verify", "compact"})
    EXPECT_THAT(run_program({verb, address}).err, HasSubstr("needs the directory")) << verb;
}

TEST(ServiceAddress, ReadsWhatTheDirectoryReads) {
  const ServedProgram server(ProgramOptions{});
  ASSERT_TRUE(server.is_ready()) << server.err();
  const std::string address = address_of(server);
  const std::vector<std::string> keys = {
      "a",    "a'b", "a b",      "ab", "a\xED\x9F\xBF", "a\xEE\x80\x80", "a\xEF\xBF\xBD", "a\xF0\x9F\x98\x80",
      "b%20", "b+",  "\xC3\xA4", "z"};
  std::string rows;
  for (const std::string& partition : keys) {
    for (const std::string& row : keys)
      rows += R"({"PartitionKey":")" + partition + R"(","RowKey":")" + row +
              R"(","N":1,"D":1.0,"L":"7","L@odata.type":"Edm.Int64"})" + "\n";
  }
  ASSERT_EQ(run_program({"import", address, "Rows", "-", "--format", "jsonl"}, rows).exit_code, 0);
  std::vector<std::vector<std::string>> queries = {
      {"--top", "7"}, {"--from", "a'b", "--to", "b%20"}, {"--select", "L"}};
  for (const std::string& key : keys) {
    queries.push_back({"--partition", key});
    queries.push_back({"--partition", "a", "--prefix", key});
    queries.push_back({"--partition", "a", "--from", key, "--filter", "N eq 1 or N eq 2"});
    queries.push_back({"--key", "a", key, "--key", key, "z"});
  }
  for (const std::vector<std::string>& query : queries) {
    std::vector<std::string> here = {"query", server.data(), "Rows", "--json"};
    std::vector<std::string> there = {"query", address, "Rows", "--json"};
    here.insert(here.end(), query.begin(), query.end());
    there.insert(there.end(), query.begin(), query.end());
    const ProgramResult read = run_program(there);
    EXPECT_EQ(read.exit_code, 0) << read.err;
    EXPECT_EQ(read.out, run_program(here).out) << ::testing::PrintToString(query);
  }
  EXPECT_EQ(run_program({"export", address, "Rows"}).out, run_program({"export", server.data(), "Rows"}).out);
  const ProgramResult backward = run_program({"query", address, "Rows", "--backward"});
  EXPECT_EQ(backward.exit_code, 1);
  EXPECT_THAT(backward.err, HasSubstr("the protocol has no backward queries; give the directory of the store instead"));
  const ProgramResult explained = run_program({"query", address, "Rows", "--explain"});
  EXPECT_EQ(explained.exit_code, 2);
  EXPECT_THAT(explained.err, HasSubstr("the protocol of an address does not carry; give the directory of the store"));
  const ProgramResult loaded = run_program({"import", address, "New", "-", "--format", "jsonl", "--load"}, rows);
  EXPECT_EQ(loaded.exit_code, 1);
  EXPECT_THAT(loaded.err, HasSubstr("import without --load"));
}

TEST(ServiceAddress, TakesKeysFromFilesAndTheEnvironment) {
  varve::test::ScratchDirectory scratch;
  const std::string key = scratch.file("key", std::string(kKey) + "\n");
  ASSERT_EQ(::chmod(key.c_str(), 0600), 0);
  ProgramOptions options;
  options.words = {"--account", "shopaccount:@" + key};
  const ServedProgram server(options);
  ASSERT_TRUE(server.is_ready()) << server.err();
  const std::string address = address_of(server) + "/shopaccount";
  const std::vector<std::string> list = {"table", "list", address, "--account", "shopaccount"};
  const auto list_with = [&](const std::string& file) {
    std::vector<std::string> words = list;
    words.insert(words.end(), {"--key-file", file});
    return run_program(words);
  };
  EXPECT_THAT(run_program(list).err, HasSubstr("no key for account shopaccount"));
  EXPECT_EQ(list_with(key).exit_code, 0);
  {
    const Variable by_key("AZURE_STORAGE_KEY", kKey);
    EXPECT_EQ(run_program(list).exit_code, 0);
  }
  {
    const Variable by_string("AZURE_STORAGE_CONNECTION_STRING",
                             "DefaultEndpointsProtocol=http;AccountName=shopaccount;AccountKey=" + std::string(kKey) +
                                 ";TableEndpoint=" + address + ";");
    EXPECT_EQ(run_program(list).exit_code, 0);
    EXPECT_THAT(run_program({"table", "list", address_of(server) + "/other", "--account", "other"}).err,
                HasSubstr("is of account shopaccount"));
  }
  const Variable wrong("AZURE_STORAGE_KEY", "d3Jvbmc=");
  const ProgramResult refused = run_program(list);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("AuthenticationFailed"));
  EXPECT_THAT(refused.err, Not(HasSubstr("d3Jvbmc")));
  ASSERT_EQ(::chmod(key.c_str(), 0644), 0);
  EXPECT_THAT(list_with(key).err, HasSubstr("every user"));
}

TEST(ServiceAddress, ThatNobodyServesIsAFaultOfTheMachine) {
  const ProgramResult refused = run_program({"get", "http://127.0.0.1:1", "Orders", "eu", "1"});
  EXPECT_EQ(refused.exit_code, 4);
  EXPECT_THAT(refused.err, HasSubstr("no answer from http://127.0.0.1:1"));
  EXPECT_EQ(run_program({"get", "http://", "Orders", "eu", "1"}).exit_code, 1);
}

}  // namespace
}  // namespace varve::serve::service_address_test

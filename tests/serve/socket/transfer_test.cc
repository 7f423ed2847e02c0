// Goal: an account is copied to a served store and back, unchanged. After the server dies in the middle, a second run
// continues.
// Method: `varve push` and `varve pull` as processes, against `varve serve` as a process. Exports are compared.
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/serve/socket/served_program.h"
#include "tests/tools/run_program.h"

namespace varve::serve::transfer_test {
namespace {

using ::testing::HasSubstr;
using varve::test::ProgramResult;
using varve::test::run_program;

std::string rows(int count) {
  std::string text = R"({"PartitionKey":"p q","RowKey":"it's","B":true,"L@odata.type":"Edm.Int64","L":"5","T":"ä<&>"})"
                     "\n";
  for (int i = 0; i < count; ++i)
    text += R"({"PartitionKey":"p)" + std::to_string(i % 3) + R"(","RowKey":")" + std::to_string(100'000 + i) +
            R"(","N":)" + std::to_string(i) + R"(,"D":0.5})" + "\n";
  return text;
}

TEST(ServedTransfer, AnAccountGoesToAServiceAndBack) {
  const varve::test::ScratchDirectory scratch;
  const std::string from = scratch.path("from");
  const std::string back = scratch.path("back");
  ASSERT_EQ(run_program({"import", from, "Rows", scratch.file("rows.jsonl", rows(1500))}).exit_code, 0);
  test::ServedProgram server({});
  ASSERT_TRUE(server.is_ready());
  const std::string address = "http://127.0.0.1:" + std::to_string(server.port()) + "/devstoreaccount1";
  const ProgramResult pushed = run_program({"push", from, address});
  EXPECT_EQ(pushed.exit_code, 0) << pushed.err;
  EXPECT_THAT(pushed.out, HasSubstr("1,501 written; compared, equal"));
  EXPECT_THAT(run_program({"push", from, address}).out, HasSubstr("0 written; compared, equal"));
  const ProgramResult pulled = run_program({"pull", address, back, "--threads", "2"});
  EXPECT_EQ(pulled.exit_code, 0) << pulled.err;
  EXPECT_EQ(run_program({"export", back, "Rows"}).out, run_program({"export", from, "Rows"}).out);
}

TEST(ServedTransfer, AServerThatDiesIsAnErrorAndTheNextRunContinues) {
  const varve::test::ScratchDirectory scratch;
  const std::string from = scratch.path("from");
  ASSERT_EQ(run_program({"import", from, "Rows", scratch.file("rows.jsonl", rows(60'000)), "--load"}).exit_code, 0);
  test::ServedProgram server({});
  ASSERT_TRUE(server.is_ready());
  const std::string address = "http://127.0.0.1:" + std::to_string(server.port()) + "/devstoreaccount1";
  varve::test::RunningProgram push({"push", from, address});
  while (run_program({"query", address, "Rows", "--top", "1", "--count"}).out != "1\n") {
  }
  server.signal(SIGKILL);
  const ProgramResult died = push.finish();
  server.finish();
  EXPECT_NE(died.exit_code, 0);
  EXPECT_THAT(died.err, HasSubstr("run it again to continue"));
  const ProgramResult again = run_program({"push", from, server.data()});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("compared, equal"));
}

TEST(ServedTransfer, APullWhoseServerDiesSaysSoAndTheNextRunContinues) {
  const varve::test::ScratchDirectory scratch;
  const std::string from = scratch.path("from");
  const std::string to = scratch.path("to");
  ASSERT_EQ(run_program({"import", from, "Rows", scratch.file("rows.jsonl", rows(40'000)), "--load"}).exit_code, 0);
  ASSERT_EQ(run_program({"table", "copy", from, "Rows", "Again"}).exit_code, 0);
  test::ServedProgram server({});
  ASSERT_TRUE(server.is_ready());
  const std::string address = "http://127.0.0.1:" + std::to_string(server.port()) + "/devstoreaccount1";
  ASSERT_EQ(run_program({"push", from, address}).exit_code, 0);
  varve::test::RunningProgram pull({"pull", address, to});
  while (!std::filesystem::exists(to + "/CURRENT")) {
  }
  server.signal(SIGKILL);
  const ProgramResult died = pull.finish();
  server.finish();
  EXPECT_EQ(died.exit_code, 4) << died.err;
  EXPECT_THAT(died.err, HasSubstr("run it again to continue"));
  const ProgramResult again = run_program({"pull", server.data(), to});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("Again: 40,001 entities"));
  EXPECT_THAT(again.out, HasSubstr("compared, equal"));
  EXPECT_EQ(run_program({"export", to, "Again"}).out, run_program({"export", from, "Rows"}).out);
}

}  // namespace
}  // namespace varve::serve::transfer_test

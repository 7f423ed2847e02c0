// Goal: the trials of tools/outbox-soak, tools/large-object and tools/slow-streams stay runnable, and can fail.
// Method: each runs once with small sizes, as its command runs it. The outbox also runs with a producer that lies.
#include <cstdlib>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "tests/tools/run_program.h"

namespace varve::test::trials_test {
namespace {

using ::testing::HasSubstr;

struct TrialRun {
  int exit_code = -1;
  std::string out;
  std::string err;
};

/// Runs a script of tests/trials. Its stores are in a directory that is removed.
TrialRun run_trial(const std::string& script, const std::string& words) {
  const ScratchDirectory scratch;
  const std::string command = "/usr/bin/python3 -B " VARVE_SOURCE_DIR "/tests/trials/" + script + " " + words + " > " +
                              scratch.path("out") + " 2> " + scratch.path("err");
  const int status = std::system(command.c_str());  // NOLINT(cert-env33-c): the command is ours
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content_of(scratch.path("out")),
          content_of(scratch.path("err"))};
}

/// The same for a trial of the program.
TrialRun run_trial_of_program(const std::string& script, const std::string& words) {
  const ScratchDirectory scratch;
  return run_trial(script, "--program " VARVE_PROGRAM " --directory " + scratch.path("") + " " + words);
}

std::string producer_words() {
  return "--producer " + (std::filesystem::path(VARVE_PROGRAM).parent_path() / "varve-outbox-producer").string() + " ";
}

TEST(Trials, FindEachBrokenPromise) {
  const TrialRun run = run_trial("trials_test.py", "");
  EXPECT_EQ(run.exit_code, 0) << run.err;
}

TEST(TrialsLong, AnOutboxKeepsItsPromisesWhenItsProcessesAreKilled) {
  const TrialRun run = run_trial_of_program("outbox_soak.py", producer_words() + "--kills 25 --seed 1");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("No promise was broken."));
}

TEST(TrialsLong, AnOutboxThatAcknowledgesTooEarlyIsFound) {
  const TrialRun run = run_trial_of_program("outbox_soak.py", producer_words() + "--kills 60 --seed 2 --lies");
  EXPECT_EQ(run.exit_code, 1) << run.out;
  EXPECT_THAT(run.err, HasSubstr("P1: the message of h"));
}

TEST(TrialsLong, ALargeObjectIsWrittenAndReadInLittleMemory) {
  const TrialRun run = run_trial_of_program("large_object.py", "--bytes 64M --memory 512M");
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("All bytes were right."));
}

TEST(TrialsLong, BX44_SlowClientsHoldBoundedMemoryAndLeaveNoSpaceInUse) {
  const TrialRun run = run_trial_of_program("slow_streams.py", "--clients 60 --seconds 5 --memory 512M");
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("60 clients for 5 s"));
}

}  // namespace
}  // namespace varve::test::trials_test

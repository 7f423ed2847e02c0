// Goal: a killed process loses no acknowledged data.
// Method: the tour's own loop, on the real file system: 16 writers, half `sync` and half `buffered`, in a process that
// is repeatedly killed with SIGKILL.
#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

namespace varve::kill_test {
namespace {

/// Runs the tour's loop with this number of kills.
void kill_again_and_again(int kills, const std::string& choice) {
  std::string directory = (std::filesystem::temp_directory_path() / "varve-kill-XXXXXX").string();
  ASSERT_NE(::mkdtemp(directory.data()), nullptr);
  const std::string program = std::filesystem::path(VARVE_PROGRAM).parent_path() / "varve-tour";
  const std::string command = program + " --kills " + std::to_string(kills) + " " + directory + "/store " + choice +
                              " > " + directory + "/log 2>&1";
  const int status = std::system(command.c_str());  // NOLINT(cert-env33-c): the command is ours
  EXPECT_EQ(status, 0) << "see " << directory;
  if (status == 0) std::filesystem::remove_all(directory);
}

TEST(Kill, SixteenWritersKilledTenTimesLoseNothing) {
  kill_again_and_again(10, "");
}

TEST(Kill, InTheMiddleOfFlushesCompactionsAndDropsTheyLoseNothingEither) {
  kill_again_and_again(4, "--scarce-memory");
}

}  // namespace
}  // namespace varve::kill_test

#include "tests/lab/soak/turn.h"

#include <cctype>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace varve::lab {
namespace {

constexpr auto kHangs = std::chrono::minutes(15);
constexpr auto kLookEvery = std::chrono::milliseconds(50);
constexpr std::string_view kExecutions = "stat::number_of_executed_units:";

void write_repeat(const std::vector<std::string>& command, const std::string& directory) {
  const std::string path = directory + "/repeat";
  std::ofstream script(path);
  script << "#!/bin/sh\nexec";
  for (const std::string& word : command) {
    script << " '" << (word == "/proc/self/exe" ? std::filesystem::read_symlink(word).string() : word) << "'";
  }
  script << "\n";
  script.close();
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

[[noreturn]] void become(const std::vector<std::string>& command, const std::string& log) {
  const int out = ::open(log.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0644);
  if (out < 0 || ::dup2(out, STDOUT_FILENO) < 0 || ::dup2(out, STDERR_FILENO) < 0) ::_exit(127);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execv(words[0], words.data());
  ::_exit(127);
}

/// Returns the status of the child that has ended. Returns false if the child had to be ended.
bool wait_for(pid_t child, int* status) {
  const auto latest = std::chrono::steady_clock::now() + kHangs;
  while (std::chrono::steady_clock::now() < latest) {
    if (::waitpid(child, status, WNOHANG) == child) return true;
    std::this_thread::sleep_for(kLookEvery);
  }
  ::kill(child, SIGABRT);
  std::this_thread::sleep_for(std::chrono::seconds(2));
  ::kill(child, SIGKILL);
  ::waitpid(child, status, 0);
  return false;
}

std::map<std::string, std::uint64_t> read_counts(const std::string& log) {
  std::map<std::string, std::uint64_t> counts;
  std::ifstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t space = line.find_last_of(' ');
    if (space == std::string::npos || space + 1 >= line.size() || line.size() - space > 18) continue;
    const std::string number = line.substr(space + 1);
    if (number.find_first_not_of("0123456789") != std::string::npos) continue;
    if (line.starts_with(kExecutions)) counts["executions"] += std::stoull(number);
    if (!line.starts_with("  ") || std::isspace(static_cast<unsigned char>(line[2])) != 0) continue;
    const std::size_t end = line.find_last_not_of(' ', space);
    const std::string name = line.substr(2, end - 1);
    if (name != "findings") counts[name] += std::stoull(number);
  }
  return counts;
}

}  // namespace

TurnOutcome run_turn(const std::vector<std::string>& command, const std::string& directory) {
  write_repeat(command, directory);
  const std::string log = directory + "/log";
  const pid_t child = ::fork();
  if (child == 0) become(command, log);
  TurnOutcome outcome;
  int status = 0;
  if (child < 0) {
    outcome.failed = true;
    outcome.how = "no process could be made";
    return outcome;
  }
  if (!wait_for(child, &status)) {
    outcome.how = "hangs";
  } else if (WIFSIGNALED(status)) {
    outcome.how = "signal " + std::to_string(WTERMSIG(status));
  } else if (WEXITSTATUS(status) != 0) {
    outcome.how = "exit code " + std::to_string(WEXITSTATUS(status));
  }
  outcome.failed = !outcome.how.empty();
  outcome.counts = read_counts(log);
  return outcome;
}

}  // namespace varve::lab

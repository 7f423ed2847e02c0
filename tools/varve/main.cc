// Owns: the process: its streams, its signals and its exit code.
// Must never: do the work of a verb.
#include <csignal>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/varve/base/descriptor_limit.h"
#include "tools/varve/command/common_words.h"
#include "tools/varve/command/store_of_environment.h"
#include "tools/varve/command/unknown_word.h"
#include "tools/varve/program.h"
#include "tools/varve/terminal/outcome.h"
#include "tools/varve/terminal/pager.h"
#include "tools/varve/terminal/terminal_filter.h"

// jemalloc reads this name, and by itself keeps freed pages for ten seconds: a server would hold them beside its budget.
// Builds without jemalloc do not read it.
extern "C" __attribute__((visibility("default"))) const char* malloc_conf;
const char* malloc_conf = "dirty_decay_ms:1000";  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

namespace varve::tool {

namespace {

/// Opens a substitute for each closed standard stream. The next opened file would otherwise get the stream's number,
/// and messages would be written into the store. Reading from and writing to the substitute fail.
bool hold_standard_streams() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) != -1) continue;
    if (::open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY) != descriptor) return false;
  }
  return true;
}

/// Parses the words, and thereby runs the verb.
int run_line(const std::vector<std::string>& words) {
  apply_common_words(words);
  Result<std::vector<std::string>> line = with_store_of_environment(words, &command_line);
  if (!line.ok()) return fail(kUsage, line.status());
  int exit_code = kSuccess;
  const std::unique_ptr<CLI::App> app = command_line(exit_code);
  try {
    app->parse(std::vector<std::string>((*line).rbegin(), (*line).rend()));  // CLI11 takes the words from the end
  } catch (const CLI::Success& asked) {
    page_long_output();
    return app->exit(asked) == 0 ? kSuccess : kUsage;
  } catch (const CLI::ParseError& refused) {
    return fail(kUsage, fault_of(*app, *line, refused));
  }
  return exit_code;
}

int run(int argc, char** argv) {
  if (!hold_standard_streams()) return kMachine;
  std::signal(SIGPIPE, SIG_IGN);  // a reader that closes the pipe must not end an operation on a store
  ::umask(S_IRWXG | S_IRWXO);     // only the owner may read a store
  raise_descriptor_limit();       // a large store has more files than the soft limit allows
  const TerminalFilter output(std::cout, STDOUT_FILENO);
  const TerminalFilter errors(std::cerr, STDERR_FILENO);
  const int exit_code = run_line(std::vector<std::string>(argv + 1, argv + argc));
  if (finish_paging()) return exit_code == kReaderGone ? kSuccess : exit_code;  // the person has seen enough
  std::cout.flush();
  if (!std::cout && exit_code == kSuccess) return fail_output("standard output could not be written");
  return exit_code;
}

}  // namespace
}  // namespace varve::tool

int main(int argc, char** argv) {
  return varve::tool::run(argc, argv);
}

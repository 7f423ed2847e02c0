// Owns: the process: its streams, its signals and its exit code.
// Must never: do the work of a verb.
#include <csignal>
#include <iostream>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/varve/base/descriptor_limit.h"
#include "tools/varve/program.h"
#include "tools/varve/terminal/outcome.h"
#include "tools/varve/terminal/terminal_filter.h"

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

/// Returns whether the first word is no verb. CLI11 would only report that a verb is missing.
bool names_no_verb(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return false;
  return app.get_subcommands([argv](const CLI::App* verb) { return verb->check_name(argv[1]); }).empty();
}

int run(int argc, char** argv) {
  if (!hold_standard_streams()) return kMachine;
  std::signal(SIGPIPE, SIG_IGN);  // a reader that closes the pipe must not end an operation on a store
  ::umask(S_IRWXG | S_IRWXO);     // only the owner may read a store
  raise_descriptor_limit();       // a large store has more files than the soft limit allows
  const TerminalFilter output(std::cout, STDOUT_FILENO);
  const TerminalFilter errors(std::cerr, STDERR_FILENO);
  int exit_code = kSuccess;
  const std::unique_ptr<CLI::App> app = command_line(exit_code);
  if (names_no_verb(*app, argc, argv)) {
    return fail(kUsage, "there is no verb '" + std::string(argv[1]) + "'; `varve --help` lists the verbs");
  }
  try {
    app->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    exit_code = app->exit(error) == 0 ? kSuccess : kUsage;
  }
  std::cout.flush();
  if (!std::cout && exit_code == kSuccess) return fail_output("standard output could not be written");
  return exit_code;
}

}  // namespace
}  // namespace varve::tool

int main(int argc, char** argv) {
  return varve::tool::run(argc, argv);
}

// Owns: `varve shell`: opening its store, and the loop over its lines.
// Must never: create a store or a table.
#include <iostream>

#include "tools/varve/session/verbs.h"
#include "tools/varve/session/words.h"
#include "tools/varve/shell/line_input.h"
#include "tools/varve/shell/shell.h"
#include "tools/varve/terminal/outcome.h"

namespace varve::tool {

namespace {

/// The rows of a page on a terminal. Other outputs have no pages.
constexpr std::uint64_t kRowsOfAPage = 20;

struct ShellWords {
  Place place;
  bool read_only = false;
};

int run_shell(const ShellWords& words) {
  Result<OpenedStore> store = words.read_only ? open_for_reading(words.place) : open_for_writing(words.place);
  if (store.code() == Code::kLocked && !is_rados_address(words.place.store)) {
    return fail(store.status().with_hint(
        "`varve shell --read-only` reads the present state of a store that is served; `put`, `update`, `delete` and "
        "`import` write through its server"));
  }
  if (!store.ok()) return fail(store.status());
  const Shell* completer = nullptr;
  Result<LineInput> input = LineInput::open([&completer](std::string_view before, std::string_view begun) {
    return completer == nullptr ? std::vector<std::string>() : completer->complete(before, begun);
  });
  if (!input.ok()) return fail(input.status());
  Shell shell(**store, words.place, input->is_terminal() ? kRowsOfAPage : UINT64_MAX);
  completer = &shell;
  if (!words.place.table.empty()) (void)shell.run("use " + words.place.table);
  while (const std::optional<Result<std::string>> line = input->next(shell.prompt())) {
    if (!line->ok()) {
      shell.refuse(line->status().to_string());
    } else if (!shell.run(**line) || !std::cout) {
      break;
    }
  }
  if (Status closed = (*store)->close(); !closed.ok()) return fail(closed);
  if (Status read = input->status(); !read.ok()) return fail(read);
  // A user at a terminal saw the failures. A script gets an exit code.
  return shell.failures() > 0 && !input->is_terminal() ? kRefused : kSuccess;
}

}  // namespace

void add_shell_verb(CLI::App& app, int& exit_code) {
  auto words = std::make_shared<ShellWords>();
  CLI::App* verb = app.add_subcommand("shell", "Run commands on a store, typed or from a pipe");
  verb->footer(
      "At a terminal, lines have a history, and the tab key completes commands, tables and properties. `help`\n"
      "lists the commands. From a pipe, each line is a command. If a command fails, the shell reports it and\n"
      "runs the others; the exit code is 1 then.\n"
      "\n"
      "Examples\n"
      "  varve shell ./shop Orders --read-only\n"
      "  echo \"count Lines ge 3\" | varve shell ./shop Orders");
  add_store_words(*verb, words->place);
  verb->add_option("TABLE", words->place.table, "Table to start with");
  verb->add_option("--account", words->place.account, "Account that the tables belong to")->capture_default_str();
  verb->add_flag("--read-only", words->read_only,
                 "Write nothing; other readers may have the store open at the same time");
  verb->callback([words, &exit_code] { exit_code = run_shell(*words); });
}

}  // namespace varve::tool

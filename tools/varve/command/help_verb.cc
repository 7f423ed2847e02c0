#include "tools/varve/command/help_verb.h"

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "tools/varve/command/help_text.h"
#include "tools/varve/command/unknown_word.h"
#include "tools/varve/terminal/outcome.h"
#include "tools/varve/terminal/pager.h"

namespace varve::tool {

namespace {

int print_help(const CLI::App& app, const std::vector<std::string>& verbs) {
  const CLI::App* explained = &app;
  std::string name;
  for (const std::string& verb : verbs) {
    const std::vector<const CLI::App*> found =
        explained->get_subcommands([&](const CLI::App* it) { return it->get_name() == verb; });
    if (found.empty()) return fail(kUsage, unknown_verb(*explained, name, verb));
    name += (name.empty() ? "" : " ") + explained->get_name();
    explained = found.front();
  }
  page_long_output();
  name += (name.empty() ? "" : " ") + explained->get_name();
  // App::help would follow the verbs of this line, which are `help` alone.
  std::cout << HelpFormatter().make_help(explained, name, CLI::AppFormatMode::Normal);
  return kSuccess;
}

}  // namespace

void add_help_verb(CLI::App& app, int& exit_code) {
  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* verb = app.add_subcommand("help", "Explain a verb, as `varve VERB --help` does");
  verb->footer(
      "Without VERB, lists the verbs.\n"
      "\nExamples\n"
      "  varve help query\n"
      "  varve help table copy");
  verb->add_option("VERB", *words, "The verb, and its second word if it has one");
  verb->callback([words, &app, &exit_code] { exit_code = print_help(app, *words); });
}

}  // namespace varve::tool

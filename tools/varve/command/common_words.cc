#include "tools/varve/command/common_words.h"

#include <optional>

#include "tools/varve/terminal/colour.h"
#include "tools/varve/terminal/outcome.h"
#include "tools/varve/terminal/pager.h"

namespace varve::tool {

namespace {

constexpr const char* kGroup = "Terminal";

}  // namespace

void add_common_words(CLI::App& app) {
  const std::vector<CLI::App*> verbs = app.get_subcommands([](const CLI::App*) { return true; });
  for (CLI::App* verb : verbs) add_common_words(*verb);
  if (!verbs.empty()) return;
  // apply_common_words() has applied both when the line is understood.
  app.add_option_function<std::string>(
         "--color", [](const std::string&) {}, "Colours: auto is on a terminal only")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->group(kGroup);
  app.add_flag_function(
         "--no-pager", [](std::int64_t) {}, "Show long output without a pager")
      ->group(kGroup);
}

void apply_common_words(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const std::string& word = words[i];
    if (word == "--json") set_errors_as_json();
    if (word == "--no-pager") use_no_pager();
    std::optional<std::string> colour;
    if (word.starts_with("--color=")) colour = word.substr(8);
    if (word == "--color" && i + 1 < words.size()) colour = words[i + 1];
    if (colour == "always") set_colour(ColourUse::kAlways);
    if (colour == "never") set_colour(ColourUse::kNever);
  }
}

}  // namespace varve::tool

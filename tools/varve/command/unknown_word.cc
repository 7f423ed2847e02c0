#include "tools/varve/command/unknown_word.h"

#include <algorithm>

#include "tools/varve/rows/names.h"

namespace varve::tool {

namespace {

bool is_option(const std::string& word) noexcept {
  return word.size() > 1 && word.front() == '-' && word != "--" && !(word[1] >= '0' && word[1] <= '9');
}

const CLI::App* verb_of(const CLI::App& group, const std::string& word) {
  const std::vector<const CLI::App*> found =
      group.get_subcommands([&](const CLI::App* it) { return it->get_name() == word; });
  return found.empty() ? nullptr : found.front();
}

std::vector<std::string> names_of_verbs(const CLI::App& group) {
  std::vector<std::string> names;
  for (const CLI::App* verb : group.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(verb->get_name());
  return names;
}

std::string did_you_mean(const std::string& name, const std::string& help) {
  return name.empty() ? help : "did you mean `" + name + "`? " + help;
}

Status unknown_option(const CLI::App& verb, const std::string& name, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& known : option->get_lnames()) names.push_back("--" + known);
  }
  return Status::invalid_argument("`" + name + "` has no option `" + word + "`")
      .with_hint(did_you_mean(nearest_name(word, names), "`" + name + " --help` lists the options"));
}

/// Returns the option that a word names, or null. Words such as --top=3 have a value of their own.
const CLI::Option* option_of(const CLI::App& verb, const std::string& word) {
  return verb.get_option_no_throw(word.substr(0, word.find('=')));
}

}  // namespace

Status unknown_verb(const CLI::App& group, const std::string& name, const std::string& word) {
  const std::string before = (name.empty() ? "" : name + " ") + group.get_name();
  const std::string nearest = nearest_name(word, names_of_verbs(group));
  const bool is_top = group.get_parent() == nullptr;
  const std::string what = is_top ? "there is no verb '" + word + "'; `varve --help` lists the verbs"
                                  : "`" + before + "` has no verb '" + word + "'";
  return Status::invalid_argument(what).with_hint(nearest.empty()
                                                      ? (is_top ? "" : "`" + before + " --help` lists the verbs")
                                                      : "did you mean `" + before + " " + nearest + "`?");
}

Status fault_of(const CLI::App& app, const std::vector<std::string>& words, const CLI::ParseError& refused) {
  const CLI::App* verb = &app;
  std::string name = app.get_name();
  std::string before;
  std::size_t skipped = 0;
  for (const std::string& word : words) {
    if (word == "--") break;
    if (skipped > 0) {
      --skipped;
      continue;
    }
    if (is_option(word)) {
      const CLI::Option* const option = option_of(*verb, word);
      if (option == nullptr) return unknown_option(*verb, name, word.substr(0, word.find('=')));
      const bool has_value = word.find('=') != std::string::npos;
      skipped = has_value ? 0 : static_cast<std::size_t>(std::max(option->get_items_expected_min(), 0));
      continue;
    }
    if (verb->get_subcommands([](const CLI::App*) { return true; }).empty()) continue;
    const CLI::App* const next = verb_of(*verb, word);
    if (next == nullptr) return unknown_verb(*verb, before, word);
    before = name;
    name += " " + word;
    verb = next;
  }
  const bool lacks_verb = !verb->get_subcommands([](const CLI::App*) { return true; }).empty();
  if (lacks_verb)
    return Status::invalid_argument("`" + name + "` needs a verb").with_hint("`" + name + " --help` lists the verbs");
  return Status::invalid_argument(refused.what()).with_hint("`" + name + " --help` explains the verb");
}

}  // namespace varve::tool

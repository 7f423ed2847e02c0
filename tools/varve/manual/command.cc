#include "tools/varve/manual/command.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace varve::tool {
namespace {

/// Returns a text in one line, with single spaces.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::string line;
  for (const char c : text) {
    if (c != ' ' || (!line.empty() && line.back() != ' ')) line.push_back(c);
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

/// Takes the choices "{a,b}" out of a type such as "TEXT:{a,b}".
std::vector<std::string> take_choices(std::string& type) {
  const std::size_t begin = type.find(":{");
  const std::size_t end = type.find('}', begin);
  if (begin == std::string::npos || end == std::string::npos) return {};
  const std::string list = type.substr(begin + 2, end - begin - 2);
  type.erase(begin);
  return CLI::detail::split(list, ',');
}

/// Returns what completes a value, by the name that the help has for it.
ValueSource source_of(const Word& word) {
  constexpr std::array<std::string_view, 4> kDirectories = {"STORE", "DIRECTORY", "TARGET", "BACKUPS"};
  const auto is = [&word](std::string_view name) { return word.value.starts_with(name); };
  if (!word.choices.empty()) return ValueSource::kWord;
  if (std::any_of(kDirectories.begin(), kDirectories.end(), is)) return ValueSource::kDirectory;
  const bool names_file = std::any_of(word.names.begin(), word.names.end(), [](const std::string& name) {
    return name.ends_with("-file") || name == "--output";
  });
  return is("FILE") || names_file ? ValueSource::kFile : ValueSource::kNone;
}

Word read_word(const CLI::Option& option) {
  Word word;
  for (const std::string& name : option.get_snames()) word.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) word.names.push_back("--" + name);
  if (option.get_items_expected_max() > 0) {
    word.value = option.get_type_name();
    word.choices = take_choices(word.value);
    if (word.names.empty()) word.value = option.get_name(true);
    word.standard = option.get_default_str();
  }
  word.help = one_line(option.get_description());
  word.source = source_of(word);
  for (const CLI::Option* const other : option.get_excludes()) word.excluded.push_back(other->get_name());
  word.is_required = option.get_required() && option.get_envname().empty();
  word.repeats = option.get_items_expected_max() > option.get_type_size_max();
  return word;
}

Command read_command(const CLI::App& app, const std::string& path, const std::string& inherited_footer) {
  Command command;
  command.path = path;
  command.about = one_line(app.get_description());
  const std::string footer = app.get_footer();
  if (footer != inherited_footer) command.footer = footer;
  for (const CLI::Option* const option : app.get_options()) {
    if (option->get_group().empty()) continue;
    (option->nonpositional() ? command.options : command.places).push_back(read_word(*option));
  }
  for (const CLI::App* const verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (verb->get_group().empty()) continue;
    command.commands.push_back(read_command(*verb, (path.empty() ? "" : path + " ") + verb->get_name(), footer));
  }
  return command;
}

void add_all(const Command& command, std::vector<const Command*>& all) {
  all.push_back(&command);
  for (const Command& below : command.commands) add_all(below, all);
}

}  // namespace

Command read_commands(const CLI::App& app) {
  return read_command(app, "", "");
}

std::vector<const Command*> all_commands(const Command& command) {
  std::vector<const Command*> all;
  add_all(command, all);
  return all;
}

std::string first_sentence(const std::string& text) {
  std::string sentence = text.substr(0, std::min(text.find(". "), text.find("; ")));
  if (sentence.ends_with('.')) sentence.pop_back();
  return sentence;
}

}  // namespace varve::tool

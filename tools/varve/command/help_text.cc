#include "tools/varve/command/help_text.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tools/varve/terminal/terminal.h"

namespace varve::tool {

namespace {

constexpr std::size_t kColumnsWithoutTerminal = 80;
constexpr std::size_t kColumnsMax = 100;
constexpr std::size_t kColumnsMin = 40;
constexpr std::size_t kHeadingMax = 40;
/// The widest left column. The text of a longer name begins on the next line.
constexpr std::size_t kNameColumnsMax = 26;

std::vector<std::string_view> lines_in(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// Appends the words to `out` in lines of at most `columns`, the first of which already has `used` columns.
void append_wrapped(std::string& out, std::string_view text, std::size_t indent, std::size_t used,
                    std::size_t columns) {
  bool is_first = true;
  while (!text.empty()) {
    const std::size_t begin = text.find_first_not_of(" \n");
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    const std::string_view word = text.substr(0, end);
    const std::size_t wide = show_text(word, SIZE_MAX).columns;
    if (!is_first && used + 1 + wide > columns) {
      out += "\n" + std::string(indent, ' ');
      used = indent;
      is_first = true;
    }
    if (!is_first) out += ' ';
    out += word;
    used += wide + (is_first ? 0 : 1);
    is_first = false;
    text.remove_prefix(end);
  }
  out += '\n';
}

bool is_heading(std::string_view line) noexcept {
  return line.size() <= kHeadingMax && std::string_view(".:,;").find(line.back()) == std::string_view::npos;
}

/// Returns where the validator of a type such as "UINT:{a,b}" or "NAME:@FILE:{a,b}" begins, or npos.
std::size_t validator_of(std::string_view type) noexcept {
  if (const std::size_t set = type.find(":{"); set != std::string_view::npos) return set;
  const std::size_t range = type.find(" in [");
  return range == std::string_view::npos ? range : type.rfind(':', range);
}

/// Returns the words of a validator such as "UINT:{a,b}" without the type.
std::string allowed_values(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t colon = validator_of(type);
  if (colon == std::string::npos) return "";
  std::string values = type.substr(colon + 1);
  if (const std::size_t range = values.find(" in "); range != std::string::npos) values.erase(0, range + 4);
  if (!values.empty() && (values.front() == '{' || values.front() == '[')) values = values.substr(1, values.size() - 2);
  for (std::size_t at = 0; (at = values.find(" - ", at)) != std::string::npos;) values.replace(at, 3, " to ");
  for (std::size_t at = 0; (at = values.find(',', at)) != std::string::npos; at += 2) values.replace(at, 1, ", ");
  return values;
}

std::string placeholder_of(const CLI::Option& option) {
  std::string type = option.get_type_name();
  type.erase(std::min(validator_of(type), type.size()));
  if (type == "UINT" || type == "INT") return "N";
  return type;
}

std::string name_of(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  std::string name = option.get_name(false, true);
  for (std::size_t at = 0; (at = name.find(',', at)) != std::string::npos; at += 2) name.replace(at, 1, ", ");
  if (option.get_type_size() == 0) return name;
  const std::string placeholder = placeholder_of(option);
  return placeholder.empty() ? name : name + " " + placeholder;
}

std::string about(const CLI::Option& option) {
  std::string text = option.get_description();
  const std::string values = option.get_type_size() == 0 ? "" : allowed_values(option);
  const bool names_values = text.find(values.substr(0, values.find(',') + 1)) != std::string::npos;
  if (!values.empty() && !names_values) text += " (" + values + ")";
  if (!option.get_default_str().empty()) text += ". Default: " + option.get_default_str();
  if (!option.get_envname().empty()) text += ". Default: the environment's " + option.get_envname();
  std::string excluded;
  for (const CLI::Option* other : option.get_excludes())
    excluded += (excluded.empty() ? "" : ", ") + other->get_name(false, false);
  return excluded.empty() ? text : text + ". Not with " + excluded;
}

/// A line with a name and its explanation.
struct Entry {
  std::string name;
  std::string text;
};

void append_entries(std::string& out, const std::string& heading, const std::vector<Entry>& entries,
                    std::size_t columns) {
  if (entries.empty()) return;
  std::size_t widest = 0;
  for (const Entry& entry : entries) {
    if (entry.name.size() <= kNameColumnsMax) widest = std::max(widest, entry.name.size());
  }
  const std::size_t indent = (widest == 0 ? kNameColumnsMax / 2 : widest) + 4;
  out += "\n" + heading + "\n";
  for (const Entry& entry : entries) {
    out += "  " + entry.name;
    if (entry.name.size() + 4 > indent) {
      out += "\n" + std::string(indent, ' ');
    } else {
      out += std::string(indent - 2 - entry.name.size(), ' ');
    }
    append_wrapped(out, entry.text, indent, indent, columns);
  }
}

/// Returns the distinct groups in the order of their first members.
template <typename Member>
std::vector<std::string> groups_of(const std::vector<Member*>& members) {
  std::vector<std::string> groups;
  for (const Member* member : members) {
    const std::string& group = member->get_group();
    if (!group.empty() && std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
  }
  return groups;
}

void append_options(std::string& out, const CLI::App& app, std::size_t columns) {
  std::vector<Entry> words;
  for (const CLI::Option* option : app.get_options([](const CLI::Option* it) { return it->get_positional(); }))
    words.push_back({name_of(*option), about(*option)});
  append_entries(out, "Words", words, columns);
  const std::vector<const CLI::Option*> options =
      app.get_options([](const CLI::Option* it) { return !it->get_positional(); });
  std::vector<std::string> groups = groups_of(options);
  // The help option comes first in the tree, but is what a reader needs last.
  std::stable_partition(groups.begin(), groups.end(), [&](const std::string& group) {
    return app.get_help_ptr() == nullptr || group != app.get_help_ptr()->get_group();
  });
  for (const std::string& group : groups) {
    std::vector<Entry> entries;
    for (const CLI::Option* option : options) {
      if (option->get_group() == group) entries.push_back({name_of(*option), about(*option)});
    }
    append_entries(out, group, entries, columns);
  }
}

void append_verbs(std::string& out, const CLI::App& app, std::size_t columns) {
  const std::vector<const CLI::App*> verbs = app.get_subcommands([](const CLI::App*) { return true; });
  for (const std::string& group : groups_of(verbs)) {
    std::vector<Entry> entries;
    for (const CLI::App* verb : verbs) {
      if (verb->get_group() == group) entries.push_back({verb->get_name(), verb->get_description()});
    }
    append_entries(out, group, entries, columns);
  }
}

std::string usage_of(const CLI::App& app, const std::string& name) {
  std::string usage = "Usage: " + name;
  if (!app.get_subcommands([](const CLI::App*) { return true; }).empty()) return usage + " VERB [WORDS] [OPTIONS]";
  for (const CLI::Option* option : app.get_options([](const CLI::Option* it) { return it->get_positional(); })) {
    const bool may_be_absent = !option->get_required() || !option->get_envname().empty();
    const bool is_several = option->get_expected_max() > 1;
    const std::string word = option->get_name(true) + (is_several ? "..." : "");
    usage += may_be_absent ? " [" + word + "]" : " " + word;
  }
  return usage + " [OPTIONS]";
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t columns) {
  std::string out;
  std::string paragraph;
  bool is_first = true;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) append_wrapped(out, paragraph, 0, 0, columns);
    paragraph.clear();
  };
  const std::vector<std::string_view> lines = lines_in(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    if (line.empty() || line.front() == ' ') {
      end_paragraph();
      out.append(line).append("\n");
      is_first = line.empty();
    } else if (is_first && is_heading(line) && i + 1 < lines.size() && !lines[i + 1].empty()) {
      out.append(line).append("\n");
      is_first = false;
    } else {
      paragraph.append(line).append("\n");
      is_first = false;
    }
  }
  end_paragraph();
  return out;
}

std::size_t help_columns() noexcept {
  const std::size_t columns = output_columns();
  if (columns == SIZE_MAX) return kColumnsWithoutTerminal;
  return std::clamp(columns, kColumnsMin, kColumnsMax);
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode /*mode*/) const {
  const std::size_t columns = help_columns();
  if (name.empty()) name = app->get_name();
  std::string help = wrapped(app->get_description() + ".", columns);
  help += "\n";
  append_wrapped(help, usage_of(*app, name), 8, 0, columns);
  append_verbs(help, *app, columns);
  append_options(help, *app, columns);
  std::string footer = app->get_footer();
  while (footer.starts_with('\n')) footer.erase(0, 1);
  if (!footer.empty()) help += "\n" + wrapped(footer, columns);
  return help;
}

}  // namespace varve::tool

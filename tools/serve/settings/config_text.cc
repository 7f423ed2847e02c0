#include "tools/serve/settings/config_text.h"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "tools/serve/settings/nearest_name.h"
#include "tools/serve/settings/option_values.h"

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace varve::serve {
namespace {

constexpr std::size_t kCommentWidth = 100;

std::string place_of(const std::string& name, const toml::source_region& region) {
  return name + ":" + std::to_string(region.begin.line);
}

Status refuse(std::string_view why) {
  return Status::invalid_argument(why);
}

/// The first problem of a file, by its line. The parser does not report options in their order.
class FirstProblem {
 public:
  explicit FirstProblem(const std::string& name) : name_(name) {}
  void note(const toml::source_region& region, const Status& problem) {
    if (problem.ok() || (!problem_.ok() && region.begin.line >= line_)) return;
    line_ = region.begin.line;
    problem_ = at_place(place_of(name_, region), problem);
  }
  const Status& status() const noexcept { return problem_; }

 private:
  const std::string& name_;
  Status problem_;
  toml::source_index line_ = 0;
};

std::string expected(const OptionRule& rule) {
  const std::string name(rule.name);
  const std::string form(rule.form);
  switch (rule.kind) {
    case ValueKind::kText: return name + " must be a text: " + name + " = \"" + form + "\"";
    case ValueKind::kNumber: return name + " must be a whole number: " + name + " = " + std::string(rule.standard);
    default: return name + " must be a list of texts: " + name + " = [\"" + form + "\"]";
  }
}

Status unknown_option(std::string_view key) {
  std::string why = "there is no option \"" + std::string(key) + "\"";
  const std::string nearest = nearest_option(key);
  if (!nearest.empty()) why += "; did you mean \"" + nearest + "\"?";
  if (key == "config" || key == "print-config") why = "\"" + std::string(key) + "\" is for the command line only";
  return refuse(why);
}

/// Reads the values of one option.
class OptionReader {
 public:
  OptionReader(const OptionRule& rule, const std::string& name, Settings& settings, FirstProblem& first)
      : rule_(rule), name_(name), settings_(settings), first_(first) {}

  void read(const toml::node& node) {
    if (rule_.kind == ValueKind::kNumber) {
      const auto* const number = node.as_integer();
      return number == nullptr ? mistyped(node) : take(node, std::to_string(number->get()));
    }
    if (rule_.kind == ValueKind::kText) return read_text(node);
    const toml::array* const list = node.as_array();
    if (list == nullptr) return mistyped(node);
    for (const toml::node& one : *list) read_text(one);
  }

 private:
  void read_text(const toml::node& node) {
    const auto* const text = node.as_string();
    return text == nullptr ? mistyped(node) : take(node, text->get());
  }
  void mistyped(const toml::node& node) { first_.note(node.source(), refuse(expected(rule_))); }
  void take(const toml::node& node, std::string text) {
    if (const Status checked = check_value(rule_, text); !checked.ok()) {
      return first_.note(node.source(), refuse(std::string(rule_.name) + ": " + std::string(checked.message())));
    }
    settings_.add(rule_.id, {std::move(text), place_of(name_, node.source())});
  }

  const OptionRule& rule_;
  const std::string& name_;
  Settings& settings_;
  FirstProblem& first_;
};

/// Returns a basic string of TOML.
std::string quoted(std::string_view text) {
  static constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string made = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      made.append(1, '\\').append(1, c);
    } else if (byte < ' ' || byte == 0x7F) {
      made.append("\\u00").append(1, kDigits[byte >> 4]).append(1, kDigits[byte & 15]);
    } else {
      made += c;
    }
  }
  return made + "\"";
}

std::string shown(const OptionRule& rule, const std::string& text) {
  return rule.kind == ValueKind::kNumber ? text : quoted(rule.id == OptionId::kAccount ? masked_account(text) : text);
}

/// Returns the right side of an assignment.
std::string value_text(const OptionRule& rule, const Settings& settings) {
  if (rule.kind != ValueKind::kTexts) return shown(rule, settings.text(rule.id));
  std::string list = "[";
  for (const SettingValue& value : settings.all(rule.id)) {
    if (list.size() > 1) list += ", ";
    list += shown(rule, value.text);
  }
  return list + "]";
}

/// Appends a description as lines of a comment.
void append_comment(std::string& text, std::string_view words) {
  std::string line = "#";
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    words.remove_prefix(std::min(word.size() + 1, words.size()));
    if (line.size() + 1 + word.size() > kCommentWidth) {
      text.append(line).append("\n");
      line = "#";
    }
    line.append(" ").append(word);
  }
  text.append(line).append("\n");
}

}  // namespace

Result<Settings> parse_config(std::string_view text, const std::string& name) {
  const toml::parse_result parsed = toml::parse(text, name);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return at_place(place_of(name, error.source()), refuse(error.description()));
  }
  Settings settings;
  FirstProblem first(name);
  for (const auto& [key, node] : parsed.table()) {
    const OptionRule* const rule = find_option(key.str());
    if (rule == nullptr) {
      first.note(key.source(), unknown_option(key.str()));
      continue;
    }
    OptionReader(*rule, name, settings, first).read(node);
  }
  if (!first.status().ok()) return first.status();
  return settings;
}

Result<std::string> config_text(const Settings& settings) {
  std::string text;
  for (const OptionRule& rule : option_rules()) {
    if (!text.empty()) text += "\n";
    append_comment(text, rule.help);
    const std::string name(rule.name);
    if (!settings.has(rule.id) && rule.standard.empty()) {
      const std::string form = "\"" + std::string(rule.form) + "\"";
      text += "# " + name + " = " + (rule.kind == ValueKind::kTexts ? "[" + form + "]" : form) + "\n";
    } else {
      text += name + " = " + value_text(rule, settings) + "\n";
    }
  }
  const toml::parse_result again = toml::parse(text);
  if (!again) return refuse("a value of an option is not UTF-8, so it cannot be written to a configuration file");
  return text;
}

}  // namespace varve::serve

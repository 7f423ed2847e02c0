#include "tools/varve/manual/man_page.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <ctime>
#include <sstream>
#include <string_view>

#include "tools/serve/settings/option_table.h"
#include "varve/version.h"

namespace varve::tool {
namespace {

/// Returns text for a page: no character of it is an instruction.
std::string plain(std::string_view text) {
  std::string made;
  for (const char c : text) {
    switch (c) {
      case '\\': made += "\\e"; break;
      case '-': made += "\\-"; break;
      case '\'': made += "\\(aq"; break;
      case '`': made += "\\(ga"; break;
      case '^': made += "\\(ha"; break;
      case '~': made += "\\(ti"; break;
      default: made.push_back(c);
    }
  }
  return made.starts_with('.') ? "\\&" + made : made;
}

std::string bold(std::string_view text) {
  return "\\fB" + plain(text) + "\\fR";
}

std::string slanted(std::string_view text) {
  return "\\fI" + plain(text) + "\\fR";
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// Returns the page's name: "varve", "varve-query".
std::string page_name(const std::string& verb) {
  return verb.empty() ? "varve" : "varve-" + verb;
}

/// Returns the day that SOURCE_DATE_EPOCH has, or the present day.
std::string day() {
  const char* const given = std::getenv("SOURCE_DATE_EPOCH");  // NOLINT(concurrency-mt-unsafe): one thread
  const std::time_t seconds = given == nullptr ? std::time(nullptr) : std::strtoll(given, nullptr, 10);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts)};
}

std::string header(const std::string& name, int section, const std::string& about) {
  const std::string sections = section == 1 ? "User Commands" : "File Formats";
  return ".TH " + plain(upper(name)) + " " + std::to_string(section) + " \"" + day() +
         "\" \"varve " VARVE_VERSION "\" \"" + sections + "\"\n.SH NAME\n" + plain(name) + " \\- " + plain(about) +
         "\n";
}

std::string choice_list(const Word& word) {
  std::string list;
  for (const std::string& choice : word.choices) list += (list.empty() ? "" : ", ") + bold(choice);
  return list;
}

std::string entry(const Word& word) {
  std::string text = ".TP\n";
  std::string head;
  for (const std::string& name : word.names) head += (head.empty() ? "" : ", ") + bold(name);
  if (!word.value.empty()) head += (head.empty() ? "" : " ") + slanted(word.value);
  text += head + "\n" + plain(word.help);
  if (!word.help.empty() && !word.help.ends_with('.')) text += ".";
  text += "\n";
  if (!word.choices.empty()) text += "One of " + choice_list(word) + ".\n";
  if (!word.standard.empty()) text += "The default is " + bold(word.standard) + ".\n";
  if (!word.excluded.empty()) {
    text += "Not together with";
    for (const std::string& name : word.excluded) text += (&name == word.excluded.data() ? " " : ", ") + bold(name);
    text += ".\n";
  }
  return text;
}

std::string synopsis(const Command& command) {
  std::string line = bold(command.path.empty() ? "varve" : "varve " + command.path);
  if (!command.options.empty()) line += " [" + slanted("OPTIONS") + "]";
  for (const Word& place : command.places) {
    const std::string name = slanted(place.value) + (place.repeats ? " ..." : "");
    line += place.is_required ? " " + name : " [" + name + "]";
  }
  if (!command.commands.empty()) line += " " + slanted("COMMAND");
  return line + "\n";
}

/// Returns the text below the options of a help as sections: a line before indented lines is their title.
std::string sections(const std::string& footer, const std::string& macro) {
  std::vector<std::string> lines;
  std::istringstream input(footer);
  for (std::string line; std::getline(input, line);) lines.push_back(line);
  std::string text;
  bool is_example = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    const bool is_indented = line.starts_with(' ');
    if (is_example && !is_indented) text += ".EE\n";
    if (!is_example && is_indented) text += ".EX\n";
    is_example = is_indented;
    if (line.empty()) {
      if (i + 1 < lines.size() && !text.empty()) text += ".PP\n";
      continue;
    }
    const bool is_title = !is_indented && i + 1 < lines.size() && lines[i + 1].starts_with(' ');
    if (is_title) {
      text += macro + " \"" + plain(macro == ".SH" ? upper(line) : line) + "\"\n";
    } else {
      text += plain(is_indented ? line.substr(2) : line) + "\n";
    }
  }
  if (is_example) text += ".EE\n";
  // A paragraph before a title, or twice, is an empty one.
  for (const std::string& next : {std::string(".PP\n.PP"), ".PP\n" + macro}) {
    for (std::size_t at = text.find(next); at != std::string::npos; at = text.find(next)) text.erase(at, 4);
  }
  return text;
}

std::string words(const Command& command, const std::string& macro) {
  std::string text;
  if (!command.places.empty()) text += macro + " " + (macro == ".SH" ? "ARGUMENTS" : "Arguments") + "\n";
  for (const Word& place : command.places) text += entry(place);
  if (!command.options.empty()) text += macro + " " + (macro == ".SH" ? "OPTIONS" : "Options") + "\n";
  for (const Word& option : command.options) text += entry(option);
  return text;
}

std::string see_also(const Command& program, const std::string& own) {
  std::string text = ".SH SEE ALSO\n";
  std::vector<std::string> pages;
  if (!own.empty()) pages.push_back(bold("varve") + "(1)");
  for (const Command& verb : program.commands) {
    if (verb.path != own) pages.push_back(bold(page_name(verb.path)) + "(1)");
  }
  pages.push_back(bold("varve.toml") + "(5)");
  for (const std::string& page : pages) text += page + (&page == &pages.back() ? "\n" : ",\n");
  return text;
}

std::string program_page(const Command& program) {
  std::string text = header("varve", 1, "a table store in a directory") + ".SH SYNOPSIS\n" + synopsis(program) +
                     ".SH DESCRIPTION\n" + plain(program.about) + "\n.SH COMMANDS\n";
  for (const Command& verb : program.commands) {
    text += ".TP\n" + bold(page_name(verb.path)) + "(1)\n" + plain(verb.about) + ".\n";
  }
  return text + words(program, ".SH") + sections(program.footer, ".SH") + see_also(program, "");
}

std::string verb_page(const Command& program, const Command& verb) {
  std::string text = header(page_name(verb.path), 1, first_sentence(verb.about)) + ".SH SYNOPSIS\n";
  const std::vector<const Command*> all = all_commands(verb);
  for (const Command* const command : all) {
    if (command->commands.empty()) text += (text.ends_with(".SH SYNOPSIS\n") ? "" : ".br\n") + synopsis(*command);
  }
  text += ".SH DESCRIPTION\n" + plain(verb.about) + ".\n" + words(verb, ".SH");
  for (const Command* const command : all) {
    if (command == &verb) continue;
    text += ".SH VARVE " + plain(upper(command->path)) + "\n" + plain(command->about) + ".\n" + words(*command, ".SS") +
            sections(command->footer, ".SS");
  }
  return text + sections(verb.footer, ".SH") + see_also(program, verb.path);
}

std::string config_page() {
  std::string text = header("varve.toml", 5, "settings of varve serve") +
                     ".SH DESCRIPTION\nThe file is TOML. Each option has the name that it has on the command line of " +
                     bold("varve serve") + ". An option on the command line wins over the file. The file is named by " +
                     bold("--config") + ", and the service " + bold("varve.service") + " reads " +
                     slanted("/etc/varve/varve.toml") +
                     ".\n.PP\nSIGHUP makes the server read the file, the certificate and the keys again. If anything "
                     "is wrong with them, everything old stays.\n.SH OPTIONS\n";
  for (const serve::OptionRule& rule : serve::option_rules()) {
    const bool is_list = rule.kind == serve::ValueKind::kTexts;
    const std::string quote = rule.kind == serve::ValueKind::kNumber ? "" : "\"";
    text += ".TP\n" + bold(rule.name) + " = " + (is_list ? "[" : "") + quote + slanted(rule.form) + quote +
            (is_list ? ", ...]" : "") + "\n" + plain(rule.help) + ".\n";
    if (!rule.standard.empty()) text += "The default is " + bold(rule.standard) + ".\n";
    text += rule.is_live ? "A reload takes a new value over.\n" : "A new value needs a restart.\n";
  }
  return text +
         ".SH EXAMPLE\n.EX\ndata = \"/var/lib/varve/store\"\nlisten = \"10.0.0.5:443\"\n"
         "account = [\"shop:@/etc/varve/shop.key\"]\ntls\\-cert = \"/etc/varve/chain.pem\"\n"
         "tls\\-key = \"/etc/varve/key.pem\"\ndrain\\-seconds = 30\n.EE\n"
         ".SH SEE ALSO\n" +
         bold("varve-serve") + "(1)\n";
}

}  // namespace

std::vector<ManPage> man_pages(const Command& program) {
  std::vector<ManPage> pages = {{"man1/varve.1", program_page(program)}, {"man5/varve.toml.5", config_page()}};
  for (const Command& verb : program.commands) {
    pages.push_back({"man1/" + page_name(verb.path) + ".1", verb_page(program, verb)});
  }
  return pages;
}

}  // namespace varve::tool

#include "tools/varve/manual/completion.h"

#include <string_view>

namespace varve::tool {
namespace {

/// Returns a text as one word of a shell.
std::string shell_word(std::string_view text) {
  std::string made = "'";
  for (const char c : text) made += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return made + "'";
}

/// Returns a text for fish, which knows escapes between single quotes.
std::string fish_word(std::string_view text) {
  std::string made = "'";
  for (const char c : text) made += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return made + "'";
}

std::string listed(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : " ") + word;
  return list;
}

/// Returns the names of a command's verbs.
std::vector<std::string> verbs_of(const Command& command) {
  std::vector<std::string> names;
  for (const Command& below : command.commands) names.push_back(below.path.substr(below.path.rfind(' ') + 1));
  return names;
}

std::vector<std::string> options_of(const Command& command, bool with_value_only) {
  std::vector<std::string> names;
  for (const Word& option : command.options) {
    if (with_value_only && option.value.empty()) continue;
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

/// Returns what bash runs for a value.
std::string bash_source(const Word& word) {
  switch (word.source) {
    case ValueSource::kWord: return "_varve_words " + shell_word(listed(word.choices));
    case ValueSource::kFile: return "_varve_paths -f";
    case ValueSource::kDirectory: return "_varve_paths -d";
    case ValueSource::kNone: break;
  }
  return ":";
}

/// Returns the line of a `case` for a value of an option, or for the word at a place.
std::string bash_case(const std::string& pattern, const Word& word) {
  return "    " + shell_word(pattern) + ") " + bash_source(word) + "; return ;;\n";
}

constexpr std::string_view kBashHead =
    R"(# bash completion for varve, written by `varve manual` from the definitions of the program.

_varve_words() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current")
}

_varve_paths() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$current")
}

_varve() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command='' word i
  local options='' valued='' verbs='' place=0 skips=0
  # bash takes --option=value apart.
  if [[ $current == '=' ]]; then
    current=''
  elif [[ $previous == '=' ]] && ((COMP_CWORD > 1)); then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    case "$command:$word" in
)";

/// The line that is valid for the command so far is set before its words are counted.
constexpr std::string_view kBashCount = R"(        ;;
    esac
    if ((skips)); then
      skips=0
    elif [[ $word == '=' ]]; then
      skips=1
    elif [[ $word == -* ]]; then
      [[ " $valued " == *" $word "* && ${COMP_WORDS[i + 1]} != '=' ]] && skips=1
    else
      place=$((place + 1))
    fi
  done
  case "$command $previous" in
)";

constexpr std::string_view kBashTail = R"(  esac
  if [[ $current == -* ]]; then
    _varve_words "$options"
    return
  fi
  if [[ -n $verbs ]]; then
    _varve_words "$verbs"
    return
  fi
  case "$command $place" in
)";

std::string bash_settings(const Command& command) {
  return "options=" + shell_word(listed(options_of(command, false))) +
         " valued=" + shell_word(listed(options_of(command, true))) + " verbs=" + shell_word(listed(verbs_of(command)));
}

/// Returns the name of the function of a command, for zsh.
std::string zsh_function(const Command& command) {
  std::string name = "_varve_" + command.path;
  for (char& c : name) c = c == ' ' || c == '-' ? '_' : c;
  return command.path.empty() ? "_varve" : name;
}

/// Returns a description for zsh, where brackets and colons have a meaning.
std::string zsh_text(const std::string& help) {
  std::string made;
  for (const char c : first_sentence(help)) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') made.push_back('\\');
    made.push_back(c);
  }
  return made;
}

std::string zsh_source(const Word& word) {
  switch (word.source) {
    case ValueSource::kWord: return "(" + listed(word.choices) + ")";
    case ValueSource::kFile: return "_files";
    case ValueSource::kDirectory: return "_files -/";
    case ValueSource::kNone: break;
  }
  return " ";
}

std::string zsh_words(const Command& command) {
  std::string text;
  for (const Word& option : command.options) {
    for (const std::string& name : option.names) {
      text += " \\\n    " +
              shell_word((option.repeats ? "*" : "") + name + "[" + zsh_text(option.help) + "]" +
                         (option.value.empty() ? "" : ":" + zsh_text(option.value) + ":" + zsh_source(option)));
    }
  }
  for (const Word& place : command.places) {
    text += " \\\n    " + shell_word((place.repeats ? "*:" : ":") + zsh_text(place.value) + ":" + zsh_source(place));
  }
  return text;
}

std::string zsh_command(const Command& command) {
  std::string text = zsh_function(command) + "() {\n";
  if (command.commands.empty()) return text + "  _arguments -s" + zsh_words(command) + "\n}\n\n";
  text += "  local context state line\n  typeset -A opt_args\n  _arguments -C" + zsh_words(command) +
          " \\\n    ':command:->command' '*::argument:->argument'\n  case $state in\n    command)\n"
          "      local -a verbs=(";
  for (const Command& below : command.commands) {
    text += "\n        " + shell_word(below.path.substr(below.path.rfind(' ') + 1) + ":" + zsh_text(below.about));
  }
  text += ")\n      _describe -t commands command verbs\n      ;;\n    argument)\n      case $words[1] in\n";
  for (const Command& below : command.commands) {
    text += "        " + below.path.substr(below.path.rfind(' ') + 1) + ") " + zsh_function(below) + " ;;\n";
  }
  return text + "      esac\n      ;;\n  esac\n}\n\n";
}

/// Returns what fish offers for a value.
std::string fish_source(const Word& word) {
  switch (word.source) {
    case ValueSource::kWord: return " -x -a " + fish_word(listed(word.choices));
    case ValueSource::kFile: return " -r -F";
    case ValueSource::kDirectory: return " -x -a '(__fish_complete_directories)'";
    case ValueSource::kNone: break;
  }
  return word.value.empty() ? "" : " -x";
}

constexpr std::string_view kFishHead =
    R"fish(# fish completion for varve, written by `varve manual` from the definitions of the program.

# Succeeds if the words so far name this command.
function __varve_at
    set -l found
    for word in (commandline -opc)[2..-1]
        if contains -- (string join -- ' ' $found $word) $__varve_commands
            set -a found $word
        end
    end
    test "$argv[1]" = "$(string join -- ' ' $found)"
end

)fish";

}  // namespace

std::string bash_completion(const Command& program) {
  const std::vector<const Command*> all = all_commands(program);
  std::string text(kBashHead);
  for (const Command* const command : all) {
    if (command->path.empty()) continue;
    const std::size_t last = command->path.rfind(' ');
    const std::string above = last == std::string::npos ? "" : command->path.substr(0, last);
    text += "      " + shell_word(above + ":" + command->path.substr(last + 1)) +
            ")\n        command=" + shell_word(command->path) + " place=-1 " + bash_settings(*command) +
            "\n        ;;\n";
  }
  text += "      *)\n";
  text += kBashCount;
  for (const Command* const command : all) {
    for (const Word& option : command->options) {
      if (option.value.empty()) continue;
      for (const std::string& name : option.names) text += bash_case(command->path + " " + name, option);
    }
  }
  text += kBashTail;
  for (const Command* const command : all) {
    for (std::size_t i = 0; i < command->places.size(); ++i) {
      const Word& place = command->places[i];
      text += place.repeats ? "    " + shell_word(command->path + " ") + "*) " + bash_source(place) + " ;;\n"
                            : bash_case(command->path + " " + std::to_string(i), place);
    }
  }
  text += "  esac\n}\n\ncomplete -F _varve varve\n";
  const std::string none = "options='' valued='' verbs=''";
  return text.replace(text.find(none), none.size(), bash_settings(program));
}

std::string zsh_completion(const Command& program) {
  std::string text =
      "#compdef varve\n# zsh completion for varve, written by `varve manual` from the definitions of the "
      "program.\n\n";
  for (const Command* const command : all_commands(program)) text += zsh_command(*command);
  return text + "_varve \"$@\"\n";
}

std::string fish_completion(const Command& program) {
  std::string text(kFishHead);
  const std::vector<const Command*> all = all_commands(program);
  text += "set -g __varve_commands";
  for (const Command* const command : all) {
    if (!command->path.empty()) text += " " + fish_word(command->path);
  }
  text += "\n\n";
  for (const Command* const command : all) {
    const std::string begin = "complete -c varve -n " + fish_word("__varve_at " + fish_word(command->path));
    if (!command->commands.empty()) text += begin + " -f\n";
    for (const Command& below : command->commands) {
      text += begin + " -a " + below.path.substr(below.path.rfind(' ') + 1) + " -d " +
              fish_word(first_sentence(below.about)) + "\n";
    }
    for (const Word& option : command->options) {
      text += begin;
      for (const std::string& name : option.names) {
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      text += " -d " + fish_word(first_sentence(option.help)) + fish_source(option) + "\n";
    }
  }
  return text;
}

}  // namespace varve::tool

// Owns: the verbs of the command line and their options as values, for texts about them.
// Must never: know a verb or an option by its name.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace varve::tool {

/// What can complete a value.
enum class ValueSource { kNone, kWord, kFile, kDirectory };

/// An option, or a word with a place of its own ("STORE").
struct Word {
  /// "-h", "--help". Empty if the word is known by its place.
  std::vector<std::string> names;
  /// The name of the value, for example "FILE". Empty if there is no value.
  std::string value;
  std::vector<std::string> choices;
  ValueSource source = ValueSource::kNone;
  std::string help;
  std::string standard;
  /// The options that cannot be combined with this one.
  std::vector<std::string> excluded;
  bool is_required = false;
  bool repeats = false;
};

struct Command {
  /// The words of the command without "varve", for example "table drop". Empty for the program itself.
  std::string path;
  std::string about;
  std::string footer;
  std::vector<Word> places;
  std::vector<Word> options;
  std::vector<Command> commands;
};

/// Returns the program's command line, without hidden verbs and options.
Command read_commands(const CLI::App& app);

/// Returns a command and all below it, each before its own commands.
std::vector<const Command*> all_commands(const Command& command);

/// Returns the first sentence of a help text, without its full stop.
std::string first_sentence(const std::string& text);

}  // namespace varve::tool

// Owns: printing the content of a large value: the option --content of `varve get`.
// Must never: give a file its name before all of the content was written.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "tools/varve/session/session.h"

namespace varve::tool {

/// What `varve get` writes in place of an entity.
struct ContentGetWords {
  /// The name of the property. Empty prints the entity.
  std::string property;
  std::string output;
  std::string range;
};

/// Adds --content, --output and --range. --content excludes `others`.
void add_content_get_words(CLI::App& verb, ContentGetWords& words, const std::vector<CLI::Option*>& others);

/// Writes the content to the output. Returns the exit code.
int get_content(const Place& place, const std::string& partition_key, const std::string& row_key,
                const ContentGetWords& words);

}  // namespace varve::tool

// Owns: the manual pages in the form of man(7).
// Must never: say what the help of the command line and the table of the server's options do not say.
#pragma once

#include <string>

#include "tools/varve/manual/command.h"

namespace varve::tool {

struct ManPage {
  /// For example "man1/varve-query.1".
  std::string file;
  std::string text;
};

/// Returns varve(1), one page for each verb, and varve.toml(5).
std::vector<ManPage> man_pages(const Command& program);

}  // namespace varve::tool

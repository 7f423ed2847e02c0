// Owns: one run of an import: its texts into its table, and the report on every row.
// Must never: end with success if a row was not imported.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/varve/import/import_texts.h"
#include "tools/varve/session/session.h"

namespace varve::tool {

struct ImportWords {
  Place place;
  std::vector<std::string> files;
  ImportRules rules;
  std::string mode = "replace";
  std::string durability = "buffered";
  /// The directory with the files of large values. Empty if no row may have any.
  std::string contents;
  std::uint64_t errors_shown_max = 100;
  bool load = false;
  bool dry_run = false;
  bool json = false;
};

/// Runs the import, or the dry run, and reports. Returns the exit code.
int run_import(const ImportWords& words);

}  // namespace varve::tool

// Owns: the law for the files of one machine after a crash. It covers the content, and that the store can be written to,
// closed, opened again and verified. No file may be left over or missing.
// Must never: know the origin of the files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/lab/scenario/scenario.h"

namespace varve::lab {

/// The files of a machine after a crash, and the knowledge of that moment.
struct Image {
  Remains remains;
  bool killed = false;
  Ledger::Mark mark;
  std::vector<CheckpointBegun> checkpoints;
  std::string where;
};

/// Returns an empty text if the law holds, else the violation. `ledger` contains the whole run.
std::string check_image(const Image& image, const Ledger& ledger, const Tuning& tuning, std::uint64_t seed);

/// Checks that the files in the directory of a cleanly closed store are exactly the files that its manifest names.
std::string check_files(const Remains& remains, std::string_view path);

}  // namespace varve::lab

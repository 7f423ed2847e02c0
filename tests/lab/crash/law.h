// Owns: what must hold of one disk after a crash: the law on its content, that the store can be written to, closed,
// opened again and verified, and that no file is left over or missing.
// Must never: know how the disk came about.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/lab/scenario/scenario.h"

namespace varve::lab {

/// A disk after a crash and what was known at that moment.
struct Image {
  io::MemoryDisk disk;
  bool killed = false;
  Ledger::Mark mark;
  std::vector<CheckpointBegun> checkpoints;
  std::string where;
};

/// Empty if all holds; else what does not. `ledger` has the whole run.
std::string check_image(const Image& image, const Ledger& ledger, const Tuning& tuning, std::uint64_t seed);

/// That every file of a cleanly closed store's directory is one that its manifest names, and the other way round.
std::string check_files(const io::MemoryDisk& disk, std::string_view path);

}  // namespace varve::lab

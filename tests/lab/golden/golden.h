// Owns: the golden stores: making them once, and reading what is kept of them in tests/golden.
// Must never: make anew what was kept: a build of today must read what a build of then wrote.
//
// Of each store a directory is kept with its files and `files.txt`, a line a file: name, size, and, of a file that is
// zeros for the most part, the numbers of the sectors (512 bytes) that are kept, one behind the other. And
// `expected.jsonl`, all that the store shows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/simulated/memory_disk.h"
#include "varve/result.h"

namespace varve::lab {

inline constexpr std::string_view kGoldenNames[] = {"clean", "killed", "checkpoint"};

struct GoldenStore {
  std::string name;
  /// The store is in kSamplePath.
  io::MemoryDisk disk;
  std::vector<std::string> expected;  // lines
};

/// By the public API, on the in-memory disk, from a fixed seed.
std::vector<GoldenStore> make_golden_stores();

/// Writes them below `directory`. Errors: kExists (something of them is there), kIoError.
Status keep_golden_stores(const std::vector<GoldenStore>& stores, const std::string& directory);

/// Reads one back. Errors: kNotFound, kIoError.
Result<GoldenStore> read_golden_store(const std::string& directory, std::string_view name);

}  // namespace varve::lab

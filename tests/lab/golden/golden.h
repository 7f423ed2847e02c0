// Owns: the golden stores: creating them once, and reading the stored copies in tests/golden.
// Must never: recreate a stored copy: a new build must read the bytes that an old build wrote.
//
// Each store has a directory with its files, `files.txt` and `expected.jsonl`. `files.txt` has a line for each file:
// its name and size. If a file consists mostly of zeros, only some of its sectors (512 bytes) are stored in sequence,
// and the line contains their numbers. `expected.jsonl` is the content that the store shows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/simulated/memory_disk.h"
#include "varve/result.h"

namespace varve::lab {

inline constexpr std::string_view kGoldenNames[] = {"clean", "killed", "checkpoint"};
/// Stores with what came after the first release, each with a feature bit of its own.
inline constexpr std::string_view kGoldenFeatureNames[] = {"indexed", "expiring", "objects"};

struct GoldenStore {
  std::string name;
  /// The store is in the directory kSamplePath.
  io::MemoryDisk disk;
  std::vector<std::string> expected;  // lines
};

/// Creates the stores with the public API on the in-memory disk, from a fixed seed.
std::vector<GoldenStore> make_golden_stores();

/// Writes the stores below `directory`. Errors: kExists (a part of them exists), kIoError.
Status keep_golden_stores(const std::vector<GoldenStore>& stores, const std::string& directory);

/// Reads one store. Errors: kNotFound, kIoError.
Result<GoldenStore> read_golden_store(const std::string& directory, std::string_view name);

}  // namespace varve::lab

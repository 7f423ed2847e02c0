// Owns: the numbers of a repair: what it read, saved and wrote.
// Must never: count a file as whole if a byte of it was not read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/manifest/file_set.h"
#include "engine/repair/losses.h"

namespace varve::engine {

/// Number of files of one kind, by state.
struct SalvagedFiles {
  std::uint64_t whole = 0;
  std::uint64_t damaged = 0;
  std::uint64_t missing = 0;
};

struct RepairFigures {
  SalvagedFiles roots;
  SalvagedFiles manifests;
  SalvagedFiles segments;
  SalvagedFiles buffers;
  SalvagedFiles tables;
  /// True if the live files are known for certain. Otherwise, the repair read all files that may have been live.
  bool file_set_is_certain = false;
  /// True if the options that were chosen at creation are known. Otherwise, the default options are used.
  bool options_are_known = false;
  /// One line for each damaged file, and for each other irregularity, even if it loses nothing.
  std::vector<std::string> findings;

  std::uint64_t log_records = 0;
  std::uint64_t commits = 0;
  /// Size in bytes of an unfinished write at the end of the log, which a crash leaves.
  std::uint64_t torn_bytes = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t entries_read = 0;

  /// Users' tables: rows in the repaired store, bytes of their values, and rows that may be outdated.
  std::uint64_t rows = 0;
  std::uint64_t value_bytes = 0;
  std::uint64_t rows_possibly_stale = 0;
  /// Number of rows of tables that have no catalog row and are not known to be dropped.
  std::uint64_t rows_left_out = 0;
  std::uint64_t written_files = 0;
  std::uint64_t written_bytes = 0;
  CommitVersion last_version = 0;

  std::vector<Loss> losses;
};

}  // namespace varve::engine

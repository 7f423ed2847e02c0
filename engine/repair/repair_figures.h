// Owns: what a repair looked at, saved and wrote, in numbers.
// Must never: say of a file that it is whole when a byte of it was not read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/manifest/file_set.h"
#include "engine/repair/losses.h"

namespace varve::engine {

/// Of one kind of file.
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
  /// Which files made up the store is known for certain; otherwise all were read that may have.
  bool file_set_is_certain = false;
  /// The choices made when the store was created; lost ones are the usual ones.
  bool options_are_known = false;
  /// One line for each file that is not as it was written, and for what costs nothing but is amiss.
  std::vector<std::string> findings;

  std::uint64_t log_records = 0;
  std::uint64_t commits = 0;
  /// An unfinished write at the end of the log, as a crash leaves it.
  std::uint64_t torn_bytes = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t entries_read = 0;

  /// Of users' tables: rows in the repaired store, the bytes of their values, those that may be older than they were.
  std::uint64_t rows = 0;
  std::uint64_t value_bytes = 0;
  std::uint64_t rows_possibly_stale = 0;
  /// Rows of tables that no catalog row names and that are not known to be dropped.
  std::uint64_t rows_left_out = 0;
  std::uint64_t written_files = 0;
  std::uint64_t written_bytes = 0;
  CommitVersion last_version = 0;

  std::vector<Loss> losses;
};

}  // namespace varve::engine

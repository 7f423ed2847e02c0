// Owns: what a writer says over a pipe, once the store has acknowledged it, to the process that will kill it; and the
// names by which both mean the same entities.
// Must never: open a store.
#pragma once

#include <cstdint>
#include <string>

namespace varve::tour {

inline constexpr const char* kAccount = "devstoreaccount1";
inline constexpr const char* kLedger = "Ledger";
inline constexpr std::uint32_t kLedgerThreads = 16;
inline constexpr int kLedgerRowsEach = 3;

/// Threads that make tables, fill them and drop them, beside those that write to the ledger.
inline constexpr std::uint32_t kDropThreads = 2;
inline constexpr int kDroppedTableBatches = 10;
inline constexpr int kDroppedTableRowsEach = 100;

/// How a writer's store is set up.
enum class Memory : std::uint32_t {
  kDefault,
  /// So little that memtables are flushed, and files compacted, many times a second; with drops beside.
  kScarce,
};

/// Small enough that a pipe takes it whole or not at all.
struct Promise {
  enum class Kind : std::uint32_t { kCommitted, kTableFilled, kTableDropped };
  Kind kind = Kind::kCommitted;
  /// Which start of the writer it was.
  std::uint32_t round = 0;
  std::uint32_t thread = 0;
  std::uint32_t number = 0;
};

inline std::string partition_of(const Promise& committed) {
  return "round " + std::to_string(committed.round) + " thread " + std::to_string(committed.thread);
}

/// What the RowKeys of its rows begin with, up to a dot.
inline std::string row_of(const Promise& committed) {
  return std::to_string(committed.number);
}

/// "Dropped7x1x" of all tables of round 7, thread 1.
inline std::string table_prefix(std::uint32_t round, std::uint32_t thread) {
  return "Dropped" + std::to_string(round) + "x" + std::to_string(thread) + "x";
}

inline std::string table_of(const Promise& filled) {
  return table_prefix(filled.round, filled.thread) + std::to_string(filled.number);
}

}  // namespace varve::tour

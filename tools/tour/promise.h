// Owns: the messages that a writer sends over a pipe after the store acknowledged a write, and the names of the
// entities that both processes use. The receiver is the process that will kill the writer.
// Must never: open a store.
#pragma once

#include <cstdint>
#include <string>

namespace varve::tour {

inline constexpr const char* kAccount = "devstoreaccount1";
inline constexpr const char* kLedger = "Ledger";
inline constexpr std::uint32_t kLedgerThreads = 16;
inline constexpr int kLedgerRowsEach = 3;

/// Threads that create tables, fill them and drop them, besides the threads that write to the ledger.
inline constexpr std::uint32_t kDropThreads = 2;
inline constexpr int kDroppedTableBatches = 10;
inline constexpr int kDroppedTableRowsEach = 100;

/// The memory of a writer's store.
enum class Memory : std::uint32_t {
  kDefault,
  /// So little memory that memtables are flushed, and files compacted, many times a second. Tables are dropped
  /// meanwhile.
  kScarce,
};

/// One message. It is small enough that a pipe accepts it completely or not at all.
struct Promise {
  enum class Kind : std::uint32_t { kCommitted, kTableFilled, kTableDropped };
  Kind kind = Kind::kCommitted;
  /// The number of the writer's start.
  std::uint32_t round = 0;
  std::uint32_t thread = 0;
  std::uint32_t number = 0;
};

inline std::string partition_of(const Promise& committed) {
  return "round " + std::to_string(committed.round) + " thread " + std::to_string(committed.thread);
}

/// Returns the prefix of the RowKeys of its rows, up to a dot.
inline std::string row_of(const Promise& committed) {
  return std::to_string(committed.number);
}

/// Returns the prefix of table names: "Dropped7x1x" for all tables of round 7, thread 1.
inline std::string table_prefix(std::uint32_t round, std::uint32_t thread) {
  return "Dropped" + std::to_string(round) + "x" + std::to_string(thread) + "x";
}

inline std::string table_of(const Promise& filled) {
  return table_prefix(filled.round, filled.thread) + std::to_string(filled.number);
}

}  // namespace varve::tour

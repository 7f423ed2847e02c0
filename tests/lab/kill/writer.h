// Owns: the process that writes until it is killed, and the process that checks the store afterwards.
// Must never: run in the process that started it.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "tests/lab/kill/ledger.h"
#include "tests/lab/kill/processes.h"

namespace varve::lab {

/// One life of a store.
struct Life {
  std::uint64_t seed = 1;  // determines the operations
  std::string directory;   // contains "store", and checkpoints by their numbers
  BackEnd back_end = BackEnd::kPosix;
  std::uint64_t kill_at = KillCount::kNever;
  /// The number of operations after which each thread stops. The store is then closed.
  std::uint64_t operations_max = 200;
  /// For each thread, the last operation that the store contains at the beginning of the life, and the state after it.
  std::array<std::uint64_t, kKillThreads> begins_at{};
  std::array<ThreadState, kKillThreads> base{};
  /// Whether a checker verifies the whole store.
  bool deep = false;

  std::string store() const { return directory + "/store"; }
  std::string checkpoint(std::uint64_t number) const { return directory + "/checkpoint" + std::to_string(number); }
};

/// Returns the content of a thread after the operation of this number. The number is not before the life's beginning.
ThreadState state_at(const Life& life, std::uint32_t thread, std::uint64_t number);

/// Opens or creates the store and runs all threads. Violations of the law are written to the ledger.
int run_writer(const Life& life, KillLedger& ledger);

/// Opens the store and does nothing else: a recovery that may be killed.
int run_opener(const Life& life, KillLedger& ledger);

/// Opens the store, compares it with the ledger, and records the store's content in the ledger.
int run_checker(const Life& life, KillLedger& ledger);

}  // namespace varve::lab

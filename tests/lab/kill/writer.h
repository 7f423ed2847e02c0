// Owns: the process that writes until it is killed, and the one that looks at what is left.
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
  std::uint64_t seed = 1;  // of the operations
  std::string directory;   // holds "store", and checkpoints by their numbers
  BackEnd back_end = BackEnd::kPosix;
  std::uint64_t kill_at = KillCount::kNever;
  /// Operations of each thread after which it stops; the store is then closed.
  std::uint64_t operations_max = 200;
  /// Per thread, the last operation that the store holds when the life begins, and what it left.
  std::array<std::uint64_t, kKillThreads> begins_at{};
  std::array<ThreadState, kKillThreads> base{};
  /// A checker verifies the whole store.
  bool deep = false;

  std::string store() const { return directory + "/store"; }
  std::string checkpoint(std::uint64_t number) const { return directory + "/checkpoint" + std::to_string(number); }
};

/// What is there of a thread behind the operation of this number, which is not before the life's beginning.
ThreadState state_at(const Life& life, std::uint32_t thread, std::uint64_t number);

/// Opens or makes the store and runs all threads. What is against the law goes to the ledger.
int run_writer(const Life& life, KillLedger& ledger);

/// Opens the store and does nothing: a recovery that may be killed.
int run_opener(const Life& life, KillLedger& ledger);

/// Opens the store, compares it with the ledger, and says there what it holds.
int run_checker(const Life& life, KillLedger& ledger);

}  // namespace varve::lab

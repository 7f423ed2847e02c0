// Owns: the sequence of operations of a writer's threads, and the content of a store after each operation. The seed,
// the thread and the number determine an operation.
// Must never: read a clock or another value that a second run would not have: the process that checks runs the same
// list.
//
// Each thread has partitions and tables of its own, so that its effects are known without the other threads.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "varve/options.h"
#include "varve/result.h"
#include "varve/store.h"

namespace varve::lab {

inline constexpr std::string_view kKillAccount = "account1";
inline constexpr std::string_view kSharedTable = "Shared";
inline constexpr std::uint32_t kKillThreads = 4;

enum class KillVerb : std::uint8_t {
  kGroup,        // an entity group transaction of three upserts
  kRemove,       // an entity group transaction of three removes
  kTransaction,  // a store transaction over two partitions
  kMakeTable,
  kFillTable,
  kDropTable,
  kLoadTable,
};

struct KillOperation {
  KillVerb verb = KillVerb::kGroup;
  Durability durability = Durability::kSync;
  std::uint32_t thread = 0;
  std::uint64_t number = 0;
  /// A random number that selects rows and sizes.
  std::uint64_t chance = 0;
};

/// Returns the operation of a thread with this number, from 1. Numbers continue through all lives of a store.
KillOperation operation_of(std::uint64_t seed, std::uint32_t thread, std::uint64_t number);

/// The content of one thread: rows of the shared table by "partition/row", and rows of each table of its own.
struct ThreadState {
  std::map<std::string, std::string> rows;
  std::map<std::string, std::map<std::string, std::string>> tables;
  bool operator==(const ThreadState&) const = default;
};

/// Changes `state` to the state after the operation.
void apply(const KillOperation& operation, ThreadState& state);

/// Runs the operation. `state` is the state before it. Returns the version of its commit if the operation returns one.
Result<std::uint64_t> perform(Store& store, const KillOperation& operation, const ThreadState& state);

/// Returns the content of each thread in the store.
Result<std::vector<ThreadState>> read_states(const Store& store);
/// Returns one line that describes the difference.
std::string difference(const ThreadState& expected, const ThreadState& found);

}  // namespace varve::lab

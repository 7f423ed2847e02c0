// Owns: what the threads of a writer do, one operation after the other, each known from its place alone; and what a
// store holds after any of them.
// Must never: read a clock or anything that a second run would not see: the process that checks runs the same list.
//
// Each thread has partitions and tables of its own, so that what it did is known without the others.
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
  /// Drawn for it: which rows, how large.
  std::uint64_t chance = 0;
};

/// The operation of a thread with this number, from 1; numbers go on over all lives of a store.
KillOperation operation_of(std::uint64_t seed, std::uint32_t thread, std::uint64_t number);

/// What is there of one thread: by "partition/row" in the shared table, and for each table of its own.
struct ThreadState {
  std::map<std::string, std::string> rows;
  std::map<std::string, std::map<std::string, std::string>> tables;
  bool operator==(const ThreadState&) const = default;
};

/// The state behind it.
void apply(const KillOperation& operation, ThreadState& state);

/// Does it. `state` is what is there before. Returns the version of its commit where it tells one.
Result<std::uint64_t> perform(Store& store, const KillOperation& operation, const ThreadState& state);

/// What the store holds of each thread.
Result<std::vector<ThreadState>> read_states(const Store& store);
/// One line that says in what they differ.
std::string difference(const ThreadState& expected, const ThreadState& found);

}  // namespace varve::lab

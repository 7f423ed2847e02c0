// Owns: whether a concurrent history of one object could have happened one operation at a time.
// Must never: know a store: an object is a row of cells, an operation what it requires of them and what it sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace varve::lab {

struct Requirement {
  std::size_t cell = 0;
  bool equals = true;  // false: it differs
  std::int64_t value = 0;
};

struct Assignment {
  std::size_t cell = 0;
  std::int64_t value = 0;
};

/// Took effect at one moment between its invocation and its return.
struct HistoryOperation {
  static constexpr std::uint64_t kNever = UINT64_MAX;

  std::uint64_t invoked = 0;  // all moments of a history differ
  std::uint64_t returned = kNever;
  /// False: it may have happened after its invocation, at any time or not at all.
  bool certain = true;
  std::vector<Requirement> needs;
  std::vector<Assignment> sets;
  std::string text{};  // for people
};

enum class Verdict : std::uint8_t { kLinearizable, kNotLinearizable, kGivenUp };

/// The search of Wing and Gong with Lowe's memory of what was tried: the set of operations done and the cells that came
/// of them. All cells are zero at first. Gives up after `states_max` of those.
Verdict judge_history(std::span<const HistoryOperation> history, std::size_t cells, std::size_t states_max = 1'000'000);

/// Its operations in the order of their invocations, a line each.
std::string history_text(std::span<const HistoryOperation> history);

}  // namespace varve::lab

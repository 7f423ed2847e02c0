// Owns: deciding whether a concurrent history of one object is equivalent to a sequential one.
// Must never: know a store: an object is a row of cells. An operation requires values of cells, and sets others or
// adds to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace varve::lab {

struct Requirement {
  std::size_t cell = 0;
  bool equals = true;  // false: the cell must differ
  std::int64_t value = 0;
};

struct Assignment {
  std::size_t cell = 0;
  std::int64_t value = 0;
  bool adds = false;  // the value to what the cell has
};

/// One operation. It took effect at one moment between its invocation and its return.
struct HistoryOperation {
  static constexpr std::uint64_t kNever = UINT64_MAX;

  std::uint64_t invoked = 0;  // all moments of a history are different
  std::uint64_t returned = kNever;
  /// False: the operation may have happened at any time after its invocation, or not at all.
  bool certain = true;
  std::vector<Requirement> needs;
  std::vector<Assignment> sets;
  std::string text{};  // a description
};

enum class Linearity : std::uint8_t { kLinearizable, kNotLinearizable, kGivenUp };

/// Searches for an order by the method of Wing and Gong, with Lowe's memory of tried states. A state is the set of
/// completed operations, and the resulting cells. All cells are zero at first. Gives up after `states_max` states.
Linearity judge_history(std::span<const HistoryOperation> history, std::size_t cells,
                        std::size_t states_max = 1'000'000);

/// Returns the operations in the order of their invocations, one on each line.
std::string history_text(std::span<const HistoryOperation> history);

}  // namespace varve::lab

// Owns: the form of a measured row: figures of Varve, figures measured beside it, and goals that judge them.
// Must never: call a goal met without a figure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace varve::bench {

/// A figure and the bound that the goal sets for it.
struct Judged {
  /// The figure, such as "of the device".
  std::string name;
  double value = 0;
  double bound = 0;
  /// Whether the value must not be below the bound. Otherwise it must not be above.
  bool at_least = true;
};

struct GoalRow {
  /// The goal's id, such as BO-01.
  std::string goal;
  std::string name;
  std::string unit;
  bool more_is_better = true;
  /// Varve's figure.
  double value = 0;
  /// Measured beside it in the same unit: the device, other work of Varve, or the memory of the machine.
  std::map<std::string, double> beside{};
  /// Other programs, in the same unit.
  std::map<std::string, double> peers{};
  std::vector<Judged> judged{};
  /// Further figures of Varve. Each name has its unit.
  std::map<std::string, double> figures{};
  /// The sizes that were measured, and the goal's own sizes if they are larger.
  std::string sizes{};
  /// How Varve answers, if there was a choice.
  std::string plan{};
};

/// Returns the rows in the form in which tools/race records them, with the goals and the sizes added.
nlohmann::json as_json(const std::vector<GoalRow>& rows);
/// Returns the table of rows in that form, one line for each.
std::string as_table(const nlohmann::json& rows);

/// Returns a number of bytes, such as "64 MiB".
std::string text_of_bytes(std::uint64_t bytes);
/// Returns "1 GiB" or, if the goal is larger, "1 GiB (the goal: 10 GiB)".
std::string scaled_bytes(std::uint64_t measured, std::uint64_t goal);
/// Does the same for a number of `what`, such as "blobs".
std::string scaled_count(std::uint64_t measured, std::uint64_t goal, const std::string& what);

}  // namespace varve::bench

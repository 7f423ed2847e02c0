#include "bench/blobs/row.h"

#include <array>
#include <cmath>
#include <cstdio>

#include <nlohmann/json.hpp>

namespace varve::bench {

namespace {

using nlohmann::json;

bool is_met(const Judged& judged) {
  if (!std::isfinite(judged.value)) return false;
  return judged.at_least ? judged.value >= judged.bound : judged.value <= judged.bound;
}

json json_of(const Judged& judged) {
  return {{"name", judged.name},
          {"value", judged.value},
          {"bound", judged.bound},
          {"at_least", judged.at_least},
          {"met", is_met(judged)}};
}

json outcome_of(const GoalRow& row, double value) {
  return {{"value", value}, {"unit", row.unit}, {"more_is_better", row.more_is_better}, {"figures", json::object()}};
}

/// Varve's outcome also has the figures that the goals compare, so that tools/race finds them.
json outcome_of_varve(const GoalRow& row) {
  json outcome = outcome_of(row, row.value);
  json& figures = outcome["figures"];
  for (const auto& [name, value] : row.figures) figures[name] = value;
  for (const auto& [name, value] : row.beside) figures[name + " " + row.unit] = value;
  for (const Judged& judged : row.judged) figures[judged.name] = judged.value;
  return outcome;
}

json json_of(const GoalRow& row) {
  json contenders{{"varve", outcome_of_varve(row)}};
  for (const auto& [name, value] : row.peers) contenders[name] = outcome_of(row, value);
  json judged = json::array();
  for (const Judged& one : row.judged) judged.push_back(json_of(one));
  json beside = json::object();
  for (const auto& [name, value] : row.beside) beside[name] = value;
  return {{"goal", row.goal}, {"row", row.name},        {"sizes", row.sizes},       {"beside", beside},
          {"judged", judged}, {"further", row.figures}, {"contenders", contenders}, {"plan", row.plan}};
}

/// Returns three digits at least. A figure that could not be computed is "-".
std::string text_of(const json& value) {
  if (!value.is_number()) return "-";
  const double number = value.get<double>();
  std::array<char, 64> text{};
  const char* const form = std::abs(number) >= 100 ? "%.0f" : std::abs(number) >= 10 ? "%.1f" : "%.3g";
  const int length = std::snprintf(text.data(), text.size(), form, number);
  return {text.data(), static_cast<std::size_t>(length)};
}

void append(std::string& list, const std::string& entry) {
  list += (list.empty() ? "" : ", ") + entry;
}

std::string judged_text(const json& judged) {
  std::string text;
  for (const json& one : judged) {
    append(text, text_of(one["value"]) + " " + one["name"].get<std::string>() +
                     (one["at_least"].get<bool>() ? " (goal >= " : " (goal <= ") + text_of(one["bound"]) +
                     (one["met"].get<bool>() ? ": met)" : ": missed)"));
  }
  return text.empty() ? "-" : text;
}

std::string named_values(const json& values) {
  std::string text;
  for (const auto& [name, value] : values.items()) append(text, name + " " + text_of(value));
  return text;
}

std::string line_of(const json& row) {
  const json& contenders = row["contenders"];
  const json& varve = contenders["varve"];
  std::string others = named_values(row["beside"]);
  for (const auto& [name, outcome] : contenders.items()) {
    if (name != "varve") append(others, name + " " + text_of(outcome["value"]));
  }
  const std::string further = named_values(row["further"]);
  const std::string plan = row["plan"].get<std::string>();
  return "| " + row["goal"].get<std::string>() + " | " + row["row"].get<std::string>() + " | " +
         varve["unit"].get<std::string>() + " | " + text_of(varve["value"]) + " | " + (others.empty() ? "-" : others) +
         " | " + judged_text(row["judged"]) + " | " + (further.empty() ? "-" : further) + " | " +
         row["sizes"].get<std::string>() + (plan.empty() ? "" : "; plan: " + plan) + " |\n";
}

constexpr std::array<const char*, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};

std::string with_commas(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

}  // namespace

nlohmann::json as_json(const std::vector<GoalRow>& rows) {
  json all = json::array();
  for (const GoalRow& row : rows) all.push_back(json_of(row));
  return all;
}

std::string as_table(const nlohmann::json& rows) {
  std::string text =
      "| goal | row | unit | varve | measured beside it | ratios and goals | further figures | sizes |\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (const json& row : rows) text += line_of(row);
  return text;
}

std::string text_of_bytes(std::uint64_t bytes) {
  constexpr std::uint64_t kStep = 1024;
  std::size_t unit = 0;
  for (; bytes >= kStep && bytes % kStep == 0 && unit + 1 < kUnits.size(); bytes /= kStep) ++unit;
  return with_commas(bytes) + " " + kUnits[unit];
}

std::string scaled_bytes(std::uint64_t measured, std::uint64_t goal) {
  return text_of_bytes(measured) + (measured < goal ? " (the goal: " + text_of_bytes(goal) + ")" : "");
}

std::string scaled_count(std::uint64_t measured, std::uint64_t goal, const std::string& what) {
  return with_commas(measured) + " " + what + (measured < goal ? " (the goal: " + with_commas(goal) + ")" : "");
}

}  // namespace varve::bench

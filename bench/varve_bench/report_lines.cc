// Owns: measurements, and the list of workloads, as lines of JSON.
// Must never: leave out a figure, or write an incomplete line.
#include <nlohmann/json.hpp>

#include "bench/varve_bench/report.h"

namespace varve::bench {

namespace {

using nlohmann::json;

json line_of(const Record& record, const RowRecord& row, std::size_t round) {
  json contenders = json::object();
  for (const auto& [contender, outcomes] : row.outcomes) {
    if (round >= outcomes.size()) continue;
    const Outcome& outcome = outcomes[round];
    json& told = contenders[contender];
    told = {{"value", outcome.value},
            {"unit", outcome.unit},
            {"more_is_better", outcome.more_is_better},
            {"figures", outcome.figures}};
    if (!outcome.series.empty()) told["series"] = outcome.series;
    if (const auto found = record.back_ends.find(contender); found != record.back_ends.end()) {
      told["back_end"] = found->second;
    }
  }
  json line{{"workload", row.workload}, {"row", row.name}, {"contenders", contenders}};
  if (round < row.limits.size()) line["device"] = row.limits[round];
  if (round < row.unwritten_limits.size()) line["device_unwritten"] = row.unwritten_limits[round];
  if (!row.limited_figure.empty()) line["device_limits"] = row.limited_figure;
  return line;
}

json parameters_of(const Choice& choice) {
  return {{"entities", choice.entities},
          {"curve_entities", choice.curve_entities},
          {"seconds", choice.seconds},
          {"tables", choice.tables},
          {"slot_seconds", choice.slot_seconds},
          {"endurance_seconds", choice.endurance_seconds},
          {"mixed_entities", choice.mixed_entities},
          {"mixed_tables", choice.mixed_tables},
          {"offered", choice.offered}};
}

}  // namespace

std::string as_lines(const Record& record, const Choice& choice) {
  std::string text;
  for (int round = 0; round < choice.rounds; ++round) {
    for (const RowRecord& row : record.rows) {
      json line = line_of(record, row, static_cast<std::size_t>(round));
      line["round"] = choice.first_round + round;
      line["parameters"] = parameters_of(choice);
      line["load_average"] = record.load_average_max;
      text += line.dump() + "\n";
    }
  }
  return text;
}

std::string list_as_lines(const std::vector<Workload>& workloads) {
  std::string text;
  for (const Workload& workload : workloads) {
    json rows = json::array();
    for (const WorkloadRow& row : workload.rows) rows.push_back(row.name);
    const json line{{"workload", workload.name},
                    {"about", workload.about},
                    {"in_order", workload.in_order},
                    {"rows", std::move(rows)}};
    text += line.dump() + "\n";
  }
  return text;
}

}  // namespace varve::bench

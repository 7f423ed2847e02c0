#include "bench/varve_bench/report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace varve::bench {

namespace {

using Cells = std::vector<std::string>;

constexpr std::array<const char*, 13> kColumns{
    "p50 us",       "p99 us",    "p99.9 us", "p99.99 us", "max us", "stalled s", "CPU s/M", "background CPU s/M",
    "written/user", "read/user", "reads/op", "disk MB",   "RSS MB"};

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// Returns a number with three significant digits.
std::string number(double value) {
  char text[32];
  const double size = std::fabs(value);
  const int digits = size >= 100 || size == 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string scaled(double value) {
  if (std::fabs(value) >= 1e6) return number(value / 1e6) + " M";
  if (std::fabs(value) >= 1e4) return number(value / 1e3) + " k";
  return number(value);
}

std::vector<double> values_of(const RowRecord& row, const std::string& contender) {
  std::vector<double> values;
  const auto found = row.outcomes.find(contender);
  if (found == row.outcomes.end()) return values;
  for (const Outcome& outcome : found->second) values.push_back(outcome.value);
  return values;
}

std::vector<double> figures_of(const std::vector<Outcome>& outcomes, const std::string& name) {
  std::vector<double> values;
  for (const Outcome& outcome : outcomes) {
    if (const auto found = outcome.figures.find(name); found != outcome.figures.end()) values.push_back(found->second);
  }
  return values;
}

/// Returns processor times, the figures that a noisy machine disturbs least.
std::vector<double> processor_times(const RowRecord& row, const std::string& contender) {
  const auto found = row.outcomes.find(contender);
  return found == row.outcomes.end() ? std::vector<double>() : figures_of(found->second, "CPU s/M");
}

std::string with_range(const std::vector<double>& values) {
  if (values.empty()) return "-";
  const std::string middle = scaled(median(values));
  if (values.size() == 1) return middle;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return middle + " (" + scaled(*least) + "-" + scaled(*most) + ")";
}

/// Returns the factor by which the first is better. It is computed for each round, because the results of one round saw
/// the same machine.
std::string ratio(const std::vector<double>& first, const std::vector<double>& second, bool more_is_better) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
    const double quotient = more_is_better ? first[i] / second[i] : second[i] / first[i];
    if (std::isfinite(quotient)) ratios.push_back(quotient);
  }
  return ratios.empty() ? "-" : number(median(ratios));
}

std::string table_of(const std::vector<Cells>& lines) {
  std::vector<std::size_t> widths(lines.front().size(), 3);
  for (const Cells& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (std::size_t l = 0; l < lines.size(); ++l) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      text += (i == 0 ? "| " : " | ") + lines[l][i] + std::string(widths[i] - lines[l][i].size(), ' ');
    }
    text += " |\n";
    if (l > 0) continue;
    for (const std::size_t width : widths) text += "|" + std::string(width + 2, '-');
    text += "|\n";
  }
  return text;
}

const Outcome* any_outcome(const RowRecord& row) {
  return row.outcomes.empty() ? nullptr : &row.outcomes.begin()->second.front();
}

std::string race_table(const Record& record) {
  const std::string& first = record.contenders.front();
  Cells head{"median (range)", "unit"};
  for (const std::string& contender : record.contenders) {
    head.push_back(contender);
    if (contender != first) head.insert(head.end(), {first + " / " + contender, "by CPU"});
  }
  head.insert(head.end(), {"device", first + " / device"});
  std::vector<Cells> lines{std::move(head)};
  for (const RowRecord& row : record.rows) {
    const Outcome* outcome = any_outcome(row);
    if (outcome == nullptr) continue;
    const std::vector<double> ours = values_of(row, first);
    Cells line{row.name, outcome->unit};
    for (const std::string& contender : record.contenders) {
      const std::vector<double> values = values_of(row, contender);
      line.push_back(with_range(values));
      if (contender == first) continue;
      line.push_back(ratio(ours, values, outcome->more_is_better));
      line.push_back(ratio(processor_times(row, first), processor_times(row, contender), false));
    }
    line.push_back(with_range(row.limits));
    line.push_back(ratio(ours, row.limits, true));
    lines.push_back(std::move(line));
  }
  return table_of(lines);
}

std::string others_of(const std::vector<Outcome>& outcomes) {
  std::string text;
  for (const auto& [name, value] : outcomes.front().figures) {
    if (std::find(kColumns.begin(), kColumns.end(), name) != kColumns.end()) continue;
    text += (text.empty() ? "" : "; ") + name + " " + scaled(median(figures_of(outcomes, name)));
  }
  return text;
}

std::string cost_table(const Record& record) {
  Cells head{"medians", "contender"};
  head.insert(head.end(), kColumns.begin(), kColumns.end());
  head.emplace_back("others");
  std::vector<Cells> lines{std::move(head)};
  for (const RowRecord& row : record.rows) {
    for (const std::string& contender : record.contenders) {
      const auto found = row.outcomes.find(contender);
      if (found == row.outcomes.end()) continue;
      Cells line{row.name, contender};
      for (const char* column : kColumns) {
        const std::vector<double> values = figures_of(found->second, column);
        line.push_back(values.empty() ? "-" : scaled(median(values)));
      }
      line.push_back(others_of(found->second));
      lines.push_back(std::move(line));
    }
  }
  return table_of(lines);
}

/// Returns a line of bars for each slot of the last round.
std::string plot_of(const std::string& name, const std::vector<double>& values, double slot_seconds) {
  constexpr double kWidth = 60;
  const double most = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  std::string text = "  " + name + ", most " + scaled(most) + "\n";
  for (std::size_t i = 0; i < values.size(); ++i) {
    char head[48];
    std::snprintf(head, sizeof head, "  %6.0f s %10s ", static_cast<double>(i) * slot_seconds,
                  scaled(values[i]).c_str());
    text += head + std::string(most > 0 ? static_cast<std::size_t>(values[i] / most * kWidth) : 0, '#') + "\n";
  }
  return text;
}

std::string plots(const Record& record, const Choice& choice) {
  std::string text;
  for (const RowRecord& row : record.rows) {
    for (const auto& [contender, outcomes] : row.outcomes) {
      for (const auto& [name, values] : outcomes.back().series) {
        text += "\n" + row.name + ", " + contender + "\n" + plot_of(name, values, choice.slot_seconds);
      }
    }
  }
  return text;
}

}  // namespace

std::string with_unit(double value, const std::string& unit) {
  return scaled(value) + (unit.front() == '/' ? "" : " ") + unit;
}

std::string as_tables(const Record& record, const Choice& choice) {
  std::string text = "entities: " + std::to_string(choice.entities) +
                     " (curve: " + std::to_string(choice.curve_entities) +
                     "), rounds: " + std::to_string(choice.rounds) + ", seconds a row: " + number(choice.seconds) +
                     ", load average at most " + number(record.load_average_max) + "\nback ends:";
  for (const auto& [contender, back_end] : record.back_ends) text += " " + contender + ": " + back_end + ";";
  return text + "\n\n" + race_table(record) + "\n" + cost_table(record) + plots(record, choice);
}

}  // namespace varve::bench

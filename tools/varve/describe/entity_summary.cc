#include "tools/varve/describe/entity_summary.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <functional>

#include <nlohmann/json.hpp>

#include "tools/varve/base/mixed_hash.h"
#include "tools/varve/terminal/progress.h"
#include "tools/varve/terminal/terminal.h"
#include "tools/varve/text/value_text.h"

namespace varve::tool {

namespace {

constexpr int kRegisterBits = 11;
constexpr std::size_t kRegisters = std::size_t{1} << kRegisterBits;

std::string percent_text(std::uint64_t part, std::uint64_t whole) {
  const double percent = whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %%", percent);
  return text.data();
}

/// Returns the begin of a text, cut between two characters.
std::string cut(const std::string& text) {
  if (text.size() <= EntitySummary::kExampleBytesMax) return text;
  std::size_t end = EntitySummary::kExampleBytesMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

}  // namespace

void DistinctCount::add(std::string_view text) {
  if (registers_.empty()) registers_.resize(kRegisters);
  const std::uint64_t hash = mixed_hash(std::hash<std::string_view>()(text) + 0x9E3779B97F4A7C15U);
  const std::uint64_t rest = hash << kRegisterBits | std::uint64_t{1} << (kRegisterBits - 1);
  auto& place = registers_[hash >> (64 - kRegisterBits)];
  place = std::max(place, static_cast<std::uint8_t>(std::countl_zero(rest) + 1));
}

std::uint64_t DistinctCount::estimate() const {
  if (registers_.empty()) return 0;
  double sum = 0;
  double empty = 0;
  for (const std::uint8_t rank : registers_) {
    sum += std::ldexp(1.0, -rank);
    if (rank == 0) ++empty;
  }
  const auto count = static_cast<double>(kRegisters);
  const double raw = 0.7213 / (1 + 1.079 / count) * count * count / sum;
  const bool is_small = raw <= 2.5 * count && empty > 0;
  return static_cast<std::uint64_t>(std::llround(is_small ? count * std::log(count / empty) : raw));
}

void EntitySummary::add(const std::string& name, PropertyType type, const std::string& text) {
  auto found = properties_.find(name);
  if (found == properties_.end()) {
    if (names_.size() == kNamesMax) {
      ++left_out_;
      return;
    }
    names_.push_back(name);
    found = properties_.emplace(name, PropertySummary()).first;
  }
  PropertySummary& property = found->second;
  ++property.entities;
  ++property.types[type];
  property.distinct.add(text);
  if (property.examples.size() == kExamplesMax) return;
  std::string example = cut(text);
  if (std::find(property.examples.begin(), property.examples.end(), example) == property.examples.end())
    property.examples.push_back(std::move(example));
}

void EntitySummary::add(const Entity& entity) {
  ++entities_;
  bytes_ += accounted_size_bytes(entity);
  partitions_.add(entity.partition_key());
  add("PartitionKey", PropertyType::kString, entity.partition_key());
  add("RowKey", PropertyType::kString, entity.row_key());
  for (const Property& property : entity.properties())
    add(property.name, property.value.type(), to_text(property.value));
}

std::string types_text(const PropertySummary& property) {
  std::vector<std::pair<std::uint64_t, std::string>> types;
  for (const auto& [type, count] : property.types) types.emplace_back(count, property_type_name(type));
  std::stable_sort(types.begin(), types.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (const auto& [count, name] : types) {
    if (!text.empty()) text += ", ";
    text += name;
    if (types.size() > 1) text += " " + percent_text(count, property.entities);
  }
  return text;
}

std::string summary_text(const EntitySummary& summary) {
  std::string text = counted(summary.entities(), "entity", "entities") + " in about " +
                     counted(summary.partitions(), "partition", "partitions") + ", " + bytes_text(summary.bytes()) +
                     " as the service counts\n";
  std::size_t width = 0;
  std::size_t types_width = 0;
  for (const std::string& name : summary.names()) {
    width = std::max(width, show_text(name, SIZE_MAX).columns);
    types_width = std::max(types_width, types_text(summary.of(name)).size());
  }
  for (const std::string& name : summary.names()) {
    const PropertySummary& property = summary.of(name);
    const ShownText shown = show_text(name, SIZE_MAX);
    const std::string types = types_text(property);
    const std::string fill = percent_text(property.entities, summary.entities());
    const std::string distinct = with_commas(std::min(property.distinct.estimate(), property.entities));
    text += shown.text + std::string(width - shown.columns + 2, ' ') + types +
            std::string(types_width - types.size() + 2, ' ') + std::string(fill.size() < 8 ? 8 - fill.size() : 0, ' ') +
            fill + "  about " + distinct + " different:";
    for (std::size_t i = 0; i < property.examples.size(); ++i)
      text += (i == 0 ? " " : " | ") + show_text(property.examples[i], SIZE_MAX).text;
    text += "\n";
  }
  if (summary.values_left_out() > 0) {
    text += "further names have " + counted(summary.values_left_out(), "value", "values") + "\n";
  }
  return text;
}

std::string summary_json(const EntitySummary& summary) {
  nlohmann::ordered_json properties = nlohmann::ordered_json::array();
  for (const std::string& name : summary.names()) {
    const PropertySummary& property = summary.of(name);
    nlohmann::ordered_json types = nlohmann::ordered_json::object();
    for (const auto& [type, count] : property.types) types[std::string(property_type_name(type))] = count;
    properties.push_back({{"name", name},
                          {"entities", property.entities},
                          {"types", std::move(types)},
                          {"distinct", std::min(property.distinct.estimate(), property.entities)},
                          {"examples", property.examples}});
  }
  const std::string members = nlohmann::ordered_json{
      {"entities", summary.entities()},
      {"partitions", summary.partitions()},
      {"bytes", summary.bytes()},
      {"properties", std::move(properties)},
      {"values_left_out",
       summary.values_left_out()}}.dump();
  return members.substr(1, members.size() - 2);
}

}  // namespace varve::tool

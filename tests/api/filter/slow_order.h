// Owns: a slow, obvious order of entities by their values, to compare ordered scans and aggregates with.
// Must never: share code with entity orders or aggregations.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "varve/table_index.h"
#include "varve/types.h"

namespace varve::test {

/// Returns the place of the type in the order.
inline int rank_of(const Value& value) {
  switch (value.type()) {
    case PropertyType::kBoolean: return 0;
    case PropertyType::kInt32:
    case PropertyType::kInt64:
    case PropertyType::kDouble: return 1;
    case PropertyType::kDateTime: return 2;
    case PropertyType::kGuid: return 3;
    case PropertyType::kString: return 4;
    case PropertyType::kBinary: return 5;
    case PropertyType::kLargeValue: return 6;
  }
  return 7;
}

/// NaN is above all others. A long double holds every Int64.
inline std::pair<bool, long double> number_of(const Value& value) {
  if (const auto* const narrow = value.get_if<std::int32_t>()) return {false, *narrow};
  if (const auto* const wide = value.get_if<std::int64_t>()) return {false, static_cast<long double>(*wide)};
  const double real = *value.get_if<double>();
  return std::isnan(real) ? std::pair(true, 0.0L) : std::pair(false, static_cast<long double>(real));
}

template <typename T>
int three_way(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

/// Compares as UTF-16: a character of four bytes is two surrogates there, which are below U+E000.
inline int compared_texts(std::string_view a, std::string_view b) {
  const auto [left, right] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (left == a.end() || right == b.end()) return three_way(a.size(), b.size());
  const auto weight = [](char c) {
    const int byte = static_cast<unsigned char>(c);
    return byte == 0xEE || byte == 0xEF ? byte + 0x100 : byte;
  };
  return three_way(weight(*left), weight(*right));
}

inline int compared_values(const Value& a, const Value& b) {
  if (rank_of(a) != rank_of(b)) return three_way(rank_of(a), rank_of(b));
  switch (rank_of(a)) {
    case 0: return three_way(*a.get_if<bool>(), *b.get_if<bool>());
    case 1: return three_way(number_of(a), number_of(b));
    case 2: return three_way(a.get_if<DateTime>()->ticks, b.get_if<DateTime>()->ticks);
    case 3: return three_way(a.get_if<Guid>()->to_string(), b.get_if<Guid>()->to_string());
    case 4: return compared_texts(*a.get_if<std::string>(), *b.get_if<std::string>());
    case 5: return three_way(a.get_if<Binary>()->bytes, b.get_if<Binary>()->bytes);
    default: return 0;
  }
}

inline std::optional<Value> value_of_component(const Entity& entity, const std::string& name) {
  if (name == "PartitionKey") return Value(entity.partition_key());
  if (name == "RowKey") return Value(entity.row_key());
  if (name == "Timestamp") return Value(entity.timestamp());
  const Value* const value = entity.find(name);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

/// Returns whether `a` comes before `b` by their values alone. An entity without a component comes last.
inline bool is_before(const std::vector<IndexComponent>& order, const Entity& a, const Entity& b) {
  for (const IndexComponent& one : order) {
    const std::optional<Value> left = value_of_component(a, one.property);
    const std::optional<Value> right = value_of_component(b, one.property);
    if (!left || !right) {
      if (left.has_value() != right.has_value()) return left.has_value();
      continue;
    }
    const int found = compared_values(*left, *right);
    if (found != 0) return one.is_descending ? found > 0 : found < 0;
  }
  return false;
}

/// Returns the order as Scan::order_by has it.
inline std::string order_text(const std::vector<IndexComponent>& order) {
  std::string text;
  for (const IndexComponent& one : order) {
    text.append(text.empty() ? "" : ", ").append(one.property).append(one.is_descending ? " desc" : " asc");
  }
  return text;
}

}  // namespace varve::test

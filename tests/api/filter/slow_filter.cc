// Owns: the slow evaluation and the generation of filters (slow_filter.h).
// Must never: be optimized.
#include "tests/api/filter/slow_filter.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>

namespace varve::test {
namespace {

std::uint64_t below(RandomEngine& random, std::uint64_t bound) {
  return random() % bound;
}

/// Returns -1, 0 or 1, or 2 if the values have no order.
template <typename T>
int compared(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : a == b ? 0 : 2;
}

std::u16string utf16(const std::string& text) {
  std::u16string units;
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::size_t length = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    std::uint32_t character = length == 1 ? byte : byte & (0xFFU >> (length + 1));
    for (std::size_t k = 1; k < length; ++k) {
      character = character << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3FU);
    }
    if (character < 0x10000) {
      units.push_back(static_cast<char16_t>(character));
    } else {
      units.push_back(static_cast<char16_t>(0xD800 + ((character - 0x10000) >> 10)));
      units.push_back(static_cast<char16_t>(0xDC00 + ((character - 0x10000) & 0x3FF)));
    }
    i += length;
  }
  return units;
}

/// Returns the order of a stored value and a literal, or nothing if their types do not match.
std::optional<int> order(const Value& stored, const Value& literal) {
  if (const auto* const a = stored.get_if<std::string>(); a != nullptr) {
    const auto* const b = literal.get_if<std::string>();
    return b == nullptr ? std::nullopt : std::optional<int>(compared(utf16(*a), utf16(*b)));
  }
  const auto* const int32 = literal.get_if<std::int32_t>();
  const auto* const int64 = literal.get_if<std::int64_t>();
  const auto* const number = literal.get_if<double>();
  if (const auto* const a = stored.get_if<std::int32_t>(); a != nullptr) {
    if (int32 != nullptr) return compared(*a, *int32);
    return std::nullopt;
  }
  if (const auto* const a = stored.get_if<std::int64_t>(); a != nullptr) {
    if (int32 != nullptr) return compared<std::int64_t>(*a, *int32);
    if (int64 != nullptr) return compared(*a, *int64);
    return std::nullopt;
  }
  if (const auto* const a = stored.get_if<double>(); a != nullptr) {
    if (int32 != nullptr) return compared<long double>(*a, *int32);
    if (int64 != nullptr) return compared<long double>(*a, static_cast<long double>(*int64));  // 64 bits: exact
    if (number != nullptr) return compared(*a, *number);
    return std::nullopt;
  }
  if (stored.type() != literal.type()) return std::nullopt;
  if (const auto* const a = stored.get_if<bool>(); a != nullptr) return compared(*a, *literal.get_if<bool>());
  if (const auto* const a = stored.get_if<DateTime>(); a != nullptr) {
    return compared(a->ticks, literal.get_if<DateTime>()->ticks);
  }
  if (const auto* const a = stored.get_if<Guid>(); a != nullptr) {
    return compared(a->to_string(), literal.get_if<Guid>()->to_string());
  }
  const auto unsigned_bytes = [](const Binary& binary) {
    return std::vector<unsigned char>(binary.bytes.begin(), binary.bytes.end());
  };
  return compared(unsigned_bytes(*stored.get_if<Binary>()), unsigned_bytes(*literal.get_if<Binary>()));
}

bool compares(const Value& stored, const std::string& name, const Value& literal) {
  const std::optional<int> found = order(stored, literal);
  const int sign = found.value_or(-1);
  if (name == "eq") return sign == 0;
  if (name == "ne") return sign != 0;
  if (name == "gt") return sign == 1;
  if (name == "ge") return sign == 0 || sign == 1;
  if (name == "lt") return sign == -1;
  return sign == 0 || sign == -1;
}

std::optional<Value> value_of(const Entity& entity, const std::string& property) {
  if (property == "PartitionKey") return Value(entity.partition_key());
  if (property == "RowKey") return Value(entity.row_key());
  if (property == "Timestamp") return Value(entity.timestamp());
  const Value* const value = entity.find(property);
  return value == nullptr ? std::nullopt : std::optional<Value>(*value);
}

std::string mirrored_name(const std::string& name) {
  if (name == "gt") return "lt";
  if (name == "ge") return "le";
  if (name == "lt") return "gt";
  if (name == "le") return "ge";
  return name;
}

std::string random_text(RandomEngine& random) {
  static const std::array<const char*, 9> kTexts = {
      "", "a", "b", "ab", "B", "a'b", "z", "\xEF\xBF\xBD", "\xF0\x9F\x98\x80"};
  return kTexts[below(random, kTexts.size())];
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

bool is_true(const std::string& function, const Value& stored, const Value& argument) {
  if (function == "exists") return true;
  const auto* const text = stored.get_if<std::string>();
  if (text == nullptr) return false;
  const std::string& part = *argument.get_if<std::string>();
  const std::size_t found = text->find(part);
  if (function == "startswith") return found == 0;
  if (function == "contains") return found != std::string::npos;
  if (function == "endswith") return text->size() >= part.size() && text->substr(text->size() - part.size()) == part;
  bool equal = text->size() == part.size();
  for (std::size_t i = 0; equal && i < part.size(); ++i) equal = lower((*text)[i]) == lower(part[i]);
  return equal;
}

std::string random_property(RandomEngine& random) {
  static const std::array<const char*, 11> kNames = {
      "A", "B", "C", "D", "E", "Fluss_", "G1", "\xC3\x84rger", "PartitionKey", "RowKey", "Timestamp"};
  return kNames[below(random, kNames.size())];
}

}  // namespace

bool SlowFilter::matches(const Entity& entity) const {
  switch (kind) {
    case Kind::kLiteral: return *literal.get_if<bool>();
    case Kind::kNot: return !children[0].matches(entity);
    case Kind::kAnd: return children[0].matches(entity) && children[1].matches(entity);
    case Kind::kOr: return children[0].matches(entity) || children[1].matches(entity);
    case Kind::kBareProperty:
    case Kind::kComparison:
    case Kind::kTwoProperties:
    case Kind::kList:
    case Kind::kFunction: break;
  }
  const std::optional<Value> stored = value_of(entity, property);
  if (!stored) return false;
  if (kind == Kind::kFunction) return is_true(function_name, *stored, literal);
  if (kind == Kind::kTwoProperties) {
    const std::optional<Value> other = value_of(entity, other_property);
    return other && compares(*stored, operator_name, *other);
  }
  if (kind == Kind::kList) {
    bool any = false;
    for (const Value& value : values) any = any || compares(*stored, "eq", value);
    return any;
  }
  return kind == Kind::kBareProperty ? compares(*stored, "eq", Value(true)) : compares(*stored, operator_name, literal);
}

namespace {

/// Joins both texts, with white space if the form or the grammar requires it.
std::string joined(const std::string& left, const std::string& right, unsigned form) {
  const bool is_beside = left.back() == '\'' || left.back() == ')' || right.front() == '\'' || right.front() == '(';
  if ((form & SlowFilter::kNoSpace) != 0 && is_beside) return left + right;
  return left + ((form & SlowFilter::kOtherSpace) != 0 ? "\t\r\n" : " ") + right;
}

std::string joined(const std::string& left, const std::string& word, const std::string& right, unsigned form) {
  return joined(joined(left, word, form), right, form);
}

std::string in_parentheses(const std::string& operand, bool wanted) {
  return wanted ? "(" + operand + ")" : operand;
}

}  // namespace

std::string SlowFilter::leaf_text() const {
  const std::string left = in_parentheses(property, (form & kParenthesesLeft) != 0);
  const std::string comma = (form & kOtherSpace) != 0 ? " ,\t" : ",";
  switch (kind) {
    case Kind::kLiteral: return *literal.get_if<bool>() ? "true" : "false";
    case Kind::kComparison:
      if (mirrored) {
        return joined(in_parentheses(literal_text(literal), (form & kParenthesesLeft) != 0),
                      mirrored_name(operator_name), in_parentheses(property, (form & kParenthesesRight) != 0), form);
      }
      return joined(left, operator_name, in_parentheses(literal_text(literal), (form & kParenthesesRight) != 0), form);
    case Kind::kTwoProperties:
      return joined(left, operator_name, in_parentheses(other_property, (form & kParenthesesRight) != 0), form);
    case Kind::kList: {
      std::string list = "(";
      for (const Value& value : values) list += (list.size() == 1 ? "" : comma) + literal_text(value);
      return joined(left, "in", list + ")", form);
    }
    case Kind::kFunction:
      return function_name + "(" + property + (function_name == "exists" ? "" : comma + literal_text(literal)) + ")";
    default: return property;
  }
}

std::string SlowFilter::text(int above) const {
  std::string written;
  int own = 4;
  switch (kind) {
    case Kind::kLiteral:
    case Kind::kBareProperty:
    case Kind::kComparison:
    case Kind::kTwoProperties:
    case Kind::kList:
    case Kind::kFunction: written = leaf_text(); break;
    case Kind::kNot:
      own = 3;
      written = joined("not", children[0].text(3), form);
      break;
    case Kind::kAnd:
      own = 2;
      written = joined(children[0].text(2), "and", children[1].text(2), form);
      break;
    case Kind::kOr:
      own = 1;
      written = joined(children[0].text(1), "or", children[1].text(1), form);
      break;
  }
  return own < above || parentheses ? "(" + written + ")" : written;
}

std::string literal_text(const Value& value) {
  if (const auto* const text = value.get_if<std::string>(); text != nullptr) {
    std::string quoted = "'";
    for (const char c : *text) quoted.append(c == '\'' ? 2 : 1, c);
    return quoted + "'";
  }
  if (const auto* const number = value.get_if<std::int32_t>(); number != nullptr) return std::to_string(*number);
  if (const auto* const number = value.get_if<std::int64_t>(); number != nullptr) return std::to_string(*number) + "L";
  if (const auto* const truth = value.get_if<bool>(); truth != nullptr) return *truth ? "true" : "false";
  if (const auto* const time = value.get_if<DateTime>(); time != nullptr) return "datetime'" + time->to_string() + "'";
  if (const auto* const guid = value.get_if<Guid>(); guid != nullptr) return "guid'" + guid->to_string() + "'";
  if (const auto* const number = value.get_if<double>(); number != nullptr) {
    if (std::isnan(*number)) return "NaN";
    if (std::isinf(*number)) return *number > 0 ? "INF" : "-INF";
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.17gD", *number);
    return text.data();
  }
  std::string hex = "X'";
  for (const char c : value.get_if<Binary>()->bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    const unsigned byte = static_cast<unsigned char>(c);
    hex.push_back(kDigits[byte / 16]);
    hex.push_back(kDigits[byte % 16]);
  }
  return hex + "'";
}

Value random_literal(RandomEngine& random) {
  static const std::array<std::int64_t, 6> kIntegers = {-1, 0, 3, 4, 9'007'199'254'740'993, INT64_MIN};
  static const std::array<double, 8> kDoubles = {-0.0,
                                                 0.0,
                                                 3.0,
                                                 3.5,
                                                 9'007'199'254'740'992.0,
                                                 1e300,
                                                 std::numeric_limits<double>::infinity(),
                                                 std::numeric_limits<double>::quiet_NaN()};
  Guid guid;
  switch (below(random, 9)) {
    case 0: return Value(below(random, 2) == 0);
    case 1: return Value(static_cast<std::int32_t>(below(random, 5)) - 1);
    case 2: return Value(kIntegers[below(random, kIntegers.size())]);
    case 3: return Value(kDoubles[below(random, kDoubles.size())]);
    case 4: return Value(DateTime{638'000'000'000'000'000 + below(random, 3)});
    case 5:
      guid.bytes[0] = static_cast<std::uint8_t>(0x7F + below(random, 3));
      guid.bytes[8] = static_cast<std::uint8_t>(below(random, 2));
      return Value(guid);
    case 6: return Value(Binary{std::string(below(random, 3), static_cast<char>(0x7F + below(random, 2)))});
    default: return Value(random_text(random));
  }
}

Entity random_entity(RandomEngine& random) {
  Entity entity(random_text(random) + random_text(random), random_text(random) + random_text(random));
  for (std::uint64_t left = below(random, 6); left > 0; --left) {
    const std::string name = random_property(random);
    if (name != "PartitionKey" && name != "RowKey" && name != "Timestamp") entity.set(name, random_literal(random));
  }
  return entity;
}

namespace {

const char* random_operator(RandomEngine& random) {
  static const std::array<const char*, 6> kOperators = {"eq", "ne", "gt", "ge", "lt", "le"};
  return kOperators[below(random, kOperators.size())];
}

/// Sets a condition that only the extended grammar has. The property is set.
void choose_extended(RandomEngine& random, SlowFilter& filter) {
  static const std::array<const char*, 5> kFunctions = {"startswith", "endswith", "contains", "equals_ignoring_case",
                                                        "exists"};
  const std::uint64_t choice = below(random, 4);
  if (choice == 0) {
    filter.kind = SlowFilter::Kind::kTwoProperties;
    filter.operator_name = random_operator(random);
    filter.other_property = random_property(random);
  } else if (choice == 1) {
    filter.kind = SlowFilter::Kind::kList;
    for (std::uint64_t left = 1 + below(random, 6); left > 0; --left) {
      const bool is_text = below(random, 2) == 0;
      filter.values.push_back(is_text ? Value(random_text(random) + random_text(random)) : random_literal(random));
    }
  } else {
    filter.kind = SlowFilter::Kind::kFunction;
    filter.function_name = kFunctions[below(random, kFunctions.size())];
    filter.literal = Value(random_text(random) + (below(random, 2) == 0 ? random_text(random) : ""));
  }
}

}  // namespace

SlowFilter random_filter(RandomEngine& random, int depth) {
  SlowFilter filter;
  filter.parentheses = below(random, 8) == 0;
  filter.form = static_cast<unsigned>(below(random, SlowFilter::kForms));
  const std::uint64_t choice = below(random, depth > 0 ? 22 : 11);
  if (choice >= 11) {
    filter.kind = choice < 14 ? SlowFilter::Kind::kNot : choice < 18 ? SlowFilter::Kind::kAnd : SlowFilter::Kind::kOr;
    filter.children.push_back(random_filter(random, depth - 1));
    if (filter.kind != SlowFilter::Kind::kNot) filter.children.push_back(random_filter(random, depth - 1));
    return filter;
  }
  filter.property = random_property(random);
  if (choice == 0) {
    const bool is_system =
        filter.property == "PartitionKey" || filter.property == "RowKey" || filter.property == "Timestamp";
    filter.kind = !is_system && below(random, 2) == 0 ? SlowFilter::Kind::kBareProperty : SlowFilter::Kind::kLiteral;
    filter.literal = Value(below(random, 2) == 0);
    return filter;
  }
  if (choice >= 8) {
    choose_extended(random, filter);
    return filter;
  }
  filter.kind = SlowFilter::Kind::kComparison;
  filter.operator_name = random_operator(random);
  const bool of_key = filter.property == "PartitionKey" || filter.property == "RowKey";
  filter.literal =
      of_key && below(random, 8) != 0 ? Value(random_text(random) + random_text(random)) : random_literal(random);
  const auto* const number = filter.literal.get_if<double>();
  const bool is_word = number != nullptr && (std::isnan(*number) || *number == std::numeric_limits<double>::infinity());
  filter.mirrored = !is_word && below(random, 4) == 0;  // NaN and INF would be names on the left side
  return filter;
}

}  // namespace varve::test

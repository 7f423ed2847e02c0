// Owns: the filter text of conditions (condition.h).
// Must never: write a text that the parser reads with another meaning.
#include "varve/condition.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "api/filter/filter.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "format/keys/sort_key.h"
#include "varve/names.h"

namespace varve {
namespace {

/// Words that a filter cannot use as property names.
constexpr std::array<std::string_view, 12> kReserved = {"and", "or", "not", "eq",   "ne",   "gt",
                                                        "ge",  "lt", "le",  "null", "true", "false"};

std::string between_quotes(std::string_view text) {
  std::string written = "'";
  for (const char c : text) {
    written.push_back(c);
    if (c == '\'') written.push_back(c);
  }
  written.push_back('\'');
  return written;
}

/// Returns the shortest text that gives the same number and is not the literal of an Int32.
std::string double_text(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "INF" : "-INF";
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  std::string text(digits.data(), end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

struct LiteralWriter {
  std::string operator()(const Binary& value) const {
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string text = "X'";
    for (const char c : value.bytes) {
      const auto byte = static_cast<unsigned char>(c);
      text.push_back(kHex[byte >> 4]);
      text.push_back(kHex[byte & 15U]);
    }
    return text + "'";
  }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(const DateTime& value) const { return "datetime'" + value.to_string() + "'"; }
  std::string operator()(double value) const { return double_text(value); }
  std::string operator()(const Guid& value) const { return "guid'" + value.to_string() + "'"; }
  std::string operator()(std::int32_t value) const { return std::to_string(value); }
  std::string operator()(std::int64_t value) const { return std::to_string(value) + "L"; }
  std::string operator()(const std::string& value) const { return between_quotes(value); }
  std::string operator()(const LargeValue& /*value*/) const { return "null"; }  // which the parser refuses
};

Status check_filter_name(std::string_view name) {
  if (std::find(kReserved.begin(), kReserved.end(), name) == kReserved.end()) return check_property_name(name);
  return service_error::invalid_input(
      quoted(name) + " is a reserved word of the filter language; a filter cannot name such a property");
}

std::uint32_t last_character(std::string_view text, std::size_t begin) {
  const auto first = static_cast<unsigned char>(text[begin]);
  if (first < 0x80) return first;
  const std::size_t length = text.size() - begin;
  std::uint32_t character = first & (0xFFU >> (length + 1));
  for (std::size_t i = begin + 1; i < text.size(); ++i) {
    character = character << 6 | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  return character;
}

/// Returns the next character in the order of UTF-16 code units. In this order, characters above U+FFFF come before
/// U+E000.
std::optional<std::uint32_t> next_character(std::uint32_t character) {
  if (character == 0xD7FF) return 0x10000;
  if (character == 0x10FFFF) return 0xE000;
  if (character == 0xFFFF) return std::nullopt;
  return character + 1;
}

void append_utf8(std::string& out, std::uint32_t character) {
  const auto tail = [&](unsigned shift) { out.push_back(static_cast<char>(0x80U | (character >> shift & 0x3FU))); };
  if (character < 0x80) {
    out.push_back(static_cast<char>(character));
  } else if (character < 0x800) {
    out.push_back(static_cast<char>(0xC0U | character >> 6));
    tail(0);
  } else if (character < 0x10000) {
    out.push_back(static_cast<char>(0xE0U | character >> 12));
    tail(6);
    tail(0);
  } else {
    out.push_back(static_cast<char>(0xF0U | character >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace

std::string filter_literal(const Value& value) {
  return std::visit(LiteralWriter{}, value.variant());
}

std::string prefix_successor(std::string_view prefix) {
  std::string text(prefix);
  while (!text.empty()) {
    std::size_t begin = text.size() - 1;
    while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80U) --begin;
    const std::optional<std::uint32_t> next = next_character(last_character(text, begin));
    text.resize(begin);
    if (!next) continue;
    append_utf8(text, *next);
    break;
  }
  return text;
}

Result<Condition> Condition::parse(std::string_view text) {
  const Result<Filter> filter = Filter::parse(text);
  if (!filter.ok()) return filter.status();
  Condition condition;
  if (filter->matches_everything()) return condition;
  condition.text_ = text;
  condition.binding_ = Binding::kOr;  // so it gets parentheses wherever it might need them
  return condition;
}

Condition Condition::refused(Status status) {
  Condition condition;
  condition.text_ = "(";  // no parser accepts it
  condition.status_ = std::move(status);
  return condition;
}

Condition Condition::comparison(std::string_view property, std::string_view compare, const Value& literal) {
  if (Status named = check_filter_name(property); !named.ok()) return refused(std::move(named));
  if (literal.type() == PropertyType::kLargeValue) {
    return refused(service_error::invalid_input("a condition cannot compare a LargeValue; compare another property"));
  }
  Condition condition;
  condition.text_.append(property).append(" ").append(compare).append(" ").append(filter_literal(literal));
  return condition;
}

Condition Condition::of_two(std::string_view property, std::string_view compare, std::string_view other) {
  for (const std::string_view name : {property, other}) {
    if (Status named = check_filter_name(name); !named.ok()) return refused(std::move(named));
  }
  if (other == "NaN" || other == "INF") {
    return refused(service_error::invalid_input(quoted(other) + " is a number on the right side of a comparison; " +
                                                "write the property with this name on the left side"));
  }
  Condition condition;
  condition.text_.append(property).append(" ").append(compare).append(" ").append(other);
  return condition;
}

Condition Condition::function(std::string_view name, std::string_view property, const std::string_view* text) {
  if (Status named = check_filter_name(property); !named.ok()) return refused(std::move(named));
  Condition condition;
  condition.text_.append(name).append("(").append(property);
  if (text != nullptr) {
    if (!format::is_valid_utf8(*text)) {
      return refused(service_error::invalid_input("the text " + quoted(*text) + " is not valid UTF-8"));
    }
    condition.text_.append(",").append(between_quotes(*text));
  }
  condition.text_.append(")");
  return condition;
}

void Condition::wrap_below(Binding binding) {
  if (binding_ >= binding) return;
  text_.insert(text_.begin(), '(');
  text_.push_back(')');
}

Condition Condition::join(Condition left, Condition right, Binding binding, std::string_view word) {
  if (!left.status_.ok()) return left;
  if (!right.status_.ok()) return right;
  left.wrap_below(binding);
  right.wrap_below(binding);
  left.text_.append(word).append(right.text_);
  left.binding_ = binding;
  return left;
}

Condition operator&&(Condition left, Condition right) {
  if (left.text_.empty()) return right;
  if (right.text_.empty()) return left;
  return Condition::join(std::move(left), std::move(right), Condition::Binding::kAnd, " and ");
}

Condition operator||(Condition left, Condition right) {
  // "Everything or X" is everything, but an error in either operand must not be lost.
  if (left.text_.empty()) return right.status_.ok() ? left : right;
  if (right.text_.empty()) return left.status_.ok() ? right : left;
  return Condition::join(std::move(left), std::move(right), Condition::Binding::kOr, " or ");
}

Condition operator!(Condition operand) {
  if (!operand.status_.ok()) return operand;
  operand.text_ = operand.text_.empty() ? "false" : "not (" + operand.text_ + ")";
  operand.binding_ = Condition::Binding::kTight;
  return operand;
}

Condition Field::starts_with(std::string_view prefix) const {
  if (!format::is_valid_utf8(prefix)) {
    return refused(service_error::invalid_input("the prefix " + quoted(prefix) + " is not valid UTF-8"));
  }
  const std::string end = prefix_successor(prefix);
  Condition from = *this >= Value(prefix);
  return end.empty() ? from : std::move(from) && *this < Value(end);
}

Condition Field::one_of(std::span<const Value> values) const {
  if (values.empty()) return !Condition();
  Condition any = *this == values.front();
  for (const Value& value : values.subspan(1)) any = std::move(any) || *this == value;
  return any;
}

Condition Field::is_absent() const {
  return !(*this >= Value("") || *this < Value(""));
}

}  // namespace varve

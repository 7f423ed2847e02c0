// SPDX-License-Identifier: Apache-2.0
// Owns: filters put together in code: conditions on properties, with literals written as the grammar has them.
// Must never: let a name or a value change what the filter means, whatever characters it holds.
//
//   Condition open = field("PartitionKey") == "eu" && (field("Total") > 100.0 || !(field("Paid") == true));
//   scan.filter = open.text();  // PartitionKey eq 'eu' and (Total gt 100.0 or not (Paid eq true))
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "result.h"
#include "status.h"
#include "types.h"

#pragma GCC visibility push(default)

namespace varve {

/// A literal of the filter grammar: `'O''Brien'`, `7`, `7L`, `2.5`, `true`, `datetime'..'`, `guid'..'`, `X'..'`.
std::string filter_literal(const Value& value);

/// The smallest text that is above all texts with this prefix, in the order of Q-40; empty where there is none.
/// `prefix` is UTF-8.
std::string prefix_successor(std::string_view prefix);

/// What entities must hold to be returned: one comparison, or several joined by `&&`, `||` and `!`. All three judge by
/// the rules of filters: a comparison with a property that an entity lacks is false, its negation true.
/// `&&` and `||` do not stop their right side from being built, as they do for bool. Source: C-05, Q-11 to Q-25.
class Condition {
 public:
  /// Everything.
  Condition() = default;
  /// The condition that a text is, to be joined with others. Errors: those that a scan gives for such a filter.
  static Result<Condition> parse(std::string_view text);

  /// The filter, for Scan::filter; blank for everything. If status() is not Ok it is a text that every scan refuses.
  const std::string& text() const noexcept { return text_; }
  /// kInvalidArgument: the first name used that is no property's name, or that a filter cannot hold (`and`, `true` and
  /// their like), or a value that the mapped property cannot hold.
  const Status& status() const noexcept { return status_; }

  friend Condition operator&&(Condition left, Condition right);
  friend Condition operator||(Condition left, Condition right);
  friend Condition operator!(Condition operand);

 private:
  friend class Field;
  enum class Binding : std::uint8_t { kOr, kAnd, kTight };

  static Condition comparison(std::string_view property, std::string_view compare, const Value& literal);
  static Condition refused(Status status);
  static Condition join(Condition left, Condition right, Binding binding, std::string_view word);
  void wrap_below(Binding binding);

  std::string text_;
  Binding binding_ = Binding::kTight;
  Status status_;
};

/// A property by its name; PartitionKey, RowKey and Timestamp too. Values are of the eight types, and a literal gets
/// the type that its value has: `field("Lines") == 3` compares with an Int32, which Q-24 also lets meet Int64 and
/// Double.
class Field {
 public:
  explicit Field(std::string_view name) : name_(name) {}
  const std::string& name() const noexcept { return name_; }

  Condition operator==(const Value& value) const { return compare("eq", value); }
  Condition operator!=(const Value& value) const { return compare("ne", value); }
  Condition operator>(const Value& value) const { return compare("gt", value); }
  Condition operator>=(const Value& value) const { return compare("ge", value); }
  Condition operator<(const Value& value) const { return compare("lt", value); }
  Condition operator<=(const Value& value) const { return compare("le", value); }

  /// A String that begins with `prefix`: a range, which on keys is read as one.
  Condition starts_with(std::string_view prefix) const;
  /// Equal to one of the values; nothing is one of none. On keys as many lookups.
  Condition one_of(std::span<const Value> values) const;
  Condition one_of(std::initializer_list<Value> values) const {
    return one_of(std::span<const Value>(values.begin(), values.size()));
  }
  /// Entities that lack the property.
  Condition is_absent() const;

  /// A condition that no scan takes, because of `status`.
  static Condition refused(Status status) { return Condition::refused(std::move(status)); }

 private:
  Condition compare(std::string_view compare, const Value& value) const {
    return Condition::comparison(name_, compare, value);
  }
  std::string name_;
};

inline Field field(std::string_view name) {
  return Field(name);
}

}  // namespace varve

#pragma GCC visibility pop

// SPDX-License-Identifier: Apache-2.0
// Owns: filters built in code: conditions on properties, with literals in the syntax of the filter grammar.
// Must never: let a property name or a value change the meaning of a filter, whatever characters it contains.
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
#include "version.h"

namespace varve {

/// Returns the value as a literal of the filter grammar: ``'O''Brien'``, `7`, `7L`, `2.5`, `true`,
/// ``datetime'..'``, ``guid'..'``, ``X'..'``. A LargeValue has none: it returns `null`, which every scan refuses.
VARVE_EXPORT std::string filter_literal(const Value& value);

/// Returns the smallest text above all texts with this prefix, in the order of Q-40; for example `ac` for `ab`. If no
/// such text exists, it returns an empty text. `prefix` must be UTF-8.
VARVE_EXPORT std::string prefix_successor(std::string_view prefix);

/// A condition on entities: one comparison, or several joined by `&&`, `||` and `!`. A scan returns the entities that
/// meet it. Conditions follow the rules of filters: if an entity lacks a property, a comparison with the property is
/// false, and its negation is true. Unlike for bool, `&&` and `||` always evaluate both operands.
/// Source: C-05, Q-11 to Q-25.
class VARVE_EXPORT Condition {
 public:
  /// Matches every entity.
  Condition() = default;
  /// Returns the condition that a filter text expresses, so that it can be joined with others. Errors: those that a
  /// scan returns for such a filter.
  static Result<Condition> parse(std::string_view text);

  /// Returns the filter for Scan::filter. The text is empty if the condition matches every entity. If status() is not
  /// Ok, every scan refuses the text.
  /// @{
  const std::string& text() const& noexcept { return text_; }
  std::string text() && noexcept { return std::move(text_); }
  /// @}
  /// Returns Ok, or the error of the first invalid part of the condition.
  /// Errors   kInvalidArgument    a name is no property name, or filters reserve it (such as `and` and `true`); or a
  ///                              text of a function is not UTF-8; or the mapped property cannot hold the value
  ///          kTooLarge           a name is longer than a property name may be
  /// @{
  const Status& status() const& noexcept { return status_; }
  Status status() && noexcept { return std::move(status_); }
  /// @}

  /// Matches the entities that meet both conditions.
  friend VARVE_EXPORT Condition operator&&(Condition left, Condition right);
  /// Matches the entities that meet at least one of the conditions.
  friend VARVE_EXPORT Condition operator||(Condition left, Condition right);
  /// Matches the entities that do not meet the condition, even those that only lack a property.
  friend VARVE_EXPORT Condition operator!(Condition operand);

 private:
  friend class Field;
  enum class Binding : std::uint8_t { kOr, kAnd, kTight };

  static Condition comparison(std::string_view property, std::string_view compare, const Value& literal);
  static Condition of_two(std::string_view property, std::string_view compare, std::string_view other);
  /// Without `text`, the function has no second argument.
  static Condition function(std::string_view name, std::string_view property, const std::string_view* text);
  static Condition refused(Status status);
  static Condition join(Condition left, Condition right, Binding binding, std::string_view word);
  void wrap_below(Binding binding);

  std::string text_;
  Binding binding_ = Binding::kTight;
  Status status_;
};

/// A property, identified by its name. PartitionKey, RowKey and Timestamp are allowed too. Values have the eight
/// property types, and a literal has the type of its value. For example, `field("Lines") == 3` compares with an Int32,
/// which by Q-24 also matches Int64 and Double properties.
class VARVE_EXPORT Field {
 public:
  /// Copies the name and does not check it. If it is no property name, the conditions have an error (status()).
  explicit Field(std::string_view name) : name_(name) {}
  /// Returns the name as the constructor received it.
  /// @{
  const std::string& name() const& noexcept { return name_; }
  std::string name() && noexcept { return std::move(name_); }
  /// @}

  /// Returns the condition that the property has this relation to `value`. No entity without the property meets it
  /// . A property whose type does not match counts as smaller than `value`.
  /// @{
  Condition operator==(const Value& value) const { return compare("eq", value); }
  Condition operator!=(const Value& value) const { return compare("ne", value); }
  Condition operator>(const Value& value) const { return compare("gt", value); }
  Condition operator>=(const Value& value) const { return compare("ge", value); }
  Condition operator<(const Value& value) const { return compare("lt", value); }
  Condition operator<=(const Value& value) const { return compare("le", value); }
  /// @}

  /// Returns the condition that the property has this relation to another property of the same entity. No entity
  /// without one of them meets it. The value of `other` counts as a literal: the type of this property decides which
  /// numbers match, and with other types this property counts as smaller. The table service refuses such
  /// a filter.
  /// @{
  Condition operator==(const Field& other) const { return compare("eq", other); }
  Condition operator!=(const Field& other) const { return compare("ne", other); }
  Condition operator>(const Field& other) const { return compare("gt", other); }
  Condition operator>=(const Field& other) const { return compare("ge", other); }
  Condition operator<(const Field& other) const { return compare("lt", other); }
  Condition operator<=(const Field& other) const { return compare("le", other); }
  /// @}

  /// Matches a String that begins with `prefix`. The condition is a range: if the property is a key, the scan reads
  /// only that range of keys.
  Condition starts_with(std::string_view prefix) const;
  /// Matches a property that equals one of the values. An empty list matches nothing. If the property is a key, the
  /// scan does one lookup for each value.
  /// @{
  Condition one_of(std::span<const Value> values) const;
  Condition one_of(std::initializer_list<Value> values) const {
    return one_of(std::span<const Value>(values.begin(), values.size()));
  }
  /// @}
  /// Matches a String that ends with the text, contains it, or equals it if `A` to `Z` count as `a` to `z`. All other
  /// characters must be the same. The scan reads all keys, but equals_ignoring_case() of a key bounds the range. The
  /// table service refuses such a filter.
  /// @{
  Condition ends_with(std::string_view suffix) const { return call("endswith", suffix); }
  Condition contains(std::string_view part) const { return call("contains", part); }
  Condition equals_ignoring_case(std::string_view text) const { return call("equals_ignoring_case", text); }
  /// @}
  /// Matches entities that have the property, of any type. The table service refuses such a filter.
  Condition exists() const { return Condition::function("exists", name_, nullptr); }
  /// Matches entities that lack the property. The table service accepts such a filter.
  Condition is_absent() const;

  /// Returns a condition that no scan accepts. Its status() is `status`.
  static Condition refused(Status status) { return Condition::refused(std::move(status)); }

 private:
  Condition compare(std::string_view compare, const Value& value) const {
    return Condition::comparison(name_, compare, value);
  }
  Condition compare(std::string_view compare, const Field& other) const {
    return Condition::of_two(name_, compare, other.name_);
  }
  Condition call(std::string_view function, std::string_view text) const {
    return Condition::function(function, name_, &text);
  }
  std::string name_;
};

/// Returns the property with this name, to build a condition.
inline Field field(std::string_view name) {
  return Field(name);
}

}  // namespace varve

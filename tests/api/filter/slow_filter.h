// Owns: filters as trees that are evaluated slowly by the wording of the rules, and written as text. The real filters
// are compared with them.
// Must never: share code with api/filter.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "varve/types.h"

namespace varve::test {

/// Source, and the extended grammar of api/filter/filter.h.
struct SlowFilter {
  enum class Kind : std::uint8_t {
    kComparison,
    kBareProperty,
    kLiteral,
    kTwoProperties,
    kList,
    kFunction,
    kNot,
    kAnd,
    kOr
  };
  Kind kind = Kind::kLiteral;
  std::vector<SlowFilter> children;
  std::string property;
  std::string operator_name;
  Value literal{true};
  std::string other_property;  // on the right side of kTwoProperties
  std::vector<Value> values;   // of kList
  std::string function_name;
  bool mirrored = false;
  bool parentheses = false;  // around it, even if not needed
  /// The written form: bits of kParenthesesLeft and the constants after it.
  unsigned form = 0;
  static constexpr unsigned kParenthesesLeft = 1;  // around the operand
  static constexpr unsigned kParenthesesRight = 2;
  static constexpr unsigned kOtherSpace = 4;  // tab, CR and LF
  static constexpr unsigned kNoSpace = 8;     // beside quotes and parentheses
  static constexpr unsigned kForms = 16;

  bool matches(const Entity& entity) const;
  /// Returns the text. `above` is the precedence of the surrounding operator: 0 none, 1 or, 2 and, 3 not.
  std::string text(int above = 0) const;

 private:
  /// Returns the text of a condition without children.
  std::string leaf_text() const;
};

/// Returns a value as a filter spells it.
std::string literal_text(const Value& value);

using RandomEngine = std::mt19937_64;
/// Returns one of a few values of any type, so that equal values occur.
Value random_literal(RandomEngine& random);
/// Returns an entity with keys of few letters, and up to five properties of eight names.
Entity random_entity(RandomEngine& random);
/// Returns a filter of at most `depth` levels.
SlowFilter random_filter(RandomEngine& random, int depth);

}  // namespace varve::test

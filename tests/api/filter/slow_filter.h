// Owns: filters as trees, evaluated slowly by the words of the rules, and written as text: what the real ones are
// compared with.
// Must never: share code with api/filter.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "varve/types.h"

namespace varve::test {

/// Source.
struct SlowFilter {
  enum class Kind : std::uint8_t { kComparison, kBareProperty, kLiteral, kNot, kAnd, kOr };
  Kind kind = Kind::kLiteral;
  std::vector<SlowFilter> children;
  std::string property;
  std::string operator_name;
  Value literal{true};
  bool mirrored = false;
  bool parentheses = false;  // around it, though it may need none
  /// How it is written: bits of kParenthesesLeft and its neighbours.
  unsigned form = 0;
  static constexpr unsigned kParenthesesLeft = 1;  // around the operand
  static constexpr unsigned kParenthesesRight = 2;
  static constexpr unsigned kOtherSpace = 4;  // tab, CR and LF
  static constexpr unsigned kNoSpace = 8;     // beside quotes and parentheses
  static constexpr unsigned kForms = 16;

  bool matches(const Entity& entity) const;
  /// `above` is how tight the surrounding operator binds: 0 none, 1 or, 2 and, 3 not.
  std::string text(int above = 0) const;
};

/// As a filter writes it.
std::string literal_text(const Value& value);

using RandomEngine = std::mt19937_64;
/// A value of few, so that equal ones meet; of any type.
Value random_literal(RandomEngine& random);
/// Keys of few letters, up to five properties of eight names.
Entity random_entity(RandomEngine& random);
/// At most `depth` deep.
SlowFilter random_filter(RandomEngine& random, int depth);

}  // namespace varve::test

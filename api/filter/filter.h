// Owns: a parsed `$filter`: its comparisons, how they are combined, and the check whether an entity matches.
// Must never: read a store, or decode a property that no comparison names.
//
// A comparison is always true or false. If the entity lacks the property, the comparison is false with every
// operator. If the types differ, the property is less than the literal.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/keys/entity.h"
#include "format/keys/internal_key.h"
#include "varve/result.h"
#include "varve/types.h"

namespace varve {

enum class CompareOperator : std::uint8_t { kEqual, kNotEqual, kGreater, kGreaterOrEqual, kLess, kLessOrEqual };

/// `property operator literal`. The parser mirrors `literal operator property` to this form.
struct Comparison {
  enum class Subject : std::uint8_t { kPartitionKey, kRowKey, kTimestamp, kCustom };
  Subject subject = Subject::kCustom;
  std::string property;
  CompareOperator compare = CompareOperator::kEqual;
  Value literal;
};

/// A leaf, or an operator on one or two nodes. Children precede their parents; the last node is the root.
struct FilterNode {
  enum class Kind : std::uint8_t { kComparison, kTrue, kFalse, kNot, kAnd, kOr };
  Kind kind = Kind::kTrue;
  /// For a comparison, its index in the comparisons. For other nodes, the index of the only or left child.
  std::uint32_t first = 0;
  /// The index of the right child of kAnd and kOr.
  std::uint32_t second = 0;
};

/// The entity to match, as views. The keys are used only if Filter::names_keys() is true.
struct FilterSubject {
  std::string_view partition_key;
  std::string_view row_key;
  format::CommitVersion version = 0;
  format::EncodedEntity properties;
};

/// A filter. Immutable, so any number of threads may share it.
class Filter {
 public:
  /// Matches everything.
  Filter() = default;
  /// Parses a filter. A text of spaces only matches everything.
  /// Errors: kInvalidArgument (InvalidInput; the message names the character), kUnsupported (NotImplemented: functions,
  /// arithmetic, two properties, two literals). Source: section "`$filter` grammar", Q-10 to Q-19.
  static Result<Filter> parse(std::string_view text);

  bool matches_everything() const noexcept { return nodes_.empty(); }
  /// Returns true if a comparison names PartitionKey or RowKey.
  bool names_keys() const noexcept { return names_keys_; }
  bool matches(const FilterSubject& subject) const noexcept;

  const std::vector<FilterNode>& nodes() const noexcept { return nodes_; }
  const std::vector<Comparison>& comparisons() const noexcept { return comparisons_; }

  /// Returns the text that the node was parsed from, with its parentheses.
  std::string_view text_of(std::uint32_t node) const noexcept;
  /// Returns the conjunction of these nodes. Without nodes it matches everything. No node may be a descendant of
  /// another one.
  Filter all_of(std::span<const std::uint32_t> nodes) const;
  /// Returns a text that parses to this filter. It is empty if the filter matches everything.
  const std::string& text() const noexcept { return text_; }

 private:
  friend class FilterParser;
  /// One leaf, and the next step if the leaf is true or false.
  struct Step {
    std::uint32_t node = 0;
    std::uint32_t if_true = 0;
    std::uint32_t if_false = 0;
  };
  static constexpr std::uint32_t kMatch = UINT32_MAX;
  static constexpr std::uint32_t kNoMatch = UINT32_MAX - 1;

  /// Bytes of the text.
  struct Place {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  void compile();
  /// Returns the first node of the subtree of `node`. The nodes of a subtree are contiguous, and its root is the last
  /// of them.
  std::uint32_t first_of(std::uint32_t node) const noexcept;

  std::vector<FilterNode> nodes_;
  std::vector<Comparison> comparisons_;
  std::vector<Step> steps_;
  std::string text_;
  std::vector<Place> places_;  // of the nodes
  bool names_keys_ = false;
};

/// Evaluates a comparison by.
bool holds(const Comparison& comparison, const FilterSubject& subject) noexcept;

/// Compares a stored property with a literal, by. For one type and one literal, the order never decreases
/// when the stored value increases.
std::partial_ordering order_of_property(const format::PropertyView& stored, const Value& literal) noexcept;
/// Compares exactly: above 2^53, not every integer is a Double.
std::partial_ordering order_of_number(double number, std::int64_t integer) noexcept;
std::partial_ordering order_of_date_time(std::uint64_t ticks, const Value& literal) noexcept;

}  // namespace varve

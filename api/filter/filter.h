// Owns: a parsed `$filter`: its comparisons, how they are combined, and the check whether an entity matches.
// Must never: read a store, or decode a property that no comparison names.
//
// A comparison is always true or false. If the entity lacks the property, the comparison is false with every
// operator. If the types differ, the property is less than the literal.
//
// The extended grammar has further conditions. P is any property, PartitionKey, RowKey and Timestamp included:
//
//   P in (1, 2L, 'x')             P eq 1 or P eq 2L or P eq 'x'; 1 to kListValuesMax literals.
//   A lt B                        compares A with the value of B as if B were written as a literal. So A decides which
//                                 numbers match. A Int64 and B Int32 are compared. A Int32 and B Int64 differ in
//                                 type, and A is then less. Without A or without B it is false.
//   startswith(P, 'x')            P is a String that begins with the text.
//   endswith(P, 'x')              P is a String that ends with the text.
//   contains(P, 'x')              P is a String that contains the text.
//   equals_ignoring_case(P, 'x')  P is a String, and equals the text if A to Z count as a to z. All other characters
//                                 must be the same, so that no result depends on a version of Unicode or a language.
//   exists(P)                     the entity has P, of any type.
//
// A function is false for an absent property and for a value that is no String, so `not` makes it true.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/filter/value_list.h"
#include "format/keys/entity.h"
#include "format/keys/internal_key.h"
#include "varve/result.h"
#include "varve/store_limits.h"
#include "varve/types.h"

namespace varve {

enum class CompareOperator : std::uint8_t { kEqual, kNotEqual, kGreater, kGreaterOrEqual, kLess, kLessOrEqual };

/// The grammar of the table service, or that grammar with the conditions listed above.
enum class FilterGrammar : std::uint8_t { kService, kExtended };

/// `property operator literal`, to which the parser mirrors `literal operator property`; or one of the further
/// conditions on a property.
struct Comparison {
  enum class Subject : std::uint8_t { kPartitionKey, kRowKey, kTimestamp, kCustom };
  enum class Kind : std::uint8_t {
    kLiteral,
    kProperty,
    kList,
    kStartsWith,
    kEndsWith,
    kContains,
    kEqualsIgnoringCase,
    kExists
  };
  Subject subject = Subject::kCustom;
  std::string property;
  /// format::hash_of_name(property), once a filter has the comparison.
  std::uint16_t property_hash = 0;
  /// The operator of kLiteral and kProperty.
  CompareOperator compare = CompareOperator::kEqual;
  /// The literal of kLiteral, or the text of a function.
  Value literal{};
  Kind kind = Kind::kLiteral;
  /// The property on the right side of kProperty.
  Subject other_subject = Subject::kCustom;
  std::string other_property{};
  std::uint16_t other_hash = 0;
  /// The list of kList. Copies of the filter share it.
  std::shared_ptr<const ValueList> list{};

  bool names(Subject wanted) const noexcept {
    return subject == wanted || (kind == Kind::kProperty && other_subject == wanted);
  }
  bool names_keys() const noexcept { return names(Subject::kPartitionKey) || names(Subject::kRowKey); }
  /// Returns the text of a function. There must be one.
  std::string_view text() const noexcept { return *literal.get_if<std::string>(); }
};

/// Returns what the name of a property means.
Comparison::Subject subject_of(std::string_view property) noexcept;

/// A leaf, or an operator on one or two nodes. Children precede their parents; the last node is the root.
struct FilterNode {
  enum class Kind : std::uint8_t { kComparison, kTrue, kFalse, kNot, kAnd, kOr };
  Kind kind = Kind::kTrue;
  /// For a comparison, its index in the comparisons. For other nodes, the index of the only or left child.
  std::uint32_t first = 0;
  /// The index of the right child of kAnd and kOr.
  std::uint32_t second = 0;
  /// The bytes of the text from which the node was parsed, with its parentheses.
  std::uint32_t text_begin = 0;
  std::uint32_t text_end = 0;
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
  /// The most values of one `in` list.
  static constexpr std::size_t kListValuesMax = 4096;

  /// Parses a filter. A text of spaces only matches everything.
  /// Errors: kInvalidArgument (InvalidInput; the message names the character), kUnsupported (NotImplemented:
  /// arithmetic, two literals, functions that the grammar lacks; in the service's grammar all functions, and two
  /// properties).
  /// Source: section "`$filter` grammar", Q-10 to Q-19.
  static Result<Filter> parse(std::string_view text, FilterGrammar grammar = FilterGrammar::kExtended);

  bool matches_everything() const noexcept { return nodes_.empty(); }
  /// Returns true for most filters: they are one comparison.
  bool is_one_comparison() const noexcept {
    return nodes_.size() == 1 && nodes_.front().kind == FilterNode::Kind::kComparison;
  }
  /// Returns true if a comparison names PartitionKey or RowKey.
  bool names_keys() const noexcept { return names_keys_; }
  /// Returns true if the grammar of the table service refuses the filter.
  bool is_extended() const noexcept { return is_extended_; }
  /// Returns the number of comparisons with a literal, of which each value of a list is one.
  std::size_t comparison_count() const noexcept { return comparison_count_; }
  bool matches(const FilterSubject& subject) const noexcept;

  const std::vector<FilterNode>& nodes() const noexcept { return nodes_; }
  const std::vector<Comparison>& comparisons() const noexcept { return comparisons_; }

  /// Returns the text from which the node was parsed, with its parentheses.
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

  void compile();
  bool is_true(const FilterNode& leaf, const FilterSubject& subject) const noexcept;
  /// Returns the first node of the subtree of `node`. The nodes of a subtree are contiguous, and its root is the last
  /// of them.
  std::uint32_t first_of(std::uint32_t node) const noexcept;

  std::vector<FilterNode> nodes_;
  std::vector<Comparison> comparisons_;
  std::vector<Step> steps_;  // none if there is one node only
  std::string text_;
  std::size_t comparison_count_ = 0;
  bool names_keys_ = false;
  bool is_extended_ = false;
};

/// Does Filter::parse(), and checks the number of comparisons. Errors: those of both.
Result<Filter> parse_filter(std::string_view text, const StoreLimits& limits,
                            FilterGrammar grammar = FilterGrammar::kExtended);
/// Checks the number of comparisons of a filter, as Q-30 says. Errors: kInvalidArgument (InvalidInput).
Status check_comparisons(std::size_t comparisons, const StoreLimits& limits);

/// Evaluates a comparison by.
bool holds(const Comparison& comparison, const FilterSubject& subject) noexcept;
/// Evaluates a condition that only the extended grammar has (extended_condition.cc).
bool holds_extended(const Comparison& comparison, const FilterSubject& subject) noexcept;
bool satisfies(std::partial_ordering order, CompareOperator compare) noexcept;

/// Compares a stored property with a literal, by. For one type and one literal, the order never decreases
/// when the stored value increases.
std::partial_ordering order_of_property(const format::PropertyView& stored, const Value& literal) noexcept;
/// Compares exactly: above 2^53, not every integer is a Double.
std::partial_ordering order_of_number(double stored, std::int64_t integer) noexcept;
std::partial_ordering order_of_date_time(std::uint64_t ticks, const Value& literal) noexcept;

}  // namespace varve

// Owns: a parsed `$filter`: its comparisons, how they are joined, and whether an entity matches.
// Must never: read a store, or decode a property that no comparison names.
//
// Evaluation is two-valued: a comparison with a property that the entity lacks is false, whatever its operator;
// where the types differ the property counts as smaller than the literal.
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

/// `property operator literal`; the mirrored form is turned round when it is parsed.
struct Comparison {
  enum class Subject : std::uint8_t { kPartitionKey, kRowKey, kTimestamp, kCustom };
  Subject subject = Subject::kCustom;
  std::string property;
  CompareOperator compare = CompareOperator::kEqual;
  Value literal;
};

/// A leaf, or what joins one or two others. Children stand before their parents; the last node is the whole.
struct FilterNode {
  enum class Kind : std::uint8_t { kComparison, kTrue, kFalse, kNot, kAnd, kOr };
  Kind kind = Kind::kTrue;
  /// Of a comparison, its place among the comparisons; of others, the place of the one child or of the left one.
  std::uint32_t first = 0;
  /// The place of the right child of kAnd and kOr.
  std::uint32_t second = 0;
};

/// What is judged. Views; keys are looked at only where Filter::names_keys().
struct FilterSubject {
  std::string_view partition_key;
  std::string_view row_key;
  format::CommitVersion version = 0;
  format::EntityView properties;
};

/// Never changes once made: any number of threads may share it.
class Filter {
 public:
  /// Matches everything.
  Filter() = default;
  /// A text without anything but spaces matches everything.
  /// Errors: kInvalidArgument (InvalidInput; the message names the character), kUnsupported (NotImplemented: functions,
  /// arithmetic, two properties, two literals). Source: section "`$filter` grammar", Q-10 to Q-19.
  static Result<Filter> parse(std::string_view text);

  bool matches_everything() const noexcept { return nodes_.empty(); }
  /// Whether a comparison names PartitionKey or RowKey.
  bool names_keys() const noexcept { return names_keys_; }
  bool matches(const FilterSubject& subject) const noexcept;

  const std::vector<FilterNode>& nodes() const noexcept { return nodes_; }
  const std::vector<Comparison>& comparisons() const noexcept { return comparisons_; }

  /// What a node was parsed from, its parentheses included.
  std::string_view text_of(std::uint32_t node) const noexcept;
  /// The filter that holds where all of these nodes do; everything matches none. No node may stand below another.
  Filter all_of(std::span<const std::uint32_t> nodes) const;
  /// As it can be parsed again; empty: it matches everything.
  const std::string& text() const noexcept { return text_; }

 private:
  friend class FilterParser;
  /// One leaf, and where to go on when it holds and when it does not.
  struct Step {
    std::uint32_t node = 0;
    std::uint32_t if_true = 0;
    std::uint32_t if_false = 0;
  };
  static constexpr std::uint32_t kMatch = UINT32_MAX;
  static constexpr std::uint32_t kNoMatch = UINT32_MAX - 1;

  /// In bytes of the text.
  struct Place {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  void compile();
  /// The first of the node's own nodes, which all stand in one row before it.
  std::uint32_t first_of(std::uint32_t node) const noexcept;

  std::vector<FilterNode> nodes_;
  std::vector<Comparison> comparisons_;
  std::vector<Step> steps_;
  std::string text_;
  std::vector<Place> places_;  // of the nodes
  bool names_keys_ = false;
};

/// Whether the comparison holds, by.
bool holds(const Comparison& comparison, const FilterSubject& subject) noexcept;

/// How a stored property stands to a literal, by. Of one type and against one literal it never falls where
/// the stored value rises.
std::partial_ordering order_of_property(const format::PropertyView& stored, const Value& literal) noexcept;
std::partial_ordering order_of_date_time(std::uint64_t ticks, const Value& literal) noexcept;

}  // namespace varve

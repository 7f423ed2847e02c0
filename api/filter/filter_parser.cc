// Owns: the grammar of `$filter` (filter.h).
// Must never: recurse, or hold more than kDepthMax operators open.
//
// The parser has two stacks. An operator waits on the first one until an operator of lower precedence, a parenthesis or
// the end follows. Its operands wait on the second one (E. W. Dijkstra's shunting yard).
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/filter/filter.h"
#include "api/filter/filter_hint.h"
#include "api/filter/filter_lexer.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "format/keys/sort_key.h"
#include "varve/limits.h"
#include "varve/names.h"

namespace varve {
namespace {

/// Maximum number of open parentheses, `not`, `and` and `or`.
constexpr std::size_t kDepthMax = 256;

struct NamedOperator {
  std::string_view name;
  CompareOperator compare;
  CompareOperator mirrored;  // with the two sides exchanged
};
constexpr std::array<NamedOperator, 6> kOperators = {{
    {"eq", CompareOperator::kEqual, CompareOperator::kEqual},
    {"ne", CompareOperator::kNotEqual, CompareOperator::kNotEqual},
    {"gt", CompareOperator::kGreater, CompareOperator::kLess},
    {"ge", CompareOperator::kGreaterOrEqual, CompareOperator::kLessOrEqual},
    {"lt", CompareOperator::kLess, CompareOperator::kGreater},
    {"le", CompareOperator::kLessOrEqual, CompareOperator::kGreaterOrEqual},
}};

const NamedOperator* find_operator(std::string_view word) noexcept {
  for (const NamedOperator& named : kOperators) {
    if (named.name == word) return &named;
  }
  return nullptr;
}

struct NamedFunction {
  std::string_view name;
  Comparison::Kind kind;
  bool takes_text = true;
};
constexpr std::array<NamedFunction, 5> kFunctions = {{
    {"startswith", Comparison::Kind::kStartsWith},
    {"endswith", Comparison::Kind::kEndsWith},
    {"contains", Comparison::Kind::kContains},
    {"equals_ignoring_case", Comparison::Kind::kEqualsIgnoringCase},
    {"exists", Comparison::Kind::kExists, false},
}};

const NamedFunction* find_function(std::string_view word) noexcept {
  for (const NamedFunction& named : kFunctions) {
    if (named.name == word) return &named;
  }
  return nullptr;
}

bool is_arithmetic(std::string_view word) noexcept {
  return word == "add" || word == "sub" || word == "mul" || word == "div" || word == "mod";
}
/// Words that cannot name a property in a filter.
bool is_reserved(std::string_view word) noexcept {
  return word == "and" || word == "or" || word == "not" || word == "null" || find_operator(word) != nullptr;
}

/// Returns the literal. The words `true` and `false` are literals, too.
std::optional<Value> literal_of(const FilterToken& token) {
  if (token.kind == FilterToken::Kind::kLiteral) return token.literal;
  if (token.text == "true") return Value(true);
  if (token.text == "false") return Value(false);
  return std::nullopt;
}
/// These words are literals only on the right side of an operator. On the left side they are property names.
std::optional<Value> number_of(const FilterToken& token) {
  if (token.text == "NaN") return Value(std::numeric_limits<double>::quiet_NaN());
  if (token.text == "INF") return Value(std::numeric_limits<double>::infinity());
  return std::nullopt;
}

}  // namespace

class FilterParser {
 public:
  FilterParser(std::string_view text, FilterGrammar grammar) noexcept
      : text_(text), is_extended_(grammar == FilterGrammar::kExtended), lexer_(text, is_extended_) {}

  Result<Filter> run() {
    if (Status moved = advance(); !moved.ok()) return moved;
    if (token_.kind == Kind::kEnd) return Filter();
    for (;;) {
      if (Status status = operand(); !status.ok()) return status;
      const Result<bool> goes_on = behind_operand();
      if (!goes_on.ok()) return goes_on.status();
      if (!*goes_on) break;
    }
    filter_.text_ = text_;
    filter_.compile();
    return std::move(filter_);
  }

 private:
  using Kind = FilterToken::Kind;

  enum class Waiting : std::uint8_t { kOpen, kOr, kAnd, kNot };  // in order of precedence
  struct Operator {
    Waiting kind;
    std::size_t offset;
  };

  Status advance() {
    Result<FilterToken> next = lexer_.next();
    if (!next.ok()) return next.status();
    token_ = *std::move(next);
    return Status();
  }
  Status error(std::string_view what) const { return filter_error(text_, token_.offset, what); }
  bool is_word(std::string_view word) const noexcept { return token_.kind == Kind::kWord && token_.text == word; }

  Status too_deep() const { return error("at most " + std::to_string(kDepthMax) + " nested levels are allowed"); }

  Status push(Waiting kind) {
    if (operators_.size() == kDepthMax) return too_deep();
    operators_.push_back({kind, token_.offset});
    return advance();
  }

  /// Parses any number of `not` and `(`, and then a condition.
  Status operand() {
    for (;;) {
      if (is_word("not")) {
        if (Status pushed = push(Waiting::kNot); !pushed.ok()) return pushed;
      } else if (token_.kind == Kind::kOpen) {
        if (Status pushed = push(Waiting::kOpen); !pushed.ok()) return pushed;
      } else {
        return condition();
      }
    }
  }

  /// Parses any number of `)`, and then `and`, `or` or the end. Returns true if an operand follows.
  Result<bool> behind_operand() {
    for (;;) {
      if (token_.kind == Kind::kClose) {
        join_down_to(Waiting::kOr);
        if (operators_.empty()) return error("this parenthesis closes nothing; the opening parenthesis is missing");
        filter_.places_[operands_.back()] = {operators_.back().offset, token_.offset + token_.text.size()};
        operators_.pop_back();
        if (Status moved = advance(); !moved.ok()) return moved;
      } else if (token_.kind == Kind::kEnd) {
        join_down_to(Waiting::kOr);
        if (operators_.empty()) return false;
        return filter_error(text_, operators_.back().offset, "the parenthesis that opens here is not closed");
      } else if (is_word("and") || is_word("or")) {
        const Waiting kind = is_word("and") ? Waiting::kAnd : Waiting::kOr;
        join_down_to(kind);
        if (Status pushed = push(kind); !pushed.ok()) return pushed;
        return true;
      } else {
        return error(quoted(token_.text) + " found; expected `and`, `or`, `)` or the end of the filter");
      }
    }
  }

  /// Applies the waiting operators of the same or a higher precedence.
  void join_down_to(Waiting kind) {
    while (!operators_.empty() && operators_.back().kind >= kind) {
      const Operator joined = operators_.back();
      operators_.pop_back();
      const std::uint32_t last = operands_.back();
      const std::size_t end = filter_.places_[last].end;
      if (joined.kind == Waiting::kNot) {
        operands_.back() = add({FilterNode::Kind::kNot, last, 0}, {joined.offset, end});
        continue;
      }
      operands_.pop_back();
      const auto joint = joined.kind == Waiting::kAnd ? FilterNode::Kind::kAnd : FilterNode::Kind::kOr;
      operands_.back() = add({joint, operands_.back(), last}, {filter_.places_[operands_.back()].begin, end});
    }
  }

  std::uint32_t add(FilterNode node, Filter::Place place) {
    filter_.nodes_.push_back(node);
    filter_.places_.push_back(place);
    return static_cast<std::uint32_t>(filter_.nodes_.size() - 1);
  }

  Status check_operand() const {
    if (token_.kind == Kind::kLiteral) return Status();
    if (token_.kind != Kind::kWord) return error("expected a property or a literal");
    if (lexer_.at_open() && !is_reserved(token_.text)) {
      if (is_extended_ && find_function(token_.text) != nullptr)
        return error("the function " + quoted(token_.text) + " is a condition by itself; it has no value to compare");
      return filter_not_implemented(text_, token_.offset,
                                    "the function " + quoted(token_.text) + " is not implemented");
    }
    if (token_.text == "null") return error("a filter cannot compare with null; a property without a value is absent");
    if (is_reserved(token_.text)) return error(quoted(token_.text) + " found; expected a property or a literal");
    return Status();
  }

  /// A property or a literal, and its place in the text, with its parentheses.
  struct Operand {
    FilterToken token;
    Filter::Place place;
  };

  Status check_no_arithmetic() const {
    if (token_.kind != Kind::kWord || !is_arithmetic(token_.text)) return Status();
    return filter_not_implemented(text_, token_.offset, "arithmetic is not implemented");
  }

  /// Takes the current token.
  Result<Operand> take_operand() {
    if (Status checked = check_operand(); !checked.ok()) return checked;
    Operand taken{std::move(token_), {}};
    taken.place = place_of(taken.token);
    if (Status moved = advance(); !moved.ok()) return moved;
    if (Status checked = check_no_arithmetic(); !checked.ok()) return checked;
    return taken;
  }

  /// `(A) eq 1`. Parentheses opened directly before the operand belong to it.
  Result<Operand> left_operand() {
    Result<Operand> left = take_operand();
    if (!left.ok()) return left;
    while (token_.kind == Kind::kClose && !operators_.empty() && operators_.back().kind == Waiting::kOpen) {
      left->place = {operators_.back().offset, place_of(token_).end};
      operators_.pop_back();
      if (Status moved = advance(); !moved.ok()) return moved;
      if (Status checked = check_no_arithmetic(); !checked.ok()) return checked;
    }
    return left;
  }

  /// `A eq (1)`.
  Result<Operand> right_operand() {
    std::vector<std::size_t> opened;
    while (token_.kind == Kind::kOpen) {
      if (operators_.size() + opened.size() == kDepthMax) return too_deep();
      opened.push_back(token_.offset);
      if (Status moved = advance(); !moved.ok()) return moved;
    }
    Result<Operand> right = take_operand();
    if (!right.ok()) return right;
    for (; !opened.empty(); opened.pop_back()) {
      if (token_.kind != Kind::kClose)
        return filter_error(text_, opened.back(), "the parenthesis that opens here is not closed after its operand");
      right->place = {opened.back(), place_of(token_).end};
      if (Status moved = advance(); !moved.ok()) return moved;
      if (Status checked = check_no_arithmetic(); !checked.ok()) return checked;
    }
    return right;
  }

  /// Parses a comparison, a function, a Boolean property, `true` or `false`.
  Status condition() {
    if (is_extended_ && token_.kind == Kind::kWord && lexer_.at_open()) {
      if (const NamedFunction* const named = find_function(token_.text)) return function(*named);
    }
    const Result<Operand> left = left_operand();
    if (!left.ok()) return left.status();
    if (is_extended_ && is_word("in")) return list(*left);
    if (token_.kind == Kind::kWord) {
      if (const NamedOperator* const named = find_operator(token_.text)) return comparison(*left, *named);
    }
    const FilterToken& token = left->token;
    if (token.kind == Kind::kLiteral) return error("expected an operator: eq, ne, gt, ge, lt or le");
    if (token.text == "true" || token.text == "false") {
      operands_.push_back(
          add({token.text == "true" ? FilterNode::Kind::kTrue : FilterNode::Kind::kFalse, 0, 0}, left->place));
      return Status();
    }
    if (subject_of(token.text) != Comparison::Subject::kCustom) {
      return filter_error(text_, token.offset, quoted(token.text) + " is not Boolean; compare it with a value");
    }
    return compare(token, CompareOperator::kEqual, Value(true), left->place);
  }

  Status comparison(const Operand& left, const NamedOperator& named) {
    if (Status moved = advance(); !moved.ok()) return moved;
    const Result<Operand> right = right_operand();
    if (!right.ok()) return right.status();
    std::optional<Value> left_literal = literal_of(left.token);
    std::optional<Value> right_literal = literal_of(right->token);
    if (!left_literal && !right_literal) right_literal = number_of(right->token);
    if (left_literal.has_value() == right_literal.has_value()) {
      if (left_literal)
        return filter_not_implemented(text_, left.token.offset,
                                      "two literals are compared; one side must be a property");
      if (is_extended_) return compare_properties(left, named.compare, *right);
      return filter_not_implemented(text_, left.token.offset, "two properties are compared; one side must be a literal")
          .with_hint(literal_hint(right->token.text));
    }
    const Filter::Place place{left.place.begin, right->place.end};
    return right_literal ? compare(left.token, named.compare, *std::move(right_literal), place)
                         : compare(right->token, named.mirrored, *std::move(left_literal), place);
  }

  static Filter::Place place_of(const FilterToken& token) noexcept {
    return {token.offset, token.offset + token.text.size()};
  }

  Status check_name(const FilterToken& property) const {
    const Status named = check_property_name(property.text);
    return named.ok() ? named : filter_error(text_, property.offset, named.message());
  }

  Status add_comparison(const FilterToken& property, Comparison comparison, Filter::Place place) {
    if (Status checked = check_name(property); !checked.ok()) return checked;
    comparison.subject = subject_of(property.text);
    comparison.property = property.text;
    operands_.push_back(
        add({FilterNode::Kind::kComparison, static_cast<std::uint32_t>(filter_.comparisons_.size()), 0}, place));
    filter_.comparisons_.push_back(std::move(comparison));
    return Status();
  }

  Status compare(const FilterToken& property, CompareOperator compare, Value literal, Filter::Place place) {
    Comparison comparison;
    comparison.compare = compare;
    comparison.literal = std::move(literal);
    return add_comparison(property, std::move(comparison), place);
  }

  Status compare_properties(const Operand& left, CompareOperator compare, const Operand& right) {
    if (Status checked = check_name(right.token); !checked.ok()) return checked;
    Comparison comparison;
    comparison.kind = Comparison::Kind::kProperty;
    comparison.compare = compare;
    comparison.other_subject = subject_of(right.token.text);
    comparison.other_property = right.token.text;
    return add_comparison(left.token, std::move(comparison), {left.place.begin, right.place.end});
  }

  /// Parses the arguments of a function and its parentheses.
  Status function(const NamedFunction& named) {
    const std::size_t begin = token_.offset;
    if (Status moved = advance(); !moved.ok()) return moved;  // to the parenthesis
    if (Status moved = advance(); !moved.ok()) return moved;
    if (token_.kind != Kind::kWord || is_reserved(token_.text) || literal_of(token_))
      return error("the first argument of " + quoted(named.name) + " must be a property");
    const FilterToken property = std::move(token_);
    if (Status moved = advance(); !moved.ok()) return moved;
    Comparison comparison;
    comparison.kind = named.kind;
    if (named.takes_text) {
      if (token_.kind != Kind::kComma) return error("expected a comma and a text in single quotes");
      if (Status moved = advance(); !moved.ok()) return moved;
      if (token_.kind != Kind::kLiteral || token_.literal.type() != PropertyType::kString)
        return error("the second argument of " + quoted(named.name) + " must be a text in single quotes");
      comparison.literal = std::move(token_.literal);
      if (Status moved = advance(); !moved.ok()) return moved;
    }
    if (token_.kind != Kind::kClose) return error("expected `)` after the arguments of " + quoted(named.name));
    const Filter::Place place{begin, place_of(token_).end};
    if (Status moved = advance(); !moved.ok()) return moved;
    return add_comparison(property, std::move(comparison), place);
  }

  /// Parses `in` and its list.
  Status list(const Operand& left) {
    if (literal_of(left.token)) return filter_error(text_, left.token.offset, "a property is expected before `in`");
    if (Status moved = advance(); !moved.ok()) return moved;
    if (token_.kind != Kind::kOpen) return error("expected `(` and literals with commas between them");
    std::vector<Value> literals;
    do {
      if (literals.size() == Filter::kListValuesMax)
        return error("at most " + std::to_string(Filter::kListValuesMax) + " values are allowed in a list");
      if (Status moved = advance(); !moved.ok()) return moved;
      std::optional<Value> literal = literal_of(token_);
      if (!literal) literal = number_of(token_);
      if (!literal) return error("expected a literal");
      literals.push_back(*std::move(literal));
      if (Status moved = advance(); !moved.ok()) return moved;
    } while (token_.kind == Kind::kComma);
    if (token_.kind != Kind::kClose) return error("expected a comma or `)` after a value of the list");
    Comparison comparison;
    comparison.kind = Comparison::Kind::kList;
    comparison.list = std::make_shared<const ValueList>(ValueList::of(std::move(literals)));
    const Filter::Place place{left.place.begin, place_of(token_).end};
    if (Status moved = advance(); !moved.ok()) return moved;
    return add_comparison(left.token, std::move(comparison), place);
  }

  const std::string_view text_;
  const bool is_extended_;
  FilterLexer lexer_;
  FilterToken token_;
  std::vector<Operator> operators_;
  std::vector<std::uint32_t> operands_;  // indexes of nodes
  Filter filter_;
};

Result<Filter> Filter::parse(std::string_view text, FilterGrammar grammar) {
  if (text.size() > limits::kFilterBytesMax) {
    return service_error::invalid_input("the filter has " + std::to_string(text.size()) + " bytes; at most " +
                                        std::to_string(limits::kFilterBytesMax) + " are allowed");
  }
  if (!format::is_valid_utf8(text)) return service_error::invalid_input("the filter is not valid UTF-8");
  return FilterParser(text, grammar).run();
}

Comparison::Subject subject_of(std::string_view property) noexcept {
  if (property == "PartitionKey") return Comparison::Subject::kPartitionKey;
  if (property == "RowKey") return Comparison::Subject::kRowKey;
  if (property == "Timestamp") return Comparison::Subject::kTimestamp;
  return Comparison::Subject::kCustom;
}

Status check_comparisons(std::size_t comparisons, const StoreLimits& limits) {
  if (comparisons <= limits.filter_comparisons_max) return Status();
  return service_error::invalid_input("the filter has " + std::to_string(comparisons) + " comparisons; at most " +
                                      std::to_string(limits.filter_comparisons_max) + " are allowed");
}

Result<Filter> parse_filter(std::string_view text, const StoreLimits& limits, FilterGrammar grammar) {
  Result<Filter> filter = Filter::parse(text, grammar);
  if (!filter.ok()) return filter;
  const Status checked = check_comparisons(filter->comparison_count(), limits);
  return checked.ok() ? std::move(filter) : checked;
}

}  // namespace varve

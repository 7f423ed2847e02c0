// Owns: the grammar of `$filter` (filter.h).
// Must never: recurse, or hold more than kDepthMax operators open.
//
// The parser has a stack. An operator waits on it until an operator of lower precedence, a parenthesis or
// the end follows. Its operands are the last nodes of the filter (E. W. Dijkstra's shunting yard).
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/filter/filter.h"
#include "api/filter/filter_hint.h"
#include "api/filter/filter_lexer.h"
#include "api/model/ascii.h"
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

bool is_boolean(std::string_view word) noexcept {
  return word == "true" || word == "false";
}
/// The words `true` and `false` are literals, too.
bool is_literal(const FilterToken& token) noexcept {
  return token.kind == FilterToken::Kind::kLiteral || is_boolean(token.text);
}
/// These words are literals only on the right side of an operator. On the left side they are property names.
bool is_named_number(const FilterToken& token) noexcept {
  return token.text == "NaN" || token.text == "INF";
}
/// Returns the value of such a token, once.
Value take_literal(FilterToken& token) {
  if (token.kind == FilterToken::Kind::kLiteral) return std::move(token.literal);
  if (token.text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (token.text == "INF") return std::numeric_limits<double>::infinity();
  return token.text == "true";
}

}  // namespace

class FilterParser {
 public:
  /// `filter` matches everything before run().
  FilterParser(std::string_view text, FilterGrammar grammar, Filter& filter) noexcept
      : text_(text), is_extended_(grammar == FilterGrammar::kExtended), lexer_(text, is_extended_), filter_(filter) {}

  Status run() {
    if (take_whole()) return Status();
    if (Status moved = advance(); !moved.ok()) return moved;
    if (token_.kind == Kind::kEnd) return Status();
    for (;;) {
      if (Status status = operand(); !status.ok()) return status;
      const Result<bool> goes_on = behind_operand();
      if (!goes_on.ok()) return goes_on.status();
      if (!*goes_on) break;
    }
    filter_.text_ = text_;
    filter_.compile();
    return Status();
  }

 private:
  using Kind = FilterToken::Kind;

  enum class Waiting : std::uint8_t { kOpen, kOr, kAnd, kNot };  // in order of precedence
  struct Operator {
    Waiting kind;
    std::size_t offset;
  };

  /// Takes the most frequent form of a whole filter, which needs no tokens: `Name eq 'text'`, with any operator. Returns false
  /// and changes nothing for every other text.
  bool take_whole() {
    constexpr std::size_t kOperatorBytes = 4;  // with the space on either side
    std::size_t end = 0;
    while (end < text_.size() && (is_letter(text_[end]) || text_[end] == '_' || (end > 0 && is_digit(text_[end]))))
      ++end;
    const std::string_view name = text_.substr(0, end);
    const std::string_view rest = text_.substr(end);
    if (end == 0 || end > limits::kPropertyNameCodeUnitsMax || is_reserved(name) || is_boolean(name)) return false;
    if (rest.size() < kOperatorBytes + 2 || rest[0] != ' ' || rest[kOperatorBytes - 1] != ' ') return false;
    const NamedOperator* const named = find_operator(rest.substr(1, kOperatorBytes - 2));
    if (named == nullptr || rest[kOperatorBytes] != '\'' || rest.back() != '\'') return false;
    const std::string_view literal = rest.substr(kOperatorBytes + 1, rest.size() - kOperatorBytes - 2);
    if (literal.find('\'') != std::string_view::npos) return false;
    Comparison& added = add_comparison(name, {0, text_.size()});
    added.compare = named->compare;
    added.literal = std::string(literal);
    filter_.text_ = text_;
    filter_.compile();
    return true;
  }

  Status advance() { return lexer_.next(token_); }
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
        set_place(filter_.nodes_.back(), {operators_.back().offset, place_of(token_).end});
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

  /// Applies the waiting operators of the same or a higher precedence. Their last operand is the last node, and the one
  /// before ends where the nodes of the last one begin.
  void join_down_to(Waiting kind) {
    while (!operators_.empty() && operators_.back().kind >= kind) {
      const Operator joined = operators_.back();
      operators_.pop_back();
      const auto last = static_cast<std::uint32_t>(filter_.nodes_.size() - 1);
      const std::size_t end = filter_.nodes_[last].text_end;
      if (joined.kind == Waiting::kNot) {
        add({FilterNode::Kind::kNot, last, 0}, {joined.offset, end});
        continue;
      }
      const std::uint32_t left = filter_.first_of(last) - 1;
      const auto joint = joined.kind == Waiting::kAnd ? FilterNode::Kind::kAnd : FilterNode::Kind::kOr;
      add({joint, left, last}, {filter_.nodes_[left].text_begin, end});
    }
  }

  /// Bytes of the text.
  struct Place {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  static void set_place(FilterNode& node, Place place) noexcept {
    node.text_begin = static_cast<std::uint32_t>(place.begin);
    node.text_end = static_cast<std::uint32_t>(place.end);
  }
  void add(FilterNode node, Place place) {
    set_place(node, place);
    filter_.nodes_.push_back(node);
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
    Place place;
  };

  Status check_no_arithmetic() const {
    if (token_.kind != Kind::kWord || !is_arithmetic(token_.text)) return Status();
    return filter_not_implemented(text_, token_.offset, "arithmetic is not implemented");
  }

  /// Takes the current token.
  Status take_operand(Operand& taken) {
    if (Status checked = check_operand(); !checked.ok()) return checked;
    taken.place = place_of(token_);
    taken.token.kind = token_.kind;
    taken.token.offset = token_.offset;
    taken.token.text = token_.text;
    if (token_.kind == Kind::kLiteral) taken.token.literal = std::move(token_.literal);
    if (Status moved = advance(); !moved.ok()) return moved;
    return check_no_arithmetic();
  }

  /// `(A) eq 1`. Parentheses opened directly before the operand belong to it.
  Status left_operand(Operand& left) {
    if (Status taken = take_operand(left); !taken.ok()) return taken;
    while (token_.kind == Kind::kClose && !operators_.empty() && operators_.back().kind == Waiting::kOpen) {
      left.place = {operators_.back().offset, place_of(token_).end};
      operators_.pop_back();
      if (Status moved = advance(); !moved.ok()) return moved;
      if (Status checked = check_no_arithmetic(); !checked.ok()) return checked;
    }
    return Status();
  }

  /// `A eq (1)`.
  Status right_operand(Operand& right) {
    std::vector<std::size_t> opened;
    while (token_.kind == Kind::kOpen) {
      if (operators_.size() + opened.size() == kDepthMax) return too_deep();
      opened.push_back(token_.offset);
      if (Status moved = advance(); !moved.ok()) return moved;
    }
    if (Status taken = take_operand(right); !taken.ok()) return taken;
    for (; !opened.empty(); opened.pop_back()) {
      if (token_.kind != Kind::kClose)
        return filter_error(text_, opened.back(), "the parenthesis that opens here is not closed after its operand");
      right.place = {opened.back(), place_of(token_).end};
      if (Status moved = advance(); !moved.ok()) return moved;
      if (Status checked = check_no_arithmetic(); !checked.ok()) return checked;
    }
    return Status();
  }

  /// Parses a comparison, a function, a Boolean property, `true` or `false`.
  Status condition() {
    if (is_extended_ && token_.kind == Kind::kWord && lexer_.at_open()) {
      if (const NamedFunction* const named = find_function(token_.text)) return function(*named);
    }
    Operand left;
    if (Status taken = left_operand(left); !taken.ok()) return taken;
    if (is_extended_ && is_word("in")) return list(left);
    if (token_.kind == Kind::kWord) {
      if (const NamedOperator* const named = find_operator(token_.text)) return comparison(left, *named);
    }
    const FilterToken& token = left.token;
    if (token.kind == Kind::kLiteral) return error("expected an operator: eq, ne, gt, ge, lt or le");
    if (token.text == "true" || token.text == "false") {
      add({token.text == "true" ? FilterNode::Kind::kTrue : FilterNode::Kind::kFalse, 0, 0}, left.place);
      return Status();
    }
    if (subject_of(token.text) != Comparison::Subject::kCustom) {
      return filter_error(text_, token.offset, quoted(token.text) + " is not Boolean; compare it with a value");
    }
    return compare(token, CompareOperator::kEqual, Value(true), left.place);
  }

  Status comparison(Operand& left, const NamedOperator& named) {
    if (Status moved = advance(); !moved.ok()) return moved;
    Operand right;
    if (Status taken = right_operand(right); !taken.ok()) return taken;
    const bool is_left_literal = is_literal(left.token);
    const bool is_right_literal = is_literal(right.token) || (!is_left_literal && is_named_number(right.token));
    if (is_left_literal == is_right_literal) {
      if (is_left_literal)
        return filter_not_implemented(text_, left.token.offset,
                                      "two literals are compared; one side must be a property");
      if (is_extended_) return compare_properties(left, named.compare, right);
      return filter_not_implemented(text_, left.token.offset, "two properties are compared; one side must be a literal")
          .with_hint(literal_hint(right.token.text));
    }
    const Place place{left.place.begin, right.place.end};
    return is_right_literal ? compare(left.token, named.compare, take_literal(right.token), place)
                            : compare(right.token, named.mirrored, take_literal(left.token), place);
  }

  static Place place_of(const FilterToken& token) noexcept { return {token.offset, token.offset + token.text.size()}; }

  Status check_name(const FilterToken& property) const {
    const Status named = check_property_name(property.text);
    return named.ok() ? named : filter_error(text_, property.offset, named.message());
  }

  /// Adds a comparison of a property whose name was checked.
  Comparison& add_comparison(std::string_view property, Place place) {
    add({FilterNode::Kind::kComparison, static_cast<std::uint32_t>(filter_.comparisons_.size()), 0}, place);
    Comparison& added = filter_.comparisons_.emplace_back();
    added.subject = subject_of(property);
    added.property = property;
    return added;
  }

  Status compare(const FilterToken& property, CompareOperator compare, Value&& literal, Place place) {
    if (Status checked = check_name(property); !checked.ok()) return checked;
    Comparison& added = add_comparison(property.text, place);
    added.compare = compare;
    added.literal = std::move(literal);
    return Status();
  }

  Status compare_properties(const Operand& left, CompareOperator compare, const Operand& right) {
    if (Status checked = check_name(right.token); !checked.ok()) return checked;
    if (Status checked = check_name(left.token); !checked.ok()) return checked;
    Comparison& added = add_comparison(left.token.text, {left.place.begin, right.place.end});
    added.kind = Comparison::Kind::kProperty;
    added.compare = compare;
    added.other_subject = subject_of(right.token.text);
    added.other_property = right.token.text;
    return Status();
  }

  /// Parses the arguments of a function and its parentheses.
  Status function(const NamedFunction& named) {
    const std::size_t begin = token_.offset;
    if (Status moved = advance(); !moved.ok()) return moved;  // to the parenthesis
    if (Status moved = advance(); !moved.ok()) return moved;
    if (token_.kind != Kind::kWord || is_reserved(token_.text) || is_literal(token_))
      return error("the first argument of " + quoted(named.name) + " must be a property");
    const FilterToken property = std::move(token_);
    if (Status moved = advance(); !moved.ok()) return moved;
    Value text;
    if (named.takes_text) {
      if (token_.kind != Kind::kComma) return error("expected a comma and a text in single quotes");
      if (Status moved = advance(); !moved.ok()) return moved;
      if (token_.kind != Kind::kLiteral || token_.literal.type() != PropertyType::kString)
        return error("the second argument of " + quoted(named.name) + " must be a text in single quotes");
      text = std::move(token_.literal);
      if (Status moved = advance(); !moved.ok()) return moved;
    }
    if (token_.kind != Kind::kClose) return error("expected `)` after the arguments of " + quoted(named.name));
    const Place place{begin, place_of(token_).end};
    if (Status moved = advance(); !moved.ok()) return moved;
    if (Status checked = check_name(property); !checked.ok()) return checked;
    Comparison& added = add_comparison(property.text, place);
    added.kind = named.kind;
    added.literal = std::move(text);
    return Status();
  }

  /// Parses `in` and its list.
  Status list(const Operand& left) {
    if (is_literal(left.token)) return filter_error(text_, left.token.offset, "a property is expected before `in`");
    if (Status moved = advance(); !moved.ok()) return moved;
    if (token_.kind != Kind::kOpen) return error("expected `(` and literals with commas between them");
    std::vector<Value> literals;
    do {
      if (literals.size() == Filter::kListValuesMax)
        return error("at most " + std::to_string(Filter::kListValuesMax) + " values are allowed in a list");
      if (Status moved = advance(); !moved.ok()) return moved;
      if (!is_literal(token_) && !is_named_number(token_)) return error("expected a literal");
      literals.push_back(take_literal(token_));
      if (Status moved = advance(); !moved.ok()) return moved;
    } while (token_.kind == Kind::kComma);
    if (token_.kind != Kind::kClose) return error("expected a comma or `)` after a value of the list");
    const Place place{left.place.begin, place_of(token_).end};
    if (Status moved = advance(); !moved.ok()) return moved;
    if (Status checked = check_name(left.token); !checked.ok()) return checked;
    Comparison& added = add_comparison(left.token.text, place);
    added.kind = Comparison::Kind::kList;
    added.list = std::make_shared<const ValueList>(ValueList::of(std::move(literals)));
    return Status();
  }

  const std::string_view text_;
  const bool is_extended_;
  FilterLexer lexer_;
  FilterToken token_;
  std::vector<Operator> operators_;
  Filter& filter_;
};

Result<Filter> Filter::parse(std::string_view text, FilterGrammar grammar) {
  if (text.size() > limits::kFilterBytesMax) {
    return service_error::invalid_input("the filter has " + std::to_string(text.size()) + " bytes; at most " +
                                        std::to_string(limits::kFilterBytesMax) + " are allowed");
  }
  if (!format::is_valid_utf8(text)) return service_error::invalid_input("the filter is not valid UTF-8");
  Result<Filter> filter = Filter();
  if (Status parsed = FilterParser(text, grammar, *filter).run(); !parsed.ok()) return parsed;
  return filter;
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
  if (!checked.ok()) return checked;
  return filter;
}

}  // namespace varve

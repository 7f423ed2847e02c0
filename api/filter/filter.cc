// Owns: the order in which the comparisons of a filter are evaluated (filter.h).
// Must never: recurse. The sender of a filter decides how deep it is.
#include "api/filter/filter.h"

#include <cassert>

namespace varve {

/// Turns the leaves into steps, in the order of the text. From the root down, each node gets the next step for true and
/// for false. For example, if the left child of `and` is true, evaluation continues at the first leaf of the right
/// child.
void Filter::compile() {
  struct Targets {
    std::uint32_t if_true = kMatch;
    std::uint32_t if_false = kNoMatch;
  };
  const auto is_leaf = [](const FilterNode& node) { return node.kind <= FilterNode::Kind::kFalse; };

  const bool is_one_leaf = nodes_.size() == 1;  // as most filters are; the lists would need memory
  std::vector<std::uint32_t> first_step(is_one_leaf ? 0 : nodes_.size());
  for (std::uint32_t i = 0; i < first_step.size(); ++i) {
    const FilterNode& node = nodes_[i];
    first_step[i] = is_leaf(node) ? static_cast<std::uint32_t>(steps_.size()) : first_step[node.first];
    if (is_leaf(node)) steps_.push_back({i, 0, 0});
  }
  std::vector<Targets> targets(first_step.size());
  for (std::size_t left = targets.size(); left > 0; --left) {
    const FilterNode& node = nodes_[left - 1];
    const Targets own = targets[left - 1];
    switch (node.kind) {
      case FilterNode::Kind::kNot: targets[node.first] = {own.if_false, own.if_true}; break;
      case FilterNode::Kind::kAnd:
        targets[node.first] = {first_step[node.second], own.if_false};
        targets[node.second] = own;
        break;
      case FilterNode::Kind::kOr:
        targets[node.first] = {own.if_true, first_step[node.second]};
        targets[node.second] = own;
        break;
      default: {
        Step& step = steps_[first_step[left - 1]];
        step.if_true = own.if_true;
        step.if_false = own.if_false;
      }
    }
  }
  for (Comparison& comparison : comparisons_) {
    comparison.property_hash = format::hash_of_name(comparison.property);
    if (comparison.kind == Comparison::Kind::kProperty) {
      comparison.other_hash = format::hash_of_name(comparison.other_property);
    }
    names_keys_ = names_keys_ || comparison.names_keys();
    is_extended_ = is_extended_ || comparison.kind != Comparison::Kind::kLiteral;
    comparison_count_ += comparison.kind == Comparison::Kind::kList ? comparison.list->written() : 1;
  }
}

std::string_view Filter::text_of(std::uint32_t node) const noexcept {
  return std::string_view(text_).substr(nodes_[node].text_begin, nodes_[node].text_end - nodes_[node].text_begin);
}

std::uint32_t Filter::first_of(std::uint32_t node) const noexcept {
  while (nodes_[node].kind > FilterNode::Kind::kFalse) node = nodes_[node].first;
  return node;
}

Filter Filter::all_of(std::span<const std::uint32_t> nodes) const {
  Filter all;
  for (const std::uint32_t whole : nodes) {
    const std::uint32_t begin = first_of(whole);
    const bool joins = !all.nodes_.empty();
    const auto left = static_cast<std::uint32_t>(all.nodes_.size());
    if (joins) all.text_ += " and ";
    const auto moved = static_cast<std::uint32_t>(all.text_.size()) - nodes_[whole].text_begin;
    all.text_ += text_of(whole);
    for (std::uint32_t i = begin; i <= whole; ++i) {
      FilterNode node = nodes_[i];
      if (node.kind == FilterNode::Kind::kComparison) {
        all.comparisons_.push_back(comparisons_[node.first]);
        node.first = static_cast<std::uint32_t>(all.comparisons_.size() - 1);
      } else {
        node.first += left - begin;
        node.second += left - begin;
      }
      node.text_begin += moved;
      node.text_end += moved;
      all.nodes_.push_back(node);
    }
    if (!joins) continue;
    all.nodes_.push_back({FilterNode::Kind::kAnd, left - 1, static_cast<std::uint32_t>(all.nodes_.size() - 1), 0,
                          static_cast<std::uint32_t>(all.text_.size())});
  }
  all.compile();
  return all;
}

bool Filter::is_true(const FilterNode& leaf, const FilterSubject& subject) const noexcept {
  if (leaf.kind == FilterNode::Kind::kComparison) return holds(comparisons_[leaf.first], subject);
  return leaf.kind == FilterNode::Kind::kTrue;
}

bool Filter::matches(const FilterSubject& subject) const noexcept {
  if (steps_.empty()) return nodes_.empty() || is_true(nodes_.front(), subject);
  std::uint32_t at = 0;
  while (at != kMatch && at != kNoMatch) {
    assert(at < steps_.size());
    const Step& step = steps_[at];
    at = is_true(nodes_[step.node], subject) ? step.if_true : step.if_false;
  }
  return at == kMatch;
}

}  // namespace varve

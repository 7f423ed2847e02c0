// Owns: the order in which the comparisons of a filter are tried (filter.h).
// Must never: recurse; a filter is as deep as whoever sent it likes.
#include "api/filter/filter.h"

#include <cassert>

namespace varve {

/// Leaves become steps in the order of the text. Walked from the whole down to the leaves, each node knows where to go
/// on when it holds and when not; the left child of `and` goes on, when it holds, to the first leaf of the right one.
void Filter::compile() {
  struct Targets {
    std::uint32_t if_true = kMatch;
    std::uint32_t if_false = kNoMatch;
  };
  const auto is_leaf = [](const FilterNode& node) { return node.kind <= FilterNode::Kind::kFalse; };

  std::vector<std::uint32_t> first_step(nodes_.size());
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    const FilterNode& node = nodes_[i];
    first_step[i] = is_leaf(node) ? static_cast<std::uint32_t>(steps_.size()) : first_step[node.first];
    if (is_leaf(node)) steps_.push_back({i, 0, 0});
  }
  std::vector<Targets> targets(nodes_.size());
  for (std::size_t left = nodes_.size(); left > 0; --left) {
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
  for (const Comparison& comparison : comparisons_) {
    names_keys_ = names_keys_ || comparison.subject == Comparison::Subject::kPartitionKey ||
                  comparison.subject == Comparison::Subject::kRowKey;
  }
}

bool Filter::matches(const FilterSubject& subject) const noexcept {
  if (steps_.empty()) return true;
  std::uint32_t at = 0;
  while (at != kMatch && at != kNoMatch) {
    assert(at < steps_.size());
    const Step& step = steps_[at];
    const FilterNode& node = nodes_[step.node];
    const bool is_true = node.kind == FilterNode::Kind::kComparison ? holds(comparisons_[node.first], subject)
                                                                    : node.kind == FilterNode::Kind::kTrue;
    at = is_true ? step.if_true : step.if_false;
  }
  return at == kMatch;
}

}  // namespace varve

#include "tests/lab/schedules/history.h"

#include <algorithm>
#include <unordered_set>

namespace varve::lab {
namespace {

class Search {
 public:
  Search(std::span<const HistoryOperation> history, std::size_t cells, std::size_t states_max)
      : history_(history), cells_(cells, 0), done_(history.size(), '\0'), states_max_(states_max) {
    for (std::size_t i = 0; i < history.size(); ++i) order_.push_back(i);
    // Operations that returned first are tried first, because they most often happened first.
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return history[a].returned < history[b].returned; });
    for (const HistoryOperation& operation : history) certain_left_ += operation.certain ? 1 : 0;
  }

  Linearity run() {
    if (finds_order()) return Linearity::kLinearizable;
    return seen_.size() >= states_max_ ? Linearity::kGivenUp : Linearity::kNotLinearizable;
  }

 private:
  bool finds_order() {
    if (certain_left_ == 0) return true;
    if (seen_.size() >= states_max_ || !seen_.insert(key()).second) return false;
    const std::uint64_t end = first_return();
    return std::any_of(order_.begin(), order_.end(), [this, end](std::size_t i) {
      const HistoryOperation& operation = history_[i];
      return done_[i] == '\0' && operation.invoked < end && holds(operation) && goes_on_with(i);
    });
  }

  bool goes_on_with(std::size_t i) {
    const HistoryOperation& operation = history_[i];
    const std::vector<std::int64_t> before = cells_;
    for (const Assignment& set : operation.sets) {
      cells_[set.cell] = set.adds ? cells_[set.cell] + set.value : set.value;
    }
    done_[i] = '\1';
    certain_left_ -= operation.certain ? 1 : 0;
    if (finds_order()) return true;
    certain_left_ += operation.certain ? 1 : 0;
    done_[i] = '\0';
    cells_ = before;
    return false;
  }

  bool holds(const HistoryOperation& operation) const {
    return std::all_of(operation.needs.begin(), operation.needs.end(),
                       [this](const Requirement& need) { return (cells_[need.cell] == need.value) == need.equals; });
  }

  /// Returns the earliest return of an operation that is certain and not done yet. An operation invoked later happens
  /// after it.
  std::uint64_t first_return() const {
    for (const std::size_t i : order_) {
      if (done_[i] == '\0' && history_[i].certain) return history_[i].returned;
    }
    return HistoryOperation::kNever;
  }

  std::string key() const {
    std::string text = done_;
    text.append(reinterpret_cast<const char*>(cells_.data()), cells_.size() * sizeof(std::int64_t));
    return text;
  }

  std::span<const HistoryOperation> history_;
  std::vector<std::int64_t> cells_;
  std::string done_;
  std::vector<std::size_t> order_;
  std::size_t certain_left_ = 0;
  std::size_t states_max_;
  std::unordered_set<std::string> seen_;
};

}  // namespace

Linearity judge_history(std::span<const HistoryOperation> history, std::size_t cells, std::size_t states_max) {
  return Search(history, cells, states_max).run();
}

std::string history_text(std::span<const HistoryOperation> history) {
  std::vector<const HistoryOperation*> sorted;
  for (const HistoryOperation& operation : history) sorted.push_back(&operation);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const HistoryOperation* a, const HistoryOperation* b) { return a->invoked < b->invoked; });
  std::string text;
  for (const HistoryOperation* const operation : sorted) {
    text += std::to_string(operation->invoked) + " to " +
            (operation->returned == HistoryOperation::kNever ? "?" : std::to_string(operation->returned)) + " " +
            operation->text;
    for (const Requirement& need : operation->needs) {
      text += " [" + std::to_string(need.cell) + (need.equals ? "]==" : "]!=") + std::to_string(need.value);
    }
    for (const Assignment& set : operation->sets) {
      text += " [" + std::to_string(set.cell) + (set.adds ? "]+=" : "]=") + std::to_string(set.value);
    }
    text += operation->certain ? "\n" : " (perhaps)\n";
  }
  return text;
}

}  // namespace varve::lab

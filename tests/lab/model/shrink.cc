#include "tests/lab/model/shrink.h"

#include <algorithm>
#include <utility>

namespace varve::lab {
namespace {

class Shrinker {
 public:
  Shrinker(OperationList list, const std::function<bool(const OperationList&)>& goes_wrong, int tries_max)
      : list_(std::move(list)), goes_wrong_(goes_wrong), tries_left_(tries_max) {}

  OperationList run() {
    take_out_operations();
    make_numbers_zero();
    take_out_operations();
    return std::move(list_);
  }

 private:
  bool keep_if_wrong(OperationList candidate) {
    if (tries_left_ <= 0) return false;
    --tries_left_;
    if (!goes_wrong_(candidate)) return false;
    list_ = std::move(candidate);
    return true;
  }

  void take_out_operations() {
    for (std::size_t chunk = std::max<std::size_t>(list_.operations.size() / 2, 1); chunk > 0; chunk /= 2) {
      // Starts at the end: a later operation is less often the cause of a failure.
      for (std::size_t end = list_.operations.size(); end > 0 && tries_left_ > 0;) {
        const std::size_t begin = end - std::min(chunk, end);
        OperationList candidate = list_;
        candidate.operations.erase(candidate.operations.begin() + static_cast<std::ptrdiff_t>(begin),
                                   candidate.operations.begin() + static_cast<std::ptrdiff_t>(end));
        keep_if_wrong(std::move(candidate));
        end = std::min(begin, list_.operations.size());
      }
    }
  }

  void make_numbers_zero() {
    for (std::size_t i = 0; i < list_.operations.size(); ++i) {
      for (std::size_t k = 0; k < kOperationNumbers; ++k) {
        if (list_.operations[i].numbers[k] == 0) continue;
        OperationList candidate = list_;
        candidate.operations[i].numbers[k] = 0;
        keep_if_wrong(std::move(candidate));
      }
    }
  }

  OperationList list_;
  const std::function<bool(const OperationList&)>& goes_wrong_;
  int tries_left_;
};

}  // namespace

OperationList shrink(OperationList list, const std::function<bool(const OperationList&)>& goes_wrong, int tries_max) {
  return Shrinker(std::move(list), goes_wrong, tries_max).run();
}

}  // namespace varve::lab

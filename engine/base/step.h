// Owns: work to be done once by another thread, and the interface of the thread that does it.
// Must never: allocate, because announcing the end of an operation must not fail.
#pragma once

namespace varve::engine {

/// Work to be done once. It is in memory of the thread that waits for it, and may be destroyed as soon as run() was
/// called.
class Step {
 public:
  virtual ~Step() = default;
  virtual void run() noexcept = 0;

 private:
  friend class StepList;
  Step* next_ = nullptr;
};

/// A list of steps in the order in which they were added.
class StepList {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  void push(Step& step) noexcept {
    step.next_ = nullptr;
    (first_ == nullptr ? first_ : last_->next_) = &step;
    last_ = &step;
  }
  /// Appends all steps of another list.
  void append(const StepList& others) noexcept {
    if (others.empty()) return;
    (first_ == nullptr ? first_ : last_->next_) = others.first_;
    last_ = others.last_;
  }
  /// Removes and returns the first step. The list must not be empty.
  Step& pop() noexcept {
    Step& step = *first_;
    first_ = step.next_;
    return step;
  }
  StepList take() noexcept {
    const StepList all = *this;
    first_ = nullptr;
    return all;
  }

 private:
  Step* first_ = nullptr;
  Step* last_ = nullptr;  // undefined if first_ is null
};

/// Performs steps. Any thread may post, under any lock of the engine: post() waits only for its own lock.
class StepTaker {
 public:
  virtual ~StepTaker() = default;
  virtual void post(Step& step) noexcept = 0;
  /// Posts the steps in their order. A taker with a lock takes it once.
  virtual void post_all(StepList steps) noexcept {
    while (!steps.empty()) post(steps.pop());
  }
};

}  // namespace varve::engine

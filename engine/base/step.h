// Owns: something to be done once, by a thread other than the one that says so, and who takes it.
// Must never: allocate: what tells of an end must not fail.
#pragma once

namespace varve::engine {

/// Lies in memory of whoever waits for it, and may go as soon as run() was called.
class Step {
 public:
  virtual ~Step() = default;
  virtual void run() noexcept = 0;

 private:
  friend class StepList;
  Step* next_ = nullptr;
};

/// In the order in which they came.
class StepList {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  void push(Step& step) noexcept {
    step.next_ = nullptr;
    (first_ == nullptr ? first_ : last_->next_) = &step;
    last_ = &step;
  }
  /// It is not empty.
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
  Step* last_ = nullptr;  // says nothing when first_ is null
};

/// Who does steps. Any thread may post, under any lock of the engine's: post() waits for nothing but its own.
class StepTaker {
 public:
  virtual ~StepTaker() = default;
  virtual void post(Step& step) noexcept = 0;
};

}  // namespace varve::engine

// Owns: the numbers of questions: which one is sent, which one has an answer (owner_question.h).
// Must never: hold the mutex while the cluster is asked.
#include "io/rados/owner_question.h"

#include <memory>
#include <new>
#include <utility>

namespace varve::io {

OwnerQuestion::OwnerQuestion(Scheduler& scheduler, Clock& clock, std::function<Status()> question)
    : scheduler_(scheduler),
      clock_(clock),
      question_(std::move(question)),
      mutex_(scheduler),
      wanted_more_(scheduler),
      answered_more_(scheduler) {}

OwnerQuestion::~OwnerQuestion() {
  if (thread_ == nullptr) return;
  {
    const MutexGuard guard(mutex_);
    is_ending_ = true;
    wanted_more_.notify_all();
  }
  thread_.reset();
}

Status OwnerQuestion::start() {
  auto kept = std::make_unique<Thread>();  // Nothing may fail once the thread runs.
  Result<Thread> thread = scheduler_.start("varve-owner", [this] { run(); });
  if (!thread.ok()) return thread.status();
  *kept = *std::move(thread);
  thread_ = std::move(kept);
  return Status();
}

std::uint64_t OwnerQuestion::want() noexcept {
  const std::uint64_t own = sent_ + 1;  // The present one, if any, was sent before.
  if (wanted_ < own) {
    wanted_ = own;
    wanted_more_.notify_one();
  }
  return own;
}

void OwnerQuestion::send() noexcept {
  const MutexGuard guard(mutex_);
  (void)want();
}

Status OwnerQuestion::ask(std::chrono::milliseconds patience) noexcept {
  const MutexGuard guard(mutex_);
  const std::chrono::nanoseconds begin = clock_.monotonic();
  const std::uint64_t own = want();
  while (answered_ < own) {
    if (patience.count() == 0) {
      answered_more_.wait(mutex_);
      continue;
    }
    // The answer to an earlier question wakes this call too.
    const std::chrono::nanoseconds left = patience - (clock_.monotonic() - begin);
    if (!answered_more_.wait_for(mutex_, left) && answered_ < own) {
      return Status(Code::kBusy,
                    "the cluster has not said in time who owns the store; repeat the call when it answers again");
    }
  }
  return answer_;
}

std::uint64_t OwnerQuestion::sent() noexcept {
  const MutexGuard guard(mutex_);
  return sent_;
}

void OwnerQuestion::run() noexcept {
  for (;;) {
    {
      const MutexGuard guard(mutex_);
      while (!is_ending_ && wanted_ == sent_) wanted_more_.wait(mutex_);
      if (is_ending_) return;
      ++sent_;
    }
    Status answer;
    try {
      answer = question_();
    } catch (const std::bad_alloc&) {
      answer = Status::out_of_memory();
    }
    const MutexGuard guard(mutex_);
    ++answered_;
    answer_ = std::move(answer);
    answered_more_.notify_all();
  }
}

}  // namespace varve::io

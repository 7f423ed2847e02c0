// Owns: the waiting of a store's close for the calls that run on it (gate.h).
#include "api/c/gate.h"

namespace varve::c {
namespace {

thread_local std::uint32_t calls_of_this_thread = 0;

}  // namespace

bool Gate::enter() noexcept {
  if ((state_.fetch_add(1, std::memory_order_acquire) & kClosing) != 0) {
    state_.fetch_sub(1, std::memory_order_release);
    state_.notify_all();
    return false;
  }
  ++calls_of_this_thread;
  return true;
}

void Gate::leave() noexcept {
  --calls_of_this_thread;
  if (state_.fetch_sub(1, std::memory_order_release) == (kClosing | 1)) state_.notify_all();
}

bool Gate::close() noexcept {
  if ((state_.fetch_or(kClosing, std::memory_order_acq_rel) & kClosing) != 0) return false;
  if (!owner_.is_this_process()) return true;
  closing_.request_stop();
  for (std::uint64_t now = state_.load(std::memory_order_acquire); now != kClosing;
       now = state_.load(std::memory_order_acquire)) {
    state_.wait(now, std::memory_order_acquire);
  }
  return true;
}

bool Gate::is_in_call() noexcept {
  return calls_of_this_thread != 0;
}

}  // namespace varve::c

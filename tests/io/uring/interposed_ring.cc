// Owns: the interposed calls. The linker prefers a program's own definition of a name to the library's.
// Must never: change a call unless a test asked for it.
#include "tests/io/uring/interposed_ring.h"

#include <cstdlib>

#include <dlfcn.h>
#include <liburing.h>

namespace varve::io {
namespace {

RingMisfortune* active = nullptr;

/// Returns the library's own function of this name.
template <typename Function>
Function* next(const char* name) {
  auto* const found = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
  if (found == nullptr) std::abort();
  return found;
}

}  // namespace

RingMisfortune::RingMisfortune() {
  if (active != nullptr) std::abort();
  active = this;
}
RingMisfortune::~RingMisfortune() {
  active = nullptr;
}

}  // namespace varve::io

extern "C" int io_uring_queue_init_params(unsigned entries, io_uring* ring, io_uring_params* parameters) {
  using varve::io::active;
  if (active != nullptr && active->on_make) {
    if (const int error = active->on_make(parameters->flags); error != 0) return -error;
  }
  return varve::io::next<decltype(io_uring_queue_init_params)>("io_uring_queue_init_params")(entries, ring, parameters);
}

extern "C" int io_uring_submit_and_wait(io_uring* ring, unsigned wait_count) {
  using varve::io::active;
  if (active != nullptr && active->on_enter) {
    if (const int error = active->on_enter(wait_count); error != 0) return -error;
  }
  return varve::io::next<decltype(io_uring_submit_and_wait)>("io_uring_submit_and_wait")(ring, wait_count);
}

extern "C" unsigned io_uring_peek_batch_cqe(io_uring* ring, io_uring_cqe** completions, unsigned count_max) {
  using varve::io::active;
  const unsigned count =
      varve::io::next<decltype(io_uring_peek_batch_cqe)>("io_uring_peek_batch_cqe")(ring, completions, count_max);
  if (active == nullptr || !active->on_completion) return count;
  for (unsigned i = 0; i < count; ++i) completions[i]->res = active->on_completion(completions[i]->res);
  return count;
}

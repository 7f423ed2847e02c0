// Owns: the list of objects that were left to the parent (parents_object.h).
// Must never: fail. An object that does not fit the list is left to the parent all the same.
#include "io/parents_object.h"

#include <atomic>
#include <new>

namespace varve::io {
namespace {

struct Kept {
  void* object;
  Kept* next;
};

std::atomic<Kept*> kept_first{nullptr};

}  // namespace

void keep_parents_object(void* object) noexcept {
  auto* const kept = new (std::nothrow) Kept{object, nullptr};
  if (kept == nullptr) return;
  kept->next = kept_first.load(std::memory_order_relaxed);
  while (!kept_first.compare_exchange_weak(kept->next, kept, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

}  // namespace varve::io

// Owns: the budget's slow path, when room is short (write_budget.h).
// Must never: be called by a commit that finds room at once.
#include "engine/memory/write_budget.h"

#include "engine/memory/write_room.h"

namespace varve::engine {

std::uint64_t WriteBudget::take_up_to(std::uint64_t bytes, BudgetPart part) noexcept {
  const std::uint64_t bound = bytes_for(part);
  std::uint64_t used = used_bytes_.load(std::memory_order_seq_cst);
  std::uint64_t taken = 0;
  do {
    taken = used >= bound ? 0 : std::min(bytes, bound - used);
    if (taken == 0) return 0;
  } while (!used_bytes_.compare_exchange_weak(used, used + taken, std::memory_order_seq_cst));
  spare_.trim(spare_bytes_max());
  return taken;
}

std::shared_ptr<WriteRoom> WriteBudget::room(io::Scheduler& scheduler) {
  const io::MutexGuard guard(making_);
  std::shared_ptr<WriteRoom> room = room_.lock();
  if (!room) {
    room = std::make_shared<WriteRoom>(*this, scheduler);
    room_ = room;
  }
  if (!room->is_on(scheduler)) room.reset();
  return room;
}

void WriteBudget::tell_of_room() noexcept {
  std::shared_ptr<WriteRoom> room;
  {
    const io::MutexGuard guard(making_);
    room = room_.lock();
  }
  if (room) room->tell_of_room();
}

}  // namespace varve::engine

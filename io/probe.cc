// Owns: the slots of the counts, each used by the first probe that claims it (probe.h).
// Must never: wait, or allocate memory.
#include "io/probe.h"

namespace varve::io {

namespace {

constinit ProbeTable own_table;
constinit std::atomic<ProbeTable*> table_in_use{&own_table};

}  // namespace

void probe(const char* name) noexcept {
  for (ProbeTable::Slot& slot : table_in_use.load(std::memory_order_acquire)->slots) {
    const char* found = slot.name.load(std::memory_order_relaxed);
    // If another thread claims the slot first, `found` receives that thread's name.
    if (found == nullptr && slot.name.compare_exchange_strong(found, name, std::memory_order_relaxed)) found = name;
    if (found != name) continue;
    slot.count.fetch_add(1, std::memory_order_relaxed);
    return;
  }
}

void count_probes_in(ProbeTable& table) noexcept {
  table_in_use.store(&table, std::memory_order_release);
}

std::map<std::string, std::uint64_t> probe_counts() {
  std::map<std::string, std::uint64_t> counts;
  for (const ProbeTable::Slot& slot : table_in_use.load(std::memory_order_acquire)->slots) {
    const char* const name = slot.name.load(std::memory_order_relaxed);
    if (name != nullptr) counts[name] += slot.count.load(std::memory_order_relaxed);
  }
  return counts;
}

}  // namespace varve::io

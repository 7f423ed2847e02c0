// Owns: how the known blocks of a batch are kept and found again (known_blocks.h).
// Must never: release or pin a block under a guard of the cache.
#include "engine/tables/known_blocks.h"

namespace varve::engine {

std::size_t KnownBlocks::place_of(const OpenTable& table) const noexcept {
  std::size_t place = 0;
  while (place < used_ && known_[place].table != &table) ++place;
  return place;
}

const KnownBlocks::Known* KnownBlocks::find(const OpenTable& table, std::string_view sort_key) const noexcept {
  const std::size_t place = place_of(table);
  if (place == used_) return nullptr;
  const Known& known = known_[place];
  const bool is_here = (known.is_new || known.block) && sort_key >= known.first_key && sort_key <= known.last_key;
  return is_here ? &known : nullptr;
}

void KnownBlocks::note(const OpenTable& table, std::size_t run, format::BlockHandle handle, std::string_view first_key,
                       std::string_view last_key) {
  std::size_t place = place_of(table);
  if (place == used_ && used_ < kTablesMax) {
    ++used_;
  } else if (place == used_) {
    place = next_++ % kTablesMax;
  }
  Known& known = known_[place];
  known.table = nullptr;  // in case memory is short below
  known.is_new = false;
  known.first_key = first_key;
  known.last_key.assign(last_key);
  known.run = run;
  known.handle = handle;
  known.table = &table;
  known.is_new = true;
  any_new_ = true;
}

void KnownBlocks::hold(BlockCache& cache) noexcept {
  if (!any_new_) return;
  for (Known& known : known_) {
    if (!known.is_new) continue;
    known.block.release();
    known.block = cache.pin(known.table->cache_id, known.handle.offset);
    known.is_new = false;
  }
  any_new_ = false;
}

}  // namespace varve::engine

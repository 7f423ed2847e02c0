// Owns: where a search begins and how far it extends (look_around.h).
// Must never: leave the table of the deleted key.
#include "engine/look_around.h"

#include <new>

#include "engine/engine_state.h"
#include "format/keys/batch.h"
#include "format/keys/sort_key.h"

namespace varve::engine {

namespace {

/// Dead keys after which a search ends, in each direction. The next search skips the range that this one found, and
/// continues there.
constexpr std::uint64_t kDeadKeysMax = 2048;

std::string_view first_delete(std::string_view batch) {
  format::BatchReader reader = *format::BatchReader::open(batch);
  format::Operation operation;
  while (*reader.next(&operation)) {
    if (operation.kind == Kind::kDelete) return operation.key;
  }
  return {};
}

}  // namespace

void close_cuts(std::string_view batch, CommitVersion version, DeadStretches& stretches) noexcept {
  if (!stretches.is_on()) return;
  try {
    format::BatchReader reader = *format::BatchReader::open(batch);
    format::Operation operation;
    while (*reader.next(&operation)) {
      if (operation.kind == Kind::kDelete) stretches.join_around(operation.key, version);
    }
  } catch (const std::bad_alloc&) {
    // Without memory, the cuts stay.
  }
}

void look_around(const ReadView& view, std::string_view batch, CommitQueue& queue, ReadCost* cost) noexcept {
  try {
    queue.know_stretches();
    const std::string_view key = first_delete(batch);
    const std::string_view table = key.substr(0, format::kTableIdBytes);
    Cursor cursor = view.cursor(table, format::end_of_prefix(table), cost);
    cursor.stop_after(kDeadKeysMax);
    cursor.leave_values();
    // Errors are ignored here: a reader of these keys gets them.
    cursor.seek(key);
    if (queue.stretches().end_of(key, view.moment())) cursor.tell_all();
    cursor.seek_before(key);
  } catch (const std::bad_alloc&) {
    // Without memory, the search has no result.
  }
}

void Engine::learn_from_deletes(EngineState& state, std::string_view batch, std::uint64_t deletes,
                                CommitVersion version, ReadCost* cost) noexcept {
  if (deletes == 0) return;
  CommitQueue& queue = *state.queue;
  close_cuts(batch, version, queue.stretches());
  // A first seek may ask the file system whether this process is still the owner.
  const bool may_look = cost == nullptr || cost->may_wait || !state.answers_wait();
  if (queue.stretches().count_deletes(deletes) && may_look) look_around(view_of(state), batch, queue, cost);
}

}  // namespace varve::engine

// Owns: when the name of a dropped table, queue or container may be used again, if the store has a recreation delay (B-04,
// QB-03).
// Must never: judge a change without the lock of the name's row. That lock also protects the note of the drop.
//
// A drop writes a note next to the catalog's rows: an entity without properties, whose version is the time of the drop.
// The note stays until the name is used again, also by a later account of the same name. The drop of an account writes
// no note.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/engine.h"
#include "format/keys/batch.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve {

class NameRelease {
 public:
  /// What the names are of. Each has notes of its own.
  enum class Of : std::uint8_t { kTables, kQueues, kContainers };

  /// If the delay is zero, nothing is written or read. The clock must outlive this object.
  NameRelease(Of what, std::chrono::milliseconds delay, io::Clock& clock) noexcept
      : of_(what), delay_(delay), clock_(clock) {}

  bool is_delayed() const noexcept { return delay_.count() > 0; }

  /// The note found for a name: the refusal, if the name is not free yet, and the commit that it rests on.
  struct Found {
    Status status;
    engine::CommitVersion rests_on = 0;
    bool has_note = false;
  };
  /// Looks for a note in the newest state, under the lock of the name's row. `status` is kBusy (TableBeingDeleted,
  /// QueueBeingDeleted, ContainerBeingDeleted) until the delay has passed. Errors: those of reading.
  Result<Found> look(const engine::ReadView& view, std::string_view account, std::string_view lower_name) const;
  /// Looks for a note in the view, for a read. Returns kBusy until the delay has passed. Errors: those of reading.
  Status check(const engine::ReadView& view, std::string_view account, std::string_view lower_name) const;

  // These two add to the commit that drops the owner of the name, and to the commit that uses its name again.
  void note_drop(format::BatchBuilder& batch, std::string_view account, std::string_view lower_name) const;
  void forget(format::BatchBuilder& batch, const Found& found, std::string_view account,
              std::string_view lower_name) const;

 private:
  std::string note_key(std::string_view account, std::string_view lower_name) const;
  Status judge(engine::CommitVersion dropped_at, std::string_view account, std::string_view lower_name) const;

  const Of of_;
  const std::chrono::milliseconds delay_;
  io::Clock& clock_;
};

}  // namespace varve

// Owns: when the name of a dropped table may be used again, if the store has a recreation delay (B-04).
// Must never: be called without the lock of the table's row. That lock also protects the note of the drop.
//
// A drop writes a note next to the catalog's rows: an entity without properties, whose version is the time of the drop.
// The note stays until the name is used again, also by a later account of the same name. The drop of an account writes
// no note.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "engine/engine.h"
#include "format/keys/batch.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve {

class NameRelease {
 public:
  /// If the delay is zero, nothing is written or read. The clock must outlive this object.
  NameRelease(std::chrono::milliseconds delay, io::Clock& clock) noexcept : delay_(delay), clock_(clock) {}

  bool is_delayed() const noexcept { return delay_.count() > 0; }

  /// The note found for a name: the refusal, if the name is not free yet, and the commit that it rests on.
  struct Found {
    Status status;
    engine::CommitVersion rests_on = 0;
    bool has_note = false;
  };
  /// Looks for a note. `status` is kBusy (TableBeingDeleted) until the delay has passed. Errors: those of reading.
  Result<Found> look(const engine::ReadView& view, std::string_view account, std::string_view lower_name) const;

  // These two add to the commit that drops the table, and to the commit that uses its name again.
  void note_drop(format::BatchBuilder& batch, std::string_view account, std::string_view lower_name) const;
  static void forget(format::BatchBuilder& batch, const Found& found, std::string_view account,
                     std::string_view lower_name);

 private:
  const std::chrono::milliseconds delay_;
  io::Clock& clock_;
};

}  // namespace varve

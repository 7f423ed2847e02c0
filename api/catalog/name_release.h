// Owns: when the name of a dropped table may be used again, where a store wants that to take a while (B-04).
// Must never: be asked by who does not hold the lock of the table's row: that one guards the note as well.
//
// A drop leaves a note beside the catalog's rows, an entity without properties: its version says when the drop was. It
// stays until the name is used again, by whatever account of that name; the drop of an account leaves none.
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
  /// With a delay of zero nothing is noted, asked or read. The clock outlives it.
  NameRelease(std::chrono::milliseconds delay, io::Clock& clock) noexcept : delay_(delay), clock_(clock) {}

  bool is_delayed() const noexcept { return delay_.count() > 0; }

  /// What was found of a name: whether its release must be waited for, and what that rests on.
  struct Found {
    Status status;
    engine::CommitVersion rests_on = 0;
    bool has_note = false;
  };
  /// The status is kBusy (TableBeingDeleted) while the delay runs. Errors: those of reading.
  Result<Found> look(const engine::ReadView& view, std::string_view account, std::string_view lower_name) const;

  // Into the commit that drops the table, or that uses its name again.
  void note_drop(format::BatchBuilder& batch, std::string_view account, std::string_view lower_name) const;
  static void forget(format::BatchBuilder& batch, const Found& found, std::string_view account,
                     std::string_view lower_name);

 private:
  const std::chrono::milliseconds delay_;
  io::Clock& clock_;
};

}  // namespace varve

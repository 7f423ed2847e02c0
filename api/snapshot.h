// SPDX-License-Identifier: Apache-2.0
// Owns: a version of a store that stays readable.
// Must never: be needed for a single read: every read sees one version anyway.
#pragma once

#include <memory>

#include "types.h"

#pragma GCC visibility push(default)

namespace varve {

/// Reads at a snapshot see every commit up to it and nothing of later ones, dropped tables and accounts included, for
/// as long as any copy of it lives. It costs memory and disk space for what was overwritten or dropped since; let it go
/// when it is done with. Cheap to copy; any thread. It may outlive the Store object; reading with it answers kClosed
/// then.
class Snapshot {
 public:
  /// Of nothing; a read with it is refused.
  Snapshot() noexcept = default;

  /// The version of the last commit it sees. Commits are ordered by version; Timestamps are versions.
  DateTime version() const noexcept;

 private:
  friend class StoreCore;
  struct State;
  explicit Snapshot(std::shared_ptr<const State> state) noexcept : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace varve

#pragma GCC visibility pop

// SPDX-License-Identifier: Apache-2.0
// Owns: a version of a store that stays readable.
// Must never: be needed for a single read. Every read sees one version of the store anyway.
#pragma once

#include <memory>

#include "types.h"
#include "version.h"

namespace varve {

/// Keeps one version of the store readable. A read at a snapshot sees every commit up to that version and no later one.
/// It also sees tables and accounts that were dropped later. The version stays readable as long as a copy of the
/// snapshot exists.
///
/// A snapshot costs memory and disk space: the store keeps everything that was overwritten or dropped since. Destroy a
/// snapshot as soon as it is no longer needed.
///
/// Copies are cheap, and every thread may use a snapshot. A snapshot may outlive the Store object; a read at it then
/// returns kClosed.
class VARVE_EXPORT Snapshot {
 public:
  /// Makes a snapshot of no store. A read at it is refused.
  Snapshot() noexcept = default;

  /// Returns the version of the last commit that the snapshot sees. Versions order commits, and Timestamps are
  /// versions.
  DateTime version() const noexcept;

 private:
  friend class StoreCore;
  struct State;
  explicit Snapshot(std::shared_ptr<const State> state) noexcept : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace varve

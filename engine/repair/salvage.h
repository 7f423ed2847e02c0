// Owns: the state that the parts of a running repair share.
// Must never: contain a way to write to the damaged store.
#pragma once

#include <string>
#include <string_view>

#include "engine/repair/losses.h"
#include "engine/repair/repair_figures.h"
#include "engine/repair/unreadable.h"
#include "io/file_system.h"
#include "varve/status.h"

namespace varve::engine {

/// Only reading functions of `directory` are called. One thread at a time may use it.
struct Salvage {
  io::Directory& directory;
  Losses losses;
  RepairFigures figures;
  /// The ranges that the device failed to read. Null if they are not recorded. It must outlive this object.
  const UnreadableParts* unreadable = nullptr;

  /// Returns whether a byte of the file at or after `offset` could not be read.
  bool is_unreadable_from(std::string_view file, std::uint64_t offset) const noexcept {
    return unreadable != nullptr && unreadable->has_any(file, offset);
  }

  void note(const Status& finding) { figures.findings.emplace_back(finding.message()); }
  void note(std::string_view file, std::string_view finding) {
    figures.findings.push_back(std::string(file).append(": ").append(finding));
  }
};

/// Returns whether the error is the file's damage, so that the repair continues without it. A failed read of the device
/// is damage too, because TolerantDirectory reports it so (unreadable.h). Every other error (no memory, no descriptors,
/// a newer build's bytes) ends the repair: another attempt or another build could save more.
inline bool is_damage(const Status& status) noexcept {
  return status.code() == Code::kCorruption;
}

}  // namespace varve::engine

// Owns: what the parts of a repair share while it runs.
// Must never: hold a way to write to the damaged store.
#pragma once

#include <string>
#include <string_view>

#include "engine/repair/losses.h"
#include "engine/repair/repair_figures.h"
#include "engine/repair/unreadable.h"
#include "io/file_system.h"
#include "varve/status.h"

namespace varve::engine {

/// Of the damaged store nothing but reading calls are made. One thread at a time.
struct Salvage {
  io::Directory& directory;
  Losses losses;
  RepairFigures figures;
  /// What the device refused to read; null if nobody looks. Outlives this.
  const UnreadableParts* unreadable = nullptr;

  /// Whether a byte of the file from `offset` on could not be read.
  bool is_unreadable_from(std::string_view file, std::uint64_t offset) const noexcept {
    return unreadable != nullptr && unreadable->has_any(file, offset);
  }

  void note(const Status& finding) { figures.findings.emplace_back(finding.message()); }
  void note(std::string_view file, std::string_view finding) {
    figures.findings.push_back(std::string(file).append(": ").append(finding));
  }
};

/// Whether this is the file's own fault, so that the repair goes on without it. A read that the device refused is
/// damage too: TolerantDirectory sees to it (unreadable.h). Everything else (a lack of memory or of descriptors, a
/// newer build's bytes) ends a repair: more could be saved another time, or by another build.
inline bool is_damage(const Status& status) noexcept {
  return status.code() == Code::kCorruption;
}

}  // namespace varve::engine

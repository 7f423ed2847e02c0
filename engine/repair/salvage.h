// Owns: what the parts of a repair share while it runs.
// Must never: hold a way to write to the damaged store.
#pragma once

#include <string>
#include <string_view>

#include "api/status.h"
#include "engine/repair/losses.h"
#include "engine/repair/repair_figures.h"
#include "io/file_system.h"

namespace varve::engine {

/// Of the damaged store nothing but reading calls are made. One thread at a time.
struct Salvage {
  io::Directory& directory;
  Losses losses;
  RepairFigures figures;

  void note(const Status& finding) { figures.findings.emplace_back(finding.message()); }
  void note(std::string_view file, std::string_view finding) {
    figures.findings.push_back(std::string(file).append(": ").append(finding));
  }
};

/// Whether this is the file's own fault, so that the repair goes on without it. Everything else (a call that failed, a
/// lack of memory, a newer build's bytes) ends a repair: it could be another time, or by another build, that more is
/// saved.
inline bool is_damage(const Status& status) noexcept {
  return status.code() == Code::kCorruption;
}

}  // namespace varve::engine

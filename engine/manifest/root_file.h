// Owns: CURRENT: reading it, and replacing it with the next generation.
// Must never: fall back to anything if it does not verify.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "format/log/root.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

/// The file that an interrupted replacement of CURRENT may leave.
inline constexpr std::string_view kRootTemporaryName = "CURRENT.tmp";

class RootFile {
 public:
  /// Returns nothing if CURRENT does not exist. Errors: kCorruption, kUnsupported, kIoError.
  static Result<std::optional<RootFile>> load(io::Directory& directory);
  /// For a store that is being created: CURRENT does not exist yet.
  RootFile() = default;

  /// Reads CURRENT again. Errors: kFenced (it is missing, or differs from the bytes last read or written), kIoError.
  Status confirm(io::Directory& directory) const;

  const format::Root& root() const noexcept { return root_; }

  /// Replaces CURRENT with `next`, whose generation becomes the present one plus one. The file must still have the
  /// bytes that were last read or written. Errors: kFenced (it does not: another owner changed it), kNoSpace, kIoError.
  Status replace(io::Directory& directory, io::RandomSource& random, format::Root next);

 private:
  format::Root root_;
  std::string bytes_;
};

}  // namespace varve::engine

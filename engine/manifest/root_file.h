// Owns: CURRENT: reading it, and replacing it with the next generation.
// Must never: fall back to anything when it does not verify.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "format/log/root.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

/// What an interrupted replacement of CURRENT may leave behind.
inline constexpr std::string_view kRootTemporaryName = "CURRENT.tmp";

class RootFile {
 public:
  /// Empty when there is no CURRENT. Errors: kCorruption, kUnsupported, kIoError.
  static Result<std::optional<RootFile>> load(io::Directory& directory);
  /// For a store that is being made: no CURRENT stands yet.
  RootFile() = default;

  /// Reads CURRENT again. Errors: kFenced (it is absent, or not what was read or written last), kIoError.
  Status confirm(io::Directory& directory) const;

  const format::Root& root() const noexcept { return root_; }

  /// Replaces CURRENT by `next`, whose generation is set to the present one plus one; the file must still be what was
  /// read or written last. Errors: kFenced (it is not: another owner was here), kNoSpace, kIoError.
  Status replace(io::Directory& directory, io::RandomSource& random, format::Root next);

 private:
  format::Root root_;
  std::string bytes_;
};

}  // namespace varve::engine

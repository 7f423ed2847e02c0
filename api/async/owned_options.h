// Owns: the options of an asynchronous write, kept until the write ends.
// Must never: point into memory of the caller, which may end as soon as the call that makes the task has returned.
#pragma once

#include <string>

#include "varve/options.h"

namespace varve {

/// A copy of the options of a write, together with the bytes of the tag.
class OwnedWriteOptions {
 public:
  explicit OwnedWriteOptions(const WriteOptions& options) : options_(options), tag_(options.tag) {}

  /// Returns the options. Their tag points into this object, which must outlive them.
  WriteOptions options() const noexcept {
    WriteOptions options = options_;
    options.tag = tag_;
    return options;
  }

 private:
  WriteOptions options_;  // its own tag is never read
  std::string tag_;
};

}  // namespace varve

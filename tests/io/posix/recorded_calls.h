// Owns: a record of the kernel calls of a test: the calls that change files, and those that make changes durable, in
// their order.
// Must never: change the effect of a call, or be active while an unrelated thread works on files.
#pragma once

#include <string>
#include <vector>

#include "tests/io/posix/interposed_transfers.h"

namespace varve::io {

/// While it lives, records every successful call of its kinds. Names are relative to `base`, which is "." itself.
/// Examples: "mkdir a", "write a", "write through a" (the file has O_DSYNC), "allocate a", "truncate a", "rename a b",
/// "write back a" (it was begun), "await a" (the write-back before), "fdatasync a", "fsync .". At most one exists.
class RecordedCalls {
 public:
  explicit RecordedCalls(const std::string& base);
  ~RecordedCalls();
  RecordedCalls(const RecordedCalls&) = delete;
  RecordedCalls& operator=(const RecordedCalls&) = delete;

  /// Returns the calls since the last take().
  std::vector<std::string> take();

 private:
  InterposedWrites writes_;
};

}  // namespace varve::io

// Owns: a record of what a test made the kernel do: the calls that change files, and those that make changes durable,
// in their order.
// Must never: change what a call does, or be active while a thread that knows nothing of it works on files.
#pragma once

#include <string>
#include <vector>

#include "tests/io/posix/interposed_transfers.h"

namespace varve::io {

/// While it lives, writes down every successful call of its kinds, with the names of what it touches as seen from
/// `base`, which is itself ".": "mkdir a", "write a", "write through a" (the file has O_DSYNC), "allocate a",
/// "truncate a", "rename a b", "write back a" (it was begun), "fdatasync a", "fsync .". One at a time.
class RecordedCalls {
 public:
  explicit RecordedCalls(const std::string& base);
  ~RecordedCalls();
  RecordedCalls(const RecordedCalls&) = delete;
  RecordedCalls& operator=(const RecordedCalls&) = delete;

  /// What was done since the last time this was asked.
  std::vector<std::string> take();

 private:
  InterposedWrites writes_;
};

}  // namespace varve::io

// Owns: the content of a log buffer file after its process ended.
// Must never: decide whether the content is part of the log. The segment's reader decides that.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/log/manifest_edit.h"
#include "io/file_system.h"
#include "varve/result.h"

namespace varve::engine {

/// A slot whose header verified: the bytes that were written, or were to be written, at one place of one segment. The
/// bytes after the slot's last record are arbitrary.
struct BufferedBytes {
  std::uint64_t segment_number = 0;
  std::uint64_t segment_seed = 0;
  std::uint64_t log_offset = 0;
  std::string_view bytes;
};

class LogBufferContent {
 public:
  /// Makes the content of a missing buffer: no slots.
  LogBufferContent() = default;
  LogBufferContent(LogBufferContent&&) = default;
  LogBufferContent& operator=(LogBufferContent&&) = default;

  /// Reads the buffer that the manifest names, from the page cache, where a killed process left it. A valid header must
  /// match. A damaged header is ignored, because the seed comes from the manifest. Errors: kCorruption (missing, of
  /// another size, another buffer), kUnsupported (a newer format), kIoError.
  static Result<LogBufferContent> read(io::Directory& directory, const format::LogBufferEntry& buffer);

  /// Returns the slots last used for this segment. The views are valid as long as this object, even if it is moved.
  std::vector<BufferedBytes> of_segment(std::uint64_t number, std::uint64_t seed) const;

 private:
  std::vector<char> bytes_;
  std::vector<BufferedBytes> slots_;
};

}  // namespace varve::engine

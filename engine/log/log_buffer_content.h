// Owns: what a log buffer file holds after its process ended.
// Must never: judge whether what it holds is part of the log; the segment's reader does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/log/manifest_edit.h"
#include "io/file_system.h"
#include "varve/result.h"

namespace varve::engine {

/// A slot whose header verified: what was, or was to be, written at one place of one segment. Behind the slot's last
/// record stands anything.
struct BufferedBytes {
  std::uint64_t segment_number = 0;
  std::uint64_t segment_seed = 0;
  std::uint64_t log_offset = 0;
  std::string_view bytes;
};

class LogBufferContent {
 public:
  /// No buffer: nothing in it.
  LogBufferContent() = default;
  LogBufferContent(LogBufferContent&&) = default;
  LogBufferContent& operator=(LogBufferContent&&) = default;

  /// Reads the buffer that the manifest names, as the page cache has it: that is where a killed process left it. Its
  /// header is believed where it is whole, and not missed where it is not: the seed comes from the manifest.
  /// Errors: kCorruption (missing, of another size, another buffer), kUnsupported (a newer format), kIoError.
  static Result<LogBufferContent> read(io::Directory& directory, const format::LogBufferEntry& buffer);

  /// The slots last used for this segment. The views live as long as this object, moves included.
  std::vector<BufferedBytes> of_segment(std::uint64_t number, std::uint64_t seed) const;

 private:
  std::vector<char> bytes_;
  std::vector<BufferedBytes> slots_;
};

}  // namespace varve::engine

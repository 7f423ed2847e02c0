// Owns: writing a part of a content to a file or to standard output.
// Must never: hold a whole content in memory, or give a file its name before all of the part was written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "tools/varve/content/byte_range.h"
#include "varve/result.h"
#include "varve/status.h"

namespace varve::tool {

/// Reads a content from an offset on, as BlobReader::read().
using ReadContent = std::function<Result<std::size_t>(std::uint64_t offset, std::span<char> buffer)>;

/// Passes the part's bytes to `take`, piece by piece. Errors: those of reading and of `take`; kCancelled (a signal);
/// kCorruption (the content is shorter than the part).
Status copy_content(const ReadContent& read, ContentPart part, bool shows_progress,
                    const std::function<Status(std::string_view piece)>& take);

/// Writes the part to standard output. Returns the exit code.
int content_to_output(const ReadContent& read, ContentPart part);

/// Writes the part to a file, which gets its name at the end. Errors: those of copy_content(); kIoError (the file).
Status content_to_file(const ReadContent& read, ContentPart part, const std::string& path, bool shows_progress = true);

}  // namespace varve::tool

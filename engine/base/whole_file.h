// Owns: reading a file of known greatest size into memory.
// Must never: ask for memory on a file's word alone, or hand out a part of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "engine/base/file_image.h"
#include "io/file_system.h"
#include "varve/result.h"

namespace varve::engine {

/// For who reads it in parts. Errors: kCorruption (larger than `bytes_max`), those of Directory::open.
Result<std::unique_ptr<io::ReadableFile>> open_whole_file(io::Directory& directory, std::string_view name,
                                                          std::uint64_t bytes_max, io::ReadMode mode);
/// All bytes of the file, and the same for who wants them in memory that direct reads fill. Errors: kCorruption (larger
/// than `bytes_max`; it ended early), those of Directory::open and ReadableFile::read_exactly.
Result<std::string> read_whole_file(io::Directory& directory, std::string_view name, std::uint64_t bytes_max,
                                    io::ReadMode mode);
Result<FileImage> read_file_image(io::Directory& directory, std::string_view name, std::uint64_t bytes_max,
                                  io::ReadMode mode);

}  // namespace varve::engine

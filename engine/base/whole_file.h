// Owns: reading a file with a known maximum size into memory.
// Must never: allocate what a file alone asks for, or return a part of the file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "engine/base/file_image.h"
#include "io/file_system.h"
#include "varve/result.h"

namespace varve::engine {

/// For a caller that reads the file in parts. Errors: kCorruption (larger than `bytes_max`), those of
/// Directory::open().
Result<std::unique_ptr<io::ReadableFile>> open_whole_file(io::Directory& directory, std::string_view name,
                                                          std::uint64_t bytes_max, io::ReadMode mode);
/// Return all bytes of the file; read_file_image() returns them in memory that direct reads fill. Errors: kCorruption
/// (larger than `bytes_max`, or it ended early), those of Directory::open() and ReadableFile::read_exactly().
Result<std::string> read_whole_file(io::Directory& directory, std::string_view name, std::uint64_t bytes_max,
                                    io::ReadMode mode);
Result<FileImage> read_file_image(io::Directory& directory, std::string_view name, std::uint64_t bytes_max,
                                  io::ReadMode mode);

}  // namespace varve::engine

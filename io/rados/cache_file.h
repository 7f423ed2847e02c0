// Owns: the place of a local cache: a file without a name, so that it goes with its process.
// Must never: report an error. Bytes that were not written or read are missing from the cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "varve/result.h"

namespace varve::io {

/// Bytes at offsets. They may be lost, and they may be wrong. Any thread may use it.
class CacheFile {
 public:
  virtual ~CacheFile() = default;
  /// Returns whether all bytes were written.
  virtual bool write(std::uint64_t offset, std::span<const std::byte> bytes) noexcept = 0;
  /// Reads `head`, and then `body` from the bytes after it. Returns whether both were filled.
  virtual bool read(std::uint64_t offset, std::span<std::byte> head, std::span<std::byte> body) noexcept = 0;
};

/// Makes a file in the directory, which no other process sees. Its space is given back when the process ends. Errors:
/// those of os_error(), such as kNotFound and kForbidden.
Result<std::unique_ptr<CacheFile>> make_cache_file(std::string_view directory);

}  // namespace varve::io

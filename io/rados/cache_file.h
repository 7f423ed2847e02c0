// Owns: the place of a local cache: a file without a name, that goes with its process, or one that stays for the next
// process, with its index.
// Must never: report an error of bytes. Bytes that were not written or read are missing from the cache.
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
  /// Gives the space of all bytes back, as far as that is possible.
  virtual void clear() noexcept {}
};

/// The index of a cache between two processes. One thread at a time uses it. It reads, then removes, then writes.
class CacheIndexFile {
 public:
  virtual ~CacheIndexFile() = default;
  /// Reads the next bytes of the index that the former process left. Returns false if there are fewer.
  virtual bool read(std::span<std::byte> bytes) noexcept = 0;
  /// Removes that index durably. Returns false if it may come back. It is called before the first block is written, so that
  /// the index is right about the blocks as long as it is there.
  virtual bool remove() noexcept = 0;
  /// Appends bytes to the index for the next process. After a false result, that process finds none.
  virtual bool write(std::span<const std::byte> bytes) noexcept = 0;
};

/// Makes a file in the directory, which no other process sees. Its space is given back when the process ends. Errors:
/// those of os_error(), such as kNotFound and kForbidden.
Result<std::unique_ptr<CacheFile>> make_cache_file(std::string_view directory);

struct CacheFiles {
  std::unique_ptr<CacheFile> blocks;
  std::unique_ptr<CacheIndexFile> index;  // null: the blocks have a file without a name
};

/// Opens the files `name` and `name`.index of the directory, and locks them against other processes. If another process has
/// them, or another user may write the blocks, or the file system refuses a step, makes a file as make_cache_file() does. An
/// index that another user may write is removed. Errors: those of make_cache_file().
Result<CacheFiles> open_cache_files(std::string_view directory, std::string_view name);

}  // namespace varve::io

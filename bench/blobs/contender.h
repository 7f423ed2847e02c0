// Owns: the interface of the peers in the race of blobs, so that each row is the same work for all of them.
// Must never: let one peer give a weaker promise than another in the same row.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "varve/result.h"

namespace varve::bench {

/// A place for named contents. Any number of threads may use it, each with its own number below kThreadsMax. If a peer
/// has no counterpart for a verb, the verb returns kUnsupported, and the row leaves the peer out.
class BlobContender {
 public:
  static constexpr int kThreadsMax = 64;

  virtual ~BlobContender() = default;
  /// Writes a new content whole. It is on stable storage when this returns, and no reader has seen a part of it.
  virtual Status put(int thread, const std::string& name, std::string_view content) = 0;
  /// Writes a new content of content.h in pieces of 1 MiB. The promise is that of put().
  virtual Status write_stream(const std::string& name, std::uint64_t bytes);
  /// Closes the peer and empties the page cache of its files. The next read is cold.
  virtual Status forget();
  /// Reads a content of write_stream() to its end, in pieces of 1 MiB.
  virtual Status read_stream(const std::string& name, std::uint64_t bytes);
  /// Adds bytes at the end of the thread's own content. They are on stable storage when this returns.
  virtual Status append(int thread, std::string_view bytes);
};

struct Peer {
  std::string name;
  Result<std::unique_ptr<BlobContender>> (*open)(const std::string& directory);
};
/// Returns the peers that are built in: files of a directory, a table of SQLite, and RocksDB with blob files.
const std::vector<Peer>& peers();

/// Files of one directory.
Result<std::unique_ptr<BlobContender>> open_file_blobs(const std::string& directory);
#ifdef VARVE_BENCH_SQLITE
Result<std::unique_ptr<BlobContender>> open_sqlite_blobs(const std::string& directory);
#endif
#ifdef VARVE_BENCH_ROCKSDB
Result<std::unique_ptr<BlobContender>> open_rocksdb_blobs(const std::string& directory);
#endif

}  // namespace varve::bench

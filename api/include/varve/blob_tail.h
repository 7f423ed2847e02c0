// SPDX-License-Identifier: Apache-2.0
// Owns: the values of a reader that follows an append blob, as one follows a log.
// Must never: know how a wait is done.
//
//   BlobTailOptions next{.wait = std::chrono::hours(1)};
//   while (running) {
//     Result<BlobTail> more = logs->tail("2026/11/27.log", next);
//     if (!more.ok()) return more.status();
//     use(more->bytes);
//     next.offset += more->bytes.size();
//     next.created = more->created;
//   }
//
// Threads append records beside each other with Container::append(), which returns the offset of each. A record is visible
// as a whole, after its commit. A tail may end within a record, because the store knows bytes alone.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "date_time.h"
#include "types.h"

namespace varve {

/// Options of Container::tail().
struct BlobTailOptions {
  /// The first byte that is returned. At most the blob's length.
  std::uint64_t offset = 0;
  /// Largest number of bytes to return: 1 to limits::kAppendBytesMax.
  std::size_t bytes_max = std::size_t{1} << 20;
  /// If the blob ends at the offset, the time to wait for more bytes. Zero does not wait. In a store that was opened
  /// read-only, no wait ends before its time.
  std::chrono::milliseconds wait{0};
  /// Ends the wait early; tail() then returns no bytes.
  std::stop_token stop{};
  /// If set, the blob must be the one that was created at this time, not another one that has its name now.
  std::optional<DateTime> created{};
};

/// What a tail returns: bytes of one state of the blob.
struct BlobTail {
  /// The bytes from the offset on. Empty if there was none until the end of the wait.
  std::string bytes;
  /// Bytes of the blob at that state.
  std::uint64_t length = 0;
  ETag etag;
  /// When the blob was created, for the next BlobTailOptions::created.
  DateTime created;
};

}  // namespace varve

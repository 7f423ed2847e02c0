// Owns: what an errno means to the layers above: a code, and words that name the call, the path and the remedy.
// Must never: throw, or turn a failure into a success. Which errors may be tried again is the caller's affair.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "varve/status.h"

namespace varve::io {

/// A call to the operating system that failed.
struct FailedCall {
  std::string_view call;                               // "pwrite"
  std::string_view path;                               // the whole path of the file or directory
  std::optional<std::uint64_t> offset = std::nullopt;  // bytes from the start of the file, where the call had one
  std::string_view point = {};                         // the SyncPoint's name, where the call had one
};

/// The code for an errno:
///   ENOSPC EDQUOT EFBIG          kNoSpace
///   EMFILE ENFILE                kTooManyFiles
///   ENOMEM                       kOutOfMemory
///   ELOOP                        kCorruption: files are opened without following links, so a link stands in the place
///                                of a file that the store made
///   every other                  kIoError
/// None is a code by which the table model answers: a file that is missing is no missing entity.
Code os_error_code(int error) noexcept;

/// "pwrite /data/store/000003.wal at offset 8192 (log group commit): No space left on device", and what helps where
/// that is known. `error` is an errno, not zero.
Status os_error(int error, const FailedCall& failed) noexcept;

/// The file or directory that the call named was not there. What that means is for the caller to say.
bool is_missing(const Status& status) noexcept;
/// There was one of that name already.
bool is_taken(const Status& status) noexcept;

/// A status of `code` whose message is "CALL PATH at offset N (POINT): " and the parts. For failures without an errno.
Status call_error(Code code, const FailedCall& failed, std::initializer_list<std::string_view> parts) noexcept;

}  // namespace varve::io

// Owns: the translation of an errno for the layers above: a code, and a message that names the call, the path and the
// remedy.
// Must never: throw, or turn a failure into a success. The caller decides which errors to retry.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "varve/status.h"

namespace varve::io {

/// A failed call to the operating system.
struct FailedCall {
  std::string_view call;                               // "pwrite"
  std::string_view path;                               // the whole path of the file or directory
  std::optional<std::uint64_t> offset = std::nullopt;  // bytes from the start of the file, if the call had an offset
  std::string_view point = {};                         // the SyncPoint's name, if the call had one
};

/// Returns the code for an errno:
///   ENOSPC EDQUOT EFBIG          kNoSpace
///   EMFILE ENFILE                kTooManyFiles
///   ENOMEM                       kOutOfMemory
///   ELOOP                        kCorruption: files are opened without following links, so a link has replaced a
///                                file that the store made
///   every other                  kIoError
/// None of these is a code of the table model's answers: a missing file is not a missing entity.
Code os_error_code(int error) noexcept;

/// Returns a status with a message like "pwrite /data/store/000003.wal at offset 8192 (log group commit): No space left
/// on device", plus the remedy if one is known. `error` is an errno, not zero.
Status os_error(int error, const FailedCall& failed) noexcept;

/// Returns whether the file or directory named in the call was missing. The caller decides what that means.
bool is_missing(const Status& status) noexcept;
/// Returns whether the name was already taken.
bool is_taken(const Status& status) noexcept;

/// Returns a status of `code` whose message is "CALL PATH at offset N (POINT): " and the parts. For failures without an
/// errno.
Status call_error(Code code, const FailedCall& failed, std::initializer_list<std::string_view> parts) noexcept;

}  // namespace varve::io

// SPDX-License-Identifier: Apache-2.0
// Owns: what can go wrong, as a value. A leaf: it includes nothing of ours, so that every layer can name a failure.
// Must never: throw (an out-of-memory while a message is built loses the message, not the code), log, or be ignored.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#pragma GCC visibility push(default)

namespace varve {

/// One set of codes for all layers. Their numbers are stable; new ones are added at the end.
enum class Code : std::uint8_t {
  kOk = 0,
  /// The entity, table, account or file named is not there. Nothing changed.
  kNotFound = 1,
  /// The key or name is already there. Nothing changed.
  kExists = 2,
  /// The stored ETag differs from the one given. Nothing changed.
  kPreconditionFailed = 3,
  /// The caller's input breaks a rule. Nothing changed; repeating it gives the same answer.
  kInvalidArgument = 4,
  /// The caller's input is over a limit, which the message names. Nothing changed.
  kTooLarge = 5,
  /// Somebody else held what was needed for all of the time given. Nothing changed; worth repeating.
  kBusy = 6,
  /// No room on the device, or in a budget, which the message names. Nothing changed; ends by itself when room appears.
  kNoSpace = 7,
  /// Stored bytes do not verify. The message names file and offset. The store never guesses what they were.
  kCorruption = 8,
  /// The operating system refused or failed a call; the message names path, call and error, os_error() is the errno.
  kIoError = 9,
  /// This commit may or may not survive. Reopen the store and read to learn which; never repeat it blindly.
  kUnknown = 10,
  /// An earlier log failure stopped the store. Nothing changed; reads go on; reopen it to write.
  kPoisoned = 11,
  /// Another handle or process has the store, or this process is a fork of the one that has it.
  kLocked = 12,
  /// The store was opened for reading only.
  kReadOnly = 13,
  /// Memory could not be had. Nothing changed.
  kOutOfMemory = 14,
  /// The process or the system is out of file descriptors. Nothing changed.
  kTooManyFiles = 15,
  /// The bytes or the request are of a newer or another kind than this build knows. Nothing changed.
  kUnsupported = 16,
  /// The handle was closed.
  kClosed = 17,
  /// Another owner has taken the store over; every later write through this handle gets this answer.
  kFenced = 18,
  /// What a transaction read was written by somebody else before it could commit. Nothing changed; run it again.
  kConflict = 19,
  /// What the caller may do does not include this, or the caller did not show who it is. Nothing changed.
  kForbidden = 20,
  /// Its caller asked it to stop before it had done anything. Nothing changed.
  kCancelled = 21,
};

/// The code's name as it is written in messages, "NotFound" for kNotFound.
constexpr std::string_view code_name(Code code) noexcept {
  switch (code) {
    case Code::kOk: return "Ok";
    case Code::kNotFound: return "NotFound";
    case Code::kExists: return "Exists";
    case Code::kPreconditionFailed: return "PreconditionFailed";
    case Code::kInvalidArgument: return "InvalidArgument";
    case Code::kTooLarge: return "TooLarge";
    case Code::kBusy: return "Busy";
    case Code::kNoSpace: return "NoSpace";
    case Code::kCorruption: return "Corruption";
    case Code::kIoError: return "IoError";
    case Code::kUnknown: return "Unknown";
    case Code::kPoisoned: return "Poisoned";
    case Code::kLocked: return "Locked";
    case Code::kReadOnly: return "ReadOnly";
    case Code::kOutOfMemory: return "OutOfMemory";
    case Code::kTooManyFiles: return "TooManyFiles";
    case Code::kUnsupported: return "Unsupported";
    case Code::kClosed: return "Closed";
    case Code::kFenced: return "Fenced";
    case Code::kConflict: return "Conflict";
    case Code::kForbidden: return "Forbidden";
    case Code::kCancelled: return "Cancelled";
  }
  return "?";
}

/// The sorts of files that a store is made of.
enum class FileKind : std::uint8_t {
  kNone = 0,
  kRoot = 1,        // CURRENT
  kManifest = 2,    // MANIFEST-*
  kLogSegment = 3,  // *.wal, be it as a part of the log or as a value file
  kLogBuffer = 4,   // *.buf
  kTable = 5,       // *.sst
  kValueFile = 6,   // *.val
};

/// The file of a store that a failure concerns, and where in it.
struct StoredPlace {
  FileKind kind = FileKind::kNone;
  std::uint64_t number = 0;
  std::optional<std::uint64_t> offset = std::nullopt;  // bytes from the start of the file, where that is known

  explicit operator bool() const noexcept { return kind != FileKind::kNone; }
};

/// A file of a store: what it is, and its name for people.
struct NamedFile {
  FileKind kind = FileKind::kNone;
  std::uint64_t number = 0;
  std::string name;

  operator std::string_view() const noexcept { return name; }  // NOLINT(google-explicit-constructor)
};

/// Ok, or a code with the message a person needs to act on it: the file, offset, key or limit concerned.
///
/// A failure of the table model also carries the table service's own error string (`service_error`, for example
/// "EntityAlreadyExists"), and inside an entity group transaction the index of the operation that failed.
/// A failure of the machine carries the system's error number and the file concerned. Programs decide by these fields,
/// never by the message.
/// Copies are cheap. An Ok status allocates nothing.
class [[nodiscard]] Status {
 public:
  Status() noexcept = default;
  explicit Status(Code code) noexcept : code_(code) {}
  Status(Code code, std::string_view message) noexcept : code_(code) { set_message(message); }

  static Status not_found(std::string_view message) noexcept { return {Code::kNotFound, message}; }
  static Status exists(std::string_view message) noexcept { return {Code::kExists, message}; }
  static Status invalid_argument(std::string_view message) noexcept { return {Code::kInvalidArgument, message}; }
  static Status too_large(std::string_view message) noexcept { return {Code::kTooLarge, message}; }
  static Status no_space(std::string_view message) noexcept { return {Code::kNoSpace, message}; }
  static Status corruption(std::string_view message) noexcept { return {Code::kCorruption, message}; }
  static Status io_error(std::string_view message) noexcept { return {Code::kIoError, message}; }
  static Status unsupported(std::string_view message) noexcept { return {Code::kUnsupported, message}; }
  static Status out_of_memory() noexcept { return Status(Code::kOutOfMemory); }

  bool ok() const noexcept { return code_ == Code::kOk; }
  Code code() const noexcept { return code_; }

  /// Free text for people. Empty for Ok and where memory was too short to keep it.
  std::string_view message() const noexcept {
    return detail_ ? std::string_view(detail_->message) : std::string_view();
  }

  /// The errno of the system call that failed, or 0 where no call did.
  int os_error() const noexcept { return os_error_; }

  /// The file of the store that could not be read, written or understood. None where the failure is of no one file,
  /// and where memory was too short to keep it.
  StoredPlace place() const noexcept { return detail_ ? detail_->place : StoredPlace(); }

  /// The table service's error string, or empty where the failure has none.
  std::string_view service_error() const noexcept { return service_error_; }

  /// Zero-based index of the operation of a batch that failed, where one did.
  std::optional<std::uint32_t> operation_index() const noexcept {
    return operation_index_ < 0 ? std::nullopt : std::optional<std::uint32_t>(operation_index_);
  }

  /// The same status with the service's error string, which must outlive it (a string literal does).
  [[nodiscard]] Status with_service_error(std::string_view literal) const noexcept {
    Status copy = *this;
    copy.service_error_ = literal;
    return copy;
  }

  /// The same status, blamed on one operation of a batch.
  [[nodiscard]] Status at_operation(std::uint32_t index) const noexcept {
    Status copy = *this;
    copy.operation_index_ = static_cast<std::int64_t>(index);
    return copy;
  }

  [[nodiscard]] Status with_os_error(int error) const noexcept {
    Status copy = *this;
    copy.os_error_ = error;
    return copy;
  }

  /// The same failure under another code: the error number, the place and the message stay.
  [[nodiscard]] Status with_code(Code code) const noexcept {
    Status copy = *this;
    copy.code_ = code;
    return copy;
  }

  /// The same status, told of that place; of the one that it tells of already, if it does.
  [[nodiscard]] Status at_place(const StoredPlace& place) const noexcept {
    if (ok() || (detail_ && detail_->place)) return *this;
    return with_detail(message(), place);
  }

  /// The same status, its message preceded by what only the caller knows: "name: message".
  [[nodiscard]] Status in_file(std::string_view name) const noexcept { return prefixed(name, std::nullopt, place()); }
  /// "name, offset N: message". `offset` is in bytes from the start of the file.
  [[nodiscard]] Status in_file(std::string_view name, std::uint64_t offset) const noexcept {
    return prefixed(name, offset, place());
  }
  /// As above, and the status tells of that file, unless it tells of one already.
  [[nodiscard]] Status in_file(const NamedFile& file) const noexcept {
    return prefixed(file.name, std::nullopt, place_in(file, std::nullopt));
  }
  [[nodiscard]] Status in_file(const NamedFile& file, std::uint64_t offset) const noexcept {
    return prefixed(file.name, offset, place_in(file, offset));
  }

  /// "Corruption: 000003.wal, offset 4096: ..." or "Exists (EntityAlreadyExists): ...".
  std::string to_string() const {
    std::string text(code_name(code_));
    if (!service_error_.empty()) text.append(" (").append(service_error_).append(")");
    if (!message().empty()) text.append(": ").append(message());
    return text;
  }

 private:
  /// What an Ok status and a bare code have no need of.
  struct Detail {
    std::string message;
    StoredPlace place;
  };

  void set_message(std::string_view message) noexcept {
    try {
      detail_ = std::make_shared<const Detail>(Detail{std::string(message), StoredPlace()});
    } catch (const std::bad_alloc&) {
      detail_.reset();  // The code says what happened; the words are the luxury.
    }
  }

  StoredPlace place_in(const NamedFile& file, std::optional<std::uint64_t> offset) const noexcept {
    const StoredPlace known = place();
    return known ? known : StoredPlace{file.kind, file.number, offset};
  }

  Status with_detail(std::string_view message, const StoredPlace& place) const noexcept {
    Status copy = *this;
    try {
      copy.detail_ = std::make_shared<const Detail>(Detail{std::string(message), place});
    } catch (const std::bad_alloc&) {
      copy.detail_ = detail_;
    }
    return copy;
  }

  Status prefixed(std::string_view name, std::optional<std::uint64_t> offset, const StoredPlace& place) const noexcept {
    try {
      std::string text(name);
      if (offset) text.append(", offset ").append(std::to_string(*offset));
      text.append(": ").append(message());
      return with_detail(text, place);
    } catch (const std::bad_alloc&) {
      return *this;
    }
  }

  Code code_ = Code::kOk;
  std::int32_t os_error_ = 0;
  std::int64_t operation_index_ = -1;
  std::string_view service_error_;
  std::shared_ptr<const Detail> detail_;
};

}  // namespace varve

#pragma GCC visibility pop

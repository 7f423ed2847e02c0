// SPDX-License-Identifier: Apache-2.0
// Owns: every failure, as a value. It is a leaf header: it includes no header of the project, so every layer may name a
// failure.
// Must never: throw, log, or be ignored. If memory runs out while a message is built, the message is lost, not the
// code.
#pragma once

#if __cplusplus < 202002L
#error "Varve needs C++20: compile with -std=c++20 or a later standard"
#endif

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

// A program may compile the public headers with -fno-exceptions. A failed allocation then ends it, as its library does.
#if defined(__cpp_exceptions)
#define VARVE_DETAIL_TRY try
#define VARVE_DETAIL_CATCH_BAD_ALLOC catch (const std::bad_alloc&)
#else
#define VARVE_DETAIL_TRY if constexpr (true)
#define VARVE_DETAIL_CATCH_BAD_ALLOC else
#endif

namespace varve {

/// The codes of all layers. Their numbers are stable; a new code is added at the end.
enum class Code : std::uint8_t {
  kOk = 0,
  /// The entity, table, account or file does not exist. Nothing changed.
  kNotFound = 1,
  /// The key or name exists already. Nothing changed.
  kExists = 2,
  /// The stored ETag differs from the given one, or another condition does not hold. Nothing changed.
  kPreconditionFailed = 3,
  /// The caller's input breaks a rule. Nothing changed. The same call fails again.
  kInvalidArgument = 4,
  /// The caller's input is over a limit, which the message names. Nothing changed.
  kTooLarge = 5,
  /// Another caller held a needed resource for the whole wait time. Nothing changed. The call is worth repeating.
  kBusy = 6,
  /// The device, or a budget that the message names, has no room. Nothing changed. The state ends by itself when there
  /// is room again.
  kNoSpace = 7,
  /// Stored bytes do not verify. The message names the file and the offset. The store never guesses the right bytes.
  kCorruption = 8,
  /// A system call failed. The message names the path, the call and the error; os_error() is the errno.
  kIoError = 9,
  /// The commit may or may not survive. Reopen the store and read to find out. Never repeat the commit blindly.
  kUnknown = 10,
  /// An earlier log failure stopped all writes. Nothing changed. Reads still work; reopen the store to write.
  kPoisoned = 11,
  /// Another handle or process has the store open. Or this process is a fork of the process that opened it.
  kLocked = 12,
  /// The store was opened for reading only.
  kReadOnly = 13,
  /// There was not enough memory. Nothing changed.
  kOutOfMemory = 14,
  /// The process or the system has no file descriptor left. Nothing changed.
  kTooManyFiles = 15,
  /// This build does not know the format of the bytes, or the kind of request. Nothing changed.
  kUnsupported = 16,
  /// The handle was closed.
  kClosed = 17,
  /// Another owner has taken over the store. Every later write through this handle returns this code.
  kFenced = 18,
  /// Another writer changed data that the transaction had read, before the transaction could commit. Nothing changed.
  /// Run the transaction again.
  kConflict = 19,
  /// The caller lacks the permission, or did not authenticate. Nothing changed.
  kForbidden = 20,
  /// The caller stopped the operation before it took effect. Nothing changed.
  kCancelled = 21,
};

/// Returns the name of the code as messages write it, for example "NotFound" for kNotFound.
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

/// The kinds of files that make up a store.
enum class FileKind : std::uint8_t {
  kNone = 0,
  kRoot = 1,        // CURRENT
  kManifest = 2,    // MANIFEST-*
  kLogSegment = 3,  // *.wal, in use as a part of the log or as a value file
  kLogBuffer = 4,   // *.buf
  kTable = 5,       // *.sst
  kValueFile = 6,   // *.val
};

/// The file of a store where a failure happened, and the position in it.
struct StoredPlace {
  /// Kind of the file; kNone if no file is known.
  FileKind kind = FileKind::kNone;
  /// The number in the file's name, for example 3 in 000003.wal. Zero if its name has none.
  std::uint64_t number = 0;
  /// Position in bytes from the start of the file. Not set if it is not known.
  std::optional<std::uint64_t> offset = std::nullopt;

  /// Returns true if a file is known.
  explicit operator bool() const noexcept { return kind != FileKind::kNone; }
};

/// The value of a unique index that an entity of the table has already (table_index.h).
struct TakenValue {
  /// The name of the index.
  std::string index;
  /// Whether the keys below are known. They are not shown to a handle that may not read every entity of the table.
  bool has_keys = false;
  /// The keys of the entity that has the value.
  std::string partition_key;
  std::string row_key;
};

/// A file of a store: its kind, its number, and its name for people.
struct NamedFile {
  /// Kind of the file; kNone for a file that is not a part of a store.
  FileKind kind = FileKind::kNone;
  /// The number in the file's name. Zero if its name has none.
  std::uint64_t number = 0;
  /// The name or path to show in messages.
  std::string name;

  /// Returns the name.
  operator std::string_view() const noexcept { return name; }  // NOLINT(google-explicit-constructor)
};

namespace error_name_detail {
/// False for every type, but known only when the type is.
template <typename Text>
inline constexpr bool kNever = false;
}  // namespace error_name_detail

/// The error string of a failure, for example `EntityAlreadyExists`. A status keeps a view of the text, so the text must
/// never end. A string literal is one; the compiler refuses any other text.
class ErrorName {
 public:
  /// No error string.
  constexpr ErrorName() noexcept = default;
  /// The text of a string literal.
  template <std::size_t Size>
  consteval ErrorName(const char (&literal)[Size]) noexcept  // NOLINT(google-explicit-constructor)
      : text_(literal, Size - 1) {}
  /// Not for other texts.
  template <typename Text>
  ErrorName(const Text& /*text*/) noexcept {  // NOLINT(google-explicit-constructor)
    static_assert(error_name_detail::kNever<Text>,
                  "an error string must be a string literal, because a status keeps no copy of it");
  }

  /// Returns the name of a text that is known only at run time. The caller promises that the text lives as long as the
  /// process.
  static constexpr ErrorName of_text_that_never_ends(std::string_view text) noexcept {
    ErrorName name;
    name.text_ = text;
    return name;
  }

  /// Returns the text. It is empty without an error string.
  constexpr std::string_view text() const noexcept { return text_; }

 private:
  std::string_view text_;
};

/// Ok, or a code with a message. The message says what a person needs to know: the file, offset, key or limit.
///
/// A failure of the table model also has the error string of the table service: service_error() may be
/// "EntityAlreadyExists". A failure inside an entity group transaction has the index of the operation that failed. A
/// failure of the machine has the errno and the file. Programs decide by these fields, never by the message.
///
/// Copies are cheap. An Ok status allocates nothing.
class [[nodiscard]] Status {
 public:
  Status() noexcept = default;
  /// Makes a status without a message. It allocates nothing.
  explicit Status(Code code) noexcept : code_(code) {}
  /// Makes a status with a message. If memory runs out, the status has the code alone.
  Status(Code code, std::string_view message) noexcept : code_(code) { set_message(message); }

  /// @{
  /// Makes a status with the code of the same name and this message.
  static Status not_found(std::string_view message) noexcept { return {Code::kNotFound, message}; }
  static Status exists(std::string_view message) noexcept { return {Code::kExists, message}; }
  static Status invalid_argument(std::string_view message) noexcept { return {Code::kInvalidArgument, message}; }
  static Status too_large(std::string_view message) noexcept { return {Code::kTooLarge, message}; }
  static Status no_space(std::string_view message) noexcept { return {Code::kNoSpace, message}; }
  static Status corruption(std::string_view message) noexcept { return {Code::kCorruption, message}; }
  static Status io_error(std::string_view message) noexcept { return {Code::kIoError, message}; }
  static Status unsupported(std::string_view message) noexcept { return {Code::kUnsupported, message}; }
  /// @}
  /// Makes a status with kOutOfMemory and no message. It allocates nothing.
  static Status out_of_memory() noexcept { return Status(Code::kOutOfMemory); }

  /// Returns true if the code is kOk, so nothing failed.
  bool ok() const noexcept { return code_ == Code::kOk; }
  /// Returns the kind of failure, or kOk.
  Code code() const noexcept { return code_; }

  /// Returns text for people. It is empty for Ok, and if there was not enough memory to keep it. A temporary status
  /// returns a copy, which may throw std::bad_alloc.
  /// @{
  std::string_view message() const& noexcept {
    return detail_ ? std::string_view(detail_->message) : std::string_view();
  }
  std::string message() const&& { return detail_ ? detail_->message : std::string(); }
  /// @}

  /// Returns what the person can do instead, for example "write `gt` instead of `>`". It is empty if nothing is known. A
  /// temporary status returns a copy, which may throw std::bad_alloc.
  /// @{
  std::string_view hint() const& noexcept { return detail_ ? std::string_view(detail_->hint) : std::string_view(); }
  std::string hint() const&& { return detail_ ? detail_->hint : std::string(); }
  /// @}

  /// Returns the errno of the system call that failed, or 0 if no system call failed.
  int os_error() const noexcept { return os_error_; }

  /// Returns the file of the store that could not be read, written or understood. Returns kNone if the failure concerns
  /// no single file, or if there was not enough memory to keep it.
  StoredPlace place() const noexcept { return detail_ ? detail_->place : StoredPlace(); }

  /// Returns the value that a unique index refused, or null. It is valid as long as this status or a copy of it. It is null
  /// if there was not enough memory to keep it.
  const TakenValue* taken_value() const noexcept { return detail_ ? detail_->taken.get() : nullptr; }

  /// Returns the error string of the table service. It is empty if the failure has none.
  std::string_view service_error() const noexcept { return service_error_.text(); }
  /// Returns the error string in the form that another status can take.
  ErrorName error_name() const noexcept { return service_error_; }

  /// Returns the zero-based index of the operation that failed, if one operation of a batch failed.
  std::optional<std::uint32_t> operation_index() const noexcept {
    return operation_index_ < 0 ? std::nullopt : std::optional<std::uint32_t>(operation_index_);
  }

  /// Returns a copy with the error string of the table service. The name is a string literal, or another status's
  /// error_name().
  [[nodiscard]] Status with_service_error(ErrorName name) const noexcept {
    Status copy = *this;
    copy.service_error_ = name;
    return copy;
  }

  /// Returns a copy that says what the person can do instead. If memory runs out, the copy has no new hint.
  [[nodiscard]] Status with_hint(std::string_view hint) const noexcept {
    return ok() ? *this : with_detail(message(), place(), hint);
  }

  /// Returns a copy that names the value that a unique index refused. If memory runs out, the copy does not name it.
  [[nodiscard]] Status with_taken_value(const TakenValue& taken) const noexcept {
    Status copy = *this;
    VARVE_DETAIL_TRY {
      copy.detail_ = std::make_shared<const Detail>(
          Detail{std::string(message()), place(), std::string(hint()), std::make_shared<const TakenValue>(taken)});
    }
    VARVE_DETAIL_CATCH_BAD_ALLOC {
      copy.detail_ = detail_;
    }
    return copy;
  }

  /// Returns a copy that blames one operation of a batch.
  [[nodiscard]] Status at_operation(std::uint32_t index) const noexcept {
    Status copy = *this;
    copy.operation_index_ = static_cast<std::int64_t>(index);
    return copy;
  }

  /// Returns a copy with the errno of a system call that failed.
  [[nodiscard]] Status with_os_error(int error) const noexcept {
    Status copy = *this;
    copy.os_error_ = error;
    return copy;
  }

  /// Returns a copy with another code. The error number, place and message stay.
  [[nodiscard]] Status with_code(Code code) const noexcept {
    Status copy = *this;
    copy.code_ = code;
    return copy;
  }

  /// Returns a copy that names the place. If the status is Ok or already names a place, the copy is unchanged.
  [[nodiscard]] Status at_place(const StoredPlace& place) const noexcept {
    if (ok() || (detail_ && detail_->place)) return *this;
    return with_detail(message(), place, hint());
  }

  /// Returns a copy whose message starts with `name`: "name: message".
  [[nodiscard]] Status in_file(std::string_view name) const noexcept { return prefixed(name, std::nullopt, place()); }
  /// Returns a copy whose message starts with the file and offset: "name, offset N: message". `offset` is in bytes from
  /// the start of the file.
  [[nodiscard]] Status in_file(std::string_view name, std::uint64_t offset) const noexcept {
    return prefixed(name, offset, place());
  }
  /// @{
  /// Returns the copy that in_file() with the file's name returns. The copy's place() is the file, unless the status
  /// already names a place.
  [[nodiscard]] Status in_file(const NamedFile& file) const noexcept {
    return prefixed(file.name, std::nullopt, place_in(file, std::nullopt));
  }
  [[nodiscard]] Status in_file(const NamedFile& file, std::uint64_t offset) const noexcept {
    return prefixed(file.name, offset, place_in(file, offset));
  }
  /// @}

  /// Returns for example "Corruption: 000003.wal, offset 4096: ..." or "Exists (EntityAlreadyExists): ...".
  std::string to_string() const {
    std::string text(code_name(code_));
    if (!service_error().empty()) text.append(" (").append(service_error()).append(")");
    if (!message().empty()) text.append(": ").append(message());
    return text;
  }

 private:
  /// Fields that an Ok status and a bare code do not need.
  struct Detail {
    std::string message;
    StoredPlace place;
    std::string hint;
    std::shared_ptr<const TakenValue> taken{};
  };

  void set_message(std::string_view message) noexcept {
    VARVE_DETAIL_TRY {
      detail_ = std::make_shared<const Detail>(Detail{std::string(message), StoredPlace(), std::string()});
    }
    VARVE_DETAIL_CATCH_BAD_ALLOC {
      detail_.reset();  // The code is kept without its message.
    }
  }

  StoredPlace place_in(const NamedFile& file, std::optional<std::uint64_t> offset) const noexcept {
    const StoredPlace known = place();
    return known ? known : StoredPlace{file.kind, file.number, offset};
  }

  Status with_detail(std::string_view message, const StoredPlace& place, std::string_view hint) const noexcept {
    Status copy = *this;
    VARVE_DETAIL_TRY {
      copy.detail_ = std::make_shared<const Detail>(
          Detail{std::string(message), place, std::string(hint), detail_ ? detail_->taken : nullptr});
    }
    VARVE_DETAIL_CATCH_BAD_ALLOC {
      copy.detail_ = detail_;
    }
    return copy;
  }

  Status prefixed(std::string_view name, std::optional<std::uint64_t> offset, const StoredPlace& place) const noexcept {
    VARVE_DETAIL_TRY {
      std::string text(name);
      if (offset) text.append(", offset ").append(std::to_string(*offset));
      text.append(": ").append(message());
      return with_detail(text, place, hint());
    }
    VARVE_DETAIL_CATCH_BAD_ALLOC {
      return *this;
    }
  }

  Code code_ = Code::kOk;
  std::int32_t os_error_ = 0;
  std::int64_t operation_index_ = -1;
  ErrorName service_error_;
  std::shared_ptr<const Detail> detail_;
};

}  // namespace varve

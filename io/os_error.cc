// Owns: the table from errno to code, and the text of the messages.
// Must never: lose the code if building the text fails.
#include "io/os_error.h"

#include <cassert>
#include <cerrno>
#include <cstring>
#include <new>
#include <string>

namespace varve::io {
namespace {

// strerror_r has two signatures. The C library determines which one is used: GNU's returns the text, POSIX's fills the
// buffer.
[[maybe_unused]] const char* text_of(const char* returned, const char* /*buffer*/) noexcept {
  return returned;
}
// Never called if the C library uses the other signature.
[[maybe_unused]] const char* text_of(int returned, const char* buffer) noexcept {
  return returned == 0 ? buffer : "unknown error";
}

std::string_view remedy(int error) noexcept {
  switch (error) {
    case EFBIG:
      return " (raise the file size limit of the process, ulimit -f, or use a file system with a higher limit)";
    case EMFILE: return " (raise the limit of the process, ulimit -n; it counts every open file and connection)";
    case EACCES:
    case EPERM:
      return " (the owner and mode of the file and of every directory above it must allow this user to do it)";
    case ELOOP: return " (the name is a symbolic link, and links are refused here)";
    default: return "";
  }
}

std::string describe(const FailedCall& failed) {
  std::string text(failed.call);
  text.append(" ").append(failed.path);
  if (failed.offset) text.append(" at offset ").append(std::to_string(*failed.offset));
  if (!failed.point.empty()) text.append(" (").append(failed.point).append(")");
  return text.append(": ");
}

}  // namespace

Code os_error_code(int error) noexcept {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return Code::kNoSpace;
    case EMFILE:
    case ENFILE: return Code::kTooManyFiles;
    case ENOMEM: return Code::kOutOfMemory;
    case ELOOP: return Code::kCorruption;
    default: return Code::kIoError;
  }
}

Status os_error(int error, const FailedCall& failed) noexcept {
  assert(error != 0);
  char buffer[128] = {};
  const char* text = text_of(::strerror_r(error, buffer, sizeof buffer), buffer);
  return call_error(os_error_code(error), failed, {text, remedy(error)}).with_os_error(error);
}

bool is_missing(const Status& status) noexcept {
  return status.os_error() == ENOENT;
}

bool is_taken(const Status& status) noexcept {
  return status.os_error() == EEXIST;
}

Status call_error(Code code, const FailedCall& failed, std::initializer_list<std::string_view> parts) noexcept {
  assert(code != Code::kOk);
  try {
    std::string text = describe(failed);
    for (const std::string_view part : parts) text.append(part);
    return Status(code, text);
  } catch (const std::bad_alloc&) {
    return Status(code);
  }
}

}  // namespace varve::io

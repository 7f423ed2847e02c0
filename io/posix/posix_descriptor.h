// Owns: one file descriptor, and the ways by which the plain-call back end comes to have one.
// Must never: keep a descriptor below 3 (what the process prints would land in a file of the store), let one leak
// through exec, or follow a symbolic link in the place of a file.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

#include "io/os_error.h"
#include "varve/result.h"

namespace varve::io {

/// Closes in its destructor. Moves, does not copy.
class Descriptor {
 public:
  Descriptor() noexcept = default;
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      close();
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }
  ~Descriptor() { close(); }

  int get() const noexcept { return number_; }
  /// Gives the number to a caller who will close it.
  int release() noexcept { return std::exchange(number_, -1); }

 private:
  void close() noexcept;

  int number_ = -1;
};

/// The same open file under a number of 3 or more. Errors: by os_error; `opened` is closed.
Result<Descriptor> above_standard(Descriptor opened, std::string_view path) noexcept;

/// A file in an open directory: by descriptor and name for calls, by path for messages. Refers to both; a parameter,
/// not a member.
struct FileAt {
  int directory;            // or AT_FDCWD, where `name` is a path
  const std::string& name;  // valid by check_file_name, or a path
  const std::string& path;
};

/// Errors: kInvalidArgument (`name` is not one component of a path).
Status check_file_name(std::string_view name, std::string_view directory_path) noexcept;

/// openat with O_CLOEXEC and O_NOFOLLOW added, retried when interrupted. New files get mode 0666 less the umask.
/// Errors: by os_error; nothing was made.
Result<Descriptor> open_at(const FileAt& file, int flags) noexcept;

/// The same, and refuses what is not a regular file. Does not wait for the other end of a pipe.
/// Errors: by os_error, kCorruption (not a regular file).
struct OpenedFile {
  Descriptor descriptor;
  struct stat status;
};
Result<OpenedFile> open_regular(const FileAt& file, int flags) noexcept;

/// Sets or clears flags that may change on an open descriptor, O_DIRECT and O_NONBLOCK. Returns an errno, or zero.
int change_flags(int descriptor, int set, int clear) noexcept;

/// Makes a file that must not be there yet. Errors: EEXIST; by os_error; nothing was made.
Result<Descriptor> create_new(const FileAt& file, int flags) noexcept;

/// Takes the name of a file just made away again, unless it is kept.
class NewName {
 public:
  explicit NewName(const FileAt& file) noexcept : file_(file) {}
  NewName(const NewName&) = delete;
  NewName& operator=(const NewName&) = delete;
  ~NewName();

  void keep() noexcept { kept_ = true; }

 private:
  const FileAt file_;
  bool kept_ = false;
};

}  // namespace varve::io

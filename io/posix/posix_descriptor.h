// Owns: one file descriptor, and the ways in which the plain-call implementation obtains one.
// Must never: keep a descriptor below 3 (the process's output would be written to a file of the store), leak one
// through exec, or follow a symbolic link in place of a file.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

#include "io/os_error.h"
#include "varve/result.h"

namespace varve::io {

/// A file descriptor that is closed in the destructor. It can be moved but not copied.
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
  /// Returns the number to a caller that will close it.
  int release() noexcept { return std::exchange(number_, -1); }

 private:
  void close() noexcept;

  int number_ = -1;
};

/// Moves the open file to a descriptor of 3 or more. Errors: those of os_error(); `opened` is closed.
Result<Descriptor> above_standard(Descriptor opened, std::string_view path) noexcept;

/// A file in an open directory: descriptor and name for system calls, and path for messages. It refers to both strings,
/// so it is used as a parameter, not as a member.
struct FileAt {
  int directory;            // or AT_FDCWD, if `name` is a path
  const std::string& name;  // valid by check_file_name, or a path
  const std::string& path;
};

/// Errors: kInvalidArgument (`name` is not one component of a path).
Status check_file_name(std::string_view name, std::string_view directory_path) noexcept;

/// Calls openat with O_CLOEXEC and O_NOFOLLOW added, and retries if interrupted. New files get mode 0666 minus the
/// umask. Errors: those of os_error(); no file was created.
Result<Descriptor> open_at(const FileAt& file, int flags) noexcept;

/// Opens a file like open_at(), but refuses a file that is not regular. Does not wait for the other end of a pipe.
/// Errors: those of os_error(), kCorruption (not a regular file).
struct OpenedFile {
  Descriptor descriptor;
  struct stat status;
};
Result<OpenedFile> open_regular(const FileAt& file, int flags) noexcept;

/// Sets or clears the flags that can change on an open descriptor: O_DIRECT and O_NONBLOCK. Returns an errno, or zero.
int change_flags(int descriptor, int set, int clear) noexcept;

/// Creates a file, which must not exist. Errors: EEXIST; those of os_error(); no file was created.
Result<Descriptor> create_new(const FileAt& file, int flags) noexcept;

/// Removes the name of a file that was just created, unless keep() is called.
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

#include "tools/varve/backup/backup_files.h"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>

#include "tools/varve/backup/content_hash.h"

namespace varve::tool {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

Status write_all(int file, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed_call("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return Status();
}

/// Writes a new file by `fill`, makes it durable, and gives it its name. Removes it after an error.
Status write_new(const std::string& temporary, const std::string& path, const std::function<Status(int file)>& fill) {
  const OwnedDescriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.is_open()) return failed_call("create", temporary);
  Status written = fill(file.number());
  if (written.ok() && ::fsync(file.number()) != 0) written = failed_call("fsync", temporary);
  if (written.ok() && ::rename(temporary.c_str(), path.c_str()) != 0) written = failed_call("rename", path);
  if (!written.ok()) ::unlink(temporary.c_str());
  return written;
}

}  // namespace

Status failed_call(const char* call, const std::string& path) {
  const int error = errno;
  Code code = Code::kIoError;
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) code = Code::kNoSpace;
  if (error == ENOENT) code = Code::kNotFound;
  return Status(code, std::string(call) + ": " + std::generic_category().message(error))
      .with_os_error(error)
      .in_file(path);
}

Result<FileContent> read_content(const std::string& path, const std::function<Status(std::string_view piece)>& take) {
  const OwnedDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.is_open()) return failed_call("open", path);
  FileContent content;
  ContentHash hash;
  std::string piece(kPieceBytes, '\0');
  for (;;) {
    const ssize_t count = ::read(file.number(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed_call("read", path);
    if (count == 0) break;
    const std::string_view bytes(piece.data(), static_cast<std::size_t>(count));
    hash.update(bytes);
    content.bytes += bytes.size();
    if (!take) continue;
    if (Status taken = take(bytes); !taken.ok()) return taken;
  }
  content.hash = hash.take();
  if (content.hash.empty()) return Status::out_of_memory();
  return content;
}

Status copy_content(const std::string& from, const std::string& temporary, const std::string& to,
                    const FileContent& expected) {
  return write_new(temporary, to, [&](int file) {
    const Result<FileContent> content =
        read_content(from, [&](std::string_view piece) { return write_all(file, piece, temporary); });
    if (!content.ok()) return content.status();
    if (*content == expected) return Status();
    return Status::corruption("its content differs from the recorded hash").in_file(from);
  });
}

Status write_small_file(const std::string& temporary, const std::string& path, std::string_view text) {
  return write_new(temporary, path, [&](int file) { return write_all(file, text, temporary); });
}

Status sync_directory(const std::string& path) {
  const OwnedDescriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.is_open()) return failed_call("open", path);
  return ::fsync(directory.number()) == 0 ? Status() : failed_call("fsync", path);
}

Status make_directory(const std::string& path) {
  return ::mkdir(path.c_str(), S_IRWXU) == 0 || errno == EEXIST ? Status() : failed_call("mkdir", path);
}

}  // namespace varve::tool

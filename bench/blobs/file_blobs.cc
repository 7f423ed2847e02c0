// Owns: files of one directory in the race of blobs, as programs write them without a store.
// Must never: sync less than the row promises. A new file is synced, renamed, and then its directory is synced.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "bench/blobs/contender.h"
#include "bench/blobs/content.h"
#include "bench/varve_bench/forget_files.h"

namespace varve::bench {

namespace {

Status failure(const std::string& what) {
  return Status::io_error("files: " + what + ": " + std::strerror(errno));  // NOLINT(concurrency-mt-unsafe)
}

class OpenFile {
 public:
  OpenFile() = default;
  OpenFile(const std::string& path, int flags) : file_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {}
  ~OpenFile() {
    if (file_ >= 0) ::close(file_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  bool is_open() const noexcept { return file_ >= 0; }
  void open(const std::string& path, int flags) { file_ = ::open(path.c_str(), flags | O_CLOEXEC, 0600); }
  Status write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t written = ::write(file_, bytes.data(), bytes.size());
      if (written <= 0) return failure("write");
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return Status();
  }
  Status read(char* bytes, std::size_t wanted) const {
    for (std::size_t got = 0; got < wanted;) {
      const ssize_t more = ::read(file_, bytes + got, wanted - got);
      if (more <= 0) return failure("read");
      got += static_cast<std::size_t>(more);
    }
    return Status();
  }
  Status sync() const { return ::fsync(file_) == 0 ? Status() : failure("fsync"); }
  Status sync_data() const { return ::fdatasync(file_) == 0 ? Status() : failure("fdatasync"); }

 private:
  int file_ = -1;
};

class FileBlobs final : public BlobContender {
 public:
  explicit FileBlobs(std::string directory)
      : directory_(std::move(directory)), directory_file_(directory_, O_RDONLY | O_DIRECTORY) {}

  Status put(int /*thread*/, const std::string& name, std::string_view content) override {
    return write_file(name, [content](const OpenFile& file) { return file.write(content); });
  }

  Status write_stream(const std::string& name, std::uint64_t bytes) override {
    return write_file(name, [bytes](const OpenFile& file) {
      return for_pieces(bytes, [&file](std::uint64_t, std::string_view piece) { return file.write(piece); });
    });
  }

  Status forget() override {
    forget_files(directory_);
    return Status();
  }

  Status read_stream(const std::string& name, std::uint64_t bytes) override {
    const OpenFile file(path_of(name), O_RDONLY);
    if (!file.is_open()) return failure("open " + name);
    std::vector<char> piece(kPieceBytes);
    for (std::uint64_t offset = 0; offset < bytes; offset += kPieceBytes) {
      const std::size_t wanted = std::min<std::uint64_t>(kPieceBytes, bytes - offset);
      if (Status read = file.read(piece.data(), wanted); !read.ok()) return read;
      if (Status same = check_piece(offset, {piece.data(), wanted}); !same.ok()) return same;
    }
    return Status();
  }

  Status append(int thread, std::string_view bytes) override {
    OpenFile& file = logs_.at(static_cast<std::size_t>(thread));
    if (!file.is_open()) {
      file.open(path_of("log" + std::to_string(thread)), O_WRONLY | O_CREAT | O_APPEND);
      if (!file.is_open()) return failure("open a log");
    }
    if (Status written = file.write(bytes); !written.ok()) return written;
    return file.sync_data();
  }

 private:
  std::string path_of(const std::string& name) const { return directory_ + "/" + name; }

  template <typename Write>
  Status write_file(const std::string& name, const Write& write) const {
    const std::string unfinished = path_of(name) + ".new";
    const OpenFile file(unfinished, O_WRONLY | O_CREAT | O_EXCL);
    if (!file.is_open()) return failure("create " + name);
    if (Status written = write(file); !written.ok()) return written;
    if (Status synced = file.sync(); !synced.ok()) return synced;
    if (::rename(unfinished.c_str(), path_of(name).c_str()) != 0) return failure("rename");
    return directory_file_.sync();
  }

  const std::string directory_;
  const OpenFile directory_file_;
  std::array<OpenFile, kThreadsMax> logs_;
};

}  // namespace

Result<std::unique_ptr<BlobContender>> open_file_blobs(const std::string& directory) {
  return std::unique_ptr<BlobContender>(std::make_unique<FileBlobs>(directory));
}

}  // namespace varve::bench

// Owns: the recorded calls. The linker prefers a program's own definition of a name to the library's.
// Must never: record a call that failed.
#include "tests/io/posix/recorded_calls.h"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace varve::io {
namespace {

struct Record {
  std::filesystem::path base;
  std::vector<std::string> calls;
};
std::optional<Record> record;

std::string name_of(const std::filesystem::path& path) {
  return path.lexically_relative(record->base).string();
}

std::string name_of(int descriptor) {
  return name_of(std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor)));
}

void write_down(const std::string& call) {
  if (record) record->calls.push_back(call);
}

/// Makes the kernel's call, and records it if it succeeded.
template <typename... Arguments>
int called(const char* verb, long number, int descriptor, Arguments... arguments) {
  const auto result = static_cast<int>(::syscall(number, descriptor, arguments...));
  if (result == 0 && record) write_down(std::string(verb) + " " + name_of(descriptor));
  return result;
}

}  // namespace

RecordedCalls::RecordedCalls(const std::string& base)
    : writes_([](const TransferCall& call) {
        const bool is_durable = (::fcntl(call.descriptor, F_GETFL) & O_DSYNC) != 0;
        write_down((is_durable ? "write through " : "write ") + name_of(call.descriptor));
        return Fate{};
      }) {
  if (record) std::abort();
  record.emplace(Record{std::filesystem::canonical(base), {}});
}
RecordedCalls::~RecordedCalls() {
  record.reset();
}

std::vector<std::string> RecordedCalls::take() {
  return std::exchange(record->calls, {});
}

}  // namespace varve::io

extern "C" int fsync(int descriptor) {
  return varve::io::called("fsync", SYS_fsync, descriptor);
}

extern "C" int fdatasync(int descriptor) {
  return varve::io::called("fdatasync", SYS_fdatasync, descriptor);
}

extern "C" int sync_file_range(int descriptor, off64_t offset, off64_t bytes, unsigned int flags) {
  const char* const name = (flags & SYNC_FILE_RANGE_WRITE) != 0 ? "write back" : "await";
  return varve::io::called(name, SYS_sync_file_range, descriptor, offset, bytes, flags);
}

extern "C" int ftruncate(int descriptor, off_t bytes) noexcept {
  return varve::io::called("truncate", SYS_ftruncate, descriptor, bytes);
}

extern "C" int mkdir(const char* path, mode_t mode) noexcept {
  const auto result = static_cast<int>(::syscall(SYS_mkdir, path, mode));
  if (result == 0 && varve::io::record)
    varve::io::write_down("mkdir " + varve::io::name_of(std::filesystem::canonical(path)));
  return result;
}

extern "C" int renameat(int from_directory, const char* from, int to_directory, const char* to) noexcept {
  const auto result = static_cast<int>(::syscall(SYS_renameat, from_directory, from, to_directory, to));
  if (result == 0) varve::io::write_down(std::string("rename ") + from + " " + to);
  return result;
}

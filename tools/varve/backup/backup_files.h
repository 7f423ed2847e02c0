// Owns: reading, copying and writing the files of backups.
// Must never: give a file its name before its content is durable.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "tools/varve/base/owned_descriptor.h"
#include "varve/result.h"

namespace varve::tool {

/// The size and the hash of a file's content.
struct FileContent {
  std::uint64_t bytes = 0;
  std::string hash{};
  bool operator==(const FileContent&) const = default;
};

/// Reads a whole file. Calls `take` for each piece, if it is set. Errors: kIoError, and those of `take`.
Result<FileContent> read_content(const std::string& path,
                                 const std::function<Status(std::string_view piece)>& take = {});

/// Copies a file to a new name, durably, by way of the temporary name `temporary` in the same file system. Errors:
/// kCorruption (the content is not `expected`), kNoSpace, kIoError. After an error neither name exists.
Status copy_content(const std::string& from, const std::string& temporary, const std::string& to,
                    const FileContent& expected);

/// Writes a small file under its name, durably, by way of a temporary name. Errors: kNoSpace, kIoError.
Status write_small_file(const std::string& temporary, const std::string& path, std::string_view text);

/// Makes the names in a directory durable. Errors: kIoError.
Status sync_directory(const std::string& path);
/// Creates a directory for its owner alone, unless it exists. Errors: kNoSpace, kIoError.
Status make_directory(const std::string& path);

/// Returns the error of a failed system call. Called while errno is set.
Status failed_call(const char* call, const std::string& path);

}  // namespace varve::tool

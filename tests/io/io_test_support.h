// Owns: the shared parts of the tests of io: outcomes as text, bytes by seed, whole files.
// Must never: treat implementations differently.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "io/aligned_buffer.h"
#include "io/file_system.h"
#include "io/os_error.h"
#include "varve/result.h"

namespace varve::io {

using Bytes = std::vector<std::byte>;

inline constexpr SyncPoint kTestPoint{"test point"};

inline const Status& status_of(const Status& status) {
  return status;
}
template <typename T>
const Status& status_of(const Result<T>& result) {
  return result.status();
}

/// EXPECT_TRUE(is_ok(file->sync(point))) prints the whole status if it fails.
template <typename Outcome>
testing::AssertionResult is_ok(const Outcome& outcome) {
  if (status_of(outcome).ok()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << status_of(outcome).to_string();
}

/// Checks the code, and that the message contains `words`.
template <typename Outcome>
testing::AssertionResult fails_with(const Outcome& outcome, Code code, std::string_view words = "") {
  const Status& status = status_of(outcome);
  if (status.code() == code && status.message().find(words) != std::string_view::npos) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "wanted " << code_name(code) << " with \"" << words << "\", got "
                                     << status.to_string();
}

/// Checks the errno, under a code that no table model uses as an answer, and that the message contains `words`.
template <typename Outcome>
testing::AssertionResult fails_with(const Outcome& outcome, int os_error, std::string_view words = "") {
  const Status& status = status_of(outcome);
  if (status.os_error() != os_error) {
    return testing::AssertionFailure() << "wanted errno " << os_error << ", got " << status.os_error() << ", "
                                       << status.to_string();
  }
  return fails_with(outcome, os_error_code(os_error), words);
}

inline Bytes bytes_of(std::string_view text) {
  Bytes bytes(text.size());
  std::transform(text.begin(), text.end(), bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

/// Returns bytes that are never zero, so that a lost byte is visible.
inline Bytes bytes_by_seed(std::uint64_t seed, std::size_t count) {
  std::mt19937_64 random(seed);
  Bytes bytes((count + 7) / 8 * 8);
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    const std::uint64_t number = random() | 0x0101'0101'0101'0101;
    std::memcpy(bytes.data() + at, &number, sizeof number);
  }
  bytes.resize(count);
  return bytes;
}

/// Returns sector-aligned memory with the bytes of bytes_by_seed. `count` is a multiple of kSectorBytes.
inline AlignedBuffer sectors_by_seed(std::uint64_t seed, std::size_t count) {
  Result<AlignedBuffer> buffer = AlignedBuffer::allocate(count);
  const Bytes bytes = bytes_by_seed(seed, count);
  std::copy(bytes.begin(), bytes.end(), buffer->bytes().begin());
  return *std::move(buffer);
}

inline Result<Bytes> read_whole(Directory& directory, std::string_view name, ReadMode mode = ReadMode::kCached) {
  Result<std::unique_ptr<ReadableFile>> file = directory.open(name, mode);
  if (!file.ok()) return file.status();
  Bytes bytes((*file)->size_bytes());
  if (Status read = (*file)->read_exactly(0, bytes); !read.ok()) return read;
  return bytes;
}

inline Status write_whole(Directory& directory, std::string_view name, std::span<const std::byte> bytes) {
  Result<std::unique_ptr<WritableFile>> file = directory.create(name);
  if (!file.ok()) return file.status();
  if (Status appended = (*file)->append(bytes); !appended.ok()) return appended;
  return (*file)->sync({"test"});
}

inline std::vector<std::string> names_in(Directory& directory) {
  std::vector<std::string> names;
  Result<std::vector<DirectoryEntry>> entries = directory.list();
  EXPECT_TRUE(is_ok(entries));
  if (!entries.ok()) return names;
  for (const DirectoryEntry& entry : *entries) names.push_back(entry.name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace varve::io

// Owns: the environment of a test of blobs: a store, a container, and short forms of its verbs.
// Must never: hide an error that a test did not ask for.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/store_bench.h"
#include "varve/blob.h"

namespace varve::test {

inline constexpr Said kBlobGone{Code::kNotFound, "BlobNotFound"};
inline constexpr Said kContainerGone{Code::kNotFound, "ContainerNotFound"};
inline constexpr Said kConditionNotMet{Code::kPreconditionFailed, "ConditionNotMet"};
inline constexpr Said kBlobExists{Code::kExists, "BlobAlreadyExists"};
inline constexpr Said kWrongBlobKind{Code::kConflict, "InvalidBlobType"};

class BlobBench : public StoreBench {
 public:
  explicit BlobBench(std::uint64_t seed = 1) : StoreBench(seed) {
    open();
    EXPECT_EQ(said(store->create_account(kAccount)), kFine);
  }
  Container container(std::string_view name = "photos", const ContainerOptions& options = {}) {
    Result<Container> made = store->create_container(kAccount, name, options);
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    if (!made.ok()) std::abort();
    return *std::move(made);
  }
  Container reopened(std::string_view name = "photos") {
    open();
    Result<Container> found = store->open_container(kAccount, name);
    EXPECT_TRUE(found.ok()) << found.status().to_string();
    if (!found.ok()) std::abort();
    return *std::move(found);
  }
  void pass(std::chrono::nanoseconds time) { machine.clock.advance(time); }
};

/// Bytes of which no two parts of 64 KiB are equal.
inline std::string uneven_bytes(std::size_t size, std::uint32_t seed = 1) {
  std::string bytes(size, '\0');
  std::uint32_t state = seed * 2'654'435'761U + 1;
  for (char& byte : bytes) {
    state = state * 1'664'525U + 1'013'904'223U;
    byte = static_cast<char>(state >> 24);
  }
  return bytes;
}

/// Returns the whole content of a reader, or what went wrong.
inline std::string all_of(const BlobReader& reader) {
  std::string bytes(reader.state().length, '\0');
  const Result<std::size_t> got = reader.read(0, bytes);
  if (!got.ok()) return got.status().to_string();
  bytes.resize(*got);
  return bytes;
}
inline std::string content_in(const Container& container, std::string_view blob) {
  const Result<BlobReader> reader = container.read(blob);
  return reader.ok() ? all_of(*reader) : std::string(reader.status().service_error());
}
inline BlobState put_blob(Container& container, std::string_view blob, std::string_view content,
                          const BlobWriteOptions& options = {}) {
  Result<BlobState> put = container.put(blob, content, options);
  EXPECT_TRUE(put.ok()) << put.status().to_string();
  return put.ok() ? *std::move(put) : BlobState();
}
inline BlobState state_in(const Container& container, std::string_view blob) {
  Result<BlobState> state = container.state(blob);
  EXPECT_TRUE(state.ok()) << state.status().to_string();
  return state.ok() ? *std::move(state) : BlobState();
}
inline Said stage(Container& container, std::string_view blob, std::string_view id, std::string_view bytes,
                  const BlobWriteOptions& options = {}) {
  Result<BlobWriter> writer = container.stage_block(blob, id, options);
  if (!writer.ok()) return said(writer);
  if (Status added = writer->append(bytes); !added.ok()) return said(added);
  return said(writer->publish());
}
/// Returns where the files of the store have these bytes first: offsets by the names of the files.
inline std::map<std::string, std::size_t> places_of(const io::MemoryDisk& disk, const std::string& bytes) {
  std::map<std::string, std::size_t> places;
  for (const std::string& name : disk.file_names(kStorePath)) {
    const auto file = disk.read_file(std::string(kStorePath) + "/" + name);
    if (!file.ok()) continue;
    const std::string_view text(reinterpret_cast<const char*>(file->data()), file->size());
    if (const std::size_t at = text.find(bytes); at != std::string_view::npos) places[name] = at;
  }
  return places;
}
/// Returns the disk of a closed store with a flipped bit in the first of these bytes, which are stored once.
inline io::MemoryDisk with_flip(const io::MemoryDisk& disk, const std::string& bytes) {
  io::MemoryDisk damaged = disk;
  const std::map<std::string, std::size_t> places = places_of(disk, bytes);
  EXPECT_EQ(places.size(), 1U) << "BX-05: each byte of content is stored once";
  for (const auto& [name, at] : places) {
    EXPECT_TRUE(damaged.flip_bit(std::string(kStorePath) + "/" + name, at, std::byte{0x10}).ok());
  }
  return damaged;
}
inline Guid guid_of(char digit) {
  Guid guid;
  for (auto& byte : guid.bytes) byte = static_cast<std::remove_reference_t<decltype(byte)>>(digit);
  return guid;
}

}  // namespace varve::test

// Owns: memory in whole pages that returns to the system when it is released.
// Must never: be used for small pieces. Each piece costs a system call, and at least a page.
//
// An allocator keeps freed memory for later allocations. With pieces of a megabyte that come and go on several threads,
// it can keep more memory than is in use. A store with budgets of 36 MB used 138 MB that way.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "varve/result.h"

namespace varve::io {

/// A piece of zeroed pages. It can be moved but not copied; a moved-from piece is empty.
class PageMemory {
 public:
  PageMemory() noexcept = default;
  /// Maps a piece. `bytes` is not zero. Pieces of two megabytes or more are aligned to large pages, and backed by large
  /// pages if the system allows it. Errors: kOutOfMemory.
  static Result<PageMemory> map(std::size_t bytes) noexcept;

  /// Returns the pages of a part to the system before the whole piece is released. The part then reads as zeros, and
  /// uses pages again when it is touched. Both numbers are multiples of 4096 bytes. The piece uses small pages from
  /// then on; otherwise, the system would restore the large pages.
  void give_back(std::size_t offset, std::size_t bytes) noexcept;

  std::span<std::byte> bytes() const noexcept { return mapping_ ? mapping_->pages : std::span<std::byte>(); }

 private:
  struct Mapping {
    Mapping() noexcept = default;
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping();
    std::span<std::byte> pages;
  };

  explicit PageMemory(std::unique_ptr<Mapping> mapping) noexcept : mapping_(std::move(mapping)) {}

  std::unique_ptr<Mapping> mapping_;
};

}  // namespace varve::io

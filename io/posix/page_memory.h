// Owns: memory in whole pages that goes back to the system when it is given up.
// Must never: be used for small pieces; each piece is a call of the system, and a page at least.
//
// An allocator keeps what was freed for the next who asks, which with pieces of a megabyte that come and go on several
// threads is more than what is in use: a store whose budgets were 36 MB held 138 MB that way.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "varve/result.h"

namespace varve::io {

/// Zero when it is made. Moves, does not copy; a moved-from piece is empty.
class PageMemory {
 public:
  PageMemory() noexcept = default;
  /// `bytes` is not zero. Pieces of two megabytes and more are aligned to, and best made of, large pages. Errors:
  /// kOutOfMemory.
  static Result<PageMemory> map(std::size_t bytes) noexcept;

  /// Gives the pages of a part back to the system, before the whole is: it then reads as zeros, and takes pages again
  /// where it is touched. Both numbers are of whole pages of 4096 bytes. The piece is of small pages from then on, or
  /// the system would make the large ones whole again.
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

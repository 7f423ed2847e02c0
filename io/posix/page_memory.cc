// Owns: the system calls that map and unmap memory (page_memory.h).
// Must never: keep a page that is not part of a piece.
#include "io/posix/page_memory.h"

#include <cassert>
#include <cstdint>
#include <limits>
#include <new>

#include <sys/mman.h>

#include "io/posix/large_pages.h"

namespace varve::io {

namespace {

constexpr std::size_t kPageBytes = 4096;

std::byte* map_pages(std::size_t bytes) noexcept {
  void* const pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? nullptr : static_cast<std::byte*>(pages);
}

void unmap_pages(std::byte* pages, std::size_t bytes) noexcept {
  if (bytes == 0) return;
  const int result = ::munmap(pages, bytes);
  assert(result == 0);  // PageMemory mapped these pages.
  static_cast<void>(result);
}

/// Maps more than requested, and unmaps the parts before and after the aligned part.
std::byte* map_aligned(std::size_t bytes) noexcept {
  std::byte* const pages = map_pages(bytes + kLargePageBytes);
  if (pages == nullptr) return nullptr;
  const std::size_t misplaced = reinterpret_cast<std::uintptr_t>(pages) % kLargePageBytes;
  const std::size_t lead = misplaced == 0 ? 0 : kLargePageBytes - misplaced;
  unmap_pages(pages, lead);
  unmap_pages(pages + lead + bytes, kLargePageBytes - lead);
  return pages + lead;
}

}  // namespace

Result<PageMemory> PageMemory::map(std::size_t bytes) noexcept {
  assert(bytes > 0);
  if (bytes > std::numeric_limits<std::size_t>::max() / 2) return Status::out_of_memory();
  // The record is allocated first, so that a test's operator new can refuse it.
  std::unique_ptr<Mapping> mapping(new (std::nothrow) Mapping);
  if (mapping == nullptr) return Status::out_of_memory();
  const std::size_t whole = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  const bool is_large = whole >= kLargePageBytes;
  std::byte* const pages = is_large ? map_aligned(whole) : map_pages(whole);
  if (pages == nullptr) return Status::out_of_memory();
  mapping->pages = {pages, whole};
  if (is_large) prefer_large_pages(mapping->pages);
  return PageMemory(std::move(mapping));
}

void PageMemory::give_back(std::size_t offset, std::size_t bytes) noexcept {
  const std::span<std::byte> pages = mapping_->pages;
  assert(offset % kPageBytes == 0 && bytes % kPageBytes == 0 && offset + bytes <= pages.size());
  // Both calls are advice. If they are refused, the pages remain until the whole piece is released.
  (void)::madvise(pages.data(), pages.size(), MADV_NOHUGEPAGE);
  (void)::madvise(pages.data() + offset, bytes, MADV_DONTNEED);
}

PageMemory::Mapping::~Mapping() {
  unmap_pages(pages.data(), pages.size());
}

}  // namespace varve::io

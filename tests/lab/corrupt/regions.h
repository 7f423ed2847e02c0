// Owns: finding the blocks and records of a store's files with the readers of the format.
// Must never: check a file. A file that cannot be read has fewer regions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace varve::lab {

struct Region {
  std::string kind;  // "data block", "manifest edit", "group", "header", ...
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  // For a record in a log segment; otherwise zero:
  std::uint64_t first_version = 0;
  std::uint64_t last_version = 0;
  std::uint64_t durable_upto = 0;
  std::uint64_t manifest_number = 0;
  std::uint64_t manifest_durable_bytes = 0;

  std::uint64_t end() const noexcept { return offset + bytes; }
};

/// Returns the regions in the order of offsets. They need not cover the whole file.
std::vector<Region> regions_of(std::string_view name, std::string_view bytes);

}  // namespace varve::lab

// Owns: where the blocks and records of a store's files lie, found with the readers of the format.
// Must never: judge a file; what cannot be read has fewer parts.
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
  // Of a record in a log segment; zero else:
  std::uint64_t first_version = 0;
  std::uint64_t last_version = 0;
  std::uint64_t durable_upto = 0;
  std::uint64_t manifest_number = 0;
  std::uint64_t manifest_durable_bytes = 0;

  std::uint64_t end() const noexcept { return offset + bytes; }
};

/// In the order of offsets; together they need not cover the file.
std::vector<Region> regions_of(std::string_view name, std::string_view bytes);

}  // namespace varve::lab

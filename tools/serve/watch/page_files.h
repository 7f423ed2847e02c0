// Owns: the files of the status page, as they stand in tools/serve/page/ and were made part of the program.
// Must never: be written by hand: CMake makes the other half of this room of those files.
#pragma once

#include <span>
#include <string_view>

namespace varve::serve {

struct PageFile {
  /// Below /_varve/; the first one is empty.
  std::string_view name;
  std::string_view type;
  std::string_view content;
};

std::span<const PageFile> page_files() noexcept;

}  // namespace varve::serve

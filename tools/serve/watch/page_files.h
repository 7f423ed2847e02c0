// Owns: the files of the status page. They are built into the program from tools/serve/page/.
// Must never: be written by hand. CMake generates the other half of this unit from those files.
#pragma once

#include <span>
#include <string_view>

namespace varve::serve {

struct PageFile {
  /// The name below /_varve/. The first file's name is empty.
  std::string_view name;
  std::string_view type;
  std::string_view content;
};

std::span<const PageFile> page_files() noexcept;

}  // namespace varve::serve

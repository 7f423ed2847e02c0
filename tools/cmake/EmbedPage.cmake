# Owns: the status page's files as a source file: cmake -DOUTPUT=... -DDIRECTORY=... -DNAMES=... -P EmbedPage.cmake
# Must never: change a byte of them.

set(type_html "text/html; charset=utf-8")
set(type_css "text/css; charset=utf-8")
set(type_js "text/javascript; charset=utf-8")
set(type_svg "image/svg+xml")

set(rows "")
foreach(name IN LISTS NAMES)
  file(READ "${DIRECTORY}/${name}" content)
  string(FIND "${content}" ")varve_page\"" found)
  if(NOT found EQUAL -1)
    message(FATAL_ERROR "${name} holds what ends a literal")
  endif()
  string(REGEX REPLACE "^.*\\." "" ending "${name}")
  string(REGEX REPLACE "^index\\.html$" "" address "${name}")
  string(APPEND rows "    {\"${address}\", \"${type_${ending}}\", R\"varve_page(${content})varve_page\"},\n")
endforeach()

file(WRITE "${OUTPUT}" "#include \"tools/serve/watch/page_files.h\"

#include <array>

namespace varve::serve {
namespace {

constexpr auto kPageFiles = std::to_array<PageFile>({
${rows}});

}  // namespace

std::span<const PageFile> page_files() noexcept {
  return kPageFiles;
}

}  // namespace varve::serve
")

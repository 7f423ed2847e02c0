// Owns: the version that the library was built as.
#include "varve/version.h"

namespace varve {

std::string_view library_version() noexcept {
  return kVersion;
}

}  // namespace varve

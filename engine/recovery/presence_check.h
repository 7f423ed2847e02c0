// Owns: the check that the files of a store exist with their sizes.
// Must never: read their content.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "format/log/file_header.h"
#include "io/file_system.h"
#include "varve/status.h"

namespace varve::engine {

struct WrittenFile {
  format::FileId id;
  std::uint64_t size_bytes = 0;
  std::string_view thing;  // its name in messages; outlives the check
};

/// Checks all files with one listing of the directory. Opens only files that the listing does not confirm. Returns the
/// error of the first bad file in their order: kCorruption (the file is missing or has another size), those of
/// io::Directory::open().
Status check_presence(io::Directory& directory, std::span<const WrittenFile> files);

}  // namespace varve::engine

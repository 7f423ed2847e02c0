// Owns: the check that the files of a store exist with their sizes.
// Must never: read their content.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "format/log/file_header.h"
#include "io/env.h"
#include "varve/status.h"

namespace varve::engine {

struct WrittenFile {
  format::FileId id;
  std::uint64_t size_bytes = 0;
  std::string_view thing;  // its name in messages; outlives the check
};

/// Checks all files, with a few threads if they are many. Returns the error of the first bad file in their order, as a
/// single thread would: kCorruption (the file is missing or has another size), those of io::Directory::open().
Status check_presence(const io::Env& env, io::Directory& directory, std::span<const WrittenFile> files);

}  // namespace varve::engine

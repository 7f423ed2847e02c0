// Owns: whether files that the store has written are there, with their sizes.
// Must never: read what is in them.
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
  std::string_view thing;  // what it is called in messages; outlives the check
};

/// Looks at all of them, by a few threads where they are many. Errors: that of the first in their order, as one thread
/// would find it: kCorruption (it is missing, or its size is another), those of io::Directory::open.
Status check_presence(const io::Env& env, io::Directory& directory, std::span<const WrittenFile> files);

}  // namespace varve::engine

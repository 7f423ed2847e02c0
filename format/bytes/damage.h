// Owns: how a parser says that bytes cannot be what they should be.
// Must never: say where they lie; only the caller knows the file.
#pragma once

#include <string>
#include <string_view>

#include "varve/status.h"

namespace varve::format {

/// kCorruption: "<thing>: <what>".
inline Status damaged(std::string_view thing, std::string_view what) {
  return Status::corruption(std::string(thing).append(": ").append(what));
}

}  // namespace varve::format

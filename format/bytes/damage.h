// Owns: the error of a parser that reads impossible bytes.
// Must never: name the place of the bytes. Only the caller knows the file.
#pragma once

#include <string>
#include <string_view>

#include "varve/status.h"

namespace varve::format {

/// Returns kCorruption with the message "<thing>: <what>".
inline Status damaged(std::string_view thing, std::string_view what) {
  return Status::corruption(std::string(thing).append(": ").append(what));
}

}  // namespace varve::format

// Owns: reading files that contain keys.
// Must never: accept a key that every user of the machine can read or replace.
#pragma once

#include <string>
#include <string_view>

#include "varve/result.h"

namespace varve::serve {

/// Returns the content of the file at `path`. `what` names the file for messages, for example "the private key".
/// Errors: kInvalidArgument: the file does not exist, cannot be read, is too large for a key, or is accessible to every
/// user. The message names path and remedy.
Result<std::string> read_secret_file(std::string_view what, const std::string& path);
/// Returns the content of a file that every user may read. Errors: as above.
Result<std::string> read_public_file(std::string_view what, const std::string& path);

struct FileText {
  std::string text;
  /// Whether every user of the machine can read or replace the opened file.
  bool is_exposed = false;
};
/// Returns the content of a file that has a secret perhaps. The caller calls refuse_exposed() if it has one. Errors: as
/// above.
Result<FileText> read_file_text(std::string_view what, const std::string& path);
/// Returns the refusal of a secret that every user can read. The message names path and remedy.
Status refuse_exposed(std::string_view what, const std::string& path);

}  // namespace varve::serve

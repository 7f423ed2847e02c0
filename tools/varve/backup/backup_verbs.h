// Owns: what other verbs ask about a directory of backups.
// Must never: be needed by a build without the server, which has no backups.
#pragma once

#include <string>

namespace varve::tool {

/// Returns whether the directory has backups instead of a store.
bool has_backups(const std::string& directory);
/// Verifies all backups, and prints a line for each. Returns the exit code.
int verify_backups(const std::string& directory, bool as_json);

}  // namespace varve::tool

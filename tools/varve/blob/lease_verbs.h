// Owns: the verbs `blob lease` and `container lease`: the right of one holder to write a blob, or to drop a container.
// Must never: choose an id for a lease that exists.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "varve/blob.h"
#include "varve/result.h"

namespace varve::tool {

/// @{
/// Add the verb to the group. The chosen verb stores its exit code in `exit_code`.
void add_blob_lease(CLI::App& group, int& exit_code);
void add_container_lease(CLI::App& group, int& exit_code);
/// @}

/// Adds --lease to a verb that writes. `what` names the owner of the lease: "blob" or "container".
void add_lease_word(CLI::App& verb, std::string& word, const std::string& what);

/// Adds the lease of the word to the conditions, if there is one. Errors: kInvalidArgument (--lease has no GUID).
Status add_lease_condition(const std::string& word, BlobConditions& conditions);

}  // namespace varve::tool

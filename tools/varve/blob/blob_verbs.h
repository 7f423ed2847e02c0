// Owns: the parts of the verbs on blobs that put and get have in files of their own.
// Must never: print a success before the store has it.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "tools/varve/blob/named_container.h"
#include "varve/blob.h"

namespace varve::tool {

/// @{
/// Add the verb to the group `blob`. The chosen verb stores its exit code in `exit_code`.
void add_blob_put(CLI::App& group, int& exit_code);
void add_blob_get(CLI::App& group, int& exit_code);
/// @}

/// The words about the blob that a verb replaces.
struct BlobConditionWords {
  std::string if_match{};
  bool if_absent = false;
  std::string lease{};
};
void add_blob_condition_words(CLI::App& verb, BlobConditionWords& words);
/// Errors: kInvalidArgument (--if-match has no ETag, --lease has no GUID).
Result<BlobConditions> blob_conditions_of(const BlobConditionWords& words);

/// Returns the failure with what to do about it, as far as the verbs of blobs know more than the store.
Status with_blob_hint(const Status& failure);

/// Closes the store after a change of a blob, and prints its new state: its ETag, or JSON.
int finish_blob_change(BlobAccess& access, const BlobState& blob, bool json);

}  // namespace varve::tool

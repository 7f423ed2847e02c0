// Owns: containers and blobs as they are printed: for people, or as JSON.
// Must never: read or change a blob.
#pragma once

#include <string>
#include <vector>

#include "varve/blob.h"
#include "varve/result.h"

namespace varve::tool {

/// Returns NAME=VALUE words as metadata or as tags. Errors: kInvalidArgument (a word without a name or "="), those of
/// check_metadata() and check_blob_tags().
/// @{
Result<std::vector<MetadataPair>> parse_blob_metadata(const std::vector<std::string>& words);
Result<std::vector<BlobTag>> parse_blob_tags(const std::vector<std::string>& words);
/// @}

/// Prints a container on several lines, or as one line of JSON.
void print_container(const std::string& account, const ContainerState& container, bool json);
/// Prints all of a blob except its content: on several lines, or as one line of JSON.
void print_blob(const BlobState& blob, bool json);
/// Prints a blob of a listing on one line: its length, the time of its last change and its name.
void print_blob_line(const BlobState& blob);

}  // namespace varve::tool

// Owns: the store and the container of a line, and the nearest names if there is no such container or blob.
// Must never: create a container.
#pragma once

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "tools/varve/reach/blob_access.h"
#include "tools/varve/session/session.h"

namespace varve::tool {

/// The store, account, container and blob of the command line.
struct BlobPlace {
  Place place;
  std::string container;
  std::string blob;
};

/// @{
/// Add STORE, the names that the verb has, and --account.
void add_account_words(CLI::App& verb, BlobPlace& place);
void add_container_words(CLI::App& verb, BlobPlace& place);
void add_blob_words(CLI::App& verb, BlobPlace& place);
/// @}

/// @{
/// Reach the container in this process, through the server that has the store open, or at an address.
/// reach_blobs_briefly() is for verbs that read. reach_or_make_blobs() creates the store if it does not exist; the verb creates the container.
Result<std::unique_ptr<BlobAccess>> reach_blobs_briefly(const BlobPlace& place);
Result<std::unique_ptr<BlobAccess>> reach_blobs(const BlobPlace& place);
Result<std::unique_ptr<BlobAccess>> reach_or_make_blobs(const BlobPlace& place);
/// @}

/// Returns the failure with the nearest names as its hint, if it says that a blob, a container or an account does not
/// exist. Reads the names where the verb reads.
Status with_nearest_blobs(BlobAccess& access, const BlobPlace& place, const Status& failure);

}  // namespace varve::tool

// Owns: the address of a blob from which a request takes content.
// Must never: accept an address of another server: nothing is ever fetched.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/rest/blobs/blob_call.h"
#include "api/rest/blobs/blob_target.h"
#include "varve/result.h"

namespace varve::serve {

/// A blob of this server.
struct CopySource {
  std::string account;
  BlobTarget target;
  /// The query of the URL, which may have a signature.
  std::string query;
  /// The URL without its query.
  std::string address;

  /// Returns whether the query has a signature, which then decides what the caller may read.
  bool has_signature() const;
};

/// Reads the header x-ms-copy-source. Errors: kForbidden (CannotVerifyCopySource: no URL, another server, an unknown
/// account, no blob), kNotFound (BlobNotFound: a snapshot or version). Source: BY-05.
Result<CopySource> read_copy_source(const BlobCall& call);

/// What a request takes of its source. Tags have a permission of their own. Source: BS-12.
enum class SourceNeeds : std::uint8_t { kContent, kTags };

/// Checks that the caller may read the source, and its tags too if the request takes them. Errors: kForbidden
/// (CannotVerifyCopySource).
Task<Status> check_copy_source(const BlobCall& call, const CopySource& source,
                               SourceNeeds needs = SourceNeeds::kContent);

/// Returns the refusal of a source. Source: BY-05.
Status unverifiable_source(std::string_view reason);

}  // namespace varve::serve

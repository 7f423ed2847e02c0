// Owns: parsing the address of a request to the blob service.
// Must never: decode anything twice, or check whether the named container or blob exists.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/rest/protocol/query_parameters.h"
#include "varve/result.h"

namespace varve::serve {

/// The container of blobs whose address names none.
inline constexpr std::string_view kRootContainer = "$root";
/// The container of the logs that the server writes for an account. Source: AL-02.
inline constexpr std::string_view kLogContainer = "$logs";
/// What the addresses of entities' contents have in place of a container. It is none. Source: BX-01.
inline constexpr std::string_view kValuesContainer = "$values";

enum class BlobResource : std::uint8_t {
  kService,    // the account itself
  kContainer,  // photos, with restype=container
  kBlob,       // photos/eu/a.jpg; or a.jpg, in the container $root
};

struct BlobTarget {
  BlobResource resource = BlobResource::kService;
  std::string container{};
  /// The blob's name. It may contain slashes.
  std::string blob{};

  /// Returns what Session::check() calls the resource: `photos`, or `photos/eu/a.jpg`.
  std::string signed_name() const;
};

/// Parses the resource part of a decoded path. The parameter `restype` decides between a container and a blob. If it asks
/// for the account, a path of one segment is a container.
/// Errors: those of check_container_name() and check_blob_name(); kInvalidArgument (InvalidUri: a container is asked for
/// below a container, or a blob has no name). Source: BN-01 to BN-04.
Result<BlobTarget> parse_blob_target(std::string_view decoded, const QueryParameters& parameters);

}  // namespace varve::serve

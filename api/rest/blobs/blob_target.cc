#include "api/rest/blobs/blob_target.h"

#include <utility>

#include "api/rest/protocol/wire_error.h"
#include "varve/blob.h"
#include "varve/names.h"

namespace varve::serve {
namespace {

bool asks_for_container(const QueryParameters& parameters, bool has_blob) {
  const std::string* const restype = parameters.find("restype");
  if (restype == nullptr) return false;
  const std::string lower = lower_case(*restype);
  return lower == "container" || (lower == "account" && !has_blob);
}

}  // namespace

std::string BlobTarget::signed_name() const {
  return blob.empty() ? container : container + "/" + blob;
}

Result<BlobTarget> parse_blob_target(std::string_view decoded, const QueryParameters& parameters) {
  BlobTarget target;
  if (decoded.empty()) return target;
  const std::size_t slash = decoded.find('/');
  const bool has_blob = slash != std::string_view::npos && slash + 1 != decoded.size();
  if (asks_for_container(parameters, has_blob)) {
    // Some clients write a slash after the name of a container.
    if (has_blob) {
      return refused("InvalidUri", "the URL goes on behind the name of a container");
    }
    target.resource = BlobResource::kContainer;
    target.container = decoded.substr(0, slash);
    if (Status named = check_container_name(target.container); !named.ok()) return named;
    return target;
  }
  target.resource = BlobResource::kBlob;
  target.container = slash == std::string_view::npos ? kRootContainer : decoded.substr(0, slash);
  target.blob = slash == std::string_view::npos ? decoded : decoded.substr(slash + 1);
  if (Status named = check_container_name(target.container); !named.ok() && target.container != kValuesContainer) {
    return named;
  }
  if (target.blob.empty()) {
    return refused("InvalidUri", "the URL names no blob; a container needs the parameter restype=container");
  }
  if (Status named = check_blob_name(target.blob); !named.ok()) return named;
  return target;
}

}  // namespace varve::serve

// Owns: the multipart body that answers a batch.
// Must never: decide the content of the answers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/rest/protocol/message.h"

namespace varve::serve {

struct BatchAnswer {
  HttpResponse response;
  /// The Content-ID of the request's part. Empty if the part had none.
  std::string content_id{};
};

/// Returns a 202 response that contains the answers. If the requests were in a change set, so are the answers. The
/// boundaries are made from `unique`, which must not occur in the answers. Source: H-53, H-54.
HttpResponse write_batch(const std::vector<BatchAnswer>& answers, bool is_change_set, std::string_view unique);

}  // namespace varve::serve

// Owns: the multipart body that answers a batch.
// Must never: decide what the answers are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/rest/protocol/message.h"

namespace varve::serve {

struct BatchAnswer {
  HttpResponse response;
  /// As the request's part had it; empty where it had none.
  std::string content_id{};
};

/// 202 with the answers, in a change set if the requests stood in one. `unique` makes the boundaries; nothing in the
/// answers may hold it. Source: H-53, H-54.
HttpResponse write_batch(const std::vector<BatchAnswer>& answers, bool is_change_set, std::string_view unique);

}  // namespace varve::serve

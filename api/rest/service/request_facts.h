// Owns: the facts about an answered request that counts and logs need.
// Must never: be shown to the client.
#pragma once

#include <string>
#include <vector>

#include "api/rest/protocol/message.h"
#include "api/rest/service/operation.h"

namespace varve::serve {

struct AnsweredPart;

struct RequestFacts {
  /// The operation, or kUnresolved if the request was refused before the caller was known.
  Operation operation = Operation::kUnresolved;
  /// The operation that the request named, also if the caller was refused. kUnresolved: it named none.
  Operation named = Operation::kUnresolved;
  /// The account of the address, or empty if the server does not know it.
  std::string account{};
  /// The request, without the parts that the answer used up.
  HttpRequest request{};
  /// The requests of a batch that were answered each by itself, in their order.
  std::vector<AnsweredPart> parts;
};

struct AnsweredPart {
  RequestFacts facts;
  /// Without the body.
  HttpResponse response;
};

}  // namespace varve::serve

// Owns: the requests of operators on large values: one route, whose parameters name the verb and the table.
// Must never: keep a content whose entity was written, or hold more of a content in memory than one request has.
#pragma once

#include <stop_token>

#include "api/rest/protocol/message.h"
#include "varve/async.h"
#include "varve/home_thread.h"

namespace varve::serve {

/// Carries out `POST /_varve/values?verb=VERB&account=ACCOUNT&table=TABLE&...`. VERB is one of:
///
///   begin     begins a content, which the connection keeps beside the contents that it began before.
///   append    adds the bytes of the body to the content that was begun last.
///   finish    ends that content, and returns the fields of its value.
///   write     writes the entity whose fields the body has, and returns its ETag. kind, if_match, durability. Afterwards
///             the connection keeps no content, and those that no entity names are removed.
///   discard   removes the contents that the connection keeps.
///
/// A value has the fields `id` and `length`. An entity has the field `entity`, its JSON without large values, and a field
/// `large:NAME` for each large value, which is the id, a colon and the length. The end of the connection removes the
/// contents that it keeps. Errors: those of the verbs of varve/table.h, varve/store.h and varve/large_value.h;
/// kInvalidArgument (InvalidQueryParameterValue: a parameter is malformed, or there is no such verb; InvalidInput: the
/// fields are malformed, the connection began no content, or it keeps too many).
Task<Result<HttpResponse>> answer_value_request(Store& store, const HttpRequest& request, HomeThread* home,
                                                std::stop_token stop);

}  // namespace varve::serve

// Owns: a parsed request to the blob service, as the handler of a route receives it, and the list of the handlers.
// Must never: reach a handler before the permission was checked. The dispatcher checks it.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "api/rest/blobs/blob_target.h"
#include "api/rest/encoding/error_body.h"
#include "api/rest/protocol/message.h"
#include "api/rest/protocol/query_parameters.h"
#include "api/rest/protocol/target.h"
#include "api/rest/service/asked_parameters.h"
#include "api/rest/service/handlers.h"
#include "varve/async.h"
#include "varve/blob.h"
#include "varve/home_thread.h"
#include "varve/result.h"
#include "varve/security/blob_sas.h"
#include "varve/store.h"

namespace varve::serve {

/// The source of a copy.
struct CopySource {
  /// A request for the source, with the path and query of its URL.
  HttpRequest url;
  Address address;
  BlobTarget target;
};

/// Holds views. The dispatcher keeps the viewed values until the answer is complete.
struct BlobCall {
  const HttpRequest& request;
  const Address& address;
  const BlobTarget& target;
  const QueryParameters& parameters;
  /// The protocol version, `YYYY-MM-DD`.
  std::string_view version;
  ErrorTrailer trailer;
  HomeThread* home = nullptr;
  /// Ends a waiting operation that has not begun to write, when the server ends.
  std::stop_token stop{};
  Store& store;
  /// The elements that an error's body gets besides its code and message (QE-02).
  ErrorDetails& details;
  /// Headers that an error's answer gets.
  Headers& error_headers;
  /// Whether the caller may put content under a name that has some. If not, a put must create the blob (BS-13).
  bool may_replace = true;
  /// The headers that the caller's signature puts in place of those of blobs, or null.
  const security::BlobHeaderOverrides* overrides = nullptr;
  /// Checks that the caller, or the signature in the source's own URL, permits an operation on the source of a copy.
  /// Source: BY-05.
  std::function<Task<Status>(const CopySource& source, security::AccountOperation operation)> permits{};

  const Headers& headers() const noexcept { return request.head.headers; }
  bool is_head() const noexcept { return request.head.verb == "HEAD"; }
  operator AskedParameters() const noexcept { return {parameters, details}; }
};

/// Runs `work` with the container of the request on a thread that may wait.
template <typename Work>
Task<Status> with_container(const BlobCall& call, Work work) {
  Task<Status> running = AsyncStore(call.store)
                             .run(
                                 [&call, &work](Store& store) -> Status {
                                   Result<Container> container =
                                       store.open_container(call.address.account, call.target.container);
                                   return container.ok() ? work(*container) : container.status();
                                 },
                                 call.stop);
  const Status done = co_await at_home(call.home, std::move(running));
  co_return done;
}

/// Runs a verb that returns a Result in the container of the request, on a thread that may wait.
template <typename Value, typename Verb>
Task<Result<Value>> ask_container(const BlobCall& call, Verb verb) {
  std::optional<Value> value;
  Task<Status> running = with_container(call, [&](Container& container) -> Status {
    Result<Value> result = verb(container);
    if (!result.ok()) return result.status();
    value.emplace(*std::move(result));
    return Status();
  });
  const Status done = co_await running;
  if (!done.ok()) co_return done;
  co_return std::move(*value);
}

// Containers.
Answer list_containers(const BlobCall& call);
Answer create_container(const BlobCall& call);
Answer delete_container(const BlobCall& call);
Answer get_container(const BlobCall& call);
Answer get_container_metadata(const BlobCall& call);
Answer set_container_metadata(const BlobCall& call);
Answer get_container_policies(const BlobCall& call);
Answer set_container_policies(const BlobCall& call);
Answer lease_container(const BlobCall& call);
Answer list_blobs(const BlobCall& call);

// Content.
Answer put_blob(const BlobCall& call);
Answer put_block(const BlobCall& call);
Answer put_block_list(const BlobCall& call);
Answer get_block_list(const BlobCall& call);
Answer append_block(const BlobCall& call);
Answer copy_blob(const BlobCall& call);
Answer abort_copy(const BlobCall& call);
Answer get_blob(const BlobCall& call);
Answer delete_blob(const BlobCall& call);

// States of blobs.
Answer get_blob_state(const BlobCall& call);
Answer get_blob_metadata(const BlobCall& call);
Answer set_blob_metadata(const BlobCall& call);
Answer set_blob_properties(const BlobCall& call);
Answer get_blob_tags(const BlobCall& call);
Answer set_blob_tags(const BlobCall& call);
Answer set_blob_tier(const BlobCall& call);
Answer lease_blob(const BlobCall& call);

// The account.
Answer get_blob_service_properties(const BlobCall& call);
Answer set_blob_service_properties(const BlobCall& call);
Answer get_blob_service_statistics(const BlobCall& call);

}  // namespace varve::serve

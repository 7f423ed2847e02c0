// Owns: a parsed request to the blob service, as the handler of a route receives it, and the list of the handlers.
// Must never: reach a handler before the permission was checked. The dispatcher checks it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/rest/blobs/blob_target.h"
#include "api/rest/protocol/message.h"
#include "api/rest/service/handlers.h"
#include "api/rest/service/storage_call.h"
#include "varve/async.h"
#include "varve/blob.h"
#include "varve/home_thread.h"
#include "varve/result.h"
#include "varve/security/blob_sas.h"
#include "varve/store.h"

namespace varve::serve {

struct CopySource;

/// What the server offers besides what a request asks for.
struct BlobServiceOptions {
  /// Whether owners of containers may open them to callers without a key. Source: BB-10, BB-15.
  bool allows_public_access = false;
  /// Whether contents are compressed where that saves space. Source: BX-06.
  bool compresses = false;
  /// Requests that may read a source of more than 1 MiB at the same time. Each one occupies a thread of the store as long as
  /// it reads, and memory.
  std::uint32_t long_sources_max = 16;
};

struct BlobCall : StorageCall {
  const BlobTarget& target;
  /// Headers that an error's answer gets.
  Headers& error_headers;
  /// Whether the caller may put content under a name that has some. If not, a put must create the blob (BS-13).
  bool may_replace = true;
  /// Whether the answer may have the number of the blob's tags.
  bool may_count_tags = true;
  /// The headers that the caller's signature puts in place of those of blobs, or null.
  const security::BlobHeaderOverrides* overrides = nullptr;
  BlobServiceOptions options{};
  /// The requests to the server that read long sources now, or null.
  std::atomic<std::uint32_t>* long_sources = nullptr;
  /// Whether the caller has shown no key and no signature.
  bool is_anonymous = false;
  /// Returns whether the server knows an account.
  std::function<bool(std::string_view account)> knows_account{};
  /// Checks that the signature in the URL of a source, or else the caller, permits an operation on it. The source outlives
  /// the task. Source: BY-05.
  std::function<Task<Status>(const CopySource& source, security::AccountOperation operation)> permits{};
  /// Answers a request that is a part of this one.
  std::function<Answer(HttpRequest part)> answer_part{};

  bool is_head() const noexcept { return request.head.verb == "HEAD"; }
};

/// Runs `work` with the container of the request on a thread that may wait.
template <typename Work>
Task<Status> with_container(const BlobCall& call, Work work) {
  Task<Status> running = run_in_store(call, [&call, &work](Store& store) -> Status {
    Result<Container> container = store.open_container(call.address.account, call.target.container);
    return container.ok() ? work(*container) : container.status();
  });
  const Status done = co_await running;
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
Answer put_block_from_url(const BlobCall& call);
Answer append_block_from_url(const BlobCall& call);
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
Answer get_account_information(const BlobCall& call);
Answer run_blob_batch(const BlobCall& call);

}  // namespace varve::serve

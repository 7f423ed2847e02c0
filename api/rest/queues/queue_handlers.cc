// Owns: the routes of whole queues, and those of the account.
// Must never: keep state. Everything is stored with the queue or the account.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <utility>

#include "api/model/continuation_token.h"
#include "api/model/listed_bytes.h"
#include "api/model/service_error.h"
#include "api/rest/encoding/policy_xml.h"
#include "api/rest/protocol/metadata_headers.h"
#include "api/rest/protocol/version_rules.h"
#include "api/rest/protocol/wire_error.h"
#include "api/rest/queues/message_xml.h"
#include "api/rest/queues/queue_call.h"
#include "api/rest/service/call.h"
#include "api/rest/service/property_answers.h"
#include "varve/limits.h"
#include "varve/names.h"

namespace varve::serve {
namespace {

constexpr std::int64_t kListedMax = 5000;

/// Creates the queue. Returns false if it is there with the same metadata. Source: QB-01.
Result<bool> make_queue(Store& store, std::string_view account, std::string_view name, const QueueOptions& options) {
  for (;;) {
    const Status made = store.create_queue(account, name, options).status();
    if (made.ok()) return true;
    if (made.code() != Code::kExists) return made;
    const Result<Queue> present = store.open_queue(account, name);
    if (present.code() == Code::kNotFound) continue;  // deleted meanwhile
    if (!present.ok()) return present.status();
    const Result<std::vector<MetadataPair>> metadata = present->metadata();
    if (metadata.code() == Code::kNotFound) continue;
    if (!metadata.ok()) return metadata.status();
    if (!is_same_metadata(*metadata, options.metadata)) return made;
    return false;
  }
}

/// The parameters of a listing.
struct AskedQueues {
  QueueListing shown;
  ListOptions options;
  std::size_t left = static_cast<std::size_t>(kListedMax);
};

std::optional<std::string> copied(const std::string* text) {
  return text == nullptr ? std::nullopt : std::optional<std::string>(*text);
}

/// Returns the name of the queue at which a page begins. Source: QB-08.
Result<std::string> position_of(const QueueCall& call, const std::string& marker) {
  std::string_view name = marker;
  const std::string before = "/" + call.address.account + "/";
  if (name.starts_with(before)) name.remove_prefix(before.size());
  if (check_queue_name(name).ok()) return std::string(name);
  return refused("InvalidMarker", "the marker is not one that a listing of this account returned");
}

Result<AskedQueues> read_queue_listing(const QueueCall& call) {
  AskedQueues listing;
  listing.shown.endpoint = call.address.root + "/";
  listing.shown.prefix = copied(call.parameters.find("prefix"));
  listing.shown.marker = copied(call.parameters.find("marker"));
  listing.shown.names_max = copied(call.parameters.find("maxresults"));
  const Result<std::optional<std::int64_t>> most =
      number_parameter(call, "maxresults", 1, std::numeric_limits<std::int64_t>::max());
  if (!most.ok()) return most.status();
  if (*most) listing.left = static_cast<std::size_t>(std::min(**most, kListedMax));
  if (const std::string* const include = call.parameters.find("include")) {
    std::string_view rest = *include;
    while (!rest.empty()) {
      const std::string_view part = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(part.size() + 1, rest.size()));
      if (lower_case(part) == "metadata") listing.shown.has_metadata = true;
    }
  }
  listing.options.prefix = listing.shown.prefix.value_or("");
  if (listing.shown.marker && !listing.shown.marker->empty()) {
    const Result<std::string> name = position_of(call, *listing.shown.marker);
    if (!name.ok()) return name.status();
    listing.options.continuation = encode_key_token(*name);
  }
  return listing;
}

/// Reads pages of the store until the listing is full, ends, or has taken its time.
Status fill(const QueueCall& call, const Store& store, AskedQueues& listing) {
  const auto deadline = std::chrono::steady_clock::now() + limits::kPageTimeMax;
  std::uint64_t bytes = 0;
  do {
    listing.options.page_names_max =
        static_cast<std::uint32_t>(std::min<std::size_t>(listing.left, limits::kPageEntitiesMax));
    Result<QueuePage> page = store.list_queues(call.address.account, listing.options);
    if (!page.ok()) return page.status();
    listing.left -= page->queues.size();
    for (const QueueInfo& queue : page->queues) bytes += listed_bytes(queue.metadata);
    std::move(page->queues.begin(), page->queues.end(), std::back_inserter(listing.shown.queues));
    if (!page->continuation) return Status();
    listing.options.continuation = *page->continuation;
  } while (listing.left > 0 && bytes < kListedBytesMax && std::chrono::steady_clock::now() < deadline);
  const Result<std::string> next = decode_key_token(listing.options.continuation);
  if (!next.ok()) return next.status();
  listing.shown.next_marker = "/" + call.address.account + "/" + *next;
  return Status();
}

}  // namespace

Answer list_queues(const QueueCall& call) {
  Result<AskedQueues> listing = read_queue_listing(call);
  if (!listing.ok()) co_return listing.status();
  Task<Status> reading = run_in_store(call, [&](Store& store) { return fill(call, store, *listing); });
  const Status read = co_await reading;
  if (!read.ok()) co_return read;
  std::uint64_t bytes = 0;
  for (const QueueInfo& queue : listing->shown.queues) bytes += listed_bytes(queue.metadata);
  const std::uint64_t room = room_for_listing(listing->shown.queues.size(), bytes);
  if (call.request.room != nullptr && !call.request.room->grow_to(room)) co_return no_room_for_answer();
  std::string body = write_queue_listing(listing->shown);
  if (call.request.room != nullptr && !call.request.room->grow_to(body.size())) co_return no_room_for_answer();
  co_return xml_response(std::move(body));
}

Answer create_queue(const QueueCall& call) {
  QueueOptions options;
  options.metadata = metadata_of(call.request.head.headers);
  bool is_new = false;
  Task<Status> making = run_in_store(call, [&](Store& store) -> Status {
    const Result<bool> made = make_queue(store, call.address.account, call.target.queue, options);
    is_new = made.ok() && *made;
    return made.status();
  });
  const Status made = co_await making;
  if (!made.ok()) co_return made;
  co_return empty_response(is_new ? 201 : 204);
}

Answer delete_queue(const QueueCall& call) {
  Task<Status> dropping =
      run_in_store(call, [&](Store& store) { return store.drop_queue(call.address.account, call.target.queue); });
  const Status dropped = co_await dropping;
  if (!dropped.ok()) co_return dropped;
  co_return empty_response(204);
}

Answer get_queue_metadata(const QueueCall& call) {
  std::vector<MetadataPair> metadata;
  QueueFigures figures;
  Task<Status> reading = with_queue(call, [&](const Queue& queue) -> Status {
    Result<std::vector<MetadataPair>> stored = queue.metadata();
    if (!stored.ok()) return stored.status();
    const Result<QueueFigures> counted = queue.figures();
    if (!counted.ok()) return counted.status();
    metadata = *std::move(stored);
    figures = *counted;
    return Status();
  });
  const Status read = co_await reading;
  if (!read.ok()) co_return read;
  HttpResponse response;
  add_metadata(response, metadata);
  response.with("x-ms-approximate-messages-count", std::to_string(figures.messages));
  co_return response;
}

Answer set_queue_metadata(const QueueCall& call) {
  const std::vector<MetadataPair> metadata = metadata_of(call.request.head.headers);
  Task<Status> setting = with_queue(call, [&](Queue& queue) { return queue.set_metadata(metadata); });
  const Status set = co_await setting;
  if (!set.ok()) co_return set;
  co_return empty_response(204);
}

Answer get_queue_policies(const QueueCall& call) {
  std::vector<AccessPolicy> policies;
  Task<Status> reading = with_queue(call, [&](const Queue& queue) -> Status {
    Result<std::vector<AccessPolicy>> stored = queue.access_policies();
    if (!stored.ok()) return stored.status();
    policies = *std::move(stored);
    return Status();
  });
  const Status read = co_await reading;
  if (!read.ok()) co_return read;
  co_return xml_response(write_policies(policies));
}

Answer set_queue_policies(const QueueCall& call) {
  const Result<std::vector<AccessPolicy>> policies = read_policies(call.request.body, Permissions::parse_for_queue);
  if (!policies.ok()) co_return policies.status();
  Task<Status> setting = with_queue(call, [&](Queue& queue) { return queue.set_access_policies(*policies); });
  const Status set = co_await setting;
  if (!set.ok()) co_return set;
  co_return empty_response(204);
}

Answer get_queue_properties(const QueueCall& call) {
  return answer_properties(call.about(StorageService::kQueues));
}

Answer set_queue_properties(const QueueCall& call) {
  return change_properties(call.about(StorageService::kQueues));
}

Answer get_queue_statistics(const QueueCall& call) {
  return answer_statistics(call.about(StorageService::kQueues));
}

}  // namespace varve::serve

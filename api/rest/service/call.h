// Owns: a parsed request, as the handler of a route receives it.
// Must never: contain values that only some routes need. Those routes read them from the request.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>
#include <stop_token>
#include <string>
#include <string_view>

#include "api/rest/encoding/entity_writer.h"
#include "api/rest/encoding/error_body.h"
#include "api/rest/protocol/message.h"
#include "api/rest/protocol/payload_level.h"
#include "api/rest/protocol/target.h"
#include "varve/home_thread.h"
#include "varve/options.h"
#include "varve/result.h"
#include "varve/store_limits.h"
#include "varve/types.h"

namespace varve::serve {

class IndexBuilds;

/// The answer that the client prefers for a create. Source: H-30.
enum class Preference : std::uint8_t { kNone, kNoContent, kContent };

/// Returns the preference of a create under a protocol version. Source: H-11, H-30.
Preference preference_of(const Headers& headers, std::string_view version);
/// Adds the header Preference-Applied, if there was a preference.
void add_preference(HttpResponse& response, Preference preference);

/// Holds views. The dispatcher keeps the viewed values until the answer is complete.
struct Call {
  const HttpRequest& request;
  const Address& address;
  const Target& target;
  /// The effective verb. It differs from the request's own verb if the verb is tunnelled (H-05).
  std::string_view verb;
  /// The protocol version, `YYYY-MM-DD`.
  std::string_view version;
  PayloadLevel level = PayloadLevel::kMinimal;
  Preference preference = Preference::kNone;
  /// The time that the client waits, at most 30 s (H-04).
  std::chrono::seconds time_max{30};
  ErrorTrailer trailer;
  HomeThread* home = nullptr;
  /// Ends a waiting operation that has not begun to write, when the server ends.
  std::stop_token stop{};
  /// The limits of the store.
  StoreLimits limits{};
  /// The port of the blob service, or zero.
  std::uint16_t blob_port = 0;
  /// Whether the request may use what the service lacks: conditions of filters (Scan::filter_extensions), orders, indexes.
  bool has_extensions = false;
  /// Null in a part of a batch.
  IndexBuilds* index_builds = nullptr;

  WritingPlace place() const { return {level, address.root, address.account, target.table, blob_port}; }
  /// Returns whether the answer of a read may use `bytes` of memory in total. Writes never call this: a client that is
  /// refused here could not know whether the write happened.
  bool has_room(std::uint64_t bytes) const { return request.room == nullptr || request.room->grow_to(bytes); }
  /// Returns how long writes wait for one another.
  WriteOptions write_options() const {
    WriteOptions options;
    options.wait_max = time_max;
    return options;
  }
};

/// Returns the error of a read without room for its answer. The client may repeat the read.
inline Status no_room_for_answer() {
  return Status(Code::kBusy, "the server has no memory for the answer; repeat the request later");
}
/// Returns the memory for a listing as XML, which is taken before the XML is built: for each entry its elements, and its
/// texts with their escapes.
constexpr std::uint64_t room_for_listing(std::uint64_t entries, std::uint64_t text_bytes) noexcept {
  constexpr std::uint64_t kElementBytes = 1024;
  return entries * kElementBytes + 2 * text_bytes;
}
/// The usual number of headers of an answer, with those of every answer. An answer with more reallocates the list.
inline constexpr std::size_t kAnswerHeaders = 11;
/// Returns an answer with a body at the call's level.
HttpResponse json_response(std::uint16_t status, PayloadLevel level, std::string body);
/// Returns an answer with a body of XML.
HttpResponse xml_response(std::string body);
/// Returns a failure as JSON or XML. Never fails itself.
HttpResponse error_response(const Status& status, PayloadLevel level, const ErrorTrailer& trailer, bool is_xml = false);

/// Returns the answer of a finished operation, which `make` builds. If `make` runs out of memory, the outcome is
/// reported as unknown.
template <typename Make>
Result<HttpResponse> carried_out_answer(Make make) {
  try {
    return make();
  } catch (const std::bad_alloc&) {
    return Status(Code::kUnknown);
  }
}

}  // namespace varve::serve

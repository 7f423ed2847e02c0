// Owns: a request that was understood: what a route's handler is given.
// Must never: hold what only some routes need; they read it from the request.
#pragma once

#include <chrono>
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

/// What a create is asked to answer. Source: H-30.
enum class Preference : std::uint8_t { kNone, kNoContent, kContent };

/// Of a create under a protocol version. Source: H-11, H-30.
Preference preference_of(const Headers& headers, std::string_view version);
/// Adds Preference-Applied, if there was a preference.
void add_preference(HttpResponse& response, Preference preference);

/// Views: the dispatcher keeps what they view until the answer is there.
struct Call {
  const HttpRequest& request;
  const Address& address;
  const Target& target;
  /// That which counts: another one than the request's own where it is tunnelled (H-05).
  std::string_view verb;
  /// Protocol version, `YYYY-MM-DD`.
  std::string_view version;
  PayloadLevel level = PayloadLevel::kMinimal;
  Preference preference = Preference::kNone;
  /// How long the client waits, at most 30 s (H-04).
  std::chrono::seconds time_max{30};
  ErrorTrailer trailer;
  HomeThread* home = nullptr;
  /// Ends what waits, and has not begun to write, when the server ends.
  std::stop_token stop{};
  /// Of the store.
  StoreLimits limits{};

  WritingPlace place() const { return {level, address.root, address.account, target.table}; }
  /// Whether the answer of a read may take so many bytes of memory. Of a write it is never asked: who was told that
  /// there is no room could not know whether it happened.
  bool has_room(std::uint64_t bytes) const { return request.room == nullptr || request.room->grow_to(bytes); }
  /// How writes wait for one another.
  WriteOptions write_options() const {
    WriteOptions options;
    options.wait_max = time_max;
    return options;
  }
};

/// That of a read without room for its answer; it may be repeated.
inline Status no_room_for_answer() {
  return Status(Code::kBusy, "the server has no memory for the answer; repeat the request later");
}
/// An answer with a body in the call's level.
HttpResponse json_response(std::uint16_t status, PayloadLevel level, std::string body);
/// A failure, in JSON or in XML; never fails itself.
HttpResponse error_response(const Status& status, PayloadLevel level, const ErrorTrailer& trailer, bool is_xml = false);

/// The answer to what was carried out, by `make`. Where memory ends there, it is not told that nothing happened.
template <typename Make>
Result<HttpResponse> carried_out_answer(Make make) {
  try {
    return make();
  } catch (const std::bad_alloc&) {
    return Status(Code::kUnknown);
  }
}

}  // namespace varve::serve

// Owns: the checks of texts, times and counts (message_limits.h).
// Must never: accept a text that XML 1.0 cannot carry.
#include "api/queue/message_limits.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "api/model/service_error.h"
#include "format/bytes/bytes.h"
#include "format/keys/sort_key.h"
#include "io/env.h"
#include "varve/limits.h"

namespace varve {
namespace {

constexpr std::chrono::milliseconds kHoldMax = limits::kMessageHoldMax;

std::string milliseconds_text(std::chrono::milliseconds time) {
  return std::to_string(time.count()) + " ms";
}

constexpr bool is_forbidden_control(char c) noexcept {
  return static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r';
}

/// Returns whether a byte of the eight is below 0x20.
bool has_control(std::string_view eight) noexcept {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  const std::uint64_t bytes = format::load_u64(eight.data());
  return ((bytes - kOnes * 0x20) & ~bytes & (kOnes * 0x80)) != 0;
}

/// Returns whether the text has a control that XML 1.0 cannot carry. Controls are rare, so it looks at eight bytes at a
/// time: byte by byte, the check would cost a fifth of a put.
bool has_forbidden_control(std::string_view text) noexcept {
  constexpr std::size_t kStep = 8;
  for (; text.size() >= kStep; text.remove_prefix(kStep)) {
    const std::string_view eight = text.substr(0, kStep);
    if (has_control(eight) && std::any_of(eight.begin(), eight.end(), is_forbidden_control)) return true;
  }
  return std::any_of(text.begin(), text.end(), is_forbidden_control);
}

/// Returns whether valid UTF-8 has characters that XML 1.0 cannot carry: controls, U+FFFE or U+FFFF.
bool has_forbidden_character(std::string_view text) noexcept {
  return has_forbidden_control(text) || text.find("\xEF\xBF\xBE") != std::string_view::npos ||
         text.find("\xEF\xBF\xBF") != std::string_view::npos;
}

}  // namespace

Status check_message_text(std::string_view text, std::uint32_t bytes_max) {
  if (text.size() > bytes_max) {
    return service_error::request_body_too_large("the message has " + std::to_string(text.size()) +
                                                 " bytes of text; the queue allows " + std::to_string(bytes_max));
  }
  if (format::is_valid_utf8(text) && !has_forbidden_character(text)) return Status();
  return service_error::invalid_xml_document(
      "the message is not UTF-8, or has a character that XML 1.0 cannot carry; encode it, for example as base64");
}

Status check_hold(std::chrono::milliseconds hold, std::chrono::milliseconds least) {
  if (hold >= least && hold <= kHoldMax) return Status();
  return service_error::out_of_range_parameter("the time is " + milliseconds_text(hold) + "; " +
                                               std::to_string(least.count()) + " ms to 7 days are allowed");
}

Status check_message_count(std::uint32_t count) {
  if (count >= 1 && count <= limits::kMessagesMax) return Status();
  return service_error::out_of_range_parameter("the count of messages is " + std::to_string(count) +
                                               "; 1 to 32 are allowed");
}

Status check_put_options(const PutOptions& options) {
  constexpr std::chrono::milliseconds kLeast{1};
  if (Status delay = check_hold(options.delay, std::chrono::milliseconds(0)); !delay.ok()) return delay;
  if (options.ttl < kLeast) {
    return service_error::out_of_range_parameter("the time to live is " + milliseconds_text(options.ttl) +
                                                 "; it must be above zero, or kNever");
  }
  if (options.delay >= options.ttl) {
    return service_error::invalid_parameter("the delay is not below the time to live, so nobody would see the message");
  }
  if (options.deduplication_key.empty()) return Status();
  if (options.deduplication_key.size() > limits::kDeduplicationKeyBytesMax) {
    return service_error::invalid_input("the deduplication key has " +
                                        std::to_string(options.deduplication_key.size()) +
                                        " bytes; at most 128 are allowed");
  }
  return check_hold(options.deduplication_window, kLeast);
}

Status check_get_options(const GetOptions& options) {
  if (Status count = check_message_count(options.count); !count.ok()) return count;
  if (Status hold = check_hold(options.hold, std::chrono::milliseconds(1)); !hold.ok()) return hold;
  if (options.wait < std::chrono::milliseconds(0)) {
    return service_error::invalid_input("the wait is " + milliseconds_text(options.wait) + "; it cannot be negative");
  }
  if ((options.deliveries_max != 0) == (options.dead_letter != nullptr)) return Status();
  return service_error::invalid_input("deliveries_max and dead_letter are given together, or not at all");
}

Ticks after(Ticks now, std::chrono::milliseconds by) noexcept {
  constexpr Ticks kEnd = limits::kDateTimeTicksMax;
  const auto milliseconds = static_cast<std::uint64_t>(by.count());
  if (now >= kEnd || milliseconds >= (kEnd - now) / io::kTicksPerMillisecond) return kEnd;
  return now + milliseconds * io::kTicksPerMillisecond;
}

}  // namespace varve

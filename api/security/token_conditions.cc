// Owns: the conditions of signatures (token_conditions.h).
// Must never: take an unreadable condition for no condition.
#include "api/security/token_conditions.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "api/security/error.h"
#include "varve/access_policy.h"

namespace varve::security {
namespace {

constexpr std::string_view kVersionPattern = "dddd-dd-dd";
constexpr std::string_view kMappedPrefix = "::ffff:";

struct AddressRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

/// Takes a number of one to three digits without leading zeros from the front.
std::optional<std::uint32_t> take_octet(std::string_view& text) noexcept {
  std::size_t digits = 0;
  std::uint32_t value = 0;
  while (digits < text.size() && digits < 3 && text[digits] >= '0' && text[digits] <= '9') {
    value = value * 10 + static_cast<std::uint32_t>(text[digits] - '0');
    ++digits;
  }
  if (digits == 0 || value > 255 || (digits > 1 && text.front() == '0')) return std::nullopt;
  text.remove_prefix(digits);
  return value;
}

std::optional<std::uint32_t> parse_address(std::string_view text) noexcept {
  std::uint32_t address = 0;
  for (int octet = 0; octet < 4; ++octet) {
    if (octet > 0) {
      if (text.empty() || text.front() != '.') return std::nullopt;
      text.remove_prefix(1);
    }
    const std::optional<std::uint32_t> value = take_octet(text);
    if (!value) return std::nullopt;
    address = address << 8 | *value;
  }
  return text.empty() ? std::optional<std::uint32_t>(address) : std::nullopt;
}

std::optional<AddressRange> parse_range(std::string_view text) noexcept {
  const std::size_t dash = text.find('-');
  const std::optional<std::uint32_t> first = parse_address(text.substr(0, dash));
  const std::optional<std::uint32_t> last =
      dash == std::string_view::npos ? first : parse_address(text.substr(dash + 1));
  if (!first || !last || *first > *last) return std::nullopt;
  return AddressRange{*first, *last};
}

}  // namespace

Status check_version(std::string_view version, std::string_view oldest) {
  bool is_date = version.size() == kVersionPattern.size();
  for (std::size_t i = 0; is_date && i < version.size(); ++i) {
    is_date = kVersionPattern[i] == 'd' ? version[i] >= '0' && version[i] <= '9' : version[i] == '-';
  }
  if (is_date && version >= oldest) return Status();
  return authentication_failed("the version of the token (sv) is missing, malformed or too old");
}

Result<std::optional<DateTime>> parse_time(std::string_view text) {
  if (text.empty()) return std::optional<DateTime>();
  const Result<DateTime> time = parse_access_time(text);
  if (time.ok()) return std::optional<DateTime>(*time);
  return authentication_failed("a time of the token (st or se) is malformed");
}

Result<bool> parse_protocols(std::string_view text) {
  if (text.empty() || text == "https,http") return false;
  if (text == "https") return true;
  return authentication_failed("the protocols of the token (spr) must be https or https,http");
}

Status check_addresses(std::string_view text) {
  if (text.empty() || parse_range(text)) return Status();
  return authentication_failed("the addresses of the token (sip) must be an IPv4 address or a range");
}

Status check_window(const std::optional<DateTime>& start, const std::optional<DateTime>& expiry, DateTime now) {
  if (start && now.ticks < start->ticks) return authentication_failed("the token is not valid yet (st)");
  if (!expiry || now.ticks >= expiry->ticks) return authentication_failed("the token has expired (se)");
  return Status();
}

Status check_arrival(std::string_view addresses, bool https_only, const Arrival& arrival) {
  if (!addresses.empty()) {
    std::string_view client = arrival.client_ip;
    if (client.starts_with(kMappedPrefix)) client.remove_prefix(kMappedPrefix.size());
    const std::optional<AddressRange> range = parse_range(addresses);
    const std::optional<std::uint32_t> address = parse_address(client);
    if (!range || !address || *address < range->first || *address > range->last) {
      return source_ip_mismatch("the addresses of the token (sip) do not include the client's");
    }
  }
  if (https_only && !arrival.is_https) return protocol_mismatch("the token allows HTTPS only (spr)");
  return Status();
}

Result<Permissions> permitted_under(const AccessPolicy& terms, std::span<const AccessPolicy> policies, DateTime now) {
  AccessPolicy given;
  if (!terms.id.empty()) {
    const auto policy = std::find_if(policies.begin(), policies.end(),
                                     [&terms](const AccessPolicy& one) { return one.id == terms.id; });
    if (policy == policies.end()) return authentication_failed("no access policy has the id of the token (si)");
    given = *policy;
  }
  const bool twice =
      (terms.start && given.start) || (terms.expiry && given.expiry) || (terms.permissions && given.permissions);
  if (twice) return authentication_failed("st, se or sp is given by both the token and its access policy");
  const std::optional<Permissions> permissions = terms.permissions ? terms.permissions : given.permissions;
  const std::optional<DateTime> expiry = terms.expiry ? terms.expiry : given.expiry;
  if (!permissions || !expiry)
    return authentication_failed("sp and se must each be given by the token or its access policy");
  if (Status within = check_window(terms.start ? terms.start : given.start, expiry, now); !within.ok()) return within;
  return *permissions;
}

}  // namespace varve::security

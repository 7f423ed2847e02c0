#include "api/rest/blobs/blob_conditions.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

#include "api/rest/protocol/wire_error.h"
#include "api/security/http_date.h"
#include "varve/names.h"

namespace varve::serve {
namespace {

constexpr std::string_view kEtagPrefix = "0x";
constexpr std::size_t kEtagDigitsMax = 16;
constexpr std::uint64_t kTicksOfSecond = 10'000'000;

/// Returns the number of `0x...`, in digits as plain_etag() writes them.
std::optional<std::uint64_t> etag_number(std::string_view text) noexcept {
  if (!text.starts_with(kEtagPrefix)) return std::nullopt;
  text.remove_prefix(kEtagPrefix.size());
  if (text.empty() || text.size() > kEtagDigitsMax || text.front() == '0') return std::nullopt;
  std::uint64_t number = 0;
  for (const char c : text) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit && !(c >= 'A' && c <= 'F')) return std::nullopt;
    number = number << 4 | static_cast<std::uint64_t>(is_digit ? c - '0' : c - 'A' + 10);
  }
  return number;
}

Result<std::optional<ETag>> etag_header(const Headers& headers, std::string_view name) {
  const std::optional<std::string> text = joined_header(headers, name);
  if (!text) return std::optional<ETag>();
  if (text->find(',') != std::string::npos) {
    return refused("MultipleConditionHeadersNotSupported", "the header " + std::string(name) + " has several ETags");
  }
  const Result<ETag> etag = parse_blob_etag(trimmed(*text));
  if (!etag.ok()) return invalid_header(name, "it is no ETag");
  return std::optional<ETag>(*etag);
}

Result<std::optional<DateTime>> date_header(const Headers& headers, std::string_view name) {
  const std::string* const text = find_header(headers, name);
  if (text == nullptr) return std::optional<DateTime>();
  const std::optional<DateTime> date = security::parse_http_date(trimmed(*text));
  if (!date) return invalid_header(name, "it is no date such as Tue, 03 Mar 2026 10:20:30 GMT");
  return date;
}

/// Reads the four headers whose names begin with `prefix`.
Result<BlobConditions> conditions_of(const Headers& headers, const std::string& prefix) {
  BlobConditions conditions;
  const Result<std::optional<ETag>> match = etag_header(headers, prefix + "if-match");
  if (!match.ok()) return match.status();
  const Result<std::optional<ETag>> none_match = etag_header(headers, prefix + "if-none-match");
  if (!none_match.ok()) return none_match.status();
  const Result<std::optional<DateTime>> modified = date_header(headers, prefix + "if-modified-since");
  if (!modified.ok()) return modified.status();
  const Result<std::optional<DateTime>> unmodified = date_header(headers, prefix + "if-unmodified-since");
  if (!unmodified.ok()) return unmodified.status();
  conditions.if_match = *match;
  conditions.if_none_match = *none_match;
  conditions.if_modified_since = *modified;
  conditions.if_unmodified_since = *unmodified;
  return conditions;
}

/// Checks the pairs that a write may have, and drops the date beside an ETag. Source: BC-01, BC-02.
Status settle_for_write(BlobConditions& conditions) {
  const bool has_none_match_pair = conditions.if_none_match || conditions.if_modified_since;
  const bool has_match_pair = conditions.if_match || conditions.if_unmodified_since;
  if (has_none_match_pair && has_match_pair) {
    return refused("MultipleConditionHeadersNotSupported",
                   "a write may combine If-None-Match with If-Modified-Since, or If-Match with If-Unmodified-Since");
  }
  if (conditions.if_none_match) conditions.if_modified_since.reset();
  if (conditions.if_match) conditions.if_unmodified_since.reset();
  return Status();
}

Status missing_header(std::string_view name) {
  return refused("MissingRequiredHeader", "the request needs the header " + std::string(name));
}

/// Returns the id of the present lease, which the action needs.
Status read_lease_id(const Headers& headers, LeaseRequest& request) {
  const Result<std::optional<Guid>> id = guid_header(headers, "x-ms-lease-id");
  if (!id.ok()) return id.status();
  if (!*id) return missing_header("x-ms-lease-id");
  request.id = **id;
  return Status();
}

Status read_acquire(const Headers& headers, LeaseRequest& request) {
  constexpr std::string_view kDuration = "x-ms-lease-duration";
  constexpr std::uint64_t kShortest = 15;
  constexpr std::uint64_t kLongest = 60;
  const std::string* const text = find_header(headers, kDuration);
  if (text == nullptr) return missing_header(kDuration);
  if (trimmed(*text) == "-1") {
    request.duration = kInfiniteLease;
    return Status();
  }
  const Result<std::optional<std::uint64_t>> seconds = number_header(headers, kDuration);
  if (!seconds.ok()) return seconds.status();
  if (**seconds < kShortest || **seconds > kLongest) return invalid_header(kDuration, "expected 15 to 60, or -1");
  request.duration = std::chrono::seconds(**seconds);
  return Status();
}

Status read_break(const Headers& headers, LeaseRequest& request) {
  constexpr std::string_view kPeriod = "x-ms-lease-break-period";
  constexpr std::uint64_t kLongest = 60;
  const Result<std::optional<std::uint64_t>> seconds = number_header(headers, kPeriod);
  if (!seconds.ok()) return seconds.status();
  if (!*seconds) return Status();
  if (**seconds > kLongest) return invalid_header(kPeriod, "expected 0 to 60");
  request.break_period = std::chrono::seconds(**seconds);
  return Status();
}

/// Returns the action, or nothing if the text is none.
std::optional<LeaseRequest::Action> lease_action(std::string_view text) {
  using enum LeaseRequest::Action;
  constexpr std::pair<std::string_view, LeaseRequest::Action> kActions[] = {
      {"acquire", kAcquire}, {"renew", kRenew}, {"change", kChange}, {"release", kRelease}, {"break", kBreak}};
  for (const auto& [name, action] : kActions) {
    if (equal_ignoring_case(name, text)) return action;
  }
  return std::nullopt;
}

std::uint64_t second_of(DateTime time) noexcept {
  return time.ticks / kTicksOfSecond;
}

}  // namespace

Status invalid_header(std::string_view name, std::string_view reason) {
  return refused("InvalidHeaderValue",
                 "the value of the header " + std::string(name) + " cannot be used: " + std::string(reason));
}

std::string plain_etag(const ETag& etag) {
  constexpr std::string_view kHexDigits = "0123456789ABCDEF";
  std::string digits;
  for (std::uint64_t rest = etag.timestamp().ticks; rest != 0; rest >>= 4) digits.push_back(kHexDigits[rest & 0xF]);
  std::reverse(digits.begin(), digits.end());
  return std::string(kEtagPrefix) + digits;
}

std::string quoted_etag(const ETag& etag) {
  return "\"" + plain_etag(etag) + "\"";
}

Result<ETag> parse_blob_etag(std::string_view text) {
  if (text == "*") return ETag::any();
  std::string_view plain = text;
  if (plain.size() >= 2 && plain.front() == '"' && plain.back() == '"') {
    plain.remove_prefix(1);
    plain.remove_suffix(1);
  }
  if (const std::optional<std::uint64_t> number = etag_number(plain)) {
    const ETag etag = ETag::of_timestamp(DateTime{*number});
    if (!etag.is_any() && !etag.is_foreign()) return etag;
  }
  // The letter before the text keeps it apart from the ETags of entities.
  if (plain.starts_with("W/\"") && plain.ends_with('"') && plain.size() > 3) plain = plain.substr(3, plain.size() - 4);
  return ETag::parse("W/\"x" + std::string(plain) + "\"");
}

Result<BlobConditions> read_blob_conditions(const Headers& headers, BlobAccess access) {
  Result<BlobConditions> conditions = conditions_of(headers, "");
  if (!conditions.ok()) return conditions;
  if (access == BlobAccess::kWrite) {
    if (Status settled = settle_for_write(*conditions); !settled.ok()) return settled;
  } else if (conditions->if_none_match && conditions->if_none_match->is_any()) {
    return refused("UnsatisfiableCondition", "a read with If-None-Match: * can never succeed");
  }
  const Result<std::optional<Guid>> lease = guid_header(headers, "x-ms-lease-id");
  if (!lease.ok()) return lease.status();
  conditions->lease = *lease;
  return conditions;
}

Result<BlobConditions> read_source_conditions(const Headers& headers) {
  return conditions_of(headers, "x-ms-source-");
}

ReadVerdict judge_read(const BlobConditions& conditions, const ETag& etag, DateTime modified) noexcept {
  const auto is_same = [&etag](const ETag& asked) { return asked.is_any() || asked == etag; };
  if (conditions.if_match && !is_same(*conditions.if_match)) return ReadVerdict::kFailed;
  if (conditions.if_unmodified_since && second_of(modified) > second_of(*conditions.if_unmodified_since)) {
    return ReadVerdict::kFailed;
  }
  if (!conditions.if_none_match && !conditions.if_modified_since) return ReadVerdict::kMet;
  const bool is_other = conditions.if_none_match && !is_same(*conditions.if_none_match);
  const bool is_newer = conditions.if_modified_since && second_of(modified) > second_of(*conditions.if_modified_since);
  return is_other || is_newer ? ReadVerdict::kMet : ReadVerdict::kNotModified;
}

bool judge_change(const BlobConditions& conditions, const ETag& etag, DateTime modified) noexcept {
  const auto is_same = [&etag](const ETag& asked) { return asked.is_any() || asked == etag; };
  if (conditions.if_none_match && is_same(*conditions.if_none_match)) return false;
  if (conditions.if_match && !is_same(*conditions.if_match)) return false;
  if (conditions.if_match || conditions.if_none_match) return true;
  const std::uint64_t changed = second_of(modified);
  const bool is_too_old = conditions.if_modified_since && changed <= second_of(*conditions.if_modified_since);
  const bool is_too_new = conditions.if_unmodified_since && changed > second_of(*conditions.if_unmodified_since);
  return !is_too_old && !is_too_new;
}

Result<LeaseRequest> read_lease_request(const Headers& headers) {
  using enum LeaseRequest::Action;
  constexpr std::string_view kAction = "x-ms-lease-action";
  const std::string* const text = find_header(headers, kAction);
  if (text == nullptr) return missing_header(kAction);
  const std::optional<LeaseRequest::Action> action = lease_action(trimmed(*text));
  if (!action) return invalid_header(kAction, "expected acquire, renew, change, release or break");
  LeaseRequest request;
  request.action = *action;
  const Result<std::optional<Guid>> proposed = guid_header(headers, "x-ms-proposed-lease-id");
  if (!proposed.ok()) return proposed.status();
  request.proposed = *proposed;
  if (*action == kChange && !request.proposed) return missing_header("x-ms-proposed-lease-id");
  Status read;
  switch (*action) {
    case kAcquire: read = read_acquire(headers, request); break;
    case kBreak: read = read_break(headers, request); break;
    default: read = read_lease_id(headers, request);
  }
  if (!read.ok()) return read;
  return request;
}

Result<std::optional<Guid>> guid_header(const Headers& headers, std::string_view name) {
  const std::string* const text = find_header(headers, name);
  if (text == nullptr) return std::optional<Guid>();
  const Result<Guid> guid = Guid::parse(trimmed(*text));
  if (!guid.ok()) return invalid_header(name, "it is no GUID");
  return std::optional<Guid>(*guid);
}

Result<std::optional<std::uint64_t>> number_header(const Headers& headers, std::string_view name) {
  const std::string* const written = find_header(headers, name);
  if (written == nullptr) return std::optional<std::uint64_t>();
  const std::string_view text = trimmed(*written);
  std::uint64_t number = 0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = !text.empty() && error == std::errc() && stopped == text.data() + text.size();
  if (!is_number || number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return invalid_header(name, "it is no whole number");
  }
  return std::optional<std::uint64_t>(number);
}

}  // namespace varve::serve

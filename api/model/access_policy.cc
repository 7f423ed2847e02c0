// Owns: the limits of stored access policies, and the text form of their times (access_policy.h).
// Must never: know where policies are stored.
#include "varve/access_policy.h"

#include <set>

#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "format/keys/sort_key.h"
#include "varve/limits.h"

namespace varve {
namespace {

constexpr std::string_view kDatePattern = "YYYY-MM-DD";
constexpr std::string_view kMinutePattern = "YYYY-MM-DDThh:mm";
constexpr std::size_t kStoredFractionDigits = 7;

Status check_id(std::string_view id) {
  if (!format::is_valid_utf8(id)) {
    return service_error::invalid_xml_document("the id of an access policy, " + quoted(id) + ", is not valid UTF-8");
  }
  const std::size_t code_units = format::utf16_length(id);
  if (code_units >= 1 && code_units <= limits::kAccessPolicyIdCodeUnitsMax) return Status();
  return service_error::invalid_xml_document("the id of an access policy, " + quoted(id) + ", has " +
                                             std::to_string(code_units) + " characters; 1 to 64 are allowed");
}

Status check_time(const std::optional<DateTime>& time) {
  if (!time || (time->ticks >= limits::kDateTimeTicksMin && time->ticks <= limits::kDateTimeTicksMax)) return Status();
  return service_error::invalid_xml_node_value(
      "the start and the expiry of an access policy must be in the years 1601 to 9999");
}

/// Returns the text with the parts added that DateTime::parse() needs and an access time may lack.
std::string completed(std::string_view text) {
  std::string whole(text);
  if (text.size() == kDatePattern.size()) return whole.append("T00:00:00Z");
  const bool without_seconds = text.size() == kMinutePattern.size() ||
                               (text.size() > kMinutePattern.size() && text[kMinutePattern.size()] != ':');
  if (without_seconds) whole.insert(kMinutePattern.size(), ":00");
  return whole;
}

Status check_permissions(const AccessPolicy& policy, Permissions known, std::string_view letters) {
  if (!policy.permissions || known.contains(*policy.permissions)) return Status();
  return service_error::invalid_xml_node_value("the access policy " + quoted(policy.id) + " has the permissions " +
                                               quoted(policy.permissions->to_string()) + "; the letters " +
                                               std::string(letters) + " are allowed");
}

Status check_policies(std::span<const AccessPolicy> policies, Permissions known, std::string_view letters) {
  if (policies.size() > limits::kAccessPoliciesMax) {
    return service_error::invalid_xml_document(std::to_string(policies.size()) +
                                               " access policies are given; at most 5 are allowed");
  }
  std::set<std::string_view> ids;
  for (const AccessPolicy& policy : policies) {
    if (Status checked = check_id(policy.id); !checked.ok()) return checked;
    if (!ids.insert(policy.id).second) {
      return service_error::invalid_xml_document("the access policy " + quoted(policy.id) + " is given twice");
    }
    if (Status checked = check_time(policy.start); !checked.ok()) return checked;
    if (Status checked = check_time(policy.expiry); !checked.ok()) return checked;
    if (Status checked = check_permissions(policy, known, letters); !checked.ok()) return checked;
  }
  return Status();
}

}  // namespace

Status check_access_policies(std::span<const AccessPolicy> policies) {
  return check_policies(policies, Permissions::all(), "raud");
}

Status check_queue_access_policies(std::span<const AccessPolicy> policies) {
  return check_policies(policies, Permissions::all_for_queues(), "raup");
}

Status check_container_access_policies(std::span<const AccessPolicy> policies) {
  return check_policies(policies, Permissions::all_for_blobs(), "racwdlt");
}

Result<DateTime> parse_access_time(std::string_view text) {
  Result<DateTime> time = DateTime::parse(completed(text));
  if (time.ok()) return time;
  return service_error::invalid_xml_node_value(
      quoted(text) + " is not a time; expected YYYY-MM-DDThh:mm:ssZ in the years 1601 to 9999");
}

std::string access_time_text(DateTime time) {
  std::string text = time.to_string();
  text.pop_back();  // the zone
  std::size_t digits = 0;
  const std::size_t point = text.find('.');
  if (point == std::string::npos) {
    text.push_back('.');
  } else {
    digits = text.size() - point - 1;
  }
  return text.append(kStoredFractionDigits - digits, '0').append(1, 'Z');
}

}  // namespace varve

// Owns: the encoding of access policies as properties of a row (policy_rows.h).
// Must never: return a policy that breaks a limit.
#include "api/catalog/policy_rows.h"

#include <optional>
#include <utility>

#include "format/keys/entity.h"
#include "varve/limits.h"

namespace varve {
namespace {

constexpr std::string_view kPrefix = "Policy";
constexpr std::string_view kPolicyId = "Id";
constexpr std::string_view kPolicyStart = "Start";
constexpr std::string_view kExpiry = "Expiry";
constexpr std::string_view kPermissions = "Permissions";

std::string name_of(std::size_t number, std::string_view part) {
  return std::string(kPrefix).append(std::to_string(number)).append(part);
}

Status damaged(std::size_t number, std::string_view part) {
  return Status::corruption(name_of(number, part) + " of an access policy is missing or invalid");
}

Status take_time(const format::EncodedEntity& row, std::size_t number, std::string_view part,
                 std::optional<DateTime>& time) {
  const std::optional<format::PropertyView> property = row.find(name_of(number, part));
  if (!property) return Status();
  if (property->type != format::PropertyType::kDateTime) return damaged(number, part);
  time = DateTime{property->as_date_time_ticks()};
  return Status();
}

/// How the rows of tables and of queues differ.
struct PolicyOwner {
  Result<Permissions> (*parse)(std::string_view letters);
  Status (*check)(std::span<const AccessPolicy> policies);
};

Result<AccessPolicy> decode_policy(const format::EncodedEntity& row, std::size_t number, const format::PropertyView& id,
                                   const PolicyOwner& owner) {
  if (id.type != format::PropertyType::kString) return damaged(number, kPolicyId);
  AccessPolicy policy{std::string(id.value)};
  if (Status taken = take_time(row, number, kPolicyStart, policy.start); !taken.ok()) return taken;
  if (Status taken = take_time(row, number, kExpiry, policy.expiry); !taken.ok()) return taken;
  if (const std::optional<format::PropertyView> letters = row.find(name_of(number, kPermissions))) {
    if (letters->type != format::PropertyType::kString) return damaged(number, kPermissions);
    const Result<Permissions> permissions = owner.parse(letters->value);
    if (!permissions.ok()) return damaged(number, kPermissions);
    policy.permissions = *permissions;
  }
  return policy;
}

Result<std::vector<AccessPolicy>> decode_policies(std::string_view row, const PolicyOwner& owner) {
  const Result<format::EncodedEntity> view = format::EncodedEntity::open(row);
  if (!view.ok()) return view.status();
  std::vector<AccessPolicy> policies;
  for (std::size_t number = 0; number < limits::kAccessPoliciesMax; ++number) {
    const std::optional<format::PropertyView> id = view->find(name_of(number, kPolicyId));
    if (!id) break;
    Result<AccessPolicy> policy = decode_policy(*view, number, *id, owner);
    if (!policy.ok()) return policy.status();
    policies.push_back(std::move(*policy));
  }
  if (Status checked = owner.check(policies); !checked.ok()) return Status::corruption(checked.message());
  return policies;
}

}  // namespace

Result<std::vector<AccessPolicy>> decode_access_policies(std::string_view row) {
  return decode_policies(row, {&Permissions::parse, &check_access_policies});
}

Result<std::vector<AccessPolicy>> decode_queue_access_policies(std::string_view row) {
  return decode_policies(row, {&Permissions::parse_for_queue, &check_queue_access_policies});
}

Result<std::vector<AccessPolicy>> decode_container_access_policies(std::string_view row) {
  return decode_policies(row, {&Permissions::parse_for_blob, &check_container_access_policies});
}

Result<std::string> with_access_policies(std::string_view row, std::span<const AccessPolicy> policies) {
  const Result<format::EncodedEntity> view = format::EncodedEntity::open(row);
  if (!view.ok()) return view.status();
  format::EntityBuilder builder;
  for (std::size_t i = 0; i < view->property_count(); ++i) {
    const format::PropertyView property = view->property(i);
    if (!property.name.starts_with(kPrefix)) builder.add(property);
  }
  for (std::size_t number = 0; number < policies.size(); ++number) {
    const AccessPolicy& policy = policies[number];
    builder.add_string(name_of(number, kPolicyId), policy.id);
    if (policy.start) builder.add_date_time(name_of(number, kPolicyStart), policy.start->ticks);
    if (policy.expiry) builder.add_date_time(name_of(number, kExpiry), policy.expiry->ticks);
    if (policy.permissions) builder.add_string(name_of(number, kPermissions), policy.permissions->to_string());
  }
  return builder.finish();
}

}  // namespace varve

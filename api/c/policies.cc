// Owns: the calls of the C interface on the access policies of tables, queues and containers (policies.h).
#include "api/c/policies.h"

#include <memory>

#include "api/c/blobs.h"
#include "api/c/call.h"
#include "api/c/objects.h"
#include "api/c/queues.h"
#include "api/c/sized.h"

namespace vc = varve::c;

namespace varve::c {

PoliciesObject::PoliciesObject(std::vector<AccessPolicy> policies) : Object(kKind), policies_(std::move(policies)) {
  letters_.reserve(policies_.size());  // the views below stay valid
  for (const AccessPolicy& policy : policies_) {
    const std::string& letters =
        letters_.emplace_back(policy.permissions ? policy.permissions->to_string() : std::string());
    shown_.push_back({text_of(policy.id), policy.start.has_value(), policy.expiry.has_value(),
                      policy.start.value_or(DateTime{}).ticks, policy.expiry.value_or(DateTime{}).ticks,
                      policy.permissions ? text_of(letters) : varve_text{}});
  }
}

namespace {

/// Reads the letters of a table, a queue or a container.
using ParsePermissions = Result<Permissions> (*)(std::string_view letters);

Result<AccessPolicy> read_policy(const varve_access_policy& given, ParsePermissions parse) {
  const Result<std::string_view> id = read_text(given.id, "the id of an access policy");
  if (!id.ok()) return id.status();
  const Result<std::optional<std::string_view>> letters =
      read_optional_text(given.permissions, "the permissions of an access policy");
  if (!letters.ok()) return letters.status();
  AccessPolicy policy{std::string(*id)};
  if (given.has_start) policy.start = DateTime{given.start};
  if (given.has_expiry) policy.expiry = DateTime{given.expiry};
  if (*letters) {
    const Result<Permissions> permissions = parse(**letters);
    if (!permissions.ok()) return permissions.status();
    policy.permissions = *permissions;
  }
  return policy;
}

Result<std::vector<AccessPolicy>> read_policies(const varve_access_policy* policies, std::size_t count,
                                                ParsePermissions parse) {
  if (policies == nullptr && count != 0) return null_pointer("policies");
  std::vector<AccessPolicy> read;
  for (std::size_t i = 0; i < count; ++i) {
    Result<AccessPolicy> policy = read_policy(policies[i], parse);
    if (!policy.ok()) return policy.status();
    read.push_back(*std::move(policy));
  }
  return read;
}

Status give_policies(Result<std::vector<AccessPolicy>> found, varve_policies** policies) {
  if (!found.ok()) return found.status();
  return give_handle(std::make_unique<PoliciesObject>(*std::move(found)), policies);
}

}  // namespace
}  // namespace varve::c

varve_status* varve_policies_read(const varve_policies* policies, varve_policies_view* view) {
  return vc::call_on<vc::PoliciesObject>(
      policies, [&](const vc::PoliciesObject& held) { return vc::write_sized(held.view(), view); });
}

void varve_policies_free(varve_policies* policies) {
  vc::free_handle(policies, vc::Kind::kPolicies);
}

varve_status* varve_table_policies(varve_store* store, varve_text account, varve_text table,
                                   varve_policies** policies) {
  if (policies != nullptr) *policies = nullptr;
  return vc::call_on<vc::StoreObject>(store, [&](const vc::StoreObject& held) -> varve::Status {
    if (policies == nullptr) return vc::null_pointer("policies");
    return vc::with_names(account, table, "table", [&](auto owner, auto name) {
      return vc::give_policies(held.store->access_policies(owner, name), policies);
    });
  });
}

varve_status* varve_queue_policies(const varve_queue* queue, varve_policies** policies) {
  if (policies != nullptr) *policies = nullptr;
  return vc::call_on<vc::QueueObject>(queue, [&](const vc::QueueObject& held) -> varve::Status {
    if (policies == nullptr) return vc::null_pointer("policies");
    return vc::give_policies(held.queue.access_policies(), policies);
  });
}

varve_status* varve_container_policies(const varve_container* container, varve_policies** policies) {
  if (policies != nullptr) *policies = nullptr;
  return vc::call_on<vc::ContainerObject>(container, [&](const vc::ContainerObject& held) -> varve::Status {
    if (policies == nullptr) return vc::null_pointer("policies");
    return vc::give_policies(held.container.access_policies(), policies);
  });
}

varve_status* varve_table_set_policies(varve_store* store, varve_text account, varve_text table,
                                       const varve_access_policy* policies, size_t count) {
  return vc::call_on<vc::StoreObject>(store, [&](const vc::StoreObject& held) -> varve::Status {
    const varve::Result<std::vector<varve::AccessPolicy>> read =
        vc::read_policies(policies, count, &varve::Permissions::parse);
    if (!read.ok()) return read.status();
    return vc::with_names(account, table, "table",
                          [&](auto owner, auto name) { return held.store->set_access_policies(owner, name, *read); });
  });
}

varve_status* varve_queue_set_policies(const varve_queue* queue, const varve_access_policy* policies, size_t count) {
  return vc::call_on<vc::QueueObject>(queue, [&](vc::QueueObject& held) -> varve::Status {
    const varve::Result<std::vector<varve::AccessPolicy>> read =
        vc::read_policies(policies, count, &varve::Permissions::parse_for_queue);
    return read.ok() ? held.queue.set_access_policies(*read) : read.status();
  });
}

varve_status* varve_container_set_access(const varve_container* container, const varve_access_policy* policies,
                                         size_t count, int32_t public_access, const varve_blob_conditions* conditions) {
  return vc::call_on<vc::ContainerObject>(container, [&](vc::ContainerObject& held) -> varve::Status {
    const varve::Result<std::vector<varve::AccessPolicy>> read =
        vc::read_policies(policies, count, &varve::Permissions::parse_for_blob);
    if (!read.ok()) return read.status();
    const varve::Result<varve::PublicAccess> access = vc::read_public_access(public_access);
    if (!access.ok()) return access.status();
    const varve::Result<varve::BlobConditions> read_if = vc::read_conditions(conditions);
    if (!read_if.ok()) return read_if.status();
    return held.container.set_access(*read, *access, *read_if).status();
  });
}

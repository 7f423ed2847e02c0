#include "api/rest/encoding/policy_xml.h"

#include <optional>
#include <utility>

#include "api/model/service_error.h"
#include "api/rest/encoding/xml_elements.h"
#include "api/rest/encoding/xml_reader.h"
#include "varve/limits.h"

namespace varve::serve {
namespace {

constexpr const char* kRoot = "SignedIdentifiers";
constexpr const char* kIdentifier = "SignedIdentifier";

Status refuse_policies(std::string_view what) {
  return service_error::invalid_xml_document(what);
}

/// Returns the text of a child, or nothing if the child is missing or blank.
Result<std::optional<std::string>> text_of(const XmlDocument::Element& parent, std::string_view name) {
  Result<std::optional<std::string>> text = parent.text_of(name);
  if (text.ok() && *text && is_xml_blank(**text)) text->reset();
  return text;
}

Result<std::optional<DateTime>> time_of(const XmlDocument::Element& parent, std::string_view name) {
  const Result<std::optional<std::string>> text = text_of(parent, name);
  if (!text.ok()) return text.status();
  if (!*text) return std::optional<DateTime>();
  const Result<DateTime> time = parse_access_time(**text);
  if (!time.ok()) return time.status();
  return std::optional<DateTime>(*time);
}

/// How the permissions of policies are read.
struct PermissionRules {
  ParsePermissions parse;
  EmptyPermission empty;
};

Result<std::optional<Permissions>> permissions_of(const XmlDocument::Element& node, const PermissionRules& rules) {
  const Result<std::optional<std::string>> letters = node.text_of("Permission");
  if (!letters.ok()) return letters.status();
  if (!*letters) return std::optional<Permissions>();
  if (is_xml_blank(**letters)) {
    return rules.empty == EmptyPermission::kLeftOut ? std::nullopt : std::optional(Permissions());
  }
  const Result<Permissions> permissions = rules.parse(**letters);
  if (!permissions.ok()) return permissions.status();
  return std::optional(*permissions);
}

Result<AccessPolicy> read_terms(const XmlDocument::Element& node, AccessPolicy policy, const PermissionRules& rules) {
  if (!node.has_only_elements({"Start", "Expiry", "Permission"}))
    return refuse_policies("AccessPolicy may contain only Start, Expiry and Permission");
  const Result<std::optional<DateTime>> start = time_of(node, "Start");
  if (!start.ok()) return start.status();
  const Result<std::optional<DateTime>> expiry = time_of(node, "Expiry");
  if (!expiry.ok()) return expiry.status();
  const Result<std::optional<Permissions>> permissions = permissions_of(node, rules);
  if (!permissions.ok()) return permissions.status();
  policy.start = *start;
  policy.expiry = *expiry;
  policy.permissions = *permissions;
  return policy;
}

Result<AccessPolicy> read_policy(const XmlDocument::Element& node, const PermissionRules& rules) {
  if (!node.has_only_elements({"Id", "AccessPolicy"}))
    return refuse_policies("SignedIdentifier may contain only Id and AccessPolicy");
  Result<std::optional<std::string>> id = text_of(node, "Id");
  if (!id.ok()) return id.status();
  AccessPolicy policy;
  policy.id = std::move(*id).value_or(std::string());
  const Result<XmlDocument::Element> terms = node.find("AccessPolicy");
  if (!terms.ok()) return terms.status();
  if (!*terms) return policy;
  return read_terms(*terms, std::move(policy), rules);
}

}  // namespace

Result<std::vector<AccessPolicy>> read_policies(std::string_view body, ParsePermissions parse, EmptyPermission empty) {
  std::vector<AccessPolicy> policies;
  if (body.empty()) return policies;
  const Result<XmlDocument> document = XmlDocument::read(body, kRoot);
  if (!document.ok()) return document.status();
  const XmlDocument::Element root = document->root();
  if (!root.has_only_elements({kIdentifier}))
    return refuse_policies("SignedIdentifiers may contain only SignedIdentifier");
  for (XmlDocument::Element node = root.first_child(); node; node = node.next_sibling()) {
    if (policies.size() == limits::kAccessPoliciesMax) return refuse_policies("at most 5 access policies are allowed");
    Result<AccessPolicy> policy = read_policy(node, {parse, empty});
    if (!policy.ok()) return policy.status();
    policies.push_back(*std::move(policy));
  }
  return policies;
}

std::string write_policies(std::span<const AccessPolicy> policies) {
  pugi::xml_document document;
  pugi::xml_node root = begin_xml(document, kRoot);
  for (const AccessPolicy& policy : policies) {
    pugi::xml_node node = root.append_child(kIdentifier);
    add_element(node, "Id", policy.id);
    if (!policy.start && !policy.expiry && !policy.permissions) continue;
    pugi::xml_node terms = node.append_child("AccessPolicy");
    if (policy.start) add_element(terms, "Start", access_time_text(*policy.start));
    if (policy.expiry) add_element(terms, "Expiry", access_time_text(*policy.expiry));
    if (policy.permissions) add_element(terms, "Permission", policy.permissions->to_string());
  }
  return xml_text(document);
}

}  // namespace varve::serve

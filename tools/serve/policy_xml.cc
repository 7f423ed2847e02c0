#include "tools/serve/policy_xml.h"

#include <optional>
#include <sstream>
#include <utility>

#include <pugixml.hpp>

#include "api/service_error.h"

namespace varve::serve {
namespace {

constexpr const char* kRoot = "SignedIdentifiers";
constexpr const char* kIdentifier = "SignedIdentifier";

Status refuse(std::string_view what) {
  return service_error::invalid_xml_document(what);
}

/// The text of an element that holds nothing else; nothing where the element is missing or empty.
Result<std::optional<std::string>> text_of(const pugi::xml_node& parent, const char* name) {
  std::optional<std::string> text;
  for (const pugi::xml_node& child : parent.children(name)) {
    if (text) return refuse("an element is given twice");
    if (child.find_child([](const pugi::xml_node& inner) { return inner.type() == pugi::node_element; })) {
      return refuse("an element holds others where a text stands");
    }
    text = child.text().get();
  }
  if (text && text->empty()) text.reset();
  return text;
}

Result<std::optional<DateTime>> time_of(const pugi::xml_node& parent, const char* name) {
  const Result<std::optional<std::string>> text = text_of(parent, name);
  if (!text.ok()) return text.status();
  if (!*text) return std::optional<DateTime>();
  const Result<DateTime> time = parse_access_time(**text);
  if (!time.ok()) return time.status();
  return std::optional<DateTime>(*time);
}

/// Whether all children that are elements have one of these names.
template <std::size_t count>
bool has_only(const pugi::xml_node& parent, const char* const (&names)[count]) {
  for (const pugi::xml_node& child : parent.children()) {
    bool known = child.type() != pugi::node_element;
    for (const char* const name : names) known = known || std::string_view(child.name()) == name;
    if (!known) return false;
  }
  return true;
}

Result<AccessPolicy> read_terms(const pugi::xml_node& node, AccessPolicy policy) {
  if (!has_only(node, {"Start", "Expiry", "Permission"})) return refuse("an access policy has unknown elements");
  const Result<std::optional<DateTime>> start = time_of(node, "Start");
  if (!start.ok()) return start.status();
  const Result<std::optional<DateTime>> expiry = time_of(node, "Expiry");
  if (!expiry.ok()) return expiry.status();
  const Result<std::optional<std::string>> letters = text_of(node, "Permission");
  if (!letters.ok()) return letters.status();
  policy.start = *start;
  policy.expiry = *expiry;
  if (!*letters) return policy;
  const Result<Permissions> permissions = Permissions::parse(**letters);
  if (!permissions.ok()) return permissions.status();
  policy.permissions = *permissions;
  return policy;
}

Result<AccessPolicy> read_policy(const pugi::xml_node& node) {
  if (!has_only(node, {"Id", "AccessPolicy"})) return refuse("a signed identifier has unknown elements");
  Result<std::optional<std::string>> id = text_of(node, "Id");
  if (!id.ok()) return id.status();
  AccessPolicy policy;
  policy.id = std::move(*id).value_or(std::string());
  const auto terms = node.children("AccessPolicy");
  if (terms.begin() == terms.end()) return policy;
  if (std::next(terms.begin()) != terms.end()) return refuse("a signed identifier has two access policies");
  return read_terms(*terms.begin(), std::move(policy));
}

}  // namespace

Result<std::vector<AccessPolicy>> read_policies(std::string_view body) {
  std::vector<AccessPolicy> policies;
  if (body.empty()) return policies;
  pugi::xml_document document;
  const pugi::xml_parse_result parsed =
      document.load_buffer(body.data(), body.size(), pugi::parse_default, pugi::encoding_auto);
  const pugi::xml_node root = document.document_element();
  if (!parsed || std::string_view(root.name()) != kRoot) return refuse("the body is no list of signed identifiers");
  if (!has_only(root, {kIdentifier})) return refuse("the list holds other elements than signed identifiers");
  for (const pugi::xml_node& node : root.children(kIdentifier)) {
    Result<AccessPolicy> policy = read_policy(node);
    if (!policy.ok()) return policy.status();
    policies.push_back(*std::move(policy));
  }
  return policies;
}

std::string write_policies(std::span<const AccessPolicy> policies) {
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version") = "1.0";
  declaration.append_attribute("encoding") = "utf-8";
  pugi::xml_node root = document.append_child(kRoot);
  for (const AccessPolicy& policy : policies) {
    pugi::xml_node node = root.append_child(kIdentifier);
    node.append_child("Id").text().set(policy.id.c_str());
    pugi::xml_node terms = node.append_child("AccessPolicy");
    if (policy.start) terms.append_child("Start").text().set(access_time_text(*policy.start).c_str());
    if (policy.expiry) terms.append_child("Expiry").text().set(access_time_text(*policy.expiry).c_str());
    if (policy.permissions) terms.append_child("Permission").text().set(policy.permissions->to_string().c_str());
  }
  std::ostringstream out;
  document.save(out, "", pugi::format_raw, pugi::encoding_utf8);
  return out.str();
}

}  // namespace varve::serve

#include "tools/serve/xml_elements.h"

#include <algorithm>
#include <utility>

#include "api/service_error.h"
#include "tools/serve/text_stream.h"

namespace varve::serve {

Result<pugi::xml_node> read_xml_root(pugi::xml_document& document, std::string_view body, std::string_view root) {
  const pugi::xml_parse_result parsed =
      document.load_buffer(body.data(), body.size(), pugi::parse_default, pugi::encoding_auto);
  const pugi::xml_node found = document.document_element();
  if (parsed && found.name() == root) return found;
  return service_error::invalid_xml_document("the body is no document " + std::string(root));
}

bool has_only_elements(const pugi::xml_node& parent, std::initializer_list<std::string_view> names) {
  for (const pugi::xml_node& child : parent.children()) {
    if (child.type() != pugi::node_element) continue;
    if (std::find(names.begin(), names.end(), std::string_view(child.name())) == names.end()) return false;
  }
  return true;
}

Result<pugi::xml_node> find_element(const pugi::xml_node& parent, const char* name) {
  const pugi::xml_node child = parent.child(name);
  if (!child.next_sibling(name)) return child;
  return service_error::invalid_xml_document("the element " + std::string(name) + " is given twice");
}

Result<std::optional<std::string>> element_text(const pugi::xml_node& parent, const char* name) {
  const Result<pugi::xml_node> child = find_element(parent, name);
  if (!child.ok()) return child.status();
  if (!*child) return std::optional<std::string>();
  if (child->find_child([](const pugi::xml_node& inner) { return inner.type() == pugi::node_element; })) {
    return service_error::invalid_xml_document("an element holds others where a text stands");
  }
  return std::optional<std::string>(child->text().get());
}

pugi::xml_node begin_xml(pugi::xml_document& document, const char* root) {
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version") = "1.0";
  declaration.append_attribute("encoding") = "utf-8";
  return document.append_child(root);
}

void add_element(pugi::xml_node& parent, const char* name, const std::string& text) {
  pugi::xml_node child = parent.append_child(name);
  if (!text.empty()) child.text().set(text.c_str());
}

std::string xml_text(const pugi::xml_document& document) {
  TextStream out;
  document.save(out, "", pugi::format_raw, pugi::encoding_utf8);
  return out.str();
}

}  // namespace varve::serve

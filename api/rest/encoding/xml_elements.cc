#include "api/rest/encoding/xml_elements.h"

#include "api/rest/encoding/text_stream.h"
#include "api/rest/encoding/xml_text.h"

namespace varve::serve {

pugi::xml_node begin_xml(pugi::xml_document& document, const char* root) {
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version") = "1.0";
  declaration.append_attribute("encoding") = "utf-8";
  return document.append_child(root);
}

void add_element(pugi::xml_node& parent, const char* name, const std::string& text) {
  pugi::xml_node child = parent.append_child(name);
  if (!text.empty()) child.text().set(carried_text(text).c_str());
}

std::string xml_text(const pugi::xml_document& document) {
  TextStream out;
  document.save(out, "", pugi::format_raw, pugi::encoding_utf8);
  return out.str();
}

}  // namespace varve::serve

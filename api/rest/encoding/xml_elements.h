// Owns: the few functions that write XML bodies of any content. xml_reader.h reads them.
// Must never: read a document.
#pragma once

#include <string>

#include <pugixml.hpp>

namespace varve::serve {

/// Appends the XML declaration and the root element to an empty document. Returns the root.
pugi::xml_node begin_xml(pugi::xml_document& document, const char* root);
void add_element(pugi::xml_node& parent, const char* name, const std::string& text);
std::string xml_text(const pugi::xml_document& document);

}  // namespace varve::serve

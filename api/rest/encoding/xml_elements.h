// Owns: the few words by which XML bodies are written, whatever they hold. xml_reader.h reads them.
// Must never: read a document.
#pragma once

#include <string>

#include <pugixml.hpp>

namespace varve::serve {

/// The root of a new document, which begins with its declaration.
pugi::xml_node begin_xml(pugi::xml_document& document, const char* root);
void add_element(pugi::xml_node& parent, const char* name, const std::string& text);
std::string xml_text(const pugi::xml_document& document);

}  // namespace varve::serve

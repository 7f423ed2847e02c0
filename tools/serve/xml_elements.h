// Owns: the few words by which XML bodies are read and written, whatever they hold.
// Must never: resolve an entity of a document.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include <pugixml.hpp>

#include "api/result.h"

namespace varve::serve {

/// Views into `document`. Errors: kInvalidArgument (InvalidXmlDocument: no XML, or another root).
Result<pugi::xml_node> read_xml_root(pugi::xml_document& document, std::string_view body, std::string_view root);

/// Whether all children that are elements have one of these names.
bool has_only_elements(const pugi::xml_node& parent, std::initializer_list<std::string_view> names);

/// The child of this name, or a null node. Errors: kInvalidArgument (InvalidXmlDocument: it is there twice).
Result<pugi::xml_node> find_element(const pugi::xml_node& parent, const char* name);

/// The text of a child that holds nothing else; nothing where it is missing. Errors: kInvalidArgument
/// (InvalidXmlDocument: it is there twice, or holds elements).
Result<std::optional<std::string>> element_text(const pugi::xml_node& parent, const char* name);

/// The root of a new document, which begins with its declaration.
pugi::xml_node begin_xml(pugi::xml_document& document, const char* root);
void add_element(pugi::xml_node& parent, const char* name, const std::string& text);
std::string xml_text(const pugi::xml_document& document);

}  // namespace varve::serve

// Owns: writing XML bodies of queues and blobs element by element, without a document in memory.
// Must never: change a character of a text that XML can carry, or write one that it cannot.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "varve/queue.h"

namespace varve::serve {

inline constexpr std::string_view kXmlDeclaration = "<?xml version=\"1.0\" encoding=\"utf-8\"?>";

/// Returns whether XML 1.0 can carry the text: it is UTF-8 without controls except tab, line feed and carriage return,
/// and without U+FFFE and U+FFFF.
bool is_xml_text(std::string_view text) noexcept;
/// Returns the text, or the percent-encoded text if XML cannot carry it. Headers may have such texts (QB-05, BB-03), and
/// one of them must not make a whole listing unreadable. Source: BL-03.
std::string carried_text(std::string text);

/// Appends carried_text() so that an XML reader returns the same characters. A reader turns a plain carriage return into a
/// line feed, so it is written as a reference.
void append_xml_text(std::string& xml, std::string_view text);
/// Appends the text of an attribute in quotation marks.
void append_xml_attribute(std::string& xml, std::string_view text);
/// Appends an element that contains a text, or `<Name />` if the text is empty.
void append_tag(std::string& xml, std::string_view name, std::string_view text);
/// Appends the element Metadata, with an element for each pair. Source: QB-08.
void append_metadata(std::string& xml, const std::vector<MetadataPair>& metadata);

/// Returns the declaration and the root of a listing, without the `>` of the root. Source: QB-08, BL-02.
std::string begin_listing(std::string_view endpoint);

}  // namespace varve::serve

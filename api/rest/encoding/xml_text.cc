#include "api/rest/encoding/xml_text.h"

#include <algorithm>
#include <utility>

#include "api/model/percent.h"
#include "format/keys/sort_key.h"

namespace varve::serve {
namespace {

bool is_plain(char c) noexcept {
  return c >= 0x20 && c < 0x7F;
}
bool is_control(char c) noexcept {
  return static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r';
}

/// Appends a text that XML can carry.
void append_escaped(std::string& xml, std::string_view text, bool is_in_quotes) {
  for (const char c : text) {
    switch (c) {
      case '&': xml.append("&amp;"); break;
      case '<': xml.append("&lt;"); break;
      case '>': xml.append("&gt;"); break;
      case '\r': xml.append("&#xD;"); break;
      case '"': xml.append(is_in_quotes ? "&quot;" : "\""); break;
      default: xml.push_back(c);
    }
  }
}

}  // namespace

bool is_xml_text(std::string_view text) noexcept {
  if (std::all_of(text.begin(), text.end(), is_plain)) return true;
  return std::none_of(text.begin(), text.end(), is_control) && format::is_valid_utf8(text) &&
         text.find("\xEF\xBF\xBE") == std::string_view::npos && text.find("\xEF\xBF\xBF") == std::string_view::npos;
}

std::string carried_text(std::string text) {
  return is_xml_text(text) ? std::move(text) : percent_encode(text);
}

void append_xml_text(std::string& xml, std::string_view text) {
  if (is_xml_text(text)) return append_escaped(xml, text, false);
  xml.append(percent_encode(text));
}

void append_xml_attribute(std::string& xml, std::string_view text) {
  if (is_xml_text(text)) return append_escaped(xml, text, true);
  xml.append(percent_encode(text));
}

void append_tag(std::string& xml, std::string_view name, std::string_view text) {
  xml.append(1, '<').append(name);
  if (text.empty()) {
    xml.append(" />");
    return;
  }
  xml.append(1, '>');
  append_xml_text(xml, text);
  xml.append("</").append(name).append(1, '>');
}

void append_metadata(std::string& xml, const std::vector<MetadataPair>& metadata) {
  if (metadata.empty()) {
    xml.append("<Metadata />");
    return;
  }
  xml.append("<Metadata>");
  for (const MetadataPair& pair : metadata) append_tag(xml, pair.name, pair.value);
  xml.append("</Metadata>");
}

std::string begin_listing(std::string_view endpoint) {
  std::string xml(kXmlDeclaration);
  xml.append("<EnumerationResults ServiceEndpoint=\"");
  append_xml_attribute(xml, endpoint);
  return xml.append(1, '"');
}

}  // namespace varve::serve

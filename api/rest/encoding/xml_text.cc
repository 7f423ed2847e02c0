#include "api/rest/encoding/xml_text.h"

namespace varve::serve {

void append_xml_text(std::string& xml, std::string_view text) {
  for (const char c : text) {
    switch (c) {
      case '&': xml.append("&amp;"); break;
      case '<': xml.append("&lt;"); break;
      case '>': xml.append("&gt;"); break;
      case '\r': xml.append("&#xD;"); break;
      default: xml.push_back(c);
    }
  }
}

void append_xml_attribute(std::string& xml, std::string_view text) {
  for (const char c : text) {
    if (c == '"') {
      xml.append("&quot;");
    } else {
      append_xml_text(xml, std::string_view(&c, 1));
    }
  }
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

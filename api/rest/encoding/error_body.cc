#include "api/rest/encoding/error_body.h"

#include <pugixml.hpp>

#include "api/rest/encoding/json_text.h"
#include "api/rest/encoding/text_stream.h"
#include "api/rest/encoding/xml_elements.h"
#include "api/rest/encoding/xml_text.h"
#include "varve/access_policy.h"

namespace varve::serve {
namespace {

std::string whole_message(const WireError& error, const ErrorTrailer& trailer) {
  std::string text = error.message;
  text.append("\nRequestId:").append(trailer.request_id);
  text.append("\nTime:").append(access_time_text(trailer.time));  // always has 7 digits
  return text;
}

}  // namespace

std::string json_error(const WireError& error, const ErrorTrailer& trailer) {
  JsonText json;
  json.begin_object().member("odata.error").begin_object();
  json.member("code").text(error.code);
  json.member("message").begin_object();
  json.member("lang").text("en-US").member("value").text(whole_message(error, trailer));
  json.end_object().end_object().end_object();
  return json.take();
}

std::string xml_error(const WireError& error, const ErrorTrailer& trailer) {
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version") = "1.0";
  declaration.append_attribute("encoding") = "utf-8";
  pugi::xml_node root = document.append_child("m:error");
  root.append_attribute("xmlns:m") = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata";
  root.append_child("m:code").text().set(std::string(error.code).c_str());
  pugi::xml_node message = root.append_child("m:message");
  message.append_attribute("xml:lang") = "en-US";
  message.text().set(carried_text(whole_message(error, trailer)).c_str());
  TextStream out;
  document.save(out, "", pugi::format_raw | pugi::format_write_bom, pugi::encoding_utf8);
  return out.str();
}

std::string storage_xml_error(const WireError& error, const ErrorTrailer& trailer, const ErrorDetails& details) {
  pugi::xml_document document;
  pugi::xml_node root = begin_xml(document, "Error");
  add_element(root, "Code", std::string(error.code));
  add_element(root, "Message", whole_message(error, trailer));
  for (const auto& [name, text] : details) add_element(root, name.c_str(), text);
  return xml_text(document);
}

}  // namespace varve::serve

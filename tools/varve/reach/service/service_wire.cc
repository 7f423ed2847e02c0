#include "tools/varve/reach/service/service_wire.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include "api/model/percent.h"
#include "api/security/http_date.h"
#include "tools/varve/reach/rest_answer.h"
#include "tools/varve/reach/service_address.h"

namespace varve::tool {
namespace {

/// A version that Varve, Azure and its emulator know.
constexpr const char* kServiceVersion = "2021-12-02";
/// An XML reader takes away blanks that are a whole text, unless it keeps them.
constexpr unsigned kXmlOptions = pugi::parse_default | pugi::parse_ws_pcdata_single;

bool has_control_character(std::string_view text) noexcept {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

}  // namespace

Result<ServiceWire> ServiceWire::reach(const std::string& address, const std::string& account, StorageService service) {
  Result<ServiceAddress> place = service_address(address, account, service);
  if (!place.ok()) return place.status();
  if (place->account != account) {
    return Status::invalid_argument("the address and its key are of account " + place->account + ", not of " + account)
        .with_hint("give --account " + place->account);
  }
  Result<std::unique_ptr<Wire>> wire =
      Wire::to_address(place->address, place->certificates, std::move(place->sign), std::move(place->judge));
  if (!wire.ok()) return wire.status();
  return ServiceWire(*std::move(wire), std::move(place->path), std::move(place->signature));
}

Result<serve::HttpResponse> ServiceWire::answer_to(std::string_view verb, const std::string& target,
                                                   serve::Headers headers, std::string body,
                                                   std::chrono::seconds time_max) const {
  serve::HttpRequest request = request_to(verb, path_ + target, std::move(body));
  request.head.headers = std::move(headers);
  request.head.headers.emplace_back("x-ms-version", kServiceVersion);
  // Without this header the library would send a type of its own, which was not signed.
  if (serve::find_header(request.head.headers, "Content-Type") == nullptr && verb != "GET" && verb != "HEAD") {
    request.head.headers.emplace_back("Content-Type", "");
  }
  for (const auto& [name, value] : request.head.headers) {
    if (!has_control_character(name) && !has_control_character(value)) continue;
    return Status::invalid_argument("the value of " + name + " has a control character");
  }
  return wire_->send(std::move(request), time_max);
}

Result<serve::HttpResponse> ServiceWire::send(std::string_view verb, const std::string& target, serve::Headers headers,
                                              std::string body, std::chrono::seconds time_max) const {
  Result<serve::HttpResponse> response = answer_to(verb, target, std::move(headers), std::move(body), time_max);
  if (!response.ok()) return response;
  if (Status status = status_of(*response); !status.ok()) return status;
  return response;
}

std::string ServiceWire::url_of(const std::string& target) const {
  return wire_->address() + path_ + target + (signature_.empty() ? "" : "?" + signature_);
}

Status ServiceWire::check_is_varve(const std::string& what) const {
  // A refusal shows the server, too.
  const Result<serve::HttpResponse> response = answer_to("GET", "/?comp=list&maxresults=1", {}, {}, Wire::kTimeMax);
  if (!response.ok()) return response.status();
  const std::string* const server = serve::find_header(response->headers, "server");
  if (server != nullptr && server->starts_with("Varve-")) return Status();
  return Status(Code::kUnsupported, what + " needs a server of Varve, and another one answers at this address")
      .with_hint("leave it out; the protocol itself has nothing like it");
}

std::string service_path(std::string_view container, std::string_view blob) {
  std::string path = "/" + percent_encode(container);
  if (blob.empty()) return path;
  path += "/" + percent_encode(blob);
  constexpr std::string_view kSlash = "%2F";
  for (std::size_t at = path.find(kSlash); at != std::string::npos; at = path.find(kSlash, at + 1)) {
    path.replace(at, kSlash.size(), "/");
  }
  return path;
}

void add_metadata_headers(serve::Headers& headers, const std::vector<MetadataPair>& metadata) {
  for (const MetadataPair& pair : metadata) headers.emplace_back("x-ms-meta-" + pair.name, pair.value);
}

Status not_in_protocol(const std::string& what) {
  return Status(Code::kInvalidArgument, "the protocol of an address has no way to say " + what)
      .with_hint("leave it out, or give the directory of the store in place of the address");
}

Status unexpected_answer(std::string_view what) {
  return Status::io_error("the answer of the server is not as expected: " + std::string(what));
}

Status read_xml(const serve::HttpResponse& response, const char* root, pugi::xml_document& document) {
  if (!document.load_buffer(response.body.data(), response.body.size(), kXmlOptions)) {
    return unexpected_answer("it is no XML");
  }
  return document.child(root) ? Status() : unexpected_answer("its XML has no " + std::string(root));
}

std::string text_of_child(const pugi::xml_node& node, const char* name) {
  return node.child_value(name);
}

std::vector<MetadataPair> metadata_of_xml(const pugi::xml_node& metadata) {
  std::vector<MetadataPair> pairs;
  for (const pugi::xml_node pair : metadata.children()) {
    if (pair.type() == pugi::node_element) pairs.push_back({pair.name(), pair.child_value()});
  }
  return pairs;
}

std::optional<std::string> next_marker_of(const pugi::xml_node& listing) {
  std::string marker = text_of_child(listing, "NextMarker");
  if (marker.empty()) return std::nullopt;
  return marker;
}

Result<std::uint64_t> number_of_answer(std::string_view text) {
  std::uint64_t number = 0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && stopped == text.data() + text.size()) return number;
  return unexpected_answer("a number is missing");
}

Result<DateTime> time_of_answer(std::string_view text) {
  const std::optional<DateTime> time = security::parse_http_date(text);
  if (!time) return unexpected_answer("a time is missing");
  return *time;
}

}  // namespace varve::tool

// Owns: requests to the queue or blob service of an account at an address, and the XML of its answers.
// Must never: send a header with a line end, or take a malformed answer for an empty one.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pugixml.hpp>

#include "api/rest/protocol/message.h"
#include "tools/varve/reach/wire.h"
#include "varve/queue.h"
#include "varve/result.h"
#include "varve/service_properties.h"

namespace varve::tool {

/// One thread at a time uses it.
class ServiceWire {
 public:
  /// Errors: those of service_address(); kInvalidArgument (the address is of another account).
  static Result<ServiceWire> reach(const std::string& address, const std::string& account, StorageService service);

  /// Sends a request. `target` is the encoded path after the account, perhaps with a query: `/orders/messages?peekonly=true`.
  /// Errors: those of Wire::send(); those of the service; kInvalidArgument (a control character in a header).
  Result<serve::HttpResponse> send(std::string_view verb, const std::string& target, serve::Headers headers = {},
                                   std::string body = {}, std::chrono::seconds time_max = Wire::kTimeMax) const;
  /// Returns the URL of a resource, with the signature if requests get one.
  std::string url_of(const std::string& target) const;
  /// Checks that the server is one of Varve, which knows more than the protocol. `what` names the option that needs it.
  /// Errors: kUnsupported; those of send().
  Status check_is_varve(const std::string& what) const;

 private:
  /// Returns the answer, whatever its status.
  Result<serve::HttpResponse> answer_to(std::string_view verb, const std::string& target, serve::Headers headers,
                                        std::string body, std::chrono::seconds time_max) const;
  ServiceWire(std::unique_ptr<Wire> wire, std::string path, std::string signature)
      : wire_(std::move(wire)), path_(std::move(path)), signature_(std::move(signature)) {}

  std::unique_ptr<Wire> wire_;
  std::string path_;
  std::string signature_;
};

/// Returns the encoded path of a resource, such as `/photos/eu/ann%20b.jpg`. Slashes of the names stay.
std::string service_path(std::string_view container, std::string_view blob = {});

/// Adds the pairs as headers `x-ms-meta-...`.
void add_metadata_headers(serve::Headers& headers, const std::vector<MetadataPair>& metadata);

/// Returns the refusal of an option that the protocol has no word for.
Status not_in_protocol(const std::string& what);

/// Reads the XML of an answer. Errors: kIoError (no XML, or another root).
Status read_xml(const serve::HttpResponse& response, const char* root, pugi::xml_document& document);
/// Returns the failure of an answer that lacks a part.
Status unexpected_answer(std::string_view what);
/// Returns the text of a child, or an empty text.
std::string text_of_child(const pugi::xml_node& node, const char* name);
/// Returns the pairs of an element Metadata.
std::vector<MetadataPair> metadata_of_xml(const pugi::xml_node& metadata);
/// Returns NextMarker of a listing, if it has one.
std::optional<std::string> next_marker_of(const pugi::xml_node& listing);
/// Parses a whole number. Errors: kIoError.
Result<std::uint64_t> number_of_answer(std::string_view text);
/// Parses a time such as `Tue, 03 Mar 2026 10:20:30 GMT`. Errors: kIoError.
Result<DateTime> time_of_answer(std::string_view text);

}  // namespace varve::tool

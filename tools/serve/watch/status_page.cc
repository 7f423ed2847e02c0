#include "tools/serve/watch/status_page.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "api/rest/encoding/json_text.h"
#include "api/rest/encoding/present_time.h"
#include "api/rest/protocol/wire_error.h"
#include "api/security/http_date.h"
#include "tools/serve/watch/page_files.h"
#include "tools/serve/watch/page_guard.h"
#include "tools/serve/watch/status_json.h"

namespace varve::serve {
namespace {

constexpr std::string_view kPageRoot = "/_varve";
constexpr std::string_view kJsonType = "application/json; charset=utf-8";
/// Allows nothing from other origins, no inline content, no embedding in a frame, and no text that becomes markup.
constexpr std::string_view kContentSecurityPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

HttpResponse page_response(std::uint16_t status, std::string_view type, std::string body) {
  HttpResponse response;
  response.status = status;
  response.with("Content-Type", type)
      .with("Cache-Control", "no-store")
      .with("Date", security::http_date(present_time()));
  response.with("Content-Security-Policy", kContentSecurityPolicy).with("X-Content-Type-Options", "nosniff");
  response.with("Cross-Origin-Resource-Policy", "same-origin").with("Cross-Origin-Opener-Policy", "same-origin");
  response.with("Referrer-Policy", "no-referrer").with("Server", "Varve-Table/1.0");
  response.body = std::move(body);
  return response;
}

HttpResponse failure_response(const Status& status) {
  const WireError error = wire_error(status);
  JsonText json;
  json.begin_object().member("code").text(error.code).member("message").text(error.message).end_object();
  return page_response(error.status, kJsonType, json.take());
}

const PageFile* find_page_file(std::string_view name) noexcept {
  for (const PageFile& file : page_files()) {
    if (file.name == name) return &file;
  }
  return nullptr;
}

using Exploring = Task<Result<std::string>> (Explorer::*)(ExplorerCall) const;

struct ExplorerPage {
  std::string_view name;
  Exploring answer;
};
constexpr ExplorerPage kExplorerPages[] = {
    {"api/tables", &Explorer::list_tables},         {"api/table", &Explorer::measure_table},
    {"api/description", &Explorer::describe_table}, {"api/entities", &Explorer::read_entities},
    {"api/queues", &Explorer::list_queues},         {"api/messages", &Explorer::peek_messages},
    {"api/containers", &Explorer::list_containers}, {"api/blobs", &Explorer::list_blobs}};

/// Returns null if the name is none of them.
const ExplorerPage* find_explorer_page(std::string_view name) noexcept {
  const auto* const found = std::find_if(std::begin(kExplorerPages), std::end(kExplorerPages),
                                         [name](const ExplorerPage& page) { return page.name == name; });
  return found == std::end(kExplorerPages) ? nullptr : found;
}
bool is_of_explorer(std::string_view name) noexcept {
  return find_explorer_page(name) != nullptr;
}

}  // namespace

bool StatusPage::owns(std::string_view path) noexcept {
  return path == kPageRoot || (path.starts_with(kPageRoot) && path[kPageRoot.size()] == '/');
}

Status StatusPage::admit(const HttpRequest& request, std::string_view name) const {
  if (request.head.verb != "GET" && request.head.verb != "HEAD") {
    return refused("MethodNotAllowed", "the page only supports GET and HEAD");
  }
  if (is_of_explorer(name) && !rules_.has_explorer) {
    return refused("AuthorizationFailure",
                   "tables are not shown; start the server with --status-page explore to show them");
  }
  if (!rules_.is_public || is_of_explorer(name)) {
    if (Status local = check_local(request); !local.ok()) return local;
  }
  // Files contain no data of the store, and a link on another site may point to them.
  return find_page_file(name) != nullptr ? Status() : check_same_origin(request);
}

Task<Result<HttpResponse>> StatusPage::serve(HttpRequest request, HomeThread* home) {
  const bool is_root = request.head.path.size() == kPageRoot.size();
  const std::string name = is_root ? std::string() : request.head.path.substr(kPageRoot.size() + 1);
  HttpResponse response;
  if (Status admitted = admit(request, name); !admitted.ok()) {
    response = failure_response(admitted);
  } else if (is_root) {
    response = page_response(308, "text/plain", "/_varve/\n").with("Location", "/_varve/");
  } else if (const PageFile* const file = find_page_file(name); file != nullptr) {
    response = page_response(200, file->type, std::string(file->content));
  } else if (name == "api/status") {
    response = page_response(200, kJsonType, status_json(observed_, rules_.has_explorer));
  } else if (const ExplorerPage* const page = find_explorer_page(name); page != nullptr) {
    Task<Result<std::string>> exploring =
        (explorer_.*page->answer)(ExplorerCall{request.head.query, home, stop_.get_token()});
    Result<std::string> found = co_await exploring;
    response = found.ok() ? page_response(200, kJsonType, *std::move(found)) : failure_response(found.status());
  } else {
    response = failure_response(Status::not_found("the page does not exist").with_service_error("ResourceNotFound"));
  }
  if (request.head.verb == "HEAD") response.body.clear();
  co_return response;
}

}  // namespace varve::serve

#include "tools/varve/reach/wire.h"

#include <cerrno>
#include <string_view>
#include <utility>

#include <curl/curl.h>
#include <sys/socket.h>

namespace varve::tool {
namespace {

using serve::HttpRequest;
using serve::HttpResponse;

constexpr std::size_t kAnswerBytesMax = std::size_t{64} << 20;
constexpr std::size_t kAnswerHeadersMax = 256;
constexpr long kConnectSecondsMax = 10;

struct FreeList {
  void operator()(curl_slist* list) const noexcept { curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, FreeList>;

bool append(HeaderList& list, const std::string& line) {
  curl_slist* const longer = curl_slist_append(list.get(), line.c_str());
  if (longer == nullptr) return false;
  (void)list.release();
  list.reset(longer);
  return true;
}

/// An answer while it arrives.
struct Arriving {
  HttpResponse response;
  bool is_too_large = false;
};

std::size_t take_body(char* bytes, std::size_t one, std::size_t count, void* to) {
  Arriving& arriving = *static_cast<Arriving*>(to);
  arriving.is_too_large = arriving.response.body.size() + one * count > kAnswerBytesMax;
  if (arriving.is_too_large) return 0;
  arriving.response.body.append(bytes, one * count);
  return one * count;
}

std::size_t take_header(char* bytes, std::size_t one, std::size_t count, void* to) {
  Arriving& arriving = *static_cast<Arriving*>(to);
  const std::string_view line(bytes, one * count);
  if (line.starts_with("HTTP/")) {
    arriving.response.headers.clear();  // of an answer before the last, such as 100 Continue
    return line.size();
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return line.size();
  arriving.is_too_large = arriving.response.headers.size() == kAnswerHeadersMax;
  if (arriving.is_too_large) return 0;
  arriving.response.with(line.substr(0, colon),
                         serve::trimmed(line.substr(colon + 1, line.find_last_not_of("\r\n") - colon)));
  return line.size();
}

/// Returns a header for curl, which removes a header with an empty value unless it ends in a semicolon. A request without
/// a Content-Type needs the removal: curl would send one that was not signed.
std::string header_line(const std::string& name, const std::string& value) {
  if (value.empty() && !serve::equal_ignoring_case(name, "Content-Type")) return name + ";";
  return name + ": " + value;
}

bool may_change(std::string_view verb) {
  return verb != "GET" && verb != "HEAD";
}

/// Returns whether the request cannot have reached the server.
bool is_unsent(CURLcode code) {
  return code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_RESOLVE_PROXY ||
         code == CURLE_SSL_CONNECT_ERROR || code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_URL_MALFORMAT ||
         code == CURLE_SSL_CACERT_BADFILE || code == CURLE_UNSUPPORTED_PROTOCOL;
}

}  // namespace

struct Wire::State {
  ~State() {
    if (curl != nullptr) curl_easy_cleanup(curl);
  }

  /// Makes the one socket of a wire to a local socket.
  static curl_socket_t make_socket(void* self, curlsocktype /*purpose*/, curl_sockaddr* address) {
    if (std::exchange(static_cast<State*>(self)->has_connected, true)) return CURL_SOCKET_BAD;
    return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  }

  /// curl sends a request again if a kept connection ended before an answer. A change could then be made twice.
  static int before_sending(void* state, char* /*server*/, char* /*own*/, int /*port*/, int /*own_port*/) {
    auto& wire = *static_cast<State*>(state);
    return std::exchange(wire.has_sent, true) && wire.is_change ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
  }

  bool set_up(const std::string& certificates) {
    curl = curl_easy_init();
    if (curl == nullptr) return false;
    bool is_set = curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L) == CURLE_OK;
    is_set = is_set && curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK;
    is_set = is_set && curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1) == CURLE_OK;
    is_set = is_set && curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, kConnectSecondsMax) == CURLE_OK;
    is_set = is_set && curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L) == CURLE_OK;
    is_set = is_set && curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &take_body) == CURLE_OK;
    is_set = is_set && curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, &take_header) == CURLE_OK;
    is_set = is_set && curl_easy_setopt(curl, CURLOPT_PREREQFUNCTION, &before_sending) == CURLE_OK;
    is_set = is_set && curl_easy_setopt(curl, CURLOPT_PREREQDATA, this) == CURLE_OK;
    if (!certificates.empty())
      is_set = is_set && curl_easy_setopt(curl, CURLOPT_CAINFO, certificates.c_str()) == CURLE_OK;
    if (socket_path.empty()) return is_set;
    is_set = is_set && curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, socket_path.c_str()) == CURLE_OK;
    is_set = is_set && curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, &State::make_socket) == CURLE_OK;
    is_set = is_set && curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, this) == CURLE_OK;
    return is_set && curl_easy_setopt(curl, CURLOPT_PROXY, "") == CURLE_OK;
  }

  CURLcode perform(const HttpRequest& request, std::chrono::seconds time_max, Arriving& arriving) {
    std::string url = address + request.head.path;
    if (!request.head.query.empty()) url += "?" + request.head.query;
    HeaderList headers;
    bool has_all = append(headers, "Expect:");
    for (const auto& [name, value] : request.head.headers)
      has_all = has_all && append(headers, header_line(name, value));
    if (!has_all) return CURLE_OUT_OF_MEMORY;
    curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, static_cast<long>(time_max.count()));
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &arriving);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, &arriving);
    if (request.body.empty() && request.head.verb != "POST" && request.head.verb != "PUT") {
      curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L);
      if (request.head.verb == "HEAD") curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);  // its answer states a length
    } else {
      curl_easy_setopt(curl, CURLOPT_POST, 1L);
      curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
      curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.body.data());
    }
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.head.verb.c_str());
    has_sent = false;
    is_change = may_change(request.head.verb);
    const CURLcode performed = curl_easy_perform(curl);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, nullptr);
    return performed;
  }

  /// Returns whether a server took the connection and closed it before curl looked at it.
  bool was_closed_at_once(CURLcode performed) const {
    if (performed != CURLE_COULDNT_CONNECT || !has_connected) return false;
    long error = 0;
    curl_easy_getinfo(curl, CURLINFO_OS_ERRNO, &error);
    return error != ECONNREFUSED && error != ENOENT;
  }

  std::string address = "http://127.0.0.1";
  Sign sign;
  Judge judge{};
  CURL* curl = nullptr;
  std::string socket_path{};
  OwnedDescriptor directory{};
  bool has_connected = false;
  bool has_reached_server = false;
  bool has_sent = false;
  bool is_change = false;
};

Wire::Wire(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Wire::~Wire() = default;

const std::string& Wire::address() const noexcept {
  return state_->address;
}

Result<std::unique_ptr<Wire>> Wire::to_socket(const std::string& path, OwnedDescriptor directory, Sign sign) {
  auto state = std::make_unique<State>();
  state->socket_path = path;
  state->directory = std::move(directory);
  state->sign = std::move(sign);
  if (!state->set_up("")) return Status::out_of_memory();
  return std::unique_ptr<Wire>(new Wire(std::move(state)));
}

bool Wire::has_reached_server() const noexcept {
  return state_->has_reached_server;
}

int Wire::socket() const noexcept {
  curl_socket_t socket = CURL_SOCKET_BAD;
  return curl_easy_getinfo(state_->curl, CURLINFO_ACTIVESOCKET, &socket) == CURLE_OK ? socket : -1;
}

Result<std::unique_ptr<Wire>> Wire::to_address(std::string address, const std::string& certificates, Sign sign,
                                               Judge judge) {
  auto state = std::make_unique<State>();
  state->address = std::move(address);
  state->sign = std::move(sign);
  state->judge = std::move(judge);
  if (!state->set_up(certificates)) return Status::out_of_memory();
  return std::unique_ptr<Wire>(new Wire(std::move(state)));
}

Result<HttpResponse> Wire::send(HttpRequest request, std::chrono::seconds time_max) {
  if (Status is_signed = state_->sign(request); !is_signed.ok()) return is_signed;
  Arriving arriving;
  const CURLcode performed = state_->perform(request, time_max, arriving);
  state_->has_reached_server = !is_unsent(performed) || state_->was_closed_at_once(performed);
  if (arriving.is_too_large) return Status::too_large("the answer of the server is larger than this program reads");
  if (performed == CURLE_OK) {
    long status = 0;
    curl_easy_getinfo(state_->curl, CURLINFO_RESPONSE_CODE, &status);
    arriving.response.status = static_cast<std::uint16_t>(status);
    if (Status judged = state_->judge ? state_->judge(arriving.response) : Status(); !judged.ok()) return judged;
    return std::move(arriving.response);
  }
  const std::string server = state_->socket_path.empty() ? state_->address : "the server that has the store open";
  const std::string why = "no answer from " + server + ": " + curl_easy_strerror(performed);
  if (is_unsent(performed) || !may_change(request.head.verb)) return Status::io_error(why);
  return Status(Code::kUnknown, why + "; read the table, queue or blob to find out whether the change happened");
}

HttpRequest request_to(std::string_view verb, std::string_view target, std::string body) {
  HttpRequest request;
  request.head.verb = verb;
  (void)serve::set_target(request, target);
  request.body = std::move(body);
  return request;
}

}  // namespace varve::tool

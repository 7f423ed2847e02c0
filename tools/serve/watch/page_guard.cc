#include "tools/serve/watch/page_guard.h"

#include <algorithm>

#include "api/rest/protocol/wire_error.h"

namespace varve::serve {
namespace {

/// Returns the host without the port, and a bracketed address without brackets.
std::string_view host_name(std::string_view host) {
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    return end == std::string_view::npos ? std::string_view() : host.substr(1, end - 1);
  }
  return host.substr(0, host.find(':'));
}

/// Returns whether only a port, or nothing, follows the host's name.
bool has_clean_end(std::string_view host) {
  std::string_view end = host;
  end.remove_prefix(std::min(host.starts_with('[') ? host.find(']') : host.find(':'), host.size()));
  if (end.starts_with(']')) end.remove_prefix(1);
  if (end.empty()) return true;
  end.remove_prefix(1);
  return host[host.size() - end.size() - 1] == ':' && !end.empty() && end.size() <= 5 &&
         end.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Returns whether the text is `127.` and three more numbers. A name such as `127.0.0.1.example.com` can belong to any
/// site.
bool is_local_ipv4(std::string_view text) {
  if (!text.starts_with("127.")) return false;
  int parts = 1;
  std::size_t digits = 0;
  for (const char letter : text) {
    if (letter == '.' && digits > 0 && digits <= 3) {
      ++parts;
      digits = 0;
    } else if (letter >= '0' && letter <= '9') {
      ++digits;
    } else {
      return false;
    }
  }
  return parts == 4 && digits > 0 && digits <= 3;
}

Status forbidden(std::string_view why) {
  return refused("AuthorizationFailure", why);
}

}  // namespace

bool is_local_address(std::string_view address) {
  static constexpr std::string_view kMapped = "::ffff:";
  if (address == "::1") return true;
  return is_local_ipv4(address.starts_with(kMapped) ? address.substr(kMapped.size()) : address);
}

bool is_local_host(std::string_view host) {
  if (!has_clean_end(host)) return false;
  const std::string_view name = host_name(host);
  if (host.starts_with('[')) return name == "::1";
  return equal_ignoring_case(name, "localhost") || is_local_ipv4(name);
}

Status check_local(const HttpRequest& request) {
  const Headers& headers = request.head.headers;
  if (!is_local_address(request.arrival.client_ip))
    return forbidden("this page is only served to clients on this machine");
  for (const std::string_view name : {"forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"}) {
    if (find_header(headers, name) != nullptr) return forbidden("this page is not served through a proxy");
  }
  const std::string* const host = find_header(headers, "host");
  const bool is_named_locally = count_headers(headers, "host") == 1 && is_local_host(*host) &&
                                (!request.absolute_host || is_local_host(*request.absolute_host));
  return is_named_locally ? Status() : forbidden("this page is only served at localhost, 127.0.0.1 and [::1]");
}

Status check_same_origin(const HttpRequest& request) {
  const Headers& headers = request.head.headers;
  const std::string* const site = find_header(headers, "sec-fetch-site");
  if (site != nullptr && *site != "same-origin" && *site != "none")
    return forbidden("requests from pages of other sites are refused");
  const std::string* const origin = find_header(headers, "origin");
  if (origin == nullptr) return Status();
  const std::string own = std::string(request.arrival.is_https ? "https://" : "http://") + host_of(request);
  return *origin == own ? Status() : forbidden("requests from pages of other sites are refused");
}

}  // namespace varve::serve

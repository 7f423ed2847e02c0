#include "tools/varve/reach/service_address.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

#include "api/rest/encoding/present_time.h"
#include "api/rest/service/accounts.h"
#include "api/security/http_date.h"
#include "tools/serve/transport/secret_file.h"
#include "tools/varve/reach/reach.h"
#include "tools/varve/reach/rest_answer.h"
#include "varve/names.h"
#include "varve/security/account_keys.h"
#include "varve/security/shared_key.h"

namespace varve::tool {
namespace {

std::string& key_file() {
  static std::string file;
  return file;
}

std::string& certificate_file() {
  static std::string file;
  return file;
}

constexpr const char* kAddressHint =
    "an address is http(s)://HOST[:PORT][/ACCOUNT]; the verb names the table, the queue or the container";

/// The secrets of an account, as they were found.
struct Secrets {
  std::string account{};
  std::string key{};
  std::string signature{};
};

Status refuse(const std::string& what) {
  return Status::invalid_argument(what);
}

std::string without_space(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = std::min(text.find_first_not_of(kSpace), text.size());
  return std::string(text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin));
}

std::string from_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : without_space(value);
}

/// Reads `Name=Value;Name=Value`. Names are compared without case.
Result<std::map<std::string, std::string>> fields_of(std::string_view text) {
  std::map<std::string, std::string> fields;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    const std::string_view field = serve::trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (field.empty()) continue;
    const std::size_t equals = field.find('=');
    if (equals == std::string_view::npos) return refuse("the connection string has a part without \"=\"");
    std::string name(field.substr(0, equals));
    for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (!fields.emplace(std::move(name), field.substr(equals + 1)).second)
      return refuse("the connection string gives a name twice");
  }
  return fields;
}

Result<Secrets> secrets_of_connection(std::string_view text) {
  Result<std::map<std::string, std::string>> fields = fields_of(text);
  if (!fields.ok()) return fields.status();
  const auto field = [&fields](const char* name) {
    const auto found = (*fields).find(name);
    return found == (*fields).end() ? std::string() : found->second;
  };
  if (field("usedevelopmentstorage") == "true") {
    return Secrets{std::string(serve::kDevelopmentAccount), std::string(serve::kDevelopmentKey), ""};
  }
  Secrets secrets{field("accountname"), field("accountkey"), field("sharedaccesssignature")};
  if (secrets.key.empty() && secrets.signature.empty())
    return refuse("the connection string has neither AccountKey nor SharedAccessSignature");
  return secrets;
}

/// Returns the secrets of a text of any of the three kinds: connection string, signature, key.
Result<Secrets> secrets_of(const std::string& text) {
  if (text.find(';') != std::string::npos || text.starts_with("UseDevelopmentStorage="))
    return secrets_of_connection(text);
  if (text.find("sig=") != std::string::npos) return Secrets{"", "", text};
  return Secrets{"", text, ""};
}

Result<Secrets> find_secrets() {
  if (!key_file().empty()) {
    const Result<std::string> text = serve::read_secret_file("the key file", key_file());
    if (!text.ok()) return text.status();
    return secrets_of(without_space(*text));
  }
  const std::string connection = from_environment("AZURE_STORAGE_CONNECTION_STRING");
  if (!connection.empty()) return secrets_of_connection(connection);
  return Secrets{from_environment("AZURE_STORAGE_ACCOUNT"), from_environment("AZURE_STORAGE_KEY"),
                 from_environment("AZURE_STORAGE_SAS_TOKEN")};
}

/// The parts of a URL.
struct Url {
  std::string scheme_and_host;
  std::string host;
  std::string path;
  std::string query;
};

Result<Url> parse_url(const std::string& text) {
  const std::size_t host = text.find("://") + 3;
  const std::size_t end = std::min(text.find_first_of("/?", host), text.size());
  const std::size_t mark = std::min(text.find('?', end), text.size());
  Url url{text.substr(0, end), text.substr(host, end - host), text.substr(end, mark - end),
          text.substr(std::min(mark + 1, text.size()))};
  if (url.host.empty() || url.host.find('@') != std::string::npos || text.find('#') != std::string::npos) {
    return refuse("the address must be http(s)://HOST[:PORT][/ACCOUNT]");
  }
  while (url.path.ends_with('/')) url.path.pop_back();
  return url;
}

std::string host_name(const std::string& host) {
  if (host.starts_with('[')) return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.find(':'));
}

/// Returns whether a host cannot name an account: an IP address, or a name of one label.
bool is_plain_host(const std::string& name) {
  return name.starts_with('[') || name.find('.') == std::string::npos ||
         name.find_first_not_of("0123456789.") == std::string::npos;
}

bool is_this_machine(const std::string& name) {
  return name == "localhost" || name == "[::1]" || name.starts_with("127.");
}

/// Signs each request with a key. Some servers know SharedKeyLite for tables alone. SharedKey also signs the length of a
/// body, which the library sends.
Result<Wire::Sign> signing_with_key(const std::string& account, const std::string& key, StorageService service) {
  Result<security::AccountKeys> keys = security::AccountKeys::create(key);
  if (!keys.ok()) return refuse("the key of account " + account + " is not valid base64");
  return Wire::Sign([credentials = security::AccountCredentials{account, *std::move(keys)},
                     service](serve::HttpRequest& request) {
    request.head.headers.emplace_back("x-ms-date", security::http_date(serve::present_time()));
    const bool is_of_tables = service == StorageService::kTables;
    security::Request signed_head = request.head;
    if (!is_of_tables && !request.body.empty()) {
      signed_head.headers.emplace_back("Content-Length", std::to_string(request.body.size()));
    }
    const auto scheme =
        is_of_tables ? security::SharedKeyScheme::kSharedKeyLite : security::SharedKeyScheme::kSharedKey;
    const Result<std::string> authorization =
        security::shared_key_authorization(scheme, signed_head, credentials, security::KeyChoice::kPrimary, service);
    if (!authorization.ok()) return authorization.status();
    request.head.headers.emplace_back("Authorization", *authorization);
    return Status();
  });
}

Wire::Sign signing_with_signature(std::string signature) {
  return [signature = std::move(signature)](serve::HttpRequest& request) {
    request.head.query += (request.head.query.empty() ? "" : "&") + signature;
    return Status();
  };
}

struct ServiceName {
  StorageService service;
  /// As the header Server of an answer has it, in lower case: `Varve-Queue/1.0`, `Azurite-Queue/3.29.0`.
  std::string_view in_header;
  const char* name;
  const char* ports;
};
constexpr ServiceName kServiceNames[] = {
    {StorageService::kTables, "-table", "table", "`varve serve --listen`; often port 10002"},
    {StorageService::kQueues, "-queue", "queue", "`varve serve --listen-queues`; often port 10001"},
    {StorageService::kBlobs, "-blob", "blob", "`varve serve --listen-blobs`; often port 10000"}};

/// Returns the failure of an answer that comes from another service than `wanted`.
Status check_answering_service(const serve::HttpResponse& response, StorageService wanted) {
  const std::string* const header = serve::find_header(response.headers, "server");
  if (header == nullptr) return Status();
  const std::string server = lower_case(*header);
  const auto answers = [&server](const ServiceName& one) { return server.find(one.in_header) != std::string::npos; };
  const auto* const answering = std::find_if(std::begin(kServiceNames), std::end(kServiceNames), answers);
  if (answering == std::end(kServiceNames) || answering->service == wanted) return Status();
  const auto* const needed = std::find_if(std::begin(kServiceNames), std::end(kServiceNames),
                                          [wanted](const ServiceName& one) { return one.service == wanted; });
  return Status::invalid_argument("a " + std::string(answering->name) +
                                  " service answers at this address; the verb needs a " + needed->name + " service")
      .with_hint("each service has an address of its own; that of the " + std::string(needed->name) +
                 " service is the one of " + needed->ports);
}

/// Judges the answers of the account's service.
Wire::Judge judging_answers(std::string account, StorageService service) {
  return [account = std::move(account), service](const serve::HttpResponse& response) {
    if (Status checked = check_answering_service(response, service); !checked.ok()) return checked;
    if (response.status != 401 && response.status != 403) return Status();
    const Status refused = status_of(response);
    if (refused.service_error() != "AuthenticationFailed" || !refused.hint().empty()) return Status();
    return refused.with_hint(
        "the key or the signature is not one of account " + account +
        ", has ended, or the clocks of the two machines differ by more than 15 minutes; an address "
        "ends with its account");
  };
}

}  // namespace

void set_key_file(const std::string& file) {
  key_file() = file;
}

void set_certificates(const std::string& file) {
  certificate_file() = file;
}

Result<ServiceAddress> service_address(const std::string& text, const std::string& account, StorageService service) {
  Result<Url> url = parse_url(text);
  if (!url.ok()) return url.status();
  Result<Secrets> secrets = find_secrets();
  if (!secrets.ok()) return secrets.status();
  if (!(*url).query.empty()) *secrets = Secrets{"", "", (*url).query};
  const std::string name = host_name((*url).host);
  ServiceAddress found{(*url).scheme_and_host, (*url).path, account, certificate_file(), {}, {}, {}};
  if (!found.path.empty()) {
    found.account = found.path.substr(found.path.rfind('/') + 1);
  } else if (is_plain_host(name)) {
    if (!(*secrets).account.empty()) found.account = (*secrets).account;
    found.path = "/" + found.account;
  } else {
    found.account = name.substr(0, name.find('.'));
  }
  if (!(*secrets).account.empty() && (*secrets).account != found.account)
    return refuse("the key is of account " + (*secrets).account + ", but the address is of account " + found.account)
        .with_hint(kAddressHint);
  found.judge = judging_answers(found.account, service);
  if (!(*secrets).signature.empty()) {
    found.signature = (*secrets).signature;
    if (found.signature.starts_with('?')) found.signature.erase(0, 1);
    found.sign = signing_with_signature(found.signature);
    return found;
  }
  if ((*secrets).key.empty() && is_this_machine(name) && found.account == serve::kDevelopmentAccount)
    (*secrets).key = serve::kDevelopmentKey;
  if ((*secrets).key.empty()) {
    return refuse("no key for account " + found.account +
                  "; give --key-file, or set AZURE_STORAGE_CONNECTION_STRING, AZURE_STORAGE_KEY or "
                  "AZURE_STORAGE_SAS_TOKEN")
        .with_hint(found.path.find('/', 1) == std::string::npos ? "" : kAddressHint);
  }
  Result<Wire::Sign> sign = signing_with_key(found.account, (*secrets).key, service);
  if (!sign.ok()) return sign.status();
  found.sign = *std::move(sign);
  return found;
}

}  // namespace varve::tool

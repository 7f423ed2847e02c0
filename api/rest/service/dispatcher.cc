#include "api/rest/service/dispatcher.h"

#include <random>
#include <utility>

#include "api/model/service_error.h"
#include "api/rest/protocol/operator_error.h"
#include "api/rest/protocol/request_rules.h"
#include "api/rest/protocol/target.h"
#include "api/rest/protocol/version_rules.h"
#include "api/rest/protocol/wire_error.h"
#include "api/rest/service/call.h"
#include "api/rest/service/routes.h"
#include "api/security/http_date.h"

namespace varve::serve {
namespace {

constexpr std::size_t kClientRequestIdMax = 1024;
constexpr std::size_t kCommonHeaders = 7;

std::uint64_t draw_number() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

/// Writes `digits` digits that end before `end`.
void put_hexadecimal(std::string& text, std::size_t end, std::size_t digits, std::uint64_t number) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (; digits > 0; --digits, number >>= 4) text[--end] = kDigits[number & 0xF];
}

/// Returns whether the failure needs an operator's attention.
bool is_ours(const WireError& error) noexcept {
  return error.status >= 500 && error.code != "NotImplemented";
}

/// Returns whether the answer is XML. Only the query decides, so that errors before routing use XML too (E-02).
bool speaks_xml(const HttpRequest& request) {
  const Result<Part> part = part_of(request.head.query);
  return part.ok() && *part != Part::kContent;
}

/// Returns the header Date. A thread keeps its last one, because all answers of a second have the same.
std::string_view date_of(DateTime time) {
  constexpr std::uint64_t kTicksPerSecond = 10'000'000;
  struct Last {
    std::uint64_t second = UINT64_MAX;
    std::string date;
  };
  static thread_local Last last;
  const std::uint64_t second = time.ticks / kTicksPerSecond;
  if (last.second != second) {
    last.date = security::http_date(time);
    last.second = second;
  }
  return last.date;
}

void add_common_headers(const HttpRequest& request, const ErrorTrailer& trailer, std::string_view version,
                        HttpResponse& response) {
  response.headers.reserve(response.headers.size() + kCommonHeaders);
  response.with("Cache-Control", "no-cache").with("X-Content-Type-Options", "nosniff");
  response.with("x-ms-request-id", trailer.request_id).with("x-ms-version", version);
  response.with("Date", date_of(trailer.time)).with("Server", "Varve-Table/1.0");
  const std::string* const id = find_header(request.head.headers, "x-ms-client-request-id");
  if (id != nullptr && id->size() <= kClientRequestIdMax) response.with("x-ms-client-request-id", *id);
}

}  // namespace

/// The values that are parsed before authentication.
struct Dispatcher::Asked {
  std::string version;
  std::string verb;
  Address address;
};

/// An authenticated request for an existing kind of resource.
struct Dispatcher::Prepared {
  Address address;
  Target target;
  std::string verb;
  Routed routed;
  security::AsyncSession session;
};

/// The values of a request that its answer shows, as far as they were parsed.
struct Dispatcher::Told {
  Preference preference = Preference::kNone;
  PayloadLevel level = PayloadLevel::kMinimal;
  std::string version{kNewestVersion};
  Operation operation = Operation::kUnresolved;
  /// An account that the server knows, or empty.
  std::string account{};
};

namespace {

/// Calls the route's handler with the access that the session allows.
Answer run(const Door& door, const Call& call, const security::AsyncSession& session, Store& store) {
  if (const auto* const route = std::get_if<EntityRoute>(&door)) {
    Task<Result<Table>> opening = session.table(call.target.table, call.stop);
    Result<Table> table = co_await opening;
    co_await GoHome(call.home);
    if (table.code() == Code::kForbidden) co_return table.status();
    Result<AsyncTable> fenced =
        table.ok() ? Result<AsyncTable>(AsyncTable(*std::move(table), call.home)) : table.status();
    Answer answer = route->handler(call, std::move(fenced));
    Result<HttpResponse> response = co_await answer;
    co_return response;
  }
  if (const auto* const route = std::get_if<AccountRoute>(&door)) {
    Task<Status> checking = session.check(route->operation, call.stop);
    const Status allowed = co_await checking;
    co_await GoHome(call.home);
    if (!allowed.ok()) co_return allowed;
    Answer answer = route->handler(call, store);
    Result<HttpResponse> response = co_await answer;
    co_return response;
  }
  Answer answer = std::get<BatchRoute>(door).handler(call, session);
  Result<HttpResponse> response = co_await answer;
  co_return response;
}

}  // namespace

Dispatcher::Dispatcher(Store& store, Accounts accounts, security::Clock clock, FailureLog log)
    : store_(store),
      keyring_(std::make_shared<Keyring>(std::move(accounts))),
      clock_(std::move(clock)),
      log_(std::move(log)),
      cross_origin_(store),
      id_base_(draw_number()) {}

namespace {

Task<Result<security::Session>> ended(Status status) {
  co_return status;
}

Task<Result<security::Session>> opened(Result<security::Session> session) {
  co_return session;
}

/// Returns the refusal of a request. If the account is unknown, no signature can be valid, so the answer reports the
/// missing account. Source: X-28.
Status told_of_account(const Status& refusal, bool is_known) {
  if (is_known || refusal.service_error() != "AuthenticationFailed") return refusal;
  return service_error::resource_not_found("The account does not exist.");
}

}  // namespace

std::string Dispatcher::next_request_id() {
  const std::uint64_t number = requests_.fetch_add(1, std::memory_order_relaxed) + 1;
  std::string text = "00000000-0000-0000-0000-000000000000";
  put_hexadecimal(text, 8, 8, id_base_ >> 32);
  put_hexadecimal(text, 13, 4, id_base_ >> 16);
  put_hexadecimal(text, 18, 4, id_base_);
  put_hexadecimal(text, 23, 4, number >> 48);
  put_hexadecimal(text, 36, 12, number);
  return text;
}

Task<Result<security::Session>> Dispatcher::open_session(const HttpRequest& request, Keyring& keyring,
                                                         const std::string& account) {
  if (request.is_operator) return opened(security::Session::of_operator(store_, account, clock_));
  if (find_header(request.head.headers, "authorization") != nullptr) {
    return security::AsyncSession::open(store_, keyring.accounts.find(account), request.head, request.arrival, clock_,
                                        stop_.get_token());
  }
  const Result<security::VerifiedSignature> signature = keyring.signatures.verify(account, request.head.query);
  if (!signature.ok()) return ended(signature.status());
  return security::AsyncSession::open(store_, *signature, request.arrival, clock_, stop_.get_token());
}

Result<Address> Dispatcher::address_of(const HttpRequest& request, const Keyring& keyring) {
  return parse_address(request.head.path, host_of(request), request.arrival.is_https ? "https" : "http",
                       // An operator's host names no account.
                       [&](std::string_view name) { return !request.is_operator && keyring.accounts.knows(name); });
}

Result<Dispatcher::Asked> Dispatcher::identify(const HttpRequest& request, const Keyring& keyring, Told& told) {
  Result<std::string> version = protocol_version(request.head);
  if (!version.ok()) return version.status();
  told.version = *version;
  Result<std::string> verb = effective_verb(request.head.verb, request.head.headers);
  if (!verb.ok()) return verb.status();
  if (Status known = check_data_service_version(request.head.headers, *version); !known.ok()) return known;
  Result<Address> address = address_of(request, keyring);
  if (!address.ok()) return address.status();
  if (keyring.accounts.knows(address->account)) told.account = address->account;
  return Asked{*std::move(version), *std::move(verb), *std::move(address)};
}

Result<Dispatcher::Prepared> Dispatcher::prepare(const HttpRequest& request, Asked asked, security::Session session) {
  if (Status known = check_signature_is_known(request.head, asked.version); !known.ok()) return known;
  Result<Target> target = parse_resource(asked.address.resource);
  if (!target.ok()) return target.status();
  const bool may_read = asked.verb == "GET" || asked.verb == "HEAD" || target->resource == Resource::kBatch;
  if (asked.address.is_secondary && !may_read) return secondary_is_for_reading();  // a batch judges its parts
  const Result<Routed> routed = route_request(request, target->resource, asked.verb, asked.version);
  if (!routed.ok()) return routed.status();
  if (Status digest = check_body_digest(request); !digest.ok()) return digest;
  return Prepared{std::move(asked.address), *std::move(target), std::move(asked.verb), *routed,
                  security::AsyncSession(std::move(session))};
}

Task<Status> Dispatcher::admit(const HttpRequest& request, HomeThread* home) {
  Told told;
  const std::shared_ptr<Keyring> keyring = keyring_.present();
  Result<Asked> asked = identify(request, *keyring, told);
  if (!asked.ok()) co_return asked.status();
  Task<Result<security::Session>> opening = open_session(request, *keyring, asked->address.account);
  const Result<security::Session> session = co_await opening;
  co_await GoHome(home);
  co_return session.status();
}

Task<Result<HttpResponse>> Dispatcher::carry_out(const HttpRequest& request, const ErrorTrailer& trailer,
                                                 HomeThread* home, Told& told) {
  const std::shared_ptr<Keyring> keyring = keyring_.present();
  if (request.refusal) {
    (void)identify(request, *keyring, told);  // sets the values that the answer shows
    co_return *request.refusal;
  }
  if (Status once = check_headers_once(request.head.headers); !once.ok()) co_return once;
  if (request.head.verb == "OPTIONS") {
    Task<Result<HttpResponse>> answering = preflight(request, home, *keyring);
    Result<HttpResponse> outcome = co_await answering;
    co_return outcome;
  }
  Result<Asked> asked = identify(request, *keyring, told);
  if (!asked.ok()) co_return asked.status();
  Task<Result<security::Session>> opening = open_session(request, *keyring, asked->address.account);
  Result<security::Session> session = co_await opening;
  co_await GoHome(home);
  if (!session.ok()) {
    co_return told_of_account(session.status(), keyring->accounts.knows(asked->address.account));
  }
  const Result<Prepared> prepared = prepare(request, *std::move(asked), *std::move(session));
  if (!prepared.ok()) co_return prepared.status();
  const Routed& routed = prepared->routed;
  told.preference = routed.preference;
  told.level = routed.level;
  told.operation = operation_of(routed.route->resource, routed.route->part, routed.route->verb);
  const Call call{request,           prepared->address, prepared->target, prepared->verb, told.version,
                  told.level,        told.preference,   routed.time_max,  trailer,        home,
                  stop_.get_token(), store_.limits()};
  Answer answer = run(routed.route->door, call, prepared->session, store_);
  Result<HttpResponse> outcome = co_await answer;
  if (routed.route->part == Part::kProperties && prepared->verb == "PUT")
    cross_origin_.forget(prepared->address.account);
  co_return outcome;
}

/// Answers a preflight for any path, even if no resource exists there. An unknown account is treated like an account
/// without rules.
Task<Result<HttpResponse>> Dispatcher::preflight(const HttpRequest& request, HomeThread* home, const Keyring& keyring) {
  const Result<Address> address = address_of(request, keyring);
  const bool is_known = address.ok() && keyring.accounts.knows(address->account);
  Task<Result<HttpResponse>> answering =
      cross_origin_.preflight(request, is_known ? address->account : std::string(), home, stop_.get_token());
  Result<HttpResponse> outcome = co_await answering;
  co_return outcome;
}

Task<Result<HttpResponse>> Dispatcher::handle(HttpRequest request, HomeThread* home, Operation* operation) {
  const std::string request_id = next_request_id();
  const ErrorTrailer trailer{request_id, clock_()};
  Told told;
  // A separate task turns a lack of memory during the request into an ordinary error answer.
  Task<Result<HttpResponse>> carrying = carry_out(request, trailer, home, told);
  Result<HttpResponse> outcome = co_await carrying;
  if (operation != nullptr) *operation = told.operation;
  HttpResponse response;
  if (outcome.ok()) {
    response = *std::move(outcome);
  } else {
    response = error_response(outcome.status(), told.level, trailer, speaks_xml(request));
    add_preference(response, told.preference);
    if (request.is_operator) add_operator_error(response, outcome.status());
    if (is_ours(wire_error(outcome.status()))) log_(request_id, outcome.status());
  }
  if (request.head.verb == "HEAD") response.body.clear();
  add_common_headers(request, trailer, told.version, response);
  if (cross_origin_.concerns(request, told.account, told.version)) {
    // If the rules cannot be read, the answer is sent without CORS headers (P-13).
    Task<Status> adding = cross_origin_.add_headers(request, told.account, home, stop_.get_token(), response);
    (void)co_await adding;
  }
  co_return response;
}

HttpResponse Dispatcher::refuse(const Status& status) {
  const std::string request_id = next_request_id();
  const ErrorTrailer trailer{request_id, clock_()};
  HttpResponse response = error_response(status, PayloadLevel::kMinimal, trailer);
  add_common_headers(HttpRequest(), trailer, kNewestVersion, response);
  return response;
}

}  // namespace varve::serve

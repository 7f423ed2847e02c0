#include "api/rest/service/dispatcher.h"

#include <algorithm>
#include <random>
#include <string_view>
#include <utility>

#include "api/model/service_error.h"
#include "api/rest/protocol/operator_error.h"
#include "api/rest/protocol/wire_error.h"
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

/// Returns whether an answer repeats the client's id: at most 1,024 visible characters of ASCII, or blanks (QH-03).
bool is_shown_id(std::string_view id) noexcept {
  return id.size() <= kClientRequestIdMax &&
         std::all_of(id.begin(), id.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

/// Returns whether the failure needs an operator's attention.
bool is_ours(const WireError& error) noexcept {
  return error.status >= 500 && error.code != "NotImplemented";
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

}  // namespace

Dispatcher::Dispatcher(Store& store, std::shared_ptr<Keyring> keyring, security::Clock clock, FailureLog log,
                       StorageService service, std::string_view name)
    : store_(store),
      keyring_(std::move(keyring)),
      clock_(std::move(clock)),
      log_(std::move(log)),
      service_(service),
      name_(name),
      cross_origin_(store, service),
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

void Dispatcher::add_common_headers(const HttpRequest& request, const ErrorTrailer& trailer, const Told& told,
                                    HttpResponse& response) const {
  response.headers.reserve(response.headers.size() + kCommonHeaders);
  if (!told.may_be_kept) response.with("Cache-Control", "no-cache");
  response.with("X-Content-Type-Options", "nosniff");
  response.with("x-ms-request-id", trailer.request_id).with("x-ms-version", told.version);
  response.with("Date", date_of(trailer.time)).with("Server", name_);
  const std::string* const id = find_header(request.head.headers, "x-ms-client-request-id");
  if (id != nullptr && is_shown_id(*id)) response.with("x-ms-client-request-id", *id);
}

Task<Result<security::Session>> Dispatcher::open_session(const HttpRequest& request, Keyring& keyring,
                                                         const Asked& asked) {
  const std::string& account = asked.address.account;
  if (request.is_operator) return opened(security::Session::of_operator(store_, account, clock_));
  const Result<security::SignedPlace> place = place_of(request, asked);
  if (!place.ok()) return ended(place.status());
  if (find_header(request.head.headers, "authorization") != nullptr) {
    return security::AsyncSession::open(store_, keyring.accounts.find(account), request.head, request.arrival, clock_,
                                        stop_.get_token(), *place);
  }
  const Result<security::VerifiedSignature> signature = keyring.signatures.verify(account, request.head.query, *place);
  if (!signature.ok()) return ended(signature.status());
  return security::AsyncSession::open(store_, *signature, request.arrival, clock_, stop_.get_token());
}

Result<Address> Dispatcher::address_of(const HttpRequest& request, const Keyring& keyring) const {
  // An operator's host names no account.
  const auto is_known = [&](std::string_view name) { return !request.is_operator && keyring.accounts.knows(name); };
  Result<Address> address =
      parse_address(request.head.path, host_of(request), request.arrival.is_https ? "https" : "http", is_known);
  if (!address.ok() || !address->service || *address->service == service_) return address;
  return refused("InvalidUri", "the host names another service than the one that this port serves");
}

Result<Dispatcher::Asked> Dispatcher::identify(const HttpRequest& request, const Keyring& keyring, Told& told) const {
  Result<std::string> version = protocol_version(request.head);
  if (!version.ok()) return version.status();
  told.version = *version;
  Result<std::string> verb = verb_of(request, *version);
  if (!verb.ok()) return verb.status();
  Result<Address> address = address_of(request, keyring);
  if (!address.ok()) return address.status();
  if (keyring.accounts.knows(address->account)) told.account = address->account;
  return Asked{*std::move(version), *std::move(verb), *std::move(address)};
}

Task<Status> Dispatcher::admit(const HttpRequest& request, HomeThread* home) {
  Told told;
  const std::shared_ptr<Keyring> keyring = keyring_.present();
  Result<Asked> asked = identify(request, *keyring, told);
  if (!asked.ok()) co_return asked.status();
  Task<Result<security::Session>> opening = open_session(request, *keyring, *asked);
  const Result<security::Session> session = co_await opening;
  co_await GoHome(home);
  co_return session.status();
}

Task<Result<HttpResponse>> Dispatcher::carry_out(const HttpRequest& request, const ErrorTrailer& trailer,
                                                 HomeThread* home, Told& told) {
  const std::shared_ptr<Keyring> keyring = keyring_.present();
  if (request.refusal) {
    const Result<Asked> asked = identify(request, *keyring, told);  // sets the values that the answer shows
    if (asked.ok()) told.refused_operation = operation_of(request, *asked);
    co_return *request.refusal;
  }
  if (Status once = check_headers_once(request.head.headers); !once.ok()) co_return once;
  if (request.head.verb == "OPTIONS") {
    Task<Result<HttpResponse>> answering = preflight(request, home, *keyring, told);
    Result<HttpResponse> outcome = co_await answering;
    co_return outcome;
  }
  const Result<Asked> asked = identify(request, *keyring, told);
  if (!asked.ok()) co_return asked.status();
  Task<Result<security::Session>> opening = open_session(request, *keyring, *asked);
  Result<security::Session> session = co_await opening;
  co_await GoHome(home);
  if (!session.ok()) {
    told.refused_operation = operation_of(request, *asked);
    const bool is_known = keyring->accounts.knows(asked->address.account);
    const Status refusal = told_of_account(session.status(), is_known);
    if (!is_known || refusal.service_error() != "NoAuthenticationInformation") co_return refusal;
    Task<Result<HttpResponse>> answering = answer_anonymous(request, *asked, refusal, trailer, home, told);
    Result<HttpResponse> outcome = co_await answering;
    co_return outcome;
  }
  const security::AsyncSession of_caller(*std::move(session));
  Task<Result<HttpResponse>> answering = answer(request, *asked, of_caller, trailer, home, told);
  Result<HttpResponse> outcome = co_await answering;
  const bool is_refused_early = !outcome.ok() && told.operation == Operation::kUnresolved;
  if (is_refused_early) told.refused_operation = operation_of(request, *asked);
  co_return outcome;
}

Task<Result<HttpResponse>> Dispatcher::answer_anonymous(const HttpRequest& /*request*/, const Asked& /*asked*/,
                                                        const Status& refusal, const ErrorTrailer& /*trailer*/,
                                                        HomeThread* /*home*/, Told& /*told*/) {
  co_return refusal;
}

Task<Status> Dispatcher::check_signature(const HttpRequest& request, const std::string& account,
                                         const std::string& query, const security::SignedPlace& place,
                                         security::AccountOperation operation, const std::string& resource) {
  const std::shared_ptr<Keyring> keyring = keyring_.present();
  const Result<security::VerifiedSignature> signature = keyring->signatures.verify(account, query, place);
  if (!signature.ok()) co_return signature.status();
  Task<Result<security::Session>> opening =
      security::AsyncSession::open(store_, *signature, request.arrival, clock_, stop_.get_token());
  Result<security::Session> session = co_await opening;
  if (!session.ok()) co_return session.status();
  const security::AsyncSession of_url(*std::move(session));
  Task<Status> checking = of_url.check(operation, stop_.get_token(), resource);
  const Status allowed = co_await checking;
  co_return allowed;
}

/// Answers a preflight for any path, even if no resource exists there. An unknown account is treated like an account
/// without rules.
Task<Result<HttpResponse>> Dispatcher::preflight(const HttpRequest& request, HomeThread* home, const Keyring& keyring,
                                                 Told& told) {
  const Result<Address> address = address_of(request, keyring);
  const bool is_known = address.ok() && keyring.accounts.knows(address->account);
  if (is_known) told.preflight_account = address->account;
  Task<Result<HttpResponse>> answering =
      cross_origin_.preflight(request, is_known ? address->account : std::string(), home, stop_.get_token());
  Result<HttpResponse> outcome = co_await answering;
  co_return outcome;
}

Task<Result<HttpResponse>> Dispatcher::handle(HttpRequest request, HomeThread* home, RequestFacts* facts) {
  const std::string request_id = next_request_id();
  const ErrorTrailer trailer{request_id, clock_()};
  Told told;
  // A separate task turns a lack of memory during the request into an ordinary error answer.
  Task<Result<HttpResponse>> carrying = carry_out(request, trailer, home, told);
  Result<HttpResponse> outcome = co_await carrying;
  HttpResponse response;
  if (outcome.ok()) {
    response = *std::move(outcome);
  } else {
    response = failure(outcome.status(), trailer, told, &request);
    if (request.is_operator) add_operator_error(response, outcome.status());
    if (is_ours(wire_error(outcome.status()))) log_(request_id, outcome.status());
  }
  if (request.head.verb == "HEAD") {
    response.body.clear();
    response.source.reset();
  }
  add_common_headers(request, trailer, told, response);
  if (cross_origin_.concerns(request, told.account, told.version)) {
    // If the rules cannot be read, the answer is sent without CORS headers (P-13).
    Task<Status> adding = cross_origin_.add_headers(request, told.account, home, stop_.get_token(), response);
    (void)co_await adding;
  }
  if (facts != nullptr) {
    facts->operation = told.operation;
    facts->named = told.operation == Operation::kUnresolved ? told.refused_operation : told.operation;
    facts->account = std::move(told.account.empty() ? told.preflight_account : told.account);
    facts->request = std::move(request);
    facts->parts = std::move(told.parts);
  }
  co_return response;
}

HttpResponse Dispatcher::refuse(const Status& status) {
  const std::string request_id = next_request_id();
  const ErrorTrailer trailer{request_id, clock_()};
  const Told told;
  HttpResponse response = failure(status, trailer, told, nullptr);
  add_common_headers(HttpRequest(), trailer, told, response);
  return response;
}

}  // namespace varve::serve

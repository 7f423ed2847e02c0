#include "tools/serve/serve.h"

#include <array>
#include <charconv>
#include <memory>
#include <system_error>
#include <utility>

namespace varve::serve {
namespace {

Result<Accounts> read_accounts(const std::vector<std::string>& definitions) {
  Result<Accounts> accounts = Accounts::create();
  for (std::size_t i = 0; accounts.ok() && i < definitions.size(); ++i) {
    if (Status added = accounts->add(definitions[i]); !added.ok()) return added;
  }
  return accounts;
}

template <typename Choice, std::size_t size>
Status read_choice(const std::string& word, const std::array<std::pair<std::string_view, Choice>, size>& choices,
                   Choice& chosen) {
  for (const auto& [name, choice] : choices) {
    if (name != word) continue;
    chosen = choice;
    return Status();
  }
  return Status::invalid_argument("\"" + word + "\" is not among the choices");
}

constexpr std::array<std::pair<std::string_view, StatusPageMode>, 4> kStatusPageModes = {
    {{"auto", StatusPageMode::kAuto},
     {"off", StatusPageMode::kOff},
     {"figures", StatusPageMode::kFigures},
     {"explore", StatusPageMode::kExplore}}};
constexpr std::array<std::pair<std::string_view, RequestLogLevel>, 3> kRequestLogLevels = {
    {{"off", RequestLogLevel::kOff}, {"failures", RequestLogLevel::kFailures}, {"all", RequestLogLevel::kAll}}};

/// What can be watched.
Status read_observation(const ServeOptions& options, ListenOptions& listening) {
  if (Status read = read_choice(options.status_page, kStatusPageModes, listening.status_page); !read.ok()) return read;
  if (Status read = read_choice(options.request_log, kRequestLogLevels, listening.request_log); !read.ok()) return read;
  if (options.metrics.empty()) return Status();
  ListenOptions metrics;
  if (Status parsed = parse_listen(options.metrics, metrics); !parsed.ok()) return parsed;
  listening.metrics = MetricsAddress{metrics.address, metrics.port};
  return Status();
}

}  // namespace

Status parse_listen(const std::string& text, ListenOptions& options) {
  const std::size_t colon = text.rfind(':');
  std::uint16_t port = 0;
  bool is_port = false;
  if (colon != std::string::npos) {
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data() + colon + 1, end, port);
    is_port = colon + 1 < text.size() && stopped == end && error == std::errc();
  }
  if (!is_port) return Status::invalid_argument("\"" + text + "\" is not ADDRESS:PORT");
  std::string address = text.substr(0, colon);
  if (address.starts_with('[') && address.ends_with(']')) address = address.substr(1, address.size() - 2);
  options.address = std::move(address);
  options.port = port;
  return Status();
}

Status serve_until_signal(const ServeOptions& options,
                          const std::function<void(const ServedPlaces& places)>& on_ready) {
  ListenOptions listening;
  if (Status parsed = parse_listen(options.listen, listening); !parsed.ok()) return parsed;
  listening.tls_certificate = options.tls_certificate;
  listening.tls_key = options.tls_key;
  if (Status read = read_observation(options, listening); !read.ok()) return read;
  Result<Accounts> accounts = read_accounts(options.accounts);
  if (!accounts.ok()) return accounts.status();

  StoreOptions store_options;
  store_options.create_if_missing = true;
  const Result<std::unique_ptr<Store>> store = Store::open(options.data, store_options);
  if (!store.ok()) return store.status();
  Result<std::unique_ptr<Server>> server = Server::start(**store, *std::move(accounts), listening);
  if (!server.ok()) return server.status();
  on_ready({(*server)->url(), (*server)->page_url(), (*server)->metrics_port()});
  (*server)->wait_for_signal();
  (*server)->stop();
  return (*store)->close();
}

}  // namespace varve::serve

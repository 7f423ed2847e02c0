#include "tools/serve/serve.h"

#include <array>
#include <charconv>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "tools/serve/transport/log.h"
#include "tools/serve/transport/memory_plan.h"
#include "tools/serve/transport/secret_file.h"
#include "tools/serve/transport/stop_signals.h"

namespace varve::serve {
namespace {

/// Converts `NAME:@FILE` to `NAME:KEY`. No key begins with `@`.
Result<std::string> read_definition(const std::string& definition) {
  const std::size_t colon = definition.find(':');
  const std::string name = definition.substr(0, colon);
  if (colon == std::string::npos || definition.compare(colon + 1, 1, "@") != 0) {
    if (colon != std::string::npos) {
      log_line("the key of account " + name +
               " is in the command line, where every user of this machine can read it; " + "use --account " + name +
               ":@FILE to read it from a file");
    }
    return definition;
  }
  Result<std::string> keys = read_secret_file("the account's key file", definition.substr(colon + 2));
  if (!keys.ok()) return keys.status();
  const std::size_t end = keys->find_last_not_of(" \t\r\n");
  return name + ":" + keys->substr(0, end == std::string::npos ? 0 : end + 1);
}

Result<Accounts> read_accounts(const std::vector<std::string>& definitions) {
  Result<Accounts> accounts = Accounts::create();
  for (std::size_t i = 0; accounts.ok() && i < definitions.size(); ++i) {
    const Result<std::string> definition = read_definition(definitions[i]);
    if (!definition.ok()) return definition.status();
    if (Status added = accounts->add(*definition); !added.ok()) return added;
  }
  return accounts;
}

Result<MemoryPlan> read_memory(const std::string& word) {
  if (word.empty()) return plan_memory(std::nullopt, memory_limit());
  const Result<std::uint64_t> asked = parse_size(word);
  if (!asked.ok()) return asked.status();
  return plan_memory(*asked, std::nullopt);
}

/// Sets the memory limits of the server and of its store.
Status set_memory(const std::string& word, ListenOptions& listening, StoreOptions& store) {
  const Result<MemoryPlan> plan = read_memory(word);
  if (!plan.ok()) return plan.status();
  ConnectionLimits& limits = listening.limits;
  limits.memory_max = plan->bodies;
  if (plan->connections < limits.connections_max) {
    limits.connections_max = plan->connections;
    limits.connections_per_address_max = plan->connections / 2;
  }
  ResourceOptions resources;
  resources.block_cache_bytes = plan->block_cache;
  resources.write_buffer_bytes = plan->write_buffer;
  Result<std::shared_ptr<Resources>> made = Resources::create(resources);
  if (!made.ok()) return made.status();
  store.resources = *std::move(made);
  return Status();
}

template <typename Choice, std::size_t size>
Status read_choice(const std::string& word, const std::array<std::pair<std::string_view, Choice>, size>& choices,
                   Choice& chosen) {
  for (const auto& [name, choice] : choices) {
    if (name != word) continue;
    chosen = choice;
    return Status();
  }
  return Status::invalid_argument("\"" + word + "\" is not one of the choices");
}

constexpr std::array<std::pair<std::string_view, StatusPageMode>, 4> kStatusPageModes = {
    {{"auto", StatusPageMode::kAuto},
     {"off", StatusPageMode::kOff},
     {"figures", StatusPageMode::kFigures},
     {"explore", StatusPageMode::kExplore}}};
constexpr std::array<std::pair<std::string_view, RequestLogLevel>, 3> kRequestLogLevels = {
    {{"off", RequestLogLevel::kOff}, {"failures", RequestLogLevel::kFailures}, {"all", RequestLogLevel::kAll}}};

/// Reads the options for the status page, the request log and the metrics.
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
  if (!is_port) return Status::invalid_argument("\"" + text + "\" is not ADDRESS:PORT, such as 127.0.0.1:10002");
  std::string address = text.substr(0, colon);
  if (address.starts_with('[') && address.ends_with(']')) address = address.substr(1, address.size() - 2);
  options.address = std::move(address);
  options.port = port;
  return Status();
}

Status serve_until_signal(const ServeOptions& options,
                          const std::function<void(const ServedPlaces& places)>& on_ready) {
  StopSignals signals;
  if (Status begun = signals.begin(); !begun.ok()) return begun;
  ListenOptions listening;
  if (Status parsed = parse_listen(options.listen, listening); !parsed.ok()) return parsed;
  listening.tls_certificate = options.tls_certificate;
  listening.tls_key = options.tls_key;
  if (Status read = read_observation(options, listening); !read.ok()) return read;
  Result<Accounts> accounts = read_accounts(options.accounts);
  if (!accounts.ok()) return accounts.status();

  StoreOptions store_options;
  store_options.create_if_missing = true;
  if (Status set = set_memory(options.memory, listening, store_options); !set.ok()) return set;
  const Result<std::unique_ptr<Store>> store = Store::open(options.data, store_options);
  if (!store.ok()) return store.status();
  signals.expect();
  listening.operator_store = options.data;
  Result<std::unique_ptr<Server>> server = Server::start(**store, *std::move(accounts), listening);
  if (!server.ok()) return server.status();
  on_ready({(*server)->url(), (*server)->page_url(), (*server)->metrics_port()});
  signals.wait();
  (*server)->stop();
  const Status closed = (*store)->close();
  finish_log();
  return closed;
}

}  // namespace varve::serve

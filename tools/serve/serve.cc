#include "tools/serve/serve.h"

#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <utility>

#include "tools/serve/cluster_watch.h"
#include "tools/serve/reloader.h"
#include "tools/serve/serve_plan.h"
#include "tools/serve/settings/account_keys.h"
#include "tools/serve/settings/option_values.h"
#include "tools/serve/standby.h"
#include "tools/serve/standby_server.h"
#include "tools/serve/transport/log.h"
#include "tools/serve/transport/service_manager.h"
#include "tools/serve/transport/stop_signals.h"
#include "varve/rados.h"

namespace varve::serve {
namespace {

/// A read that waits longer for the cluster is answered with 503. So a part of it that hangs does not hold up all threads.
constexpr std::chrono::seconds kReadPatience{5};

/// How often a standby shows that it lives in the time after which the service manager takes it for hung.
constexpr int kSignsOfLife = 4;

/// The program's exit code for a failure of the machine, after which a service manager starts it again.
constexpr int kMachineFailed = 4;

/// Connects to the cluster of `--data`. Returns null for a directory of this machine. Errors: those of
/// RadosConnection::open().
Result<std::shared_ptr<const RadosConnection>> cluster_of(const std::string& data, const Settings& settings) {
  const bool has_cache = settings.has(OptionId::kLocalCache);
  RadosConnectionOptions options;
  options.verified_reads = settings.text(OptionId::kVerifiedReads) == "on";
  if (!is_rados_address(data)) {
    if (!has_cache && !options.verified_reads) return std::shared_ptr<const RadosConnection>();
    const OptionId given = has_cache ? OptionId::kLocalCache : OptionId::kVerifiedReads;
    const std::string name = has_cache ? "--local-cache" : "--verified-reads";
    return at_place(settings.place(given),
                    Status::invalid_argument(name + " is for a store on Ceph, and " + data + " is a directory"));
  }
  Result<std::unique_ptr<RadosConnection>> connected = RadosConnection::open(data, options);
  if (!connected.ok()) return connected.status();
  if (has_cache) {
    const Result<LocalCacheDefinition> cache = parse_local_cache(settings.text(OptionId::kLocalCache));
    if (!cache.ok()) return at_place(settings.place(OptionId::kLocalCache), cache.status());
    const Status set = (**connected).set_local_cache(cache->directory, cache->size_bytes);
    if (!set.ok()) return at_place(settings.place(OptionId::kLocalCache), set);
  }
  return std::shared_ptr<const RadosConnection>(*std::move(connected));
}

StorePlace place_of(const std::string& data, const std::shared_ptr<const RadosConnection>& cluster) {
  StorePlace place{data};
  if (cluster == nullptr) return place;
  place.env = cluster->env();
  place.env_owner = cluster;
  place.is_shared = true;
  return place;
}

Result<std::unique_ptr<ClusterWatch>> watch_cluster(const RadosConnection& cluster) {
  return ClusterWatch::start({[&cluster] { return cluster.figures(); }, [](const std::string& line) { log_line(line); },
                              [] {
                                finish_log();
                                std::_Exit(kMachineFailed);
                              }});
}

void expect_end(ClusterWatch* watch, const StopSignals& signals) {
  if (watch != nullptr) watch->expect_end([&signals] { return signals.is_impatient(); });
}

/// Calls a function when its scope ends.
struct AtEnd {
  std::function<void()> act;
  ~AtEnd() { act(); }
};

/// Logs that a message to the service manager failed. A server whose manager is gone still serves.
void note_sent(const Status& sent) {
  if (!sent.ok()) log_problem(sent.message());
}

/// Reloads the settings at each request, until the end is requested. Returns the settings in force.
Settings serve_requests(StopSignals& signals, Reloader reloader, const ServiceManager& manager,
                        const std::string& serving) {
  note_sent(manager.ready(serving));
  while (signals.wait_for_reload()) {
    note_sent(manager.reloading());
    const Status done = reloader.reload();
    const std::string kept = serving + "; the last reload failed and changed nothing: ";
    note_sent(manager.ready(done.ok() ? serving : kept + std::string(done.message())));
  }
  note_sent(manager.stopping());
  return reloader.present();
}

/// Opens the store. Until its turn has come, a signal ends the process by its default action, since there is nothing to
/// close.
Result<std::unique_ptr<Store>> open_in_turn(const StorePlace& place, const ServePlan& plan,
                                            const ServiceManager& manager,
                                            const std::function<void(std::uint16_t metrics_port)>& on_standby) {
  std::unique_ptr<StandbyServer> standby;
  StandbyHooks hooks;
  hooks.on_standby = [&] {
    if (plan.listening.metrics) {
      Result<std::unique_ptr<StandbyServer>> started = StandbyServer::start(*plan.listening.metrics, plan.listening);
      if (started.ok()) {
        standby = *std::move(started);
      } else {
        log_line("this standby has no /health and no /metrics: " + started.status().to_string());
      }
    }
    note_sent(manager.ready("Standing by for " + place.path));
    on_standby(standby ? standby->port() : std::uint16_t{0});
  };
  hooks.may_wait = [] { return true; };
  hooks.alive = [&manager] { manager.alive(); };
  hooks.alive_every = manager.watchdog() / kSignsOfLife;
  return open_as_owner(place, plan.store, hooks);
}

}  // namespace

Status serve_until_signal(const SettingSources& sources,
                          const std::function<void(const ServedPlaces& places)>& on_ready,
                          const std::function<void(std::uint16_t metrics_port)>& on_standby) {
  const ServiceManager manager;
  StopSignals signals;
  if (Status begun = signals.begin(); !begun.ok()) return begun;
  const Result<Settings> settings = load_settings(sources);
  if (!settings.ok()) return settings.status();
  if (Status complete = check_complete(*settings); !complete.ok()) return complete;
  set_log_format(live_options(*settings).log_format);
  Result<ReadAccounts> read = read_accounts(*settings);
  if (!read.ok()) return read.status();
  for (const std::string& warning : (*read).warnings) log_line(warning);
  Result<ServePlan> plan = plan_server(*settings);
  if (!plan.ok()) return plan.status();
  ReloadFigures reloads;
  ListenOptions& listening = (*plan).listening;
  listening.reloads = &reloads;
  listening.watchdog = manager.watchdog();
  listening.alive = [&manager] { manager.alive(); };

  const std::string& data = (*settings).text(OptionId::kData);
  std::unique_ptr<ClusterWatch> cluster_watch;  // bounds the end of the connection too, so it ends after that
  const Result<std::shared_ptr<const RadosConnection>> connected = cluster_of(data, *settings);
  if (!connected.ok()) return connected.status();
  const RadosConnection* const cluster = (*connected).get();
  const StorePlace place = place_of(data, *connected);
  const AtEnd after_store{[&] {
    if (cluster_watch) cluster_watch->expect_exit();
  }};
  const Result<std::unique_ptr<Store>> store = open_in_turn(place, *plan, manager, on_standby);
  if (!store.ok()) return store.status();
  const AtEnd before_store_ends{[&] { expect_end(cluster_watch.get(), signals); }};
  signals.expect();
  if (cluster != nullptr) {
    Result<std::unique_ptr<ClusterWatch>> watching = watch_cluster(*cluster);
    if (!watching.ok()) return watching.status();
    cluster_watch = *std::move(watching);
    cluster->set_read_patience(kReadPatience);
    listening.cluster = [cluster] { return cluster->figures(); };
  } else {
    listening.operator_store = data;
  }
  Result<std::unique_ptr<Server>> started = Server::start(**store, std::move((*read).accounts), listening);
  if (!started.ok()) return started.status();
  Server& server = **started;
  on_ready({server.url(), server.queues_url(), server.blobs_url(), server.page_url(), server.metrics_port()});
  std::unique_ptr<OwnerWatch> watch;
  if (place.is_shared) {
    Result<std::unique_ptr<OwnerWatch>> watching = OwnerWatch::start(**store, [&signals] { signals.request_end(); });
    if (!watching.ok()) return watching.status();
    watch = *std::move(watching);
  }
  const Settings last = serve_requests(signals, Reloader(sources, *settings, server, reloads), manager,
                                       "Serving " + data + " at " + server.url());
  expect_end(cluster_watch.get(), signals);
  const Status loss = watch ? watch->loss() : Status();
  watch.reset();
  server.stop(!loss.ok() ? std::chrono::milliseconds(0) : drain_time(last) - kDrainMin,
              [&signals] { return signals.is_impatient(); });
  if (cluster != nullptr) cluster->set_read_patience(std::chrono::milliseconds(0));  // A close waits for its reads.
  const Status closed = (**store).close();
  return loss.ok() ? closed : loss;
}

}  // namespace varve::serve

#include "tools/serve/serve.h"

#include <memory>
#include <utility>

#include "tools/serve/reloader.h"
#include "tools/serve/serve_plan.h"
#include "tools/serve/settings/account_keys.h"
#include "tools/serve/settings/option_values.h"
#include "tools/serve/transport/log.h"
#include "tools/serve/transport/service_manager.h"
#include "tools/serve/transport/stop_signals.h"
#include "varve/rados.h"

namespace varve::serve {
namespace {

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

}  // namespace

Status serve_until_signal(const SettingSources& sources,
                          const std::function<void(const ServedPlaces& places)>& on_ready) {
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
  std::unique_ptr<RadosConnection> cluster;  // outlives the store
  if (is_rados_address(data)) {
    Result<std::unique_ptr<RadosConnection>> connected = RadosConnection::open(data);
    if (!connected.ok()) return connected.status();
    cluster = *std::move(connected);
    (*plan).store.env = cluster->env();
  }
  const Result<std::unique_ptr<Store>> store = Store::open(data, (*plan).store);
  if (!store.ok()) return store.status();
  signals.expect();
  if (cluster == nullptr) listening.operator_store = data;  // the socket of this machine's verbs lies in the directory
  Result<std::unique_ptr<Server>> started = Server::start(**store, std::move((*read).accounts), listening);
  if (!started.ok()) return started.status();
  Server& server = **started;
  on_ready({server.url(), server.queues_url(), server.blobs_url(), server.page_url(), server.metrics_port()});
  const Settings last = serve_requests(signals, Reloader(sources, *settings, server, reloads), manager,
                                       "Serving " + data + " at " + server.url());
  server.stop(drain_time(last) - kDrainMin, [&signals] { return signals.is_impatient(); });
  return (**store).close();
}

}  // namespace varve::serve

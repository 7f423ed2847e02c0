#include "tools/serve/serve.h"

#include <memory>
#include <utility>

#include "tools/serve/reloader.h"
#include "tools/serve/serve_plan.h"
#include "tools/serve/settings/account_keys.h"
#include "tools/serve/settings/option_values.h"
#include "tools/serve/transport/log.h"
#include "tools/serve/transport/stop_signals.h"

namespace varve::serve {
namespace {

/// Reloads the settings at each request, until the end is requested. Returns the settings in force.
Settings serve_requests(StopSignals& signals, Reloader reloader) {
  while (signals.wait_for_reload()) reloader.reload();
  return reloader.present();
}

}  // namespace

Status serve_until_signal(const SettingSources& sources,
                          const std::function<void(const ServedPlaces& places)>& on_ready) {
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

  const std::string& data = (*settings).text(OptionId::kData);
  const Result<std::unique_ptr<Store>> store = Store::open(data, (*plan).store);
  if (!store.ok()) return store.status();
  signals.expect();
  listening.operator_store = data;
  Result<std::unique_ptr<Server>> started = Server::start(**store, std::move((*read).accounts), listening);
  if (!started.ok()) return started.status();
  Server& server = **started;
  on_ready({server.url(), server.page_url(), server.metrics_port()});
  const Settings last = serve_requests(signals, Reloader(sources, *settings, server, reloads));
  server.stop(drain_time(last) - kDrainMin, [&signals] { return signals.is_impatient(); });
  return (**store).close();
}

}  // namespace varve::serve

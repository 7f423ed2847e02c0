#include "tools/serve/reloader.h"

#include <string>
#include <utility>

#include "tools/serve/serve_plan.h"
#include "tools/serve/settings/account_keys.h"
#include "tools/serve/transport/log.h"

namespace varve::serve {
namespace {

std::int64_t unix_seconds() {
  using std::chrono::seconds;
  using std::chrono::system_clock;
  return std::chrono::duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
}

/// Returns the place of an option for a message.
std::string shown_place(const Settings& settings, OptionId id) {
  const std::string place = settings.place(id);
  return place.empty() ? std::string() : " (" + place + ")";
}

}  // namespace

Reloader::Reloader(SettingSources sources, Settings present, Server& server, ReloadFigures& figures)
    : sources_(std::move(sources)), present_(std::move(present)), server_(server), figures_(figures) {
  figures_.note(true, unix_seconds());
}

Status Reloader::reload() {
  Status done = take_over();
  figures_.add(done.ok(), unix_seconds());
  if (done.ok()) {
    log_line("SIGHUP: the settings, the certificate and the keys were read again");
  } else {
    log_problem("SIGHUP: the server keeps its settings, its certificate and its keys: " + std::string(done.message()));
  }
  return done;
}

Status Reloader::take_over() {
  const Result<Settings> wanted = load_settings(sources_);
  if (!wanted.ok()) return wanted.status();
  if (Status complete = check_complete(*wanted); !complete.ok()) return complete;
  Result<ReadAccounts> read = read_accounts(*wanted);
  if (!read.ok()) return read.status();
  if (Status fits = check_kinds(*wanted); !fits.ok()) return fits;
  const LiveOptions live = live_options(*wanted);
  if (Status taken = server_.reload(std::move((*read).accounts), live); !taken.ok()) return taken;
  set_log_format(live.log_format);
  log_restarts(*wanted);
  // The options that need a restart keep their value of the start, for the next comparison.
  Settings next;
  for (const OptionRule& rule : option_rules()) {
    for (const SettingValue& value : (rule.is_live ? *wanted : present_).all(rule.id)) next.add(rule.id, value);
  }
  present_ = std::move(next);
  return Status();
}

Status Reloader::check_kinds(const Settings& wanted) const {
  const auto needs_restart = [&](OptionId id, const char* why) {
    return at_place(wanted.place(id), Status::invalid_argument(why));
  };
  if (wanted.has(OptionId::kAccount) == server_.is_development()) {
    return needs_restart(OptionId::kAccount,
                         "accounts of its own and the development account replace each other only at a restart");
  }
  if (wanted.has(OptionId::kTlsCert) != present_.has(OptionId::kTlsCert)) {
    return needs_restart(OptionId::kTlsCert, "TLS begins and ends only at a restart");
  }
  return Status();
}

void Reloader::log_restarts(const Settings& wanted) const {
  for (const OptionRule& rule : option_rules()) {
    if (rule.is_live || wanted.equals(present_, rule.id)) continue;
    log_line("SIGHUP: --" + std::string(rule.name) + shown_place(wanted, rule.id) +
             " needs a restart; the server keeps \"" + present_.text(rule.id) + "\"");
  }
}

}  // namespace varve::serve

// Owns: reading the settings of a running server again: all is read and checked first, and then taken over at once.
// Must never: leave a server between old and new settings, or end it because new settings are wrong.
#pragma once

#include <chrono>

#include "tools/serve/server.h"
#include "tools/serve/settings/load_settings.h"
#include "tools/serve/watch/reload_figures.h"

namespace varve::serve {

/// Used by one thread.
class Reloader {
 public:
  /// `present` are the settings with which the server was started. The server and the figures must outlive this object.
  Reloader(SettingSources sources, Settings present, Server& server, ReloadFigures& figures);

  /// Reads settings, certificate and keys again. If anything is wrong, it logs the place and the reason, counts a
  /// failure, and changes nothing. It logs the options that need a restart and leaves them. Returns the error that it
  /// logged.
  Status reload();
  /// Returns the settings that are in force.
  const Settings& present() const noexcept { return present_; }

 private:
  Status take_over();
  /// Returns an error if the new settings cannot be compared with those of the start at all.
  Status check_kinds(const Settings& wanted) const;
  void log_restarts(const Settings& wanted) const;

  const SettingSources sources_;
  Settings present_;
  Server& server_;
  ReloadFigures& figures_;
};

}  // namespace varve::serve

// Owns: the messages of a service to the service manager that started it (systemd's protocol sd_notify).
// Must never: make the server wait for its manager, or end it because the manager is gone.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "varve/status.h"

namespace varve::serve {

/// Sends datagrams to the socket that the environment names. Without one, nothing is sent. Any thread may send.
class ServiceManager {
 public:
  /// Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID.
  ServiceManager();
  ~ServiceManager();
  ServiceManager(const ServiceManager&) = delete;
  ServiceManager& operator=(const ServiceManager&) = delete;

  /// Reports that the service is ready, or ready again after a reload. `status` is one line for people.
  /// Errors of all messages: kIoError: the manager cannot be reached. The message names the address.
  Status ready(std::string_view status) const;
  /// Reports the begin of a reload.
  Status reloading() const;
  Status stopping() const;
  /// Reports that the service is alive. If the manager has messages to read, this one is lost.
  void alive() const noexcept;
  /// Returns the time after which the manager takes a silent service for hung. 0: it does not watch.
  std::chrono::microseconds watchdog() const noexcept { return watchdog_; }

 private:
  Status send(std::string_view message) const;

  std::string address_;
  std::chrono::microseconds watchdog_{0};
  int socket_ = -1;
};

}  // namespace varve::serve

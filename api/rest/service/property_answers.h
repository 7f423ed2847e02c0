// Owns: the answers that every service gives about itself: its properties and its statistics.
// Must never: keep state. Properties are stored with their account.
#pragma once

#include <stop_token>
#include <string_view>

#include "api/rest/protocol/message.h"
#include "api/rest/protocol/target.h"
#include "api/rest/service/handlers.h"
#include "varve/home_thread.h"
#include "varve/service_properties.h"
#include "varve/store.h"
#include "varve/types.h"

namespace varve::serve {

/// A request about a service. Holds views, which must outlive the answer.
struct ServiceCall {
  Store& store;
  StorageService service;
  const HttpRequest& request;
  const Address& address;
  /// The protocol version, `YYYY-MM-DD`.
  std::string_view version;
  /// The present time.
  DateTime now;
  HomeThread* home = nullptr;
  std::stop_token stop{};
};

/// Returns the service's properties. Source: P-01.
Answer answer_properties(ServiceCall call);
/// Replaces the properties that the body sets. Source: P-03.
Answer change_properties(ServiceCall call);
/// Returns the statistics. The secondary reads the primary's store, so its replication never lags. Source: P-04.
Answer answer_statistics(ServiceCall call);

}  // namespace varve::serve

// Owns: an entry of the log that the service keeps for an account: its 30 fields, and the name of the log.
// Must never: show a signature, or a byte that could end or disguise the entry.
#pragma once

#include <cstdint>
#include <string>

#include "api/rest/protocol/message.h"
#include "api/rest/service/request_facts.h"
#include "tools/serve/analytics/operation_type.h"
#include "tools/serve/analytics/request_outcome.h"
#include "tools/serve/watch/request_figures.h"
#include "varve/service_properties.h"
#include "varve/types.h"

namespace varve::serve {

/// A request and its answer. Holds views.
struct LoggedExchange {
  /// When the request began.
  DateTime start;
  StorageService service = StorageService::kTables;
  /// The account must be known.
  const RequestFacts& facts;
  const RequestRecord& record;
  const HttpResponse& response;
  /// The place of a request in its batch, from 0 on.
  std::uint64_t number = 0;
};

RequestClass class_of(const LoggedExchange& exchange);
/// Returns whether the account's settings ask for an entry. Anonymous failures other than 304 have none. Source: AL-01.
bool is_logged(const LoggingProperties& wanted, const LoggedExchange& exchange);
/// Returns the line of version 1.0, with its end. Source: AL-05.
std::string log_entry(const LoggedExchange& exchange);
/// Returns the name of a log: `table/2026/03/03/1800/000001.log`. `number` counts the logs of an hour from 0. Source:
/// AL-03.
std::string log_name(StorageService service, DateTime start, std::uint32_t number);
/// Returns the beginning that the names of all logs of an hour have: `table/2026/03/03/1800/`. The names of later hours
/// are greater. Source: AL-03.
std::string log_folder(StorageService service, DateTime start);
/// Returns the folder of all logs of a service: `table/`.
std::string log_folder(StorageService service);

}  // namespace varve::serve

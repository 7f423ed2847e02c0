// Owns: the names of metrics tables (metrics_tables.h).
// Must never: compare names in another way than those of users' tables.
#include "api/model/metrics_tables.h"

#include <algorithm>
#include <array>
#include <string>

#include "api/model/ascii.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "varve/names.h"

namespace varve {
namespace {

constexpr std::array<std::array<std::string_view, 2>, 3> kTransactions = {{
    {"$MetricsHourPrimaryTransactionsTable", "$MetricsMinutePrimaryTransactionsTable"},
    {"$MetricsHourPrimaryTransactionsQueue", "$MetricsMinutePrimaryTransactionsQueue"},
    {"$MetricsHourPrimaryTransactionsBlob", "$MetricsMinutePrimaryTransactionsBlob"},
}};
/// The former names, in the order of StorageService.
constexpr std::array<std::string_view, 3> kFormerNames = {"$MetricsTransactionsTable", "$MetricsTransactionsQueue",
                                                          "$MetricsTransactionsBlob"};

}  // namespace

std::string_view metrics_table(StorageService service, MetricsInterval interval) noexcept {
  return kTransactions[static_cast<std::size_t>(service)][static_cast<std::size_t>(interval)];
}

std::optional<std::string_view> metrics_table(std::string_view name) noexcept {
  if (!name.starts_with('$')) return std::nullopt;
  const auto is = [name](std::string_view known) {
    return std::equal(name.begin(), name.end(), known.begin(), known.end(),
                      [](char a, char b) { return a == b || (is_letter(a) && (a ^ b) == 0x20); });
  };
  for (std::size_t service = 0; service < kTransactions.size(); ++service) {
    for (const std::string_view known : kTransactions[service]) {
      if (is(known)) return known;
    }
    if (is(kFormerNames[service])) return kTransactions[service].front();
  }
  return is(kCapacityTable) ? std::optional(kCapacityTable) : std::nullopt;
}

Status check_stored_table_name(std::string_view name) {
  return metrics_table(name) == name ? Status() : check_table_name(name);
}

Status metrics_are_read_only(std::string_view table) {
  return service_error::authorization_failure("the table " + quoted(table) +
                                              " belongs to the service; clients can only read it and delete its "
                                              "entities");
}

}  // namespace varve

// Owns: the checks of a transaction as a whole that need no store (transaction.h).
// Must never: check a single operation.
#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "api/model/entity_codec.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "varve/limits.h"
#include "varve/transaction.h"

namespace varve {
namespace {

Status blamed_operation(const Status& status, std::size_t index) {
  return status.at_operation(static_cast<std::uint32_t>(index));
}

Status check_one_partition(std::span<const WriteOperation> operations) {
  const std::string& partition = operations.front().entity.partition_key();
  for (std::size_t i = 1; i < operations.size(); ++i) {
    if (operations[i].entity.partition_key() == partition) continue;
    return blamed_operation(service_error::different_partitions("the transaction is on partition " + quoted(partition) +
                                                                ", but this operation is on " +
                                                                quoted(operations[i].entity.partition_key())),
                            i);
  }
  return Status();
}

bool ascend(std::span<const WriteOperation> operations) {
  const auto does_not = [](const WriteOperation& left, const WriteOperation& right) {
    return left.entity.row_key() >= right.entity.row_key();
  };
  return std::adjacent_find(operations.begin(), operations.end(), does_not) == operations.end();
}

Status check_each_row_once(std::span<const WriteOperation> operations) {
  if (ascend(operations)) return Status();  // the usual case
  std::set<std::string_view> rows;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const std::string& row = operations[i].entity.row_key();
    if (rows.insert(row).second) continue;
    return blamed_operation(service_error::duplicate_row("the transaction has RowKey " + quoted(row) + " twice"), i);
  }
  return Status();
}

/// Source: X-20.
Status check_transaction_size(std::span<const WriteOperation> operations, const StoreLimits& limits) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    bytes += encoded_size_bytes(operations[i].entity);
    if (bytes <= limits.transaction_bytes_max) continue;
    return blamed_operation(
        service_error::request_body_too_large("the encoded transaction has more than " +
                                              std::to_string(limits.transaction_bytes_max) + " bytes"),
        i);
  }
  return Status();
}

}  // namespace

Status check_transaction(std::span<const WriteOperation> operations, const StoreLimits& limits) {
  if (operations.empty())
    return service_error::invalid_input("the transaction has no operation; it needs at least one");
  if (operations.size() > limits.transaction_operations_max) {
    return blamed_operation(service_error::invalid_input(
                                "the transaction has " + std::to_string(operations.size()) + " operations; at most " +
                                std::to_string(limits.transaction_operations_max) + " are allowed"),
                            limits.transaction_operations_max - 1);
  }
  if (Status checked = check_one_partition(operations); !checked.ok()) return checked;
  if (Status checked = check_each_row_once(operations); !checked.ok()) return checked;
  return check_transaction_size(operations, limits);
}

}  // namespace varve

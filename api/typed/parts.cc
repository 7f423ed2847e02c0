// Owns: the places where a list of writes is split (parts.h).
// Must never: change the order of two writes to one entity.
#include "varve/parts.h"

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "api/model/entity_codec.h"
#include "varve/limits.h"

namespace varve {
namespace {

/// The part of a partition that still accepts operations.
struct OpenPart {
  std::size_t part = 0;
  std::size_t bytes = 0;
  std::set<std::string_view> rows;
};

bool takes(const OpenPart& open, std::string_view row, std::size_t bytes) {
  return open.rows.size() < limits::kTransactionOperationsMax && !open.rows.contains(row) &&
         open.bytes + bytes <= limits::kTransactionBytesMax;
}

}  // namespace

std::vector<TransactionPart> split_into_parts(std::span<const WriteOperation> operations) {
  std::vector<TransactionPart> parts;
  std::map<std::string_view, OpenPart> open_parts;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const Entity& entity = operations[i].entity;
    const std::size_t bytes = encoded_size_bytes(entity);
    const auto [found, is_new] = open_parts.try_emplace(entity.partition_key());
    OpenPart& open = found->second;
    if (is_new || !takes(open, entity.row_key(), bytes)) {
      open = OpenPart{parts.size(), 0, {}};
      parts.emplace_back();
    }
    open.bytes += bytes;
    open.rows.insert(entity.row_key());
    parts[open.part].transaction.add(operations[i]);
    parts[open.part].places.push_back(i);
  }
  return parts;
}

PartsOutcome execute_in_parts(Table& table, std::span<const WriteOperation> operations, const WriteOptions& options) {
  PartsOutcome outcome;
  outcome.etags.resize(operations.size());
  for (const TransactionPart& part : split_into_parts(operations)) {
    const Result<std::vector<ETag>> etags = table.execute(part.transaction, options);
    if (!etags.ok()) {
      outcome.status = etags.status();
      if (const auto blamed = outcome.status.operation_index(); blamed && *blamed < part.places.size()) {
        outcome.status = outcome.status.at_operation(static_cast<std::uint32_t>(part.places[*blamed]));
      }
      return outcome;
    }
    for (std::size_t i = 0; i < part.places.size(); ++i) outcome.etags[part.places[i]] = (*etags)[i];
  }
  return outcome;
}

}  // namespace varve

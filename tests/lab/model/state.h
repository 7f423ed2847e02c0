// Owns: the model: what a store holds at one commit version, and what the rules of the service say of a write to it.
// Must never: share code with the store but the values of its doors; slow and plain is what it is for.
//
// States share what they have in common, so that one is kept for each version.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/lab/model/values.h"
#include "varve/access_policy.h"
#include "varve/query.h"
#include "varve/transaction.h"
#include "varve/types.h"

namespace varve::lab {

/// An error that the model can be told to make, to show that a run finds it.
enum class Planted : std::uint8_t {
  kNone,
  kMergeReplaces,      // a merge forgets the other properties
  kBufferedIsDurable,  // buffered writes count as promised to survive a power cut
  kDropKeepsEntities,  // a table made anew has what the dropped one had
};

using Units = std::pair<std::u16string, std::u16string>;

struct ModelRow {
  Units units;  // PartitionKey and RowKey, as they sort
  Entity entity;
};
using RowPointer = std::shared_ptr<const ModelRow>;

struct TableState {
  std::string spelling;
  std::vector<RowPointer> rows;  // by units
  std::vector<AccessPolicy> policies;

  const Entity* find(const std::string& partition, const std::string& row) const;
};
using TablePointer = std::shared_ptr<const TableState>;

struct State {
  /// Of each account the tables, by their names in lower case.
  std::map<std::string, std::map<std::string, TablePointer>> accounts;
  std::optional<std::string> tag;

  /// Null where there is none.
  TablePointer table(const TableName& name) const;
  std::size_t entities() const;
};
using StatePointer = std::shared_ptr<const State>;

/// What a commit does to the state, once its ETag is known.
using Change = std::function<void(State&, ETag)>;

/// The service's error string, and the code where there is none; both empty or kOk: it succeeds.
struct Expected {
  Code code = Code::kOk;
  std::string_view service_error{};
  std::optional<std::uint32_t> operation{};
  bool fine() const { return code == Code::kOk; }
};

/// What is wrong with a write whatever the table holds.
Expected judge_alone(const TransactionOperation& operation, KeyProblem problem);
/// What is wrong with it in this table.
Expected judge_in(const TableState& table, const TransactionOperation& operation, Planted planted);
/// Does a write that is right.
void apply(TableState& table, const TransactionOperation& operation, ETag etag, Planted planted);

/// The rows in the range that the predicate takes, in order.
std::vector<RowPointer> rows_in(const TableState& table, const ScanRange& range,
                                const std::function<bool(const Entity&)>& takes);

/// Keys, ETag and properties whatever their order; Doubles by their bits.
bool same_entity(const Entity& a, const Entity& b);
/// For findings.
std::string entity_text(const Entity& entity);

}  // namespace varve::lab

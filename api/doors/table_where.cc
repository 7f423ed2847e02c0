// Owns: changes by filter: scans find the entities of a batch, and conditional transactions change them (table.h).
// Must never: change an entity in a state that was not judged, or one of a table that took the name later.
//
// An ETag names one state of an entity, and no later state has it. So a transaction on the ETags that a scan returned changes
// exactly the states that met the condition. The transaction compares them under the lock of the partition.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/core/table_state.h"
#include "api/filter/filter.h"
#include "api/model/entity_codec.h"
#include "api/model/guarded.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "api/read/entity_read.h"
#include "varve/limits.h"
#include "varve/names.h"
#include "varve/parts.h"
#include "varve/table.h"

namespace varve {
namespace {

/// The longest time between two looks at the stop token.
constexpr std::chrono::milliseconds kPageTime{500};
/// How often an entity is read again before other writers win.
constexpr int kAttemptsMax = 100;
/// How often a transaction is tried that reports a busy partition, for example because an entity ended.
constexpr int kBusyAttemptsMax = 3;

/// A token is the table's id in hexadecimal, a full stop, and the token of a scan.
std::string where_token(format::TableId table, std::string_view of_scan) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string token;
  for (int shift = 60; shift >= 0; shift -= 4) token.push_back(kDigits[table >> shift & 0xFU]);
  token.push_back('.');
  return token.append(of_scan);
}

Result<std::string> scan_token_of(std::string_view token, format::TableId table) {
  constexpr std::size_t kDigits = 16;
  format::TableId of = 0;
  const std::string_view digits = token.substr(0, std::min(kDigits, token.size()));
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), of, 16);
  const bool is_number = parsed.ec == std::errc() && parsed.ptr == digits.data() + kDigits;
  if (!is_number || token.size() <= kDigits + 1 || token[kDigits] != '.') {
    return service_error::invalid_input("the continuation is not one of a change by filter");
  }
  if (of != table) {
    return service_error::invalid_input(
        "the continuation belongs to another table, or to one of this name that was dropped");
  }
  return std::string(token.substr(kDigits + 1));
}

/// Checks that a change of everything is meant, if the filter matches everything.
Status check_where(const Where& where) {
  const Result<Filter> filter = Filter::parse(where.filter);
  if (!filter.ok()) return filter.status();
  if (filter->matches_everything() == where.all) return Status();
  return service_error::invalid_input(where.all
                                          ? "`all` cannot be combined with a filter"
                                          : "the filter is blank; set `all` if all entities of the range are meant");
}

bool sets(const PropertyChanges& changes, std::string_view name) noexcept {
  return std::any_of(changes.set.begin(), changes.set.end(),
                     [name](const Property& property) { return property.name == name; });
}

bool removes(const PropertyChanges& changes, std::string_view name) noexcept {
  return std::find(changes.remove.begin(), changes.remove.end(), name) != changes.remove.end();
}

Status check_changes(const PropertyChanges& changes, const StoreLimits& limits) {
  if (changes.set.empty() && changes.remove.empty()) {
    return service_error::invalid_input("the change neither sets nor removes a property");
  }
  for (const std::string& name : changes.remove) {
    if (Status checked = check_property_name(name); !checked.ok()) return checked;
    if (name == kPartitionKeyName || name == kRowKeyName || name == kTimestampName) {
      return service_error::invalid_input("every entity has " + name + ", so it cannot be removed");
    }
    if (sets(changes, name)) {
      return service_error::invalid_input("the change both sets and removes the property " + quoted(name));
    }
  }
  Entity set;
  for (const Property& property : changes.set) {
    if (property.name == kPartitionKeyName || property.name == kRowKeyName) {
      return service_error::duplicate_key_property("a change by filter cannot change the " + property.name +
                                                   " of an entity; write another entity");
    }
    set.add(property.name, property.value);
  }
  return check_properties(set, limits);
}

/// Returns whether an entity is no longer in the state that was read.
bool was_overtaken(const Status& failure) noexcept {
  return failure.code() == Code::kPreconditionFailed ||
         (failure.code() == Code::kNotFound && failure.service_error() == "ResourceNotFound");
}

/// One call of delete_where() or update_where().
class WhereRun {
 public:
  using Identity = std::function<Result<format::TableId>()>;

  /// `identity` returns the id that the table's name has now. Without changes, the entities are deleted.
  WhereRun(Table& table, Identity identity, const Where& where, const PropertyChanges* changes,
           const WhereOptions& options)
      : table_(table), identity_(std::move(identity)), where_(where), changes_(changes), options_(options) {}

  Result<WhereProgress> run() {
    const Result<format::TableId> id = identity_();
    if (!id.ok()) return id.status();
    id_ = *id;
    Scan scan = scan_of(where_.range);
    scan.page_entities_max = options_.batch_entities_max;
    if (!options_.continuation.empty()) {
      Result<std::string> token = scan_token_of(options_.continuation, id_);
      if (!token.ok()) return token.status();
      scan.continuation = *std::move(token);
    }
    for (;;) {
      Result<std::optional<std::string>> next = options_.dry_run ? count(scan) : change_batch(scan);
      if (!next.ok()) return next.status();
      done_.continuation.reset();
      if (*next) done_.continuation = where_token(id_, **next);
      if (options_.progress) options_.progress(done_);
      if (!*next || options_.stop.stop_requested()) return done_;
      scan.continuation = **std::move(next);
    }
  }

 private:
  Scan scan_of(ScanRange range) const {
    Scan scan;
    scan.range = std::move(range);
    scan.filter = where_.filter;
    scan.page_time_max = kPageTime;
    // A delete or a merge needs the keys and the ETag alone.
    if (changes_ == nullptr || changes_->remove.empty()) scan.read.select = {std::string(kPartitionKeyName)};
    return scan;
  }

  /// Call it after each read. An id is never used again: if the name has the id afterwards, the read saw the table.
  Status check_same() const {
    const Result<format::TableId> now = identity_();
    if (!now.ok()) return now.status();
    if (*now == id_) return Status();
    return service_error::table_not_found("table " + quoted(table_.name()) +
                                          " was dropped, and created again, during the change");
  }

  Result<std::optional<std::string>> count(const Scan& scan) {
    Result<Count> counted = table_.count(scan);
    if (!counted.ok()) return counted.status();
    if (Status same = check_same(); !same.ok()) return same;
    done_.matched += counted->entities;
    return std::move(counted->continuation);
  }

  Result<std::optional<std::string>> change_batch(const Scan& scan) {
    Result<Page> page = table_.scan(scan);
    if (!page.ok()) return page.status();
    if (Status same = check_same(); !same.ok()) return same;
    done_.matched += page->entities.size();
    std::vector<WriteOperation> operations;
    for (const Entity& entity : page->entities) {
      if (std::optional<WriteOperation> operation = operation_on(entity)) operations.push_back(*std::move(operation));
    }
    for (const TransactionPart& part : split_into_parts(operations)) {
      const std::span<const WriteOperation> of_part = part.transaction.operations();
      if (Status executed = execute({of_part.begin(), of_part.end()}); !executed.ok()) return executed;
    }
    return std::move(page->continuation);
  }

  /// Returns nothing if the change leaves the entity as it is.
  std::optional<WriteOperation> operation_on(const Entity& entity) const {
    if (changes_ == nullptr) {
      return WriteOperation::remove(entity.partition_key(), entity.row_key(), entity.etag());
    }
    Entity changed(entity.partition_key(), entity.row_key());
    if (changes_->remove.empty()) {
      for (const Property& property : changes_->set) changed.set(property.name, property.value);
      return WriteOperation::merge(std::move(changed), entity.etag());
    }
    bool is_changed = !changes_->set.empty();
    for (const Property& property : entity.properties()) {
      if (removes(*changes_, property.name)) {
        is_changed = true;
      } else {
        changed.add(property.name, property.value);
      }
    }
    if (!is_changed) return std::nullopt;
    for (const Property& property : changes_->set) changed.set(property.name, property.value);
    return WriteOperation::replace(std::move(changed), entity.etag());
  }

  /// Executes operations on one partition, and then judges again the entities that other writers changed meanwhile.
  Status execute(std::vector<WriteOperation> operations) {
    std::vector<WriteOperation> overtaken;
    for (int busy = 0; !operations.empty();) {
      const Result<std::vector<ETag>> executed = table_.execute(operations, options_.write);
      if (executed.ok()) break;
      const Status& failure = executed.status();
      if (failure.code() == Code::kBusy && ++busy < kBusyAttemptsMax) continue;
      const std::optional<std::uint32_t> index = failure.operation_index();
      if (!was_overtaken(failure) || !index) return failure;
      const auto at = operations.begin() + static_cast<std::ptrdiff_t>(*index);
      overtaken.push_back(std::move(*at));
      operations.erase(at);
    }
    done_.changed += operations.size();
    for (const WriteOperation& operation : overtaken) {
      if (Status changed = change_again(operation.entity); !changed.ok()) return changed;
    }
    return Status();
  }

  /// Changes the entity if it still meets the condition.
  Status change_again(const Entity& key) {
    for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
      const Result<std::optional<Entity>> entity = read_again(key);
      if (!entity.ok()) return entity.status();
      if (!*entity) {
        ++done_.left;
        return Status();
      }
      const std::optional<WriteOperation> operation = operation_on(**entity);
      if (!operation) return Status();
      const Result<std::vector<ETag>> executed = table_.execute({&*operation, 1}, options_.write);
      if (executed.ok()) {
        ++done_.changed;
        return Status();
      }
      if (!was_overtaken(executed.status()) && executed.code() != Code::kBusy) return executed.status();
    }
    return Status(Code::kBusy, "other writers changed the entity " + quoted(key.partition_key()) + ", " +
                                   quoted(key.row_key()) + " in each of " + std::to_string(kAttemptsMax) +
                                   " attempts to change it; continue later");
  }

  /// Returns the entity if it meets the condition now.
  Result<std::optional<Entity>> read_again(const Entity& key) const {
    // No key is between a RowKey and the same RowKey with a zero appended.
    Scan scan = scan_of(ScanRange::rows(key.partition_key(), key.row_key(), key.row_key() + '\0'));
    for (;;) {
      Result<Page> page = table_.scan(scan);
      if (!page.ok()) return page.status();
      if (Status same = check_same(); !same.ok()) return same;
      if (!page->entities.empty()) return std::optional<Entity>(std::move(page->entities.front()));
      if (!page->continuation) return std::optional<Entity>();
      scan.continuation = *std::move(page->continuation);
    }
  }

  Table& table_;
  const Identity identity_;
  const Where& where_;
  const PropertyChanges* const changes_;
  const WhereOptions& options_;
  format::TableId id_ = 0;
  WhereProgress done_;
};

}  // namespace

Result<WhereProgress> Table::change_where(const Where& where, const PropertyChanges* changes,
                                          const WhereOptions& options) {
  return guarded([&]() -> Result<WhereProgress> {
    StoreCore& core = *state_->core;
    Status usable = options.dry_run ? core.check_open() : core.check_writable();
    if (!usable.ok()) return usable;
    const Result<Grant> granted = state_->grant();
    if (!granted.ok()) return granted.status();
    usable = granted->check_query();
    if (usable.ok()) usable = check_where(where);
    if (usable.ok() && changes != nullptr) usable = check_changes(*changes, core.limits());
    if (!usable.ok()) return usable;
    if (options.batch_entities_max == 0 || options.batch_entities_max > limits::kTransactionOperationsMax) {
      return service_error::invalid_input("batch_entities_max is " + std::to_string(options.batch_entities_max) +
                                          "; 1 to " + std::to_string(limits::kTransactionOperationsMax) +
                                          " are allowed");
    }
    if (options.stop.stop_requested()) {
      return Status(Code::kCancelled, "the caller's stop token cancelled the change before it began");
    }
    WhereRun run(
        *this,
        [this]() -> Result<format::TableId> {
          const Result<ResolvedTable> table =
              resolve_for_read(*state_->core, state_->name, *state_->entry, ReadOptions());
          if (!table.ok()) return table.status();
          return table->id;
        },
        where, changes, options);
    return run.run();
  });
}

Result<WhereProgress> Table::delete_where(const Where& where, const WhereOptions& options) {
  return change_where(where, nullptr, options);
}

Result<WhereProgress> Table::update_where(const Where& where, const PropertyChanges& changes,
                                          const WhereOptions& options) {
  return change_where(where, &changes, options);
}

}  // namespace varve

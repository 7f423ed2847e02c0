// Owns: the verbs of a table, each as a call of the part that does it (table.h).
// Must never: do the work itself. entity_read.h and entity_write.h do.
#include "varve/table.h"

#include <utility>

#include "api/core/table_state.h"
#include "api/model/guarded.h"
#include "api/model/service_error.h"
#include "api/read/aggregation_state.h"
#include "api/read/entity_read.h"
#include "api/read/row_listing.h"
#include "api/read/scan_read.h"
#include "api/write/entity_change.h"
#include "api/write/entity_write.h"
#include "api/write/group_change.h"

namespace varve {
Result<Page> Table::State::read_page(const Scan& scan, const EntityReader* reader) const {
  return guarded([&]() -> Result<Page> {
    if (Status open = core->check_open(); !open.ok()) return open;
    const Result<Grant> granted = grant();
    if (!granted.ok()) return granted.status();
    return varve::read_page(*core, name, *entry, *granted, scan, {}, reader);
  });
}

Table::Table(std::shared_ptr<const State> state) noexcept : state_(std::move(state)) {}

std::string_view Table::account() const& noexcept {
  return state_->name.account;
}

std::string_view Table::name() const& noexcept {
  return state_->name.spelling;
}

Result<ETag> Table::write(const WriteView& operation, const WriteOptions& options) {
  return guarded([&]() -> Result<ETag> {
    StoreCore& core = *state_->core;
    if (Status writable = core.check_writable(); !writable.ok()) return writable;
    const Result<Grant> granted = state_->grant();
    if (!granted.ok()) return granted.status();
    for (;;) {  // again if the indexes of the table were changed between preparation and commit
      Result<PreparedWrite> write = prepare_write(*granted, operation, core.limits());
      if (!write.ok()) return write.status();
      Result<ETag> etag = commit_write(core, state_->name, *state_->entry, *write, options);
      if (etag.ok() || !is_made_for_other_indexes(etag.status())) return etag;
    }
  });
}

Result<Entity> Table::patched(const WriteView& operation, const WriteOptions& options) {
  return guarded([&]() -> Result<Entity> {
    StoreCore& core = *state_->core;
    if (Status writable = core.check_writable(); !writable.ok()) return writable;
    const Result<Grant> granted = state_->grant();
    if (!granted.ok()) return granted.status();
    for (;;) {  // as in write()
      Result<PreparedWrite> write = prepare_write(*granted, operation, core.limits());
      if (!write.ok()) return write.status();
      const Result<ETag> etag = commit_write(core, state_->name, *state_->entry, *write, options);
      if (etag.ok()) return write->terms->take_patched(*etag);
      if (!is_made_for_other_indexes(etag.status())) return etag.status();
    }
  });
}

Result<std::vector<ETag>> Table::execute(std::span<const WriteOperation> operations, const WriteOptions& options) {
  return guarded([&]() -> Result<std::vector<ETag>> {
    StoreCore& core = *state_->core;
    if (Status writable = core.check_writable(); !writable.ok()) return writable;
    const Result<Grant> granted = state_->grant();
    if (!granted.ok()) return granted.status();
    std::vector<ETag> etags(operations.size());
    for (;;) {  // as in write()
      Result<std::vector<PreparedWrite>> writes = prepare_transaction(*granted, operations, core.limits());
      if (!writes.ok()) return writes.status();
      const Result<ETag> etag = commit_writes(core, state_->name, *state_->entry, *writes, options, true);
      if (!etag.ok() && is_made_for_other_indexes(etag.status())) continue;
      if (!etag.ok()) return etag.status();
      set_etags(operations, *etag, etags);
      return etags;
    }
  });
}

Result<ExecutedTransaction> Table::execute_with_messages(std::span<const WriteOperation> operations,
                                                         std::span<const MessageWrite> messages,
                                                         const WriteOptions& options) {
  return guarded([&]() -> Result<ExecutedTransaction> {
    StoreCore& core = *state_->core;
    if (Status writable = core.check_writable(); !writable.ok()) return writable;
    const Result<Grant> granted = state_->grant();
    if (!granted.ok()) return granted.status();
    Result<std::vector<PreparedWrite>> writes = prepare_transaction(*granted, operations, core.limits());
    if (!writes.ok()) return writes.status();
    if (Status checked = check_group_messages(operations, messages, core.limits()); !checked.ok()) return checked;
    return commit_group(core, state_->name, *state_->entry, operations, *writes, messages, options);
  });
}

Result<std::optional<Entity>> Table::get(std::string_view partition_key, std::string_view row_key,
                                         const ReadOptions& options) const {
  return guarded([&]() -> Result<std::optional<Entity>> {
    if (Status open = state_->core->check_open(); !open.ok()) return open;
    const Result<Grant> granted = state_->grant();
    if (!granted.ok()) return granted.status();
    return read_entity(*state_->core, state_->name, *state_->entry, *granted, partition_key, row_key, options);
  });
}

Result<std::vector<std::optional<Entity>>> Table::get_many(std::span<const EntityKey> keys,
                                                           const ReadOptions& options) const {
  return guarded([&]() -> Result<std::vector<std::optional<Entity>>> {
    if (Status open = state_->core->check_open(); !open.ok()) return open;
    const Result<Grant> granted = state_->grant();
    if (!granted.ok()) return granted.status();
    return read_entities(*state_->core, state_->name, *state_->entry, *granted, keys, options);
  });
}

Result<Page> Table::scan(const Scan& scan) const {
  return state_->read_page(scan, nullptr);
}

Result<Page> Table::scan_in_place(const Scan& scan, const EntityReader& reader) const {
  return state_->read_page(scan, &reader);
}

Result<Table> Table::restricted_to(const Access& access) const {
  return guarded([&]() -> Result<Table> {
    Result<std::shared_ptr<const TableAccess>> narrowed = TableAccess::restricted(state_->access.get(), access);
    if (!narrowed.ok()) return narrowed.status();
    auto state = std::make_shared<State>(*state_);
    state->access = std::move(*narrowed);
    return Table(std::move(state));
  });
}

Result<std::vector<AccessPolicy>> Table::access_policies() const {
  return guarded([&]() -> Result<std::vector<AccessPolicy>> {
    if (Status open = state_->core->check_open(); !open.ok()) return open;
    if (state_->access) {
      return service_error::authorization_failure(
          "a restricted handle cannot read the table's access policies; use an unrestricted one");
    }
    return Catalog::find_access_policies(state_->core->backend().view(), state_->name);
  });
}

Result<Count> Table::count(const Scan& scan) const {
  return guarded([&]() -> Result<Count> {
    if (Status open = state_->core->check_open(); !open.ok()) return open;
    const Result<Grant> granted = state_->grant();
    if (!granted.ok()) return granted.status();
    return count_entities({*state_->core, state_->name, *state_->entry, *granted}, scan);
  });
}

Result<Count> Table::aggregate(const Scan& scan, Aggregation& into) const {
  return guarded([&]() -> Result<Count> {
    if (Status open = state_->core->check_open(); !open.ok()) return open;
    const Result<Grant> granted = state_->grant();
    if (!granted.ok()) return granted.status();
    if (Status begun = into.state_->begin(); !begun.ok()) return begun;
    Result<Count> counted =
        count_entities({*state_->core, state_->name, *state_->entry, *granted}, scan, into.state_.get());
    if (counted.ok()) into.state_->end();
    return counted;
  });
}

Result<RowListingPage> Table::list_rows(const RowListing& listing) const {
  return guarded([&]() -> Result<RowListingPage> {
    if (Status open = state_->core->check_open(); !open.ok()) return open;
    const Result<Grant> granted = state_->grant();
    if (!granted.ok()) return granted.status();
    return varve::list_rows(*state_->core, state_->name, *state_->entry, *granted, listing);
  });
}

Result<ScanPlan> Table::explain(const Scan& scan) const {
  return guarded([&]() -> Result<ScanPlan> {
    if (Status open = state_->core->check_open(); !open.ok()) return open;
    const Result<Grant> granted = state_->grant();
    if (!granted.ok()) return granted.status();
    return explain_scan(*state_->core, state_->name, *state_->entry, *granted, scan);
  });
}

}  // namespace varve

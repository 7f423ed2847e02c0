// Owns: the public function for repairs, and its report in the terms of the table model (repair.h).
// Must never: do the repair itself: engine/repair does. Only the owners of contents are mended here.
#include "varve/repair.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/blob/owner_recount.h"
#include "api/catalog/catalog_rows.h"
#include "api/catalog/repaired_catalog.h"
#include "api/catalog/row_change.h"
#include "api/catalog/service_property_rows.h"
#include "api/catalog/work_rows.h"
#include "api/commit/backend.h"
#include "api/commit/commit.h"
#include "api/model/guarded.h"
#include "api/model/quoted.h"
#include "engine/engine.h"
#include "engine/repair/repair.h"
#include "format/keys/sort_key.h"
#include "io/env.h"
#include "varve/store.h"

namespace varve {
namespace {

std::string system_table_name(format::TableId table) {
  switch (table) {
    case kAccountsTable: return "accounts";
    case kTablesTable: return "tables";
    case kServiceTable: return "service";
    case kDropsTable: return "drops";
    case kQueuesTable: return "queues";
    case kServicePropertiesTable: return "services";
    case kQueueDropsTable: return "queue drops";
    case kContainersTable: return "containers";
    case kWorkTable: return "work";
    case kContainerDropsTable: return "container drops";
    default: return std::to_string(static_cast<std::uint32_t>(table));
  }
}

/// Returns the names and keys of a sort key.
RepairKey name_key(std::string_view sort_key, const RepairedCatalog& catalog) {
  RepairKey named;
  const Result<format::SortKey> key = format::decode_sort_key(sort_key);
  if (!key.ok()) return named;
  named.partition_key = key->partition_key;
  named.row_key = key->row_key;
  const std::uint32_t account = format::account_of(key->table);
  if (account == 0) {
    named.table = system_table_name(key->table);
    return named;
  }
  const auto account_name = catalog.accounts().find(account);
  named.account = account_name == catalog.accounts().end() ? std::to_string(account) : account_name->second;
  const auto table_name = catalog.tables().find(key->table);
  named.table = table_name == catalog.tables().end() ? std::to_string(static_cast<std::uint32_t>(key->table))
                                                     : table_name->second.second;
  return named;
}

RepairLoss describe(const engine::Loss& loss, const RepairedCatalog& catalog) {
  RepairLoss described;
  described.file = loss.file;
  described.offset = loss.offset;
  described.bytes = loss.bytes;
  described.what = loss.what;
  described.entries_max = loss.entries_max;
  if (loss.smallest_key) described.first = name_key(*loss.smallest_key, catalog);
  if (loss.largest_key) described.last = name_key(*loss.largest_key, catalog);
  if (loss.smallest_version != 0) described.oldest = DateTime{loss.smallest_version};
  if (loss.largest_version != format::kCommitVersionMax) described.newest = DateTime{loss.largest_version};
  described.entities_possibly_stale = loss.rows_possibly_stale;
  return described;
}

RepairReport final_report(engine::RepairFigures figures, const RepairedCatalog& catalog) {
  RepairReport report = std::move(figures.report);
  report.accounts = catalog.accounts().size();
  report.queues = catalog.queue_count();
  report.containers = catalog.container_count();
  report.tables = catalog.tables().size() - report.queues - report.containers;
  report.renamed_tables = catalog.renamed_tables();
  report.remade_accounts = catalog.remade_accounts();
  report.finding_count = figures.findings.size();
  report.findings = std::move(figures.findings);
  if (report.findings.size() > RepairReport::kFindingsKept) report.findings.resize(RepairReport::kFindingsKept);
  report.loss_count = figures.losses.size();
  for (const engine::Loss& loss : figures.losses) {
    if (report.losses.size() == RepairReport::kLossesKept) break;
    report.losses.push_back(describe(loss, catalog));
  }
  return report;
}

/// Returns the rows that mend the owners of contents in the repaired store.
Result<OwnerRecount::Rows> recount_owners(const engine::ReadView& view, const RepairedCatalog& catalog) {
  OwnerRecount::Rows rows;
  const auto owners = catalog.owners_of_contents();
  for (const std::uint32_t account : catalog.accounts_with_contents()) {
    OwnerRecount recount(view, account, catalog.has_nameless_tables(account));
    const auto own = owners.find(account);
    for (const format::TableId id : own == owners.end() ? std::vector<format::TableId>() : own->second) {
      const Status added = has_large_values(id) ? recount.add_table(id) : recount.add_container(id);
      if (!added.ok()) return added;
    }
    Result<OwnerRecount::Rows> more = recount.finish();
    if (!more.ok()) return more.status();
    rows.insert(rows.end(), std::make_move_iterator(more->begin()), std::make_move_iterator(more->end()));
  }
  return rows;
}

Status write_owners(engine::Engine& engine, const OwnerRecount::Rows& rows) {
  constexpr std::size_t kOwnerRowsOfCommit = 256;
  EngineBackend backend(engine);
  for (std::size_t first = 0; first < rows.size(); first += kOwnerRowsOfCommit) {
    const auto part = std::span(rows).subspan(first, std::min(kOwnerRowsOfCommit, rows.size() - first));
    std::vector<std::string> keys;
    for (const auto& row : part) keys.push_back(row.first);
    RowChange change(std::move(keys), [&](const auto& /*view*/, auto /*states*/, format::BatchBuilder& batch) {
      for (const auto& [key, value] : part) {
        if (value) {
          batch.put(key, *value);
        } else {
          batch.remove(key);
        }
      }
      return Refusal();
    });
    if (Status written = commit(backend, change).status(); !written.ok()) return written;
  }
  return engine.close();
}

/// Mends the owners before anything can remove a content. A store that needs no mend is only read.
Status mend_owners(const io::Env& env, std::string_view target, const RepairedCatalog& catalog) {
  if (catalog.accounts_with_contents().empty()) return Status();
  engine::EngineOptions options;
  options.read_only = true;
  OwnerRecount::Rows rows;
  {
    const Result<std::unique_ptr<engine::Engine>> engine = engine::Engine::open(env, target, options);
    if (!engine.ok()) return engine.status();
    Result<OwnerRecount::Rows> recounted = recount_owners((*engine)->view(), catalog);
    if (!recounted.ok()) return recounted.status();
    rows = *std::move(recounted);
  }
  if (rows.empty()) return Status();
  options.read_only = false;
  const Result<std::unique_ptr<engine::Engine>> engine = engine::Engine::open(env, target, options);
  return engine.ok() ? write_owners(**engine, rows) : engine.status();
}

/// Builds the indexes of a table of the repaired store. The entities are saved whether or not that succeeds.
Status build_indexes_of(Store& store, const std::string& account, const std::string& table, RepairReport& report) {
  const Result<std::vector<IndexInfo>> indexes = store.indexes(account, table);
  if (!indexes.ok()) return indexes.status();
  for (const IndexInfo& index : *indexes) {
    if (index.state != IndexState::kBuilding) continue;
    const Status built = store.create_index(account, table, index.definition);
    if (built.ok()) {
      ++report.indexes;
    } else {
      report.unbuilt_indexes.push_back("index " + quoted(index.definition.name) + " of table " + quoted(table) +
                                       " of account " + quoted(account) + ": " + built.to_string());
    }
  }
  return Status();
}

/// A repair saves no entries of indexes.
Status build_indexes(std::string_view target, const StoreOptions& options, const RepairedCatalog& catalog,
                     RepairReport& report) {
  StoreOptions to_build;
  to_build.resources = options.resources;
  to_build.env = options.env;
  const Result<std::unique_ptr<Store>> store = Store::open(target, to_build);
  if (!store.ok()) return store.status();
  for (const format::TableId id : catalog.tables_to_index()) {
    const auto& [account, table] = catalog.tables().at(id);
    if (Status built = build_indexes_of(**store, account, table, report); !built.ok()) {
      report.unbuilt_indexes.push_back("table " + quoted(table) + " of account " + quoted(account) + ": " +
                                       built.to_string());
    }
  }
  return (*store)->close();
}

}  // namespace

Result<RepairReport> Store::repair(std::string_view path, std::string_view target, const StoreOptions& options,
                                   const std::function<void(const RepairReport&)>& progress) {
  return guarded([&]() -> Result<RepairReport> {
    const io::Env& env = options.env != nullptr ? *options.env : io::system_env();
    RepairedCatalog catalog;
    Result<engine::RepairFigures> figures = engine::repair_store(env, path, target, catalog, progress);
    if (!figures.ok()) return figures.status();
    if (Status mended = mend_owners(env, target, catalog); !mended.ok()) return mended;
    if (!catalog.tables_to_index().empty()) {
      const Status built = build_indexes(target, options, catalog, figures->report);
      if (!built.ok()) figures->report.unbuilt_indexes.push_back("all: " + built.to_string());
    }
    RepairReport report = final_report(*std::move(figures), catalog);
    if (progress) progress(report);
    return report;
  });
}

}  // namespace varve

// Owns: the public function for repairs, and its report in the terms of the table model (repair.h).
// Must never: do the repair itself. engine/repair does.
#include "varve/repair.h"

#include <utility>

#include "api/catalog/repaired_catalog.h"
#include "api/model/guarded.h"
#include "engine/repair/repair.h"
#include "format/keys/sort_key.h"
#include "io/env.h"
#include "varve/store.h"

namespace varve {
namespace {

RepairedFileCount count_of(const engine::SalvagedFiles& files) noexcept {
  return {files.whole, files.damaged, files.missing};
}

std::string system_table_name(format::TableId table) {
  switch (table) {
    case kAccountsTable: return "accounts";
    case kTablesTable: return "tables";
    case kServiceTable: return "service";
    case kDropsTable: return "drops";
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

/// Returns the report without the parts that are known only at the end.
RepairReport report_so_far(const engine::RepairFigures& figures) {
  RepairReport report;
  report.current = count_of(figures.roots);
  report.manifests = count_of(figures.manifests);
  report.log_segments = count_of(figures.segments);
  report.log_buffers = count_of(figures.buffers);
  report.table_files = count_of(figures.tables);
  report.files_are_certain = figures.file_set_is_certain;
  report.options_are_known = figures.options_are_known;
  report.log_records = figures.log_records;
  report.commits = figures.commits;
  report.torn_bytes = figures.torn_bytes;
  report.read_bytes = figures.read_bytes;
  report.entities = figures.rows;
  report.value_bytes = figures.value_bytes;
  report.written_files = figures.written_files;
  report.written_bytes = figures.written_bytes;
  report.entities_possibly_stale = figures.rows_possibly_stale;
  report.entities_left_out = figures.rows_left_out;
  return report;
}

RepairReport final_report(const engine::RepairFigures& figures, const RepairedCatalog& catalog) {
  RepairReport report = report_so_far(figures);
  report.version = DateTime{figures.last_version};
  report.accounts = catalog.accounts().size();
  report.tables = catalog.tables().size();
  report.renamed_tables = catalog.renamed_tables();
  report.remade_accounts = catalog.remade_accounts();
  report.finding_count = figures.findings.size();
  report.findings = figures.findings;
  if (report.findings.size() > RepairReport::kFindingsKept) report.findings.resize(RepairReport::kFindingsKept);
  report.loss_count = figures.losses.size();
  for (const engine::Loss& loss : figures.losses) {
    if (report.losses.size() == RepairReport::kLossesKept) break;
    report.losses.push_back(describe(loss, catalog));
  }
  return report;
}

}  // namespace

Result<RepairReport> Store::repair(std::string_view path, std::string_view target, const StoreOptions& options,
                                   const std::function<void(const RepairReport&)>& progress) {
  return guarded([&]() -> Result<RepairReport> {
    const io::Env& env = options.env != nullptr ? *options.env : io::system_env();
    std::function<void(const engine::RepairFigures&)> so_far;
    if (progress) so_far = [&](const engine::RepairFigures& figures) { progress(report_so_far(figures)); };
    RepairedCatalog catalog;
    const Result<engine::RepairFigures> figures = engine::repair_store(env, path, target, catalog, so_far);
    if (!figures.ok()) return figures.status();
    RepairReport report = final_report(*figures, catalog);
    if (progress) progress(report);
    return report;
  });
}

}  // namespace varve

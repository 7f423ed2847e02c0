// Owns: the calls of the C interface that return figures of a store, verify it, or repair it.
#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include "api/c/call.h"
#include "api/c/lists.h"
#include "api/c/objects.h"
#include "api/c/sized.h"
#include "varve/store.h"

namespace vc = varve::c;

namespace varve::c {
namespace {

varve_statistics figures_of(const Statistics& from) {
  varve_statistics to{};
  to.health = static_cast<int32_t>(from.health);
  to.default_durability = static_cast<int32_t>(from.default_durability);
  to.read_only = from.read_only;
  to.direct_io = from.direct_io;
  to.buffered_dies_with_process = from.buffered_dies_with_process;
  to.clock_jump_ignored = from.clock_jump_ignored;
  to.recovery_clean = from.recovery.clean;
  to.visible_version = from.visible_version.ticks;
  to.commits = from.commits;
  to.commits_refused = from.commits_refused;
  to.groups = from.groups;
  to.log_writes = from.log_writes;
  to.log_writes_in_flight_max = from.log_writes_in_flight_max;
  to.batch_bytes = from.batch_bytes;
  to.log_bytes = from.log_bytes;
  to.fill_bytes = from.fill_bytes;
  to.log_segments = from.log_segments;
  to.live_log_bytes = from.live_log_bytes;
  to.manifest_bytes = from.manifest_bytes;
  to.memtable_entries = from.memtable_entries;
  to.memtable_bytes = from.memtable_bytes;
  to.memtable_bytes_max = from.memtable_bytes_max;
  for (const LevelStatistics& level : from.levels) {
    to.table_files += level.files;
    to.table_bytes += level.bytes;
    to.table_entries += level.entries;
    to.table_deletions += level.deletions;
  }
  to.value_files = from.value_files;
  to.value_file_bytes = from.value_file_bytes;
  to.value_file_live_bytes = from.value_file_live_bytes;
  to.cache_bytes = from.cache.bytes;
  to.cache_bytes_max = from.cache.bytes_max;
  to.cache_blocks = from.cache.blocks;
  to.cache_hits = from.cache.hits;
  to.cache_misses = from.cache.misses;
  to.block_reads = from.block_reads;
  to.block_read_bytes = from.block_read_bytes;
  to.flushes = from.flushes;
  to.flushed_bytes = from.flushed_bytes;
  to.compactions = from.compactions;
  to.compaction_read_bytes = from.compaction_read_bytes;
  to.compaction_written_bytes = from.compaction_written_bytes;
  to.compaction_debt_bytes = from.compaction_debt_bytes;
  to.dead_log_bytes = from.dead_log_bytes;
  to.dead_table_bytes = from.dead_table_bytes;
  to.dead_value_bytes = from.dead_value_bytes;
  to.write_wait_ns = static_cast<std::uint64_t>(from.write_wait.count());
  to.loads = from.loads;
  to.loaded_entities = from.loaded_entities;
  to.retired_ids = from.retired_ids;
  to.open_snapshots = from.open_snapshots;
  to.partition_waits = from.partition_waits;
  to.recovery_log_records = from.recovery.log_records;
  to.recovery_commits = from.recovery.commits;
  to.recovery_torn_bytes = from.recovery.torn_bytes;
  return to;
}

varve_verify_figures figures_of(const VerifyReport& from) {
  return {0,
          from.accounts,
          from.tables,
          from.entities,
          from.properties,
          from.value_bytes,
          from.table_files,
          from.table_file_bytes,
          from.finding_count,
          from.queues,
          from.messages,
          from.indexes,
          from.index_entries};
}

varve_repair_figures figures_of(const RepairReport& from) {
  varve_repair_figures to{};
  to.accounts = from.accounts;
  to.tables = from.tables;
  to.entities = from.entities;
  to.value_bytes = from.value_bytes;
  to.log_records = from.log_records;
  to.commits = from.commits;
  to.read_bytes = from.read_bytes;
  to.written_bytes = from.written_bytes;
  to.entities_possibly_stale = from.entities_possibly_stale;
  to.entities_left_out = from.entities_left_out;
  to.finding_count = from.finding_count;
  to.loss_count = from.loss_count;
  to.files_are_certain = from.files_are_certain;
  to.options_are_known = from.options_are_known;
  to.queues = from.queues;
  to.indexes = from.indexes;
  return to;
}

/// Returns Ok for a struct that the caller did not ask for.
template <typename T>
Status write_if_asked(const T& values, T* given) {
  return given == nullptr ? Status() : write_sized(values, given);
}

Status give_report(std::vector<std::string> findings, std::vector<RepairLoss> losses, varve_report** report) {
  if (report == nullptr) return Status();
  return give_handle(std::make_unique<ReportObject>(std::move(findings), std::move(losses)), report);
}

}  // namespace
}  // namespace varve::c

varve_status* varve_store_statistics(varve_store* store, varve_statistics* statistics) {
  return vc::call_on<vc::StoreObject>(store, [&](const vc::StoreObject& held) -> varve::Status {
    const varve::Result<varve::Statistics> now = held.store->statistics();
    return now.ok() ? vc::write_sized(vc::figures_of(*now), statistics) : now.status();
  });
}

varve_status* varve_verify(varve_text path, varve_progress progress, void* context, varve_verify_figures* figures,
                           varve_report** report) {
  if (report != nullptr) *report = nullptr;
  return vc::guarded_call([&]() -> varve::Status {
    const varve::Result<std::string_view> directory = vc::read_text(path, "path");
    if (!directory.ok()) return directory.status();
    std::function<void(const varve::VerifyReport&)> shown;
    if (progress != nullptr) {
      shown = [&](const varve::VerifyReport& now) { progress(now.entities, now.table_file_bytes, context); };
    }
    varve::Result<varve::VerifyReport> found = varve::Store::verify(*directory, {}, shown);
    if (!found.ok()) return found.status();
    if (varve::Status written = vc::write_if_asked(vc::figures_of(*found), figures); !written.ok()) return written;
    return vc::give_report(std::move(found->findings), {}, report);
  });
}

varve_status* varve_repair(varve_text path, varve_text target, varve_progress progress, void* context,
                           varve_repair_figures* figures, varve_report** report) {
  if (report != nullptr) *report = nullptr;
  return vc::guarded_call([&]() -> varve::Status {
    const varve::Result<std::string_view> from = vc::read_text(path, "path");
    if (!from.ok()) return from.status();
    const varve::Result<std::string_view> to = vc::read_text(target, "target");
    if (!to.ok()) return to.status();
    std::function<void(const varve::RepairReport&)> shown;
    if (progress != nullptr) {
      shown = [&](const varve::RepairReport& now) { progress(now.entities, now.read_bytes, context); };
    }
    varve::Result<varve::RepairReport> found = varve::Store::repair(*from, *to, {}, shown);
    if (!found.ok()) return found.status();
    if (varve::Status written = vc::write_if_asked(vc::figures_of(*found), figures); !written.ok()) return written;
    for (std::string& index : found->unbuilt_indexes) found->findings.push_back("not built: " + index);
    return vc::give_report(std::move(found->findings), std::move(found->losses), report);
  });
}

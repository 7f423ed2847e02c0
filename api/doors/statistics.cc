// Owns: the engine's figures in the form that users see.
// Must never: count anything itself.
#include "varve/statistics.h"

#include "api/core/store_core.h"
#include "api/model/guarded.h"
#include "varve/store.h"

namespace varve {

RecoveryStatistics from_engine(const engine::RecoveryFigures& from) noexcept {
  RecoveryStatistics figures;
  figures.clean = from.clean;
  figures.log_records = from.records;
  figures.commits = from.commits;
  figures.log_bytes = from.log_bytes;
  figures.commits_from_buffer = from.commits_from_buffer;
  figures.torn_bytes = from.torn_bytes;
  return figures;
}

namespace {

Statistics figures_of(const engine::Statistics& from) {
  Statistics figures;
  figures.back_end = from.back_end;
  figures.direct_io = from.direct_io;
  figures.health = from_engine(from.health);
  figures.visible_version = DateTime{from.visible_version};

  figures.commits = from.commits;
  figures.commits_refused = from.commits_refused;
  figures.groups = from.groups;
  figures.log_writes = from.log_writes;
  figures.batch_bytes = from.batch_bytes;
  figures.log_bytes = from.log_bytes;
  figures.fill_bytes = from.fill_bytes;
  figures.log_segments = from.log_segments;
  figures.live_log_bytes = from.live_log_bytes;
  figures.manifest_bytes = from.manifest_bytes;

  figures.memtable_entries = from.memtable_entries;
  figures.memtable_bytes = from.memtable_bytes;
  figures.memtable_bytes_max = from.memtable_bytes_max;
  for (const engine::LevelFigures& level : from.levels) {
    figures.levels.push_back({level.files, level.bytes, level.entries, level.tombstones});
  }
  figures.value_files = from.value_files;
  figures.value_file_bytes = from.value_file_bytes;
  figures.value_file_live_bytes = from.value_file_live_bytes;
  figures.cache = {from.cache.used_bytes, from.cache.bytes_max, from.cache.block_count, from.cache.hits,
                   from.cache.misses};
  figures.block_reads = from.block_reads;
  figures.block_read_bytes = from.block_read_bytes;
  figures.flushes = from.flushes;
  figures.flushed_bytes = from.flushed_bytes;
  figures.compactions = from.compaction.jobs;
  figures.compaction_read_bytes = from.compaction.read_bytes;
  figures.compaction_written_bytes = from.compaction.written_bytes;
  figures.moved_files = from.compaction.moved_files;
  figures.unlinked_files = from.compaction.unlinked_files;
  figures.compaction_copied_bytes = from.compaction.copied_bytes;
  figures.write_wait = from.commit_wait;
  figures.compaction_debt_bytes = from.compaction.debt_bytes;
  figures.dead_log_bytes = from.dead_log_bytes;
  figures.dead_table_bytes = from.dead_table_bytes;
  figures.dead_value_bytes = from.dead_value_bytes;
  figures.loads = from.loads;
  figures.loaded_entities = from.loaded_entries;
  figures.load_written_bytes = from.load_written_bytes;
  figures.retired_ids = from.retired_ids;
  figures.open_snapshots = from.open_snapshots;
  figures.partition_waits = from.partition_waits;
  figures.clock_jump_ignored = from.clock_jump_ignored;
  figures.clock_ahead = from.clock_ahead;
  figures.ballast_bytes = from.ballast_bytes;

  figures.recovery = from_engine(from.recovery);
  return figures;
}

}  // namespace

Result<Statistics> Store::statistics() const {
  return guarded([&]() -> Result<Statistics> {
    if (Status mine = core_->check_process(); !mine.ok()) return mine;
    Statistics figures = figures_of(core_->engine().statistics());
    figures.read_only = core_->engine().read_only();
    figures.default_durability = from_engine(core_->engine().default_durability());
    return figures;
  });
}

}  // namespace varve

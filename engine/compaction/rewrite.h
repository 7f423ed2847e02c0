// Owns: writing sorted entries to new table files: the entries that retention keeps, cut at suitable places.
// Must never: split the versions of one key over two files of a level, or report a file that is not durable.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/base/background_pool.h"
#include "engine/base/entry_cursor.h"
#include "engine/compaction/retention.h"
#include "engine/manifest/manifest.h"
#include "engine/read/external_values.h"
#include "engine/tables/table_writer.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

/// The environment of new table files.
struct TableSink {
  const io::Env& env;
  io::Directory& directory;
  Manifest& manifest;
  TableFiles& tables;
  /// Set when the store closes. Work that can be repeated later then ends soon.
  const std::atomic<bool>& stopping;
};

struct RewriteOptions {
  /// Its free threads make runs of the files (runs_apart.h). Not null.
  BackgroundPool* pool = nullptr;
  /// Limit of the weight of a chunk of entries that becomes runs apart from its file.
  std::uint64_t chunk_weight_max = 0;
  std::uint32_t level = 0;
  format::TableOptions table;
  /// The cache priority of hot data blocks. A merge sets kSuccessor, since its inputs leave the cache.
  BlockPriority hot_data = BlockPriority::kNormal;
  /// Returns whether a key begins a new file, as OutputCuts::begins_new_file(). If empty, no key does.
  std::function<bool(std::string_view key, std::uint64_t file_bytes, std::uint64_t table_bytes,
                     std::optional<format::TableId> new_table)>
      begins_new_file;
  /// Log segments that stay: the new files point to their values. Ascending numbers.
  std::vector<std::uint64_t> kept_segments;
  /// Value files that must go: their values are written to the new files. Ascending numbers; empty without `values`.
  std::vector<std::uint64_t> leaving_value_files;
  ExternalValues* values = nullptr;
  /// If it is not null and becomes true, the rewrite ends with kCancelled.
  const std::atomic<bool>* is_stopped = nullptr;
};

struct Rewritten {
  std::vector<format::TableFileEntry> files;
  std::uint64_t entries_read = 0;
  std::uint64_t bytes_written = 0;
  /// The part of bytes_written that was copied in whole runs.
  std::uint64_t bytes_copied = 0;
};

/// Writes the entries that `retention` keeps, from the current place of `input` on. Copies whole runs where it can. Hot
/// entries stay in the cache (fresh_blocks.h). All files are durable, except for their names. After an error none of
/// the files is left. Checks that the number of entries read equals the entries kept and dropped.
/// Errors: those of the input, of io, of the manifest's numbers; kClosed (the store is closing), kCancelled.
Result<Rewritten> rewrite(EntryStream& input, Retention& retention, const TableSink& sink,
                          const RewriteOptions& options);

}  // namespace varve::engine

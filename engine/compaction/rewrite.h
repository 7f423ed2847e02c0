// Owns: writing sorted entries to new table files: what retention keeps, cut where cuts are right.
// Must never: split the versions of one key over two files of a level, or report a file that is not durable.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/base/entry_cursor.h"
#include "engine/compaction/retention.h"
#include "engine/manifest/manifest.h"
#include "engine/read/external_values.h"
#include "engine/tables/table_writer.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

/// Where new table files come from.
struct TableSink {
  const io::Env& env;
  io::Directory& directory;
  Manifest& manifest;
  TableFiles& tables;
  /// Set when the store closes: work that can be done again later ends soon.
  const std::atomic<bool>& stopping;
};

struct RewriteOptions {
  std::uint32_t level = 0;
  format::TableOptions table;
  /// Whether a key begins a new file; may be empty: none does. As OutputCuts::begins_new_file().
  std::function<bool(std::string_view key, std::uint64_t file_bytes, std::uint64_t table_bytes,
                     std::optional<format::TableId> new_table)>
      begins_new_file;
  /// Log segments that stay: their values are pointed to. Numbers rise.
  std::vector<std::uint64_t> kept_segments;
  /// Value files that are to go: values in them are written to the new files. Numbers rise; none without `values`.
  std::vector<std::uint64_t> leaving_value_files;
  ExternalValues* values = nullptr;
};

struct Rewritten {
  std::vector<format::TableFileEntry> files;
  std::uint64_t entries_read = 0;
  std::uint64_t bytes_written = 0;
  /// Of those, what was copied by whole runs.
  std::uint64_t bytes_copied = 0;
};

/// Writes, or copies by whole runs, what `retention` keeps of all entries from where `input` stands. What could be read
/// without the disk can be so in the new files too, as far as it was not copied (fresh_blocks.h). All files are
/// durable, but for their names. After an error none of them is left. Checks that what was read is what was kept and
/// what was dropped. Errors: those of the input, of io, of the manifest's numbers; kClosed (the store is closing).
Result<Rewritten> rewrite(EntryStream& input, Retention& retention, const TableSink& sink,
                          const RewriteOptions& options);

}  // namespace varve::engine

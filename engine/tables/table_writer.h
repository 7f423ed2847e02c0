// Owns: one table file while it is written: its number, its bytes until they are on disk, its removal if it is given
// up.
// Must never: leave a file that no manifest will name, or report a file as finished whose sync did not succeed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "engine/base/entry.h"
#include "engine/tables/fresh_blocks.h"
#include "format/bytes/content_hasher.h"
#include "format/log/manifest_edit.h"
#include "format/table/table_builder.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

/// Used by one thread at a time. After an error only destruction is allowed.
class TableWriter {
 public:
  /// Creates the file. If a file of that name exists, an unfinished attempt left it (each number is used once); it is
  /// removed first. `directory` outlives the writer. Errors: kNoSpace and others of io; then no file was created.
  static Result<std::unique_ptr<TableWriter>> create(const io::Env& env, io::Directory& directory, std::uint64_t number,
                                                     const format::TableOptions& options);
  /// Puts later blocks into the cache of `files`, as fresh_blocks.h describes: data blocks with the priority `data`. The file
  /// system expects reads of them. Throws std::bad_alloc.
  void keep_blocks_of(TableFiles& files, std::uint64_t number, BlockPriority data);
  /// Removes the file if it was not finished.
  ~TableWriter();
  TableWriter(const TableWriter&) = delete;
  TableWriter& operator=(const TableWriter&) = delete;

  /// Adds an entry, in the order of internal keys. `was_in_memory` says that its source could be read without the disk.
  /// Errors: those of io and of TableBuilder::add.
  Status add(const Entry& entry, bool was_in_memory = false);
  bool can_append(const format::RunEntry& run) const noexcept { return builder_->can_append(run); }
  /// Copies a whole run and returns the offset at which the copy begins.
  Result<std::uint64_t> append_run(const format::RunSource& source, format::Decompressor& decompressor);
  /// Returns whether keep_hot() may have an effect.
  bool keeps_hot() const noexcept { return fresh_ != nullptr && fresh_->has_cache(); }
  /// Caches a block of a run that is copied or made apart: the original's block is cached, or HotRule wants it. The file
  /// will have the run before the next one.
  void keep_hot(format::BlockType type, format::BlockHandle place, std::string_view content) noexcept;

  /// Ends the open run, and returns the offset of the next one.
  std::uint64_t begin_run();
  /// Ends a full run as TableBuilder::ends_run_before() does.
  bool ends_run_before(const Entry& entry);
  /// Appends as TableBuilder::append_made() does, and returns the offset of the run. Errors: those of io.
  Result<std::uint64_t> append_made(format::RunMaker& maker, const format::MadeRun& run);

  const std::string& dictionary() const noexcept { return builder_->dictionary(); }
  bool learns_dictionary() const noexcept { return builder_->learns_dictionary(); }
  std::uint64_t estimated_bytes() const noexcept { return builder_->estimated_bytes(); }
  std::uint64_t stored_per_1024() const noexcept { return builder_->stored_per_1024(); }

  /// Finishes the file, which has at least one entry, and makes its bytes durable. Its name becomes durable when the
  /// caller syncs the directory. Errors: as add(); kCorruption (the bytes read
  /// back differ from the bytes written).
  Result<format::TableFileEntry> finish(std::uint32_t level);

 private:
  TableWriter(const io::Env& env, io::Directory& directory, std::string name,
              std::unique_ptr<format::TableBuilder> builder);
  Status make_file();
  Status write_pending();
  Status write(std::string_view bytes);
  Status read_back(const io::ReadableFile& file, std::size_t piece_bytes);
  Status check_finished(const format::TableFileEntry& entry);

  io::Directory& directory_;
  const std::size_t late_piece_bytes_;  // of one read after the sync
  const std::string name_;
  std::unique_ptr<io::WritableFile> file_;
  format::ContentHasher hasher_;        // of the bytes read back
  std::string piece_;                   // read back
  std::unique_ptr<FreshBlocks> fresh_;  // null: no blocks are cached
  std::unique_ptr<format::TableBuilder> builder_;
  bool is_made_ = false;
  bool finished_ = false;
  std::uint64_t read_back_bytes_ = 0;
};

}  // namespace varve::engine

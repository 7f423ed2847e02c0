// Owns: the deep check of a whole table file: every byte verifies, and every figure agrees with the content.
// Must never: trust one part of the file about another part.
#pragma once

#include "format/block/block.h"
#include "format/block/data_block.h"
#include "format/log/manifest_edit.h"
#include "format/table/table_index.h"
#include "varve/result.h"

namespace varve::format {

/// Receives the content of a file: first the index, then each run in turn, then the directory. The arguments are valid
/// during the call. A failure may follow.
class TableVisitor {
 public:
  virtual ~TableVisitor() = default;
  /// Called first, after the file was opened.
  virtual void on_index(const TableIndex& /*index*/) {}
  /// Called before the run's blocks.
  virtual void on_run(const RunEntry& /*run*/) {}
  /// Called for each block. For a data block, it is called before the block's entries.
  virtual void on_block(const BlockHandle& /*handle*/, const BlockFrame& /*frame*/) {}
  virtual void on_entry(const DataEntry& /*entry*/) {}
  /// Called last.
  virtual void on_directory(const std::vector<DirectoryEntry>& /*tables*/) {}
};

/// Reads the whole file: the data blocks once, front to back. Uses the memory of the index and of one block. `visitor`
/// may be null. Returns the entry that the manifest should have; level, origin and adopted version are zero.
/// Errors: those of `read`; kCorruption and kUnsupported, naming the offset.
Result<TableFileEntry> verify_table(const TableFileName& file, const ReadBytes& read, TableVisitor* visitor);

}  // namespace varve::format

// Owns: the deep check of a whole table file: that every byte verifies, and every figure agrees with what is there.
// Must never: trust one part of the file about another.
#pragma once

#include "format/block/block.h"
#include "format/block/data_block.h"
#include "format/log/manifest_edit.h"
#include "format/table/table_index.h"
#include "varve/result.h"

namespace varve::format {

/// Is shown what is there: first the index and what it rests on, then run by run, then the directory. What is shown
/// lives as long as the call. A failure may follow.
class TableVisitor {
 public:
  virtual ~TableVisitor() = default;
  /// First, when the file was opened.
  virtual void on_index(const TableIndex& /*index*/) {}
  /// Before the run's blocks.
  virtual void on_run(const RunEntry& /*run*/) {}
  /// Before its entries, if it is a data block.
  virtual void on_block(const BlockHandle& /*handle*/, const BlockFrame& /*frame*/) {}
  virtual void on_entry(const DataEntry& /*entry*/) {}
  /// Last.
  virtual void on_directory(const std::vector<DirectoryEntry>& /*tables*/) {}
};

/// Reads all of the file, the data blocks once and front to back. Memory is that of the index and of one block.
/// `visitor` may be null. Returns what the manifest should say of the file; level, origin and adopted version are zero.
/// Errors: those of `read`; kCorruption and kUnsupported, naming the offset.
Result<TableFileEntry> verify_table(const TableFileName& file, const ReadBytes& read, TableVisitor* visitor);

}  // namespace varve::format

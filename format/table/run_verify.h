// Owns: the deep check of one run, and the counts of entries across all runs of a file.
// Must never: trust the index about the data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "format/block/filter.h"
#include "format/bytes/content_hasher.h"
#include "format/table/table_verify.h"
#include "varve/status.h"

namespace varve::format {

/// Counts the entries of a file, in their order.
class EntryTally {
 public:
  /// Counts an entry. Checks that its key is a sort key, and that it follows the previous entry in order. Errors:
  /// kCorruption.
  Status add(const DataEntry& entry, std::uint64_t block_offset);
  /// Ends the block of the last entries. The block has `bytes` bytes, and its first entry is of `table`.
  void end_block(TableId table, std::uint64_t bytes);

  std::string_view last_key() const noexcept { return last_key_; }
  /// Returns the directory that the file should contain.
  const std::vector<DirectoryEntry>& tables() const noexcept { return tables_; }

 private:
  std::string last_key_;
  CommitVersion last_version_ = 0;
  std::vector<DirectoryEntry> tables_;
};

/// The state of a file's check that is passed from run to run.
struct VerifyContext {
  const TableFileName& file;
  const ReadBytes& read;
  TableVisitor& visitor;
  Decompressor decompressor;
  EntryTally tally;
  /// Content hash of the file's first `hashed_bytes` bytes.
  ContentHasher hasher;
  std::uint64_t hashed_bytes = 0;

  /// Reads the next bytes of the file and adds them to the hash.
  Result<std::string_view> read_on(std::uint64_t bytes);
};

/// Checks the run at context.hashed_bytes, and advances past it. `dictionary` is the one that the run names, or null.
Status verify_run(VerifyContext& context, const RunEntry& run, const Dictionary* dictionary);

}  // namespace varve::format

// Owns: the deep check of one run, and what is counted of entries across all runs of a file.
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

/// The entries of a file, in their order.
class EntryTally {
 public:
  /// Checks that the key is a sort key, and that the entry is behind the last one. Errors: kCorruption.
  Status add(const DataEntry& entry, std::uint64_t block_offset);
  /// The block that the last entries were in ended; its first entry was of `table`.
  void end_block(TableId table, std::uint64_t bytes);

  std::string_view last_key() const noexcept { return last_key_; }
  /// The directory that the file should have.
  const std::vector<DirectoryEntry>& tables() const noexcept { return tables_; }

 private:
  std::string last_key_;
  CommitVersion last_version_ = 0;
  std::vector<DirectoryEntry> tables_;
};

/// What the check of a file hands from run to run.
struct VerifyContext {
  const TableFileName& file;
  const ReadBytes& read;
  TableVisitor& visitor;
  Decompressor decompressor;
  EntryTally tally;
  /// Of the file up to `hashed_bytes`.
  ContentHasher hasher;
  std::uint64_t hashed_bytes = 0;

  /// The next bytes of the file, counted into the hash.
  Result<std::string_view> read_on(std::uint64_t bytes);
};

/// Checks the run at context.hashed_bytes, and moves behind it. `dictionary` is the one it names, or null.
Status verify_run(VerifyContext& context, const RunEntry& run, const Dictionary* dictionary);

}  // namespace varve::format

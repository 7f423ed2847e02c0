// Owns: whole table files for the tests of table files, and reading them like an engine.
// Must never: give an answer that is not in the bytes of the file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "format/table/table_builder.h"
#include "format/table/table_index.h"
#include "tests/format/block/entry_sample.h"

namespace varve::format {

inline constexpr std::uint64_t kSampleNumber = 60;
inline constexpr std::uint64_t kSampleSeed = 0x1122334455667788;

struct TableFile {
  std::string bytes;
  TableFileEntry entry;

  TableFileName name() const { return {entry.number, entry.seed, bytes.size()}; }
  ReadBytes reader() const { return reader_of(bytes); }
  static ReadBytes reader_of(const std::string& bytes);
};
/// Builds a file. Ends the test's process if the builder fails.
TableFile build_table(const std::vector<OwnedEntry>& entries, const TableOptions& options = {},
                      std::uint64_t number = kSampleNumber, std::uint64_t seed = kSampleSeed);
TableFile finish_table(TableBuilder& builder);

/// Reads a whole file like an engine without a cache.
class TableReading {
 public:
  explicit TableReading(const TableFile& file);

  const TableIndex& index() const { return index_; }
  /// Returns the newest version that is not above `newest`. Errors: those that the file's bytes cause.
  Result<std::optional<OwnedEntry>> find(std::string_view key, CommitVersion newest);
  /// Returns every entry at or after (key, newest).
  Result<std::vector<OwnedEntry>> scan(std::string_view key, CommitVersion newest);
  /// Returns every entry, last one first.
  Result<std::vector<OwnedEntry>> scan_back();

 private:
  Result<std::string> read(const BlockHandle& handle, BlockType type, const RunEntry& run);

  const TableFile& file_;
  Decompressor decompressor_;
  TableIndex index_;
  std::vector<std::pair<std::uint64_t, std::shared_ptr<const Dictionary>>> dictionaries_;
};

}  // namespace varve::format

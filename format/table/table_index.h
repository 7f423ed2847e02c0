// Owns: the part of a table file that is kept in memory while the file is open: its runs, its properties, and the
// places of its parts.
// Must never: read a file. It asks its caller for the bytes that it needs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "format/block/block.h"
#include "format/table/table_entries.h"
#include "format/table/table_footer.h"
#include "format/table/table_properties.h"
#include "varve/result.h"

namespace varve::format {

/// Reads bytes of a file. Returns exactly as many bytes as asked for, valid until the next call. Its errors are passed
/// on.
using ReadBytes = std::function<Result<std::string_view>(std::uint64_t offset, std::uint64_t bytes)>;

/// The identity of a table file, as in the manifest.
struct TableFileName {
  std::uint64_t number = 0;
  std::uint64_t seed = 0;
  std::uint64_t size_bytes = 0;
};

/// The part of an open table file that is kept in memory. It never changes, so any number of threads may share it.
class TableIndex {
 public:
  /// Parses the contents of top index and properties. Checks that runs and dictionaries lie where FORMAT.md says, that
  /// the keys and versions of runs are in order, and that the properties agree with the runs.
  /// Errors: kCorruption, kUnsupported.
  static Result<TableIndex> make(const TableFooter& footer, std::string_view top_index, std::string_view properties);

  const TableFooter& footer() const noexcept { return footer_; }
  const TableProperties& properties() const noexcept { return properties_; }
  /// Returns the runs in the order of keys. There is at least one.
  const std::vector<RunEntry>& runs() const noexcept { return runs_; }

  /// Returns the memory that this object keeps, in bytes.
  std::uint64_t memory_bytes() const noexcept;

  /// Returns the index of the first run whose largest key is not below `key`, or runs().size() if there is none. If a
  /// key's versions continue in the next run, the key is also the smallest key of that run.
  std::size_t first_run_not_below(std::string_view key) const noexcept;
  /// Returns the run whose range contains the key, or null if the file has no such key.
  const RunEntry* run_of(std::string_view key) const noexcept;

 private:
  TableIndex() = default;
  void make_heads();
  std::uint64_t head_of(std::string_view key) const noexcept;
  Status check_runs() const;
  Status check_dictionaries() const;
  Status check_properties() const;

  TableFooter footer_;
  TableProperties properties_;
  std::vector<RunEntry> runs_;
  /// common_bytes_ is the number of bytes that the largest keys of all runs share at the start. heads_ contains for
  /// each run the next eight bytes as a number. A search then reads few cache lines, while the keys lie on one or more
  /// cache lines each.
  std::size_t common_bytes_ = 0;
  std::vector<std::uint64_t> heads_;
};

/// Reads header, footer, properties and top index with four reads, and verifies them.
/// Errors: those of `read`; kCorruption, kUnsupported.
Result<TableIndex> open_table(const TableFileName& file, const ReadBytes& read, Decompressor& decompressor);

/// Returns the bytes of a dictionary from its block. Errors: kCorruption, kUnsupported.
Result<std::string> decode_dictionary_block(std::string_view bytes, std::uint64_t file_seed,
                                            const DictionaryEntry& entry, Decompressor& decompressor);

}  // namespace varve::format

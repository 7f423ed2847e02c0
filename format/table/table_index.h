// Owns: what of a table file is kept in memory while it is open: its runs, its properties, where its parts lie.
// Must never: read a file; it says what it needs, and is given it.
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

/// Gives bytes of a file: exactly as many as asked for, valid until the next call. Its errors are handed on.
using ReadBytes = std::function<Result<std::string_view>(std::uint64_t offset, std::uint64_t bytes)>;

/// What identifies a table file, as the manifest names it.
struct TableFileName {
  std::uint64_t number = 0;
  std::uint64_t seed = 0;
  std::uint64_t size_bytes = 0;
};

/// The pinned part of an open table file. Never changes: any number of threads may share it.
class TableIndex {
 public:
  /// Takes the contents of top index and properties. Checks that runs and dictionaries lie where FORMAT says, that keys
  /// and versions of runs are in order, and that the properties agree with the runs.
  /// Errors: kCorruption, kUnsupported.
  static Result<TableIndex> make(const TableFooter& footer, std::string_view top_index, std::string_view properties);

  const TableFooter& footer() const noexcept { return footer_; }
  const TableProperties& properties() const noexcept { return properties_; }
  /// At least one, in the order of keys.
  const std::vector<RunEntry>& runs() const noexcept { return runs_; }

  /// Number of the first run whose largest key is not below `key`; runs().size() if there is none. Where a key's
  /// versions go on into the next run, that one's smallest key is the key too.
  std::size_t first_run_not_below(std::string_view key) const noexcept;
  /// That run if the key lies in its range, else null: the file has no such key.
  const RunEntry* run_of(std::string_view key) const noexcept;

  /// Where the run's dictionary stands; null if it names none.
  const DictionaryEntry* dictionary_of(const RunEntry& run) const noexcept;
  /// What it takes of memory, for budgets.
  std::size_t memory_bytes() const noexcept;

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
  /// What the largest keys of all runs begin with, in bytes, and of each run the number that the eight bytes behind it
  /// make: so that a search looks at few cache lines, where the keys themselves lie on as many as there are.
  std::size_t common_bytes_ = 0;
  std::vector<std::uint64_t> heads_;
};

/// Reads header, footer, properties and top index, and verifies them. Four reads.
/// Errors: those of `read`; kCorruption, kUnsupported.
Result<TableIndex> open_table(const TableFileName& file, const ReadBytes& read, Decompressor& decompressor);

/// The bytes of a dictionary, given its block's. Errors: kCorruption, kUnsupported.
Result<std::string> decode_dictionary_block(std::string_view bytes, std::uint64_t file_seed,
                                            const DictionaryEntry& entry, Decompressor& decompressor);

}  // namespace varve::format

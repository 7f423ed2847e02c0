// Owns: building a table file from sorted entries and copied runs, front to back.
// Must never: do I/O, or keep more of the file than the bytes that the caller has not discarded and the index.
//
//   TableBuilder builder = *TableBuilder::make(number, seed, options);
//   for each entry: builder.add(...); and now and then: write builder.pending() to the file, builder.discard_pending()
//   TableFileEntry entry = *builder.finish(); and write builder.pending() to the file.
//
// The same calls give the same bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/block/dictionary_learner.h"
#include "format/bytes/compression.h"
#include "format/log/manifest_edit.h"
#include "format/table/directory_tally.h"
#include "format/table/run_builder.h"
#include "format/table/run_copy.h"
#include "format/table/run_maker.h"
#include "format/table/table_options.h"
#include "format/table/table_output.h"
#include "format/table/table_properties.h"
#include "varve/result.h"

namespace varve::format {

/// Returns whether a builder with these options would make a similar run. The run must be compressed as the options
/// ask, and have their kind of filter. It must not be so short that many such runs would enlarge the indexes. If the
/// result is false, building the run again is better than copying it. Errors: kCorruption, kUnsupported (of the filter
/// partition).
Result<bool> is_made_alike(const RunSource& source, const TableOptions& options, Decompressor& decompressor);

/// Builds one table file. One thread at a time may use a builder. After an error, only destruction is allowed.
class TableBuilder {
 public:
  /// `number` and `seed` are the file's, as in its header and in the manifest.
  /// Errors: kInvalidArgument (an invalid compression level, dictionary or filter).
  static Result<std::unique_ptr<TableBuilder>> make(std::uint64_t number, std::uint64_t seed,
                                                    const TableOptions& options);
  TableBuilder(const TableBuilder&) = delete;
  TableBuilder& operator=(const TableBuilder&) = delete;

  /// Shows each block to `observer`. Null ends that. The observer must outlive the builder or the next call.
  void show_blocks_to(BlockObserver* observer) noexcept { output_.show_blocks_to(observer); }

  /// Adds an entry. Entries come in the order of internal keys, each with a framed sort key and a kind that a table may
  /// contain (asserted).
  /// Errors: kTooLarge (kTableEntryBytesMax); those of the filter.
  Status add(const DataEntry& entry);

  /// Returns whether append_run() accepts the run. The run must be of one table, and follow the last added key. It must
  /// not bring one more dictionary if the file already has many.
  bool can_append(const RunEntry& run) const noexcept;
  /// Copies a run of another file without decompressing its data, and returns the offset of the copy. can_append() must
  /// hold (asserted).
  /// Errors: those of copy_run() and of the filter; kCorruption also if the dictionary does not load.
  Result<std::uint64_t> append_run(const RunSource& source, Decompressor& decompressor);

  /// Ends the open run if it is full and has no room for the entry, which the caller adds next. Returns whether it did.
  bool ends_run_before(const DataEntry& entry);
  /// Ends the open run, full or not.
  void end_run() { finish_run(); }
  /// Returns the offset of the next run. No run is open.
  std::uint64_t offset() const noexcept { return output_.offset(); }

  /// Adds a run that `maker` made separately, with these options and dictionary(). The run's entries must follow the
  /// last added entry (asserted for keys). Returns its bytes, stamped for their place. The caller writes them after the
  /// pending bytes. The maker owns the bytes, which are valid until its next call.
  std::string_view append_made(RunMaker& maker, const MadeRun& made);

  /// Returns the dictionary that data blocks are now compressed with: given, learned or taken over. Empty means no
  /// dictionary.
  const std::string& dictionary() const noexcept { return dictionary_; }
  /// Returns whether it may still learn a dictionary. It is false once it has one, or once a learned one was not worth
  /// its size.
  bool learns_dictionary() const noexcept { return learner_.has_value(); }
  /// Returns how the blocks of the last runs compressed (RunBuilder::stored_per_1024()).
  std::uint64_t stored_per_1024() const noexcept { return run_.stored_per_1024(); }
  bool empty() const noexcept { return totals_.entry_count == 0; }
  std::uint64_t entry_count() const noexcept { return totals_.entry_count; }
  /// Returns the approximate size in bytes of the file if it were finished now. The size of the open block is
  /// estimated. Callers use it to end output files.
  std::uint64_t estimated_bytes() const noexcept;

  /// Returns the bytes of the file that are not yet discarded, in order from the file's start.
  std::string_view pending() const noexcept { return output_.pending(); }
  void discard_pending() noexcept { output_.discard_pending(); }

  /// Finishes the file, which must have at least one entry (asserted). The rest of the file is then pending, and
  /// nothing more may be added. Returns the manifest's entry; the caller sets its level, origin and adopted version.
  /// Errors: those of the filter; kTooLarge (so many tables or runs that an index block would exceed its limit).
  Result<TableFileEntry> finish();

 private:
  TableBuilder(std::uint64_t number, std::uint64_t seed, const TableOptions& options,
               std::optional<Compressor> compressor);

  void count(const DataEntry& entry);
  void cut_block();
  void finish_run();
  void count_run(RunEntry run, const std::vector<DirectoryEntry>& tables, std::uint64_t tables_from);
  void take_run(RunEntry run);
  void learn_dictionary();
  void take_over_dictionary(std::string_view dictionary);
  void use_dictionary(std::string dictionary, Compressor compressor);
  bool has_dictionary(std::uint64_t hash) const noexcept;
  void keep_dictionary(const RunSource& source);
  BlockHandle append_index_block(BlockType type, std::string_view content);
  void append_dictionaries();
  Status append_tail();
  std::string top_index_content() const;
  TableFileEntry file_entry() const;

  std::uint64_t number_;
  int compression_level_;
  std::optional<Compressor> compressor_;
  std::optional<DictionaryLearner> learner_;  // empty once there is a dictionary, or none is worth having
  std::string dictionary_;
  std::uint64_t dictionary_hash_;
  TableOutput output_;
  RunBuilder run_;
  std::vector<RunEntry> runs_;
  DirectoryTally tables_;
  /// Dictionaries of copied runs, each with its content hash, in the order in which they came.
  std::vector<std::pair<std::uint64_t, std::string>> copied_dictionaries_;
  TableProperties totals_;
  std::string last_key_;
  CommitVersion last_version_ = 0;
  std::uint64_t index_bytes_ = 0;
  bool has_place_ = false;  // for the next entry, as ends_run_before() found
  bool finished_ = false;
};

}  // namespace varve::format

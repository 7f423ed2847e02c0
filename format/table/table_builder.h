// Owns: making a table file from sorted entries and copied runs, front to back.
// Must never: do I/O, or keep more of the file than its caller left behind and its index needs.
//
//   TableBuilder builder = *TableBuilder::make(number, seed, options);
//   for each entry: builder.add(...); and now and then: write builder.pending() to the file, builder.discard_pending()
//   TableFileEntry entry = *builder.finish(); write what is pending.
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
#include "format/table/run_builder.h"
#include "format/table/run_copy.h"
#include "format/table/run_maker.h"
#include "format/table/table_options.h"
#include "format/table/table_output.h"
#include "format/table/table_properties.h"
#include "varve/result.h"

namespace varve::format {

/// Whether a run of another file is as a builder with these options would make it: compressed where they ask for it,
/// with the kind of filter they name, and not so short that many like it would swell the indexes. It is worth making
/// anew otherwise. Errors: kCorruption, kUnsupported (of the filter partition).
Result<bool> is_made_alike(const RunSource& source, const TableOptions& options, Decompressor& decompressor);

/// One thread at a time. After an error nothing but destruction is allowed.
class TableBuilder {
 public:
  /// `number` and `seed` are the file's, as its header and the manifest name them.
  /// Errors: kInvalidArgument (a compression level, dictionary or filter that cannot be).
  static Result<std::unique_ptr<TableBuilder>> make(std::uint64_t number, std::uint64_t seed,
                                                    const TableOptions& options);
  TableBuilder(const TableBuilder&) = delete;
  TableBuilder& operator=(const TableBuilder&) = delete;

  /// Shows it each block that is made; null: nobody. It outlives the builder, or the next call.
  void show_blocks_to(BlockObserver* observer) noexcept { output_.show_blocks_to(observer); }

  /// Entries come in the order of internal keys, each with a framed sort key, of a kind that a table holds
  /// (asserted).
  /// Errors: kTooLarge (kTableEntryBytesMax); those of the filter.
  Status add(const DataEntry& entry);

  /// True if append_run would take the run: all of it is of one table, and behind the last key added, and it does not
  /// bring yet another dictionary where there are many.
  bool can_append(const RunEntry& run) const noexcept;
  /// Copies a run of another file without decompressing its data, and tells where the copy begins. can_append() holds
  /// (asserted).
  /// Errors: those of copy_run and of the filter; kCorruption also if the dictionary does not load.
  Result<std::uint64_t> append_run(const RunSource& source, Decompressor& decompressor);

  /// Takes a run that a maker with these options and dictionary() made apart: all of it is of one table, and behind the
  /// last key added (asserted). Its bytes, stamped for their place, are returned, and are the caller's to write behind
  /// what is pending; they are the maker's, valid until its next call.
  std::string_view append_made(RunMaker& maker, const MadeRun& made);

  /// What data blocks are compressed with now: given, learned or taken over. Empty: no dictionary.
  const std::string& dictionary() const noexcept { return dictionary_; }
  /// Whether it would still learn one. Not once it has one, or what it learned was not worth having.
  bool learns_dictionary() const noexcept { return learner_.has_value(); }
  bool empty() const noexcept { return totals_.entry_count == 0; }
  std::uint64_t entry_count() const noexcept { return totals_.entry_count; }
  /// About the size of the file if it were finished now. To cut outputs by; the rest of a block is guessed.
  std::uint64_t estimated_bytes() const noexcept;

  /// Bytes of the file that were not discarded yet, one behind the other from the file's start.
  std::string_view pending() const noexcept { return output_.pending(); }
  void discard_pending() noexcept { output_.discard_pending(); }

  /// Ends the file, which holds an entry at least (asserted). The rest of it is pending then, and nothing may be added.
  /// What is returned is for the manifest; its level, origin and adopted version are the caller's.
  /// Errors: those of the filter; kTooLarge (so many tables or runs that an index block would be over its limit).
  Result<TableFileEntry> finish();

 private:
  TableBuilder(std::uint64_t number, std::uint64_t seed, const TableOptions& options,
               std::optional<Compressor> compressor);

  void count(const DataEntry& entry);
  void cut_block();
  void finish_run();
  void count_run(RunEntry run);
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
  std::optional<DictionaryLearner> learner_;  // until there is a dictionary, or none is to be had
  std::string dictionary_;
  std::uint64_t dictionary_hash_;
  TableOutput output_;
  RunBuilder run_;
  std::vector<RunEntry> runs_;
  std::vector<DirectoryEntry> tables_;
  /// Of copied runs, by what they are named, in the order they came.
  std::vector<std::pair<std::uint64_t, std::string>> copied_dictionaries_;
  TableProperties totals_;
  std::string last_key_;
  CommitVersion last_version_ = 0;
  TableId block_table_ = 0;
  std::uint64_t index_bytes_ = 0;
  bool finished_ = false;
};

}  // namespace varve::format

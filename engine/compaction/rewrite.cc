// Owns: the loop of a rewrite and its cuts (rewrite.h).
// Must never: continue after the first error.
#include "engine/compaction/rewrite.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

#include "engine/tables/runs_apart.h"
#include "format/keys/sort_key.h"
#include "format/keys/value_pointer.h"
#include "format/log/file_header.h"
#include "io/probe.h"

namespace varve::engine {

namespace {

class Rewriter {
 public:
  Rewriter(Retention& retention, const TableSink& sink, const RewriteOptions& options)
      : retention_(retention),
        sink_(sink),
        options_(options),
        table_(options.table),
        apart_(*options.pool, sink.env.scheduler, options.chunk_weight_max) {}

  Status run(EntryStream& input) {
    entries_stay_ = input.entries_stay();
    while (input.valid()) {
      if (const std::optional<format::RunSource> run = input.whole_run()) {
        const Result<bool> done = take_run(*run, input);
        if (!done.ok()) return done.status();
        if (*done) {
          input.pass_run();
          continue;
        }
      }
      if (Status done = take_entry(input); !done.ok()) return done;
      input.next();
    }
    if (Status ended = input.status(); !ended.ok()) return ended;
    if (Status ended = end_file(); !ended.ok()) return ended;
    return check_counts();
  }

  /// Gives up the files that were not taken, also if memory ends.
  ~Rewriter() {
    apart_.end();
    writer_.reset();
    sink_.tables.discard(done_.files);
  }
  Rewriter(const Rewriter&) = delete;
  Rewriter& operator=(const Rewriter&) = delete;

  Rewritten take_result() { return std::exchange(done_, Rewritten()); }

 private:
  static constexpr std::uint64_t kEntriesBetweenLooks = 1024;

  Status look_for_end() const {
    if (sink_.stopping.load(std::memory_order_relaxed)) return Status(Code::kClosed, "the store is closing");
    const bool is_stopped = options_.is_stopped != nullptr && options_.is_stopped->load(std::memory_order_relaxed);
    return is_stopped ? Status(Code::kCancelled, "the merge was stopped") : Status();
  }

  Status take_entry(const EntryStream& input) {
    const Entry entry = input.entry();
    if (++done_.entries_read % kEntriesBetweenLooks == 0) {
      if (Status look = look_for_end(); !look.ok()) return look;
    }
    const Retention::Fate fate = retention_.judge(entry);
    if (fate == Retention::Fate::kDropped) return Status();
    if (Status ready = make_ready(entry.sort_key); !ready.ok()) return ready;
    if (fate == Retention::Fate::kBecomesDelete) {
      io::probe("a delete took the place of an entity that had ended");
      return add({entry.sort_key, entry.version, Kind::kDelete, {}}, input.is_in_memory(), entries_stay_);
    }
    if (entry.is_external()) return add_external(entry, input.is_in_memory());
    if (entry.value.size() >= kExternalValueBytesMin && is_listed(options_.kept_segments, input.log_place().segment)) {
      return add_kept(entry, input.log_place());
    }
    return add(entry, input.is_in_memory(), entries_stay_);
  }

  /// Adds an entry to the current file. The file's own builder makes its first run, which samples the entries and may
  /// learn a dictionary. So short files cost no more than this builder.
  Status add(const Entry& entry, bool was_in_memory, bool stays) {
    if (!apart_.is_begun() && !begins_apart(entry)) {
      sample_weight_ += RunChunk::weight_of(entry);
      return writer_->add(entry, was_in_memory);
    }
    return apart_.add(entry, was_in_memory, stays);
  }

  /// Begins to make runs apart from the file if the entry begins a run.
  bool begins_apart(const Entry& entry) {
    const bool is_full = writer_->ends_run_before(entry);
    if (writer_->learns_dictionary() || (!is_full && sample_weight_ < options_.chunk_weight_max)) return false;
    format::TableOptions options = table_;
    options.dictionary = writer_->dictionary();
    options.learns_dictionary = false;
    const std::uint64_t bytes = writer_->estimated_bytes() - sample_start_;
    apart_.begin(*writer_, options, {sample_weight_, bytes, is_full ? format::kRunBlocksMax : 0});
    return true;
  }

  static bool is_listed(const std::vector<std::uint64_t>& numbers, std::uint64_t number) noexcept {
    return std::binary_search(numbers.begin(), numbers.end(), number);
  }

  /// Adds an entry whose value stays in its log segment. An end stays before the pointer.
  Status add_kept(const Entry& entry, const LogPlace& place) {
    const std::string_view value = entry.content();
    const std::string_view end = entry.value.substr(0, entry.value.size() - value.size());
    pointer_.assign(end);
    format::append_value_pointer(pointer_,
                                 {place.segment, place.offset + end.size(), value.size(), format::content_hash(value)});
    const Kind kind = end.empty() ? Kind::kPutExternal : Kind::kPutExpiringExternal;
    return add({entry.sort_key, entry.version, kind, pointer_}, true, false);
  }

  /// Adds an entry whose value is in a value file. The value stays there, unless that file must go.
  Status add_external(const Entry& entry, bool was_in_memory) {
    const Result<format::ValuePointer> pointer = format::decode_value_pointer(entry.content());
    if (!pointer.ok()) return pointer.status();
    if (!is_listed(options_.leaving_value_files, pointer->file)) return add(entry, was_in_memory, entries_stay_);
    const Result<PinnedBlock> value = options_.values->read(entry.content());
    if (!value.ok()) return value.status();
    io::probe("a value was brought home from a value file");
    if (!entry.has_end()) return add({entry.sort_key, entry.version, Kind::kPut, (*value)->content()}, false, false);
    brought_.assign(entry.value.substr(0, format::kEndBytes)).append((*value)->content());
    return add({entry.sort_key, entry.version, Kind::kPutExpiring, brought_}, false, false);
  }

  bool points_into_leaving(const format::RunEntry& run) const noexcept {
    return std::any_of(run.value_files.begin(), run.value_files.end(), [this](const format::ValueFileUse& use) {
      return is_listed(options_.leaving_value_files, use.number);
    });
  }

  /// Takes a whole run. Returns false if its entries must be taken one by one.
  Result<bool> take_run(const format::RunSource& source, const EntryStream& input) {
    const format::RunEntry& run = *source.run;
    if (Status look = look_for_end(); !look.ok()) return look;
    const Retention::RunFate fate = retention_.judge_run(run);
    if (fate == Retention::RunFate::kUnknown) return false;
    if (fate == Retention::RunFate::kDropped) io::probe("a run of a dropped table went unread");
    if (fate == Retention::RunFate::kKept) {
      const Result<bool> copied = copy_run(source, input);
      if (!copied.ok() || !*copied) return copied;
    }
    done_.entries_read += run.entry_count;
    return true;
  }

  Result<bool> copy_run(const format::RunSource& source, const EntryStream& input) {
    const format::RunEntry& run = *source.run;
    const Result<bool> alike = format::is_made_alike(source, options_.table, decompressor_);
    if (!alike.ok() || !*alike) return alike;
    if (points_into_leaving(run)) return false;
    if (Status ready = make_ready(run.smallest_key); !ready.ok()) return ready;
    if (apart_.is_begun()) {
      if (Status appended = apart_.append_all(); !appended.ok()) return appended;
    }
    if (!writer_->can_append(run)) return false;
    const std::uint64_t begin = writer_->begin_run();
    input.show_cached([&](format::BlockType type, format::BlockHandle within, std::string_view content) {
      writer_->keep_hot(type, {begin + within.offset, within.bytes}, content);
    });
    const Result<std::uint64_t> copied = writer_->append_run(source, decompressor_);
    if (!copied.ok()) return copied.status();
    assert(*copied == begin);
    if (apart_.is_begun()) apart_.note_growth();
    begin_sample();
    last_key_ = run.largest_key;
    done_.bytes_copied += run.bytes();
    return true;
  }

  /// Ensures that there is a file for the key.
  Status make_ready(std::string_view sort_key) {
    if (last_key_ != sort_key) {
      const bool same_table = !last_key_.empty() && format::table_id_of(sort_key) == format::table_id_of(last_key_);
      if (begins_new_file(sort_key, same_table)) {
        if (Status ended = end_file(); !ended.ok()) return ended;
      }
      if (!same_table) {
        holds_one_table_ = false;
        table_.dictionary = options_.table.dictionary;
        table_.learns_dictionary = options_.table.learns_dictionary;
      }
      last_key_.assign(sort_key);
    }
    return writer_ ? Status() : begin_file();
  }

  bool begins_new_file(std::string_view sort_key, bool same_table) {
    if (!options_.begins_new_file) return false;
    const std::uint64_t file_bytes = file_bytes_so_far();
    const std::optional<format::TableId> new_table =
        same_table ? std::nullopt : std::optional(format::table_id_of(sort_key));
    const bool begins =
        options_.begins_new_file(sort_key, file_bytes, done_.bytes_written + file_bytes - table_start_, new_table);
    if (!same_table) table_start_ = done_.bytes_written + file_bytes;
    return begins;
  }

  std::uint64_t file_bytes_so_far() const noexcept {
    if (!writer_) return 0;
    return apart_.is_begun() ? apart_.estimated_bytes() : writer_->estimated_bytes();
  }

  Status begin_file() {
    const Result<std::uint64_t> number = sink_.manifest.next_file_number();
    if (!number.ok()) return number.status();
    Result<std::unique_ptr<TableWriter>> writer = TableWriter::create(sink_.env, sink_.directory, *number, table_);
    if (!writer.ok()) return writer.status();
    writer_ = *std::move(writer);
    holds_one_table_ = true;
    begin_sample();
    writer_->keep_blocks_of(sink_.tables, *number, options_.hot_data);
    return Status();
  }

  void begin_sample() noexcept {
    sample_weight_ = 0;
    sample_start_ = writer_->estimated_bytes();
  }

  Status end_file() {
    if (!writer_) return Status();
    if (apart_.is_begun()) {
      if (Status appended = apart_.append_all(); !appended.ok()) return appended;
      apart_.end();
    }
    // The next file continues with the dictionary of this file, even if that is empty.
    table_.dictionary = writer_->dictionary();
    table_.learns_dictionary = options_.table.learns_dictionary && (!holds_one_table_ || writer_->learns_dictionary());
    done_.files.reserve(done_.files.size() + 1);  // First, so that a finished file is not lost for lack of memory.
    Result<format::TableFileEntry> file = writer_->finish(options_.level);
    writer_.reset();
    if (!file.ok()) return file.status();
    done_.bytes_written += file->size_bytes;
    entries_written_ += file->entry_count;
    done_.files.push_back(*std::move(file));
    return Status();
  }

  Status check_counts() const {
    if (entries_written_ + retention_.dropped_entries() == done_.entries_read) return Status();
    return Status::corruption("a rewrite read " + std::to_string(done_.entries_read) + " entries, but wrote " +
                              std::to_string(entries_written_) + " and dropped " +
                              std::to_string(retention_.dropped_entries()));
  }

  Retention& retention_;
  const TableSink& sink_;
  const RewriteOptions& options_;
  format::TableOptions table_;
  std::unique_ptr<TableWriter> writer_;
  RunsApart apart_;  // of the current file, once it has a run
  // The entries since the current file began, or since the last copied run:
  std::uint64_t sample_weight_ = 0;
  std::uint64_t sample_start_ = 0;  // in bytes of the file
  bool entries_stay_ = false;
  format::Decompressor decompressor_;
  std::string last_key_;
  std::string pointer_;
  std::string brought_;            // an end, and a value from a value file
  bool holds_one_table_ = true;    // the current file
  std::uint64_t table_start_ = 0;  // bytes written before the current table
  std::uint64_t entries_written_ = 0;
  Rewritten done_;
};

}  // namespace

Result<Rewritten> rewrite(EntryStream& input, Retention& retention, const TableSink& sink,
                          const RewriteOptions& options) {
  Rewriter rewriter(retention, sink, options);
  const Status done = rewriter.run(input);
  if (done.ok()) return rewriter.take_result();
  io::probe("a rewrite was abandoned");
  return done;
}

}  // namespace varve::engine

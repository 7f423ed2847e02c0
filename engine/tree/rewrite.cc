// Owns: the loop of a rewrite and its cuts (rewrite.h).
// Must never: go on after the first error.
#include "engine/tree/rewrite.h"

#include <cassert>
#include <string>
#include <utility>

#include "format/file_header.h"
#include "format/sort_key.h"

namespace varve::engine {

namespace {

class Rewriter {
 public:
  Rewriter(Retention& retention, const TableSink& sink, const RewriteOptions& options)
      : retention_(retention), sink_(sink), options_(options) {}

  Status run(EntryStream& input) {
    for (; input.valid(); input.next()) {
      if (++done_.entries_read % kEntriesBetweenLooks == 0 && sink_.stopping.load(std::memory_order_relaxed)) {
        return Status(Code::kClosed, "the store is closing");
      }
      const Entry entry = input.entry();
      if (!retention_.keeps(entry)) continue;
      if (Status written = write(entry); !written.ok()) return written;
    }
    if (Status ended = input.status(); !ended.ok()) return ended;
    if (Status ended = end_file(); !ended.ok()) return ended;
    return check_counts();
  }

  Rewritten take_result() { return std::move(done_); }
  const std::vector<format::TableFileEntry>& files() const noexcept { return done_.files; }
  void abandon() noexcept { writer_.reset(); }

 private:
  static constexpr std::uint64_t kEntriesBetweenLooks = 1024;

  Status write(const Entry& entry) {
    if (last_key_ != entry.sort_key) {
      if (begins_new_file(entry.sort_key)) {
        if (Status ended = end_file(); !ended.ok()) return ended;
      }
      last_key_.assign(entry.sort_key);
    }
    if (!writer_) {
      if (Status begun = begin_file(); !begun.ok()) return begun;
    }
    return writer_->add(entry);
  }

  bool begins_new_file(std::string_view sort_key) {
    if (!options_.begins_new_file) return false;
    const bool same_table = !last_key_.empty() && format::table_id_of(sort_key) == format::table_id_of(last_key_);
    const std::uint64_t file_bytes = writer_ ? writer_->estimated_bytes() : 0;
    const bool begins =
        options_.begins_new_file(sort_key, file_bytes, done_.bytes_written + file_bytes - table_start_, same_table);
    if (!same_table) table_start_ = done_.bytes_written + file_bytes;
    return begins;
  }

  Status begin_file() {
    const Result<std::uint64_t> number = sink_.manifest.next_file_number();
    if (!number.ok()) return number.status();
    Result<std::unique_ptr<TableWriter>> writer =
        TableWriter::create(sink_.env, sink_.directory, *number, options_.table);
    if (!writer.ok()) return writer.status();
    writer_ = *std::move(writer);
    return Status();
  }

  Status end_file() {
    if (!writer_) return Status();
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
    return Status::corruption("a rewrite read " + std::to_string(done_.entries_read) + " entries, wrote " +
                              std::to_string(entries_written_) + " and dropped " +
                              std::to_string(retention_.dropped_entries()));
  }

  Retention& retention_;
  const TableSink& sink_;
  const RewriteOptions& options_;
  std::unique_ptr<TableWriter> writer_;
  std::string last_key_;
  std::uint64_t table_start_ = 0;  // bytes written before the table at hand
  std::uint64_t entries_written_ = 0;
  Rewritten done_;
};

}  // namespace

Result<Rewritten> rewrite(EntryStream& input, Retention& retention, const TableSink& sink,
                          const RewriteOptions& options) {
  Rewriter rewriter(retention, sink, options);
  const Status done = rewriter.run(input);
  if (done.ok()) return rewriter.take_result();
  rewriter.abandon();
  discard(sink.directory, rewriter.files());
  return done;
}

void discard(io::Directory& directory, const std::vector<format::TableFileEntry>& files) noexcept {
  for (const format::TableFileEntry& file : files) {
    // A name that stays is a stray, which the next open removes.
    (void)directory.remove(format::file_name(format::FileType::kTable, file.number));
  }
}

}  // namespace varve::engine

// Owns: dividing entries into files, and refusing a repeated key (sorted_files.h).
#include "engine/load/sorted_files.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

#include "format/keys/sort_key.h"

namespace varve::engine {

namespace {

Status store_was_closed() {
  return {Code::kClosed, "the store was closed; open it again"};
}

}  // namespace

Status given_twice(std::string_view sort_key) {
  const Result<format::SortKey> key = format::decode_sort_key(sort_key);
  if (!key.ok()) return key.status();
  return Status::exists("the key '" + key->partition_key + "', '" + key->row_key + "' was given twice");
}

SortedFiles::~SortedFiles() {
  writer_.reset();
  sink_.tables.discard(files_);
}

Status SortedFiles::add(const Entry& entry) {
  const int compared = entries_ == 0 ? -1 : compare_with_last(entry.sort_key);
  assert(compared <= 0);
  if (compared == 0) return given_twice(entry.sort_key);
  if (entries_++ % kEntriesBetweenLooks == 0) {
    if (is_stopping()) return store_was_closed();
    if (is_full()) {
      if (Status ended = end_file(); !ended.ok()) return ended;
    }
  }
  if (!writer_) {
    if (Status begun = begin_file(); !begun.ok()) return begun;
  }
  last_key_.assign(entry.sort_key);
  return writer_->add(entry);
}

std::optional<format::TableOptions> SortedFiles::settled() const {
  if (writer_ ? writer_->learns_dictionary() : table_.learns_dictionary) return std::nullopt;
  format::TableOptions options = table_;
  if (writer_) options.dictionary = writer_->dictionary();
  return options;
}

Status SortedFiles::append(format::RunMaker& maker, const format::MadeRun& run) {
  assert(entries_ == 0 || compare_with_last(run.entry.smallest_key) < 0);
  if (is_stopping()) return store_was_closed();
  if (!writer_) {
    if (Status begun = begin_file(); !begun.ok()) return begun;
  }
  last_key_.assign(run.entry.largest_key);
  entries_ += run.entry.entry_count;
  return writer_->append_made(maker, run).status();
}

std::unique_ptr<TableWriter> SortedFiles::cut() {
  if (!is_full()) return nullptr;
  carry_on_dictionary();
  return std::move(writer_);
}

void SortedFiles::take(std::vector<format::TableFileEntry>& files) {
  files_.reserve(files_.size() + files.size());
  std::move(files.begin(), files.end(), std::back_inserter(files_));
  files.clear();
}

Status SortedFiles::begin_file() {
  const Result<std::uint64_t> number = sink_.manifest.next_file_number();
  if (!number.ok()) return number.status();
  Result<std::unique_ptr<TableWriter>> writer = TableWriter::create(sink_.env, sink_.directory, *number, table_);
  if (!writer.ok()) return writer.status();
  writer_ = *std::move(writer);
  return Status();
}

/// Passes the file's learned dictionary to the next file, or the result that there is nothing to learn.
void SortedFiles::carry_on_dictionary() {
  table_.dictionary = writer_->dictionary();
  table_.learns_dictionary = writer_->learns_dictionary();
}

Status SortedFiles::end_file() {
  files_.reserve(files_.size() + 1);  // First, so that a finished file is not lost for lack of memory.
  carry_on_dictionary();
  Result<format::TableFileEntry> file = writer_->finish(0);
  if (!file.ok()) return file.status();
  writer_.reset();
  written_bytes_ += file->size_bytes;
  files_.push_back(*std::move(file));
  return Status();
}

Result<std::vector<format::TableFileEntry>> SortedFiles::finish() {
  if (writer_) {
    if (Status ended = end_file(); !ended.ok()) return ended;
  }
  std::sort(files_.begin(), files_.end(), [](const format::TableFileEntry& left, const format::TableFileEntry& right) {
    return left.smallest_key < right.smallest_key;
  });
  return std::exchange(files_, {});
}

}  // namespace varve::engine

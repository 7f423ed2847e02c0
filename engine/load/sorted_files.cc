// Owns: the cuts between files, and the refusal of a key that comes twice (sorted_files.h).
#include "engine/load/sorted_files.h"

#include <cassert>
#include <utility>

#include "format/sort_key.h"

namespace varve::engine {

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
    if (sink_.stopping.load(std::memory_order_relaxed)) return Status(Code::kClosed, "the store was closed");
    if (writer_ && writer_->estimated_bytes() >= file_bytes_) {
      if (Status ended = end_file(); !ended.ok()) return ended;
    }
  }
  if (!writer_) {
    if (Status begun = begin_file(); !begun.ok()) return begun;
  }
  last_key_.assign(entry.sort_key);
  return writer_->add(entry);
}

Status SortedFiles::begin_file() {
  const Result<std::uint64_t> number = sink_.manifest.next_file_number();
  if (!number.ok()) return number.status();
  Result<std::unique_ptr<TableWriter>> writer = TableWriter::create(sink_.env, sink_.directory, *number, table_);
  if (!writer.ok()) return writer.status();
  writer_ = *std::move(writer);
  return Status();
}

Status SortedFiles::end_file() {
  files_.reserve(files_.size() + 1);  // A finished file must not be lost for want of memory.
  // The next file goes on with what this one learned, be it that there is nothing to learn.
  table_.dictionary = writer_->dictionary();
  table_.learns_dictionary = writer_->learns_dictionary();
  Result<format::TableFileEntry> file = writer_->finish(0);
  writer_.reset();
  if (!file.ok()) return file.status();
  written_bytes_ += file->size_bytes;
  files_.push_back(*std::move(file));
  return Status();
}

Result<std::vector<format::TableFileEntry>> SortedFiles::finish() {
  if (writer_) {
    if (Status ended = end_file(); !ended.ok()) return ended;
  }
  return std::exchange(files_, {});
}

}  // namespace varve::engine

// Owns: dividing a repaired store's entries into files (repaired_files.h).
// Must never: finish a file without memory for its entry.
#include "engine/repair/repaired_files.h"

#include <string>
#include <utility>

#include "engine/compaction/tree.h"
#include "engine/levels/levels.h"
#include "format/log/file_header.h"

namespace varve::engine {

namespace {

/// The size is checked once in this many entries, because the check costs more than an entry.
constexpr std::uint64_t kEntriesBetweenLooks = 32;

}  // namespace

Status RepairedFiles::add(const Entry& entry) {
  if (++entries_ % kEntriesBetweenLooks == 0 && writer_ && writer_->estimated_bytes() >= file_bytes_max_) {
    if (Status ended = end_file(); !ended.ok()) return ended;
  }
  if (!writer_) {
    if (Status begun = begin_file(); !begun.ok()) return begun;
  }
  return writer_->add(entry);
}

Status RepairedFiles::begin_file() {
  Result<std::unique_ptr<TableWriter>> writer =
      TableWriter::create(env_, target_.directory(), next_number_, table_options(kLastLevel));
  if (!writer.ok()) return writer.status();
  ++next_number_;
  writer_ = *std::move(writer);
  return Status();
}

Status RepairedFiles::end_file() {
  if (!writer_) return Status();
  target_.reserve_made();
  std::string name = format::file_name(format::FileType::kTable, next_number_ - 1);
  Result<format::TableFileEntry> file = writer_->finish(kLastLevel);
  if (!file.ok()) {
    writer_.reset();
    return file.status();
  }
  target_.made(std::move(name));
  writer_.reset();
  written_bytes_ += file->size_bytes;
  const std::uint64_t number = file->number;
  files_.emplace(number, *std::move(file));
  return Status();
}

}  // namespace varve::engine

// Owns: the transfer of a table's bytes from the builder to the file (table_writer.h).
// Must never: hold more of the file in memory than one piece to write.
#include "engine/tables/table_writer.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "engine/base/expected_file.h"
#include "engine/base/sync_points.h"
#include "format/bytes/bytes.h"
#include "format/bytes/content_hasher.h"
#include "format/log/file_header.h"
#include "io/os_error.h"

namespace varve::engine {

namespace {

/// Bytes of one write. Large enough for few system calls, small enough to stay in the processor's cache until it is
/// written.
constexpr std::size_t kPieceBytes = std::size_t{128} << 10;
}  // namespace

Result<std::unique_ptr<TableWriter>> TableWriter::create(const io::Env& env, io::Directory& directory,
                                                         std::uint64_t number, const format::TableOptions& options) {
  Result<std::unique_ptr<format::TableBuilder>> builder =
      format::TableBuilder::make(number, env.random.next(), options);
  if (!builder.ok()) return builder.status();
  // The writer, which removes the file in its destructor, is created before the file.
  std::unique_ptr<TableWriter> writer(
      new TableWriter(env, directory, format::file_name(format::FileType::kTable, number), *std::move(builder)));
  if (Status made = writer->make_file(); !made.ok()) return made;
  return writer;
}

TableWriter::TableWriter(const io::Env& env, io::Directory& directory, std::string name,
                         std::unique_ptr<format::TableBuilder> builder)
    : directory_(directory),
      late_piece_bytes_(env.files.good_read_bytes()),
      name_(std::move(name)),
      builder_(std::move(builder)) {}

Status TableWriter::make_file() {
  Result<std::unique_ptr<io::WritableFile>> file = directory_.create(name_);
  if (io::is_taken(file.status())) {
    if (Status removed = directory_.remove(name_); !removed.ok()) return removed;
    file = directory_.create(name_);
  }
  if (!file.ok()) return file.status();
  file_ = *std::move(file);
  is_made_ = true;
  return Status();
}

TableWriter::~TableWriter() {
  if (finished_ || !is_made_) return;
  file_.reset();
  try {
    (void)directory_.remove(name_);
  } catch (const std::bad_alloc&) {
    // A file that stays is a stray, which the next open removes.
  }
}

void TableWriter::keep_blocks_of(TableFiles& files, std::uint64_t number, BlockPriority data) {
  fresh_ = std::make_unique<FreshBlocks>(files, number, data, *file_);
  builder_->show_blocks_to(fresh_.get());
}

Status TableWriter::add(const Entry& entry, bool was_in_memory) {
  const format::DataEntry data{entry.sort_key, entry.version, entry.kind, entry.value};
  if (Status added = builder_->add(data); !added.ok()) return added.in_file(format::named_file(name_));
  if (fresh_ != nullptr) fresh_->count_entry(was_in_memory);  // The add may have ended the block before.
  return builder_->pending().size() < kPieceBytes ? Status() : write_pending();
}

Result<std::uint64_t> TableWriter::append_run(const format::RunSource& source, format::Decompressor& decompressor) {
  const Result<std::uint64_t> begin = builder_->append_run(source, decompressor);
  if (!begin.ok()) return begin.status();
  if (Status written = write_pending(); !written.ok()) return written;
  return *begin;
}

void TableWriter::keep_hot(format::BlockType type, format::BlockHandle place, std::string_view content) noexcept {
  if (fresh_ != nullptr) fresh_->take_copied(type, place, content);
}

std::uint64_t TableWriter::begin_run() {
  builder_->end_run();
  return builder_->offset();
}

bool TableWriter::ends_run_before(const Entry& entry) {
  return builder_->ends_run_before({entry.sort_key, entry.version, entry.kind, entry.value});
}

Result<std::uint64_t> TableWriter::append_made(format::RunMaker& maker, const format::MadeRun& run) {
  const std::string_view bytes = builder_->append_made(maker, run);
  if (Status written = write_pending(); !written.ok()) return written;
  const std::uint64_t begin = file_->size_bytes();
  if (Status written = write(bytes); !written.ok()) return written;
  return begin;
}

Status TableWriter::write_pending() {
  if (Status written = write(builder_->pending()); !written.ok()) return written;
  builder_->discard_pending();
  return Status();
}

/// Appends bytes and reads them back at once, while they are in the processor's cache. The hash of the bytes read must
/// be the hash of the bytes that the builder made. So a bit flipped in memory on the way, and a lost write, are found
/// before any reader needs the file. A file system that shows bytes only after their sync is read after it.
Status TableWriter::write(std::string_view bytes) {
  if (Status written = file_->append(format::as_bytes(bytes)); !written.ok()) return written;
  // An open file ends for its reader where it ended at the open. So each write is read by an open of its own.
  const Result<std::unique_ptr<io::ReadableFile>> file = open_expected(directory_, name_, io::ReadMode::kCached);
  return file.ok() ? read_back(**file, kPieceBytes) : file.status();
}

/// Reads the bytes that the file shows and that were not read back yet.
Status TableWriter::read_back(const io::ReadableFile& file, std::size_t piece_bytes) {
  while (read_back_bytes_ < file.size_bytes()) {
    piece_.resize(std::min<std::uint64_t>(piece_bytes, file.size_bytes() - read_back_bytes_));
    const std::span<std::byte> piece = std::as_writable_bytes(std::span(piece_));
    if (Status read = file.read_exactly(read_back_bytes_, piece); !read.ok()) return read;
    hasher_.update(piece_);
    read_back_bytes_ += piece_.size();
  }
  return Status();
}

/// Checks the size of the file under its name, and the hash of the bytes that were read back.
Status TableWriter::check_finished(const format::TableFileEntry& entry) {
  const Result<std::unique_ptr<io::ReadableFile>> file = open_expected(directory_, name_, io::ReadMode::kCached);
  if (!file.ok()) return file.status();
  const std::uint64_t size = (*file)->size_bytes();
  if (size != entry.size_bytes) {
    return Status::corruption("has " + std::to_string(size) + " bytes, but " + std::to_string(entry.size_bytes) +
                              " were written")
        .in_file(format::named_file(name_));
  }
  if (Status read = read_back(**file, late_piece_bytes_); !read.ok()) return read;
  if (hasher_.digest() == entry.content_hash) return Status();
  return Status::corruption("reads back differently from what was written").in_file(format::named_file(name_));
}

Result<format::TableFileEntry> TableWriter::finish(std::uint32_t level) {
  Result<format::TableFileEntry> entry = builder_->finish();
  if (!entry.ok()) return Status(entry.status()).in_file(format::named_file(name_));
  entry->level = level;
  if (Status written = write_pending(); !written.ok()) return written;
  if (Status synced = file_->sync(sync_points::kTable); !synced.ok()) return synced;
  assert(file_->size_bytes() == entry->size_bytes);
  file_.reset();
  if (Status same = check_finished(*entry); !same.ok()) return same;
  finished_ = true;
  if (fresh_ != nullptr) fresh_->finish();
  return entry;
}

}  // namespace varve::engine

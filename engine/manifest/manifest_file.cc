// Owns: appending records to a manifest, and distinguishing a torn end from damage.
// Must never: apply an edit before its record verified.
#include "engine/manifest/manifest_file.h"

#include <cassert>
#include <string>
#include <utility>

#include "engine/base/sync_points.h"
#include "engine/base/whole_file.h"
#include "format/bytes/bytes.h"
#include "format/bytes/checksum.h"
#include "format/log/file_header.h"
#include "io/os_error.h"

namespace varve::engine {
namespace {

NamedFile manifest_name(std::uint64_t number) {
  return format::named_file(format::FileType::kManifest, number);
}

}  // namespace

Result<ManifestFile> ManifestFile::create(const io::Env& env, io::Directory& directory, std::uint64_t number,
                                          const FileSet& files) {
  const NamedFile name = manifest_name(number);
  if (Status removed = directory.remove(name); !removed.ok() && !io::is_missing(removed)) return removed;
  Result<std::unique_ptr<io::WritableFile>> file = directory.create(name);
  if (!file.ok()) return file.status();

  ManifestFile manifest(number, env.random.next());
  manifest.file_ = *std::move(file);
  if (Status written = manifest.write_first(files); !written.ok()) {
    (void)directory.remove(name);  // If the name remains, the next open removes the stray file.
    return written;
  }
  return manifest;
}

Status ManifestFile::write_first(const FileSet& files) {
  std::string bytes = format::encode_file_header({format::FileType::kManifest, format::kFormatVersion, seed_, number_});
  const std::string payload = format::encode_manifest_edit(files.as_edit());
  format::append_record(bytes, record_header(), payload, {seed_, bytes.size()});  // B1
  if (Status written = file_->append(format::as_bytes(bytes)); !written.ok()) return written;
  if (Status synced = file_->sync(sync_points::kManifestCreate); !synced.ok()) return synced;
  durable_bytes_ = bytes.size();
  return Status();
}

Status ManifestFile::append(const format::ManifestEdit& edit) {
  assert(!in_doubt_);
  std::string bytes;
  format::append_record(bytes, record_header(), format::encode_manifest_edit(edit), {seed_, durable_bytes_});
  in_doubt_ = true;
  try {
    if (Status written = file_->append(format::as_bytes(bytes)); !written.ok()) return written;
    if (Status synced = file_->sync(sync_points::kManifestAppend); !synced.ok()) return synced;
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();  // The record may follow, so the caller must not take the edit back.
  }
  in_doubt_ = false;
  durable_bytes_ += bytes.size();
  return Status();
}

Status ManifestFile::confirm(io::Directory& directory) const {
  const Result<std::unique_ptr<io::ReadableFile>> file = directory.open(manifest_name(number_), io::ReadMode::kCached);
  if (file.ok() && (*file)->size_bytes() == durable_bytes_) return Status();
  const bool is_read = file.ok() || io::is_missing(file.status()) || file.code() == Code::kCorruption;
  if (!is_read) return file.status();
  return Status(Code::kFenced, "the manifest was removed, replaced, cut or continued by another owner")
      .in_file(manifest_name(number_));
}

format::RecordHeader ManifestFile::record_header() const {
  format::RecordHeader header;
  header.type = format::RecordType::kManifestEdit;
  header.file_number = number_;
  header.durable_upto = durable_bytes_;  // B2
  return header;
}

namespace {

/// Iterates over the records of one manifest.
class ManifestParser {
 public:
  ManifestParser(std::string_view bytes, std::uint64_t number, std::uint64_t seed) noexcept
      : bytes_(bytes), number_(number), seed_(seed) {}

  Result<ManifestContent> parse(bool may_end_torn) {
    if (Status header = check_header(); !header.ok()) return header;
    std::uint64_t position = format::kFileHeaderBytes;
    while (position < bytes_.size()) {
      format::Record record;
      Status why = Status::corruption("zeros where a record was expected");
      const format::RecordOutcome outcome = format::read_record(bytes_, position, seed_, &record, &why);
      if (outcome == format::RecordOutcome::kUnsupported) return why.in_file(name(), position);
      if (outcome != format::RecordOutcome::kRecord) {
        if (Status end = check_end(position, may_end_torn, why); !end.ok()) return end;
        break;
      }
      if (Status taken = take(record, position); !taken.ok()) return taken.in_file(name(), position);
      position += record.size_bytes;
    }
    if (position == format::kFileHeaderBytes) return damaged(position, "has no complete first record");  // B1
    content_.valid_bytes = position;
    const std::size_t last = bytes_.find_last_not_of('\0');
    content_.torn_bytes = last == std::string_view::npos || last < position ? 0 : last + 1 - position;
    return std::move(content_);
  }

 private:
  NamedFile name() const { return manifest_name(number_); }

  Status damaged(std::uint64_t offset, std::string_view what) const {
    return Status::corruption(what).in_file(name(), offset);
  }

  Status check_header() const {
    const Result<format::FileHeader> header = format::decode_file_header(bytes_, format::FileType::kManifest);
    if (!header.ok()) return header.status().in_file(name(), 0);
    if (header->number != number_) return damaged(0, "its header has the number of another file");
    if (header->seed != seed_) return damaged(0, "the seed in its header differs from the one in CURRENT");
    return Status();
  }

  Status take(const format::Record& record, std::uint64_t position) {
    const bool first = position == format::kFileHeaderBytes;
    const format::RecordHeader& header = record.header;
    if (header.type != format::RecordType::kManifestEdit) return Status::corruption("a record is not a manifest edit");
    if (header.file_number != number_) return Status::corruption("a record belongs to another file");
    if (header.durable_upto != (first ? 0 : position)) {
      return Status::corruption("a record gives the wrong durable length");  // B2
    }
    const Result<format::ManifestEdit> edit = format::decode_manifest_edit(record.payload);
    if (!edit.ok()) return edit.status();
    if (first && !edit->store_id.has_value()) return Status::corruption("the first edit has no store id");  // B1
    return content_.files.apply(*edit);
  }

  /// Decides whether the invalid bytes at `position` are the last append, torn, or damage.
  Status check_end(std::uint64_t position, bool may_end_torn, const Status& why) const {
    if (!may_end_torn) return why.in_file(name(), position);
    for (std::uint64_t later = position + format::kRecordAlignment; later < bytes_.size();
         later += format::kRecordAlignment) {
      format::Record record;
      Status ignored;
      const format::RecordOutcome outcome = format::read_record(bytes_, later, seed_, &record, &ignored);
      if (outcome == format::RecordOutcome::kRecord || outcome == format::RecordOutcome::kUnsupported) {
        return damaged(position, "damaged: the later record at offset " + std::to_string(later) +
                                     " was appended after this one was durable");  // B2
      }
    }
    return Status();
  }

  std::string_view bytes_;
  std::uint64_t number_;
  std::uint64_t seed_;
  ManifestContent content_;
};

Status check_clean_end(std::string_view bytes, const format::Root& root) {
  const NamedFile name = manifest_name(root.manifest_number);
  if (bytes.size() != root.manifest_bytes) {
    return Status::corruption("has " + std::to_string(bytes.size()) + " bytes, but had " +
                              std::to_string(root.manifest_bytes) + " when the store was closed")
        .in_file(name);
  }
  if (format::content_hash(bytes) != root.manifest_hash) {
    return Status::corruption("its content differs from when the store was closed").in_file(name);
  }
  return Status();
}

}  // namespace

Result<ManifestContent> parse_manifest(std::string_view bytes, std::uint64_t number, std::uint64_t seed,
                                       bool may_end_torn) {
  return ManifestParser(bytes, number, seed).parse(may_end_torn);
}

Result<ManifestContent> read_manifest(io::Directory& directory, const format::Root& root) {
  const bool clean = root.state == format::RootState::kClean;
  // If the last sync failed, the end of the manifest is in doubt, and the page cache may differ from the device.
  const io::ReadMode mode = clean ? io::ReadMode::kCached : io::ReadMode::kDirect;
  const NamedFile name = manifest_name(root.manifest_number);
  const Result<std::string> bytes = read_whole_file(directory, name, kManifestBytesReadMax, mode);
  if (io::is_missing(bytes.status())) {
    return Status::corruption("the manifest that CURRENT names is missing").in_file(name);
  }
  if (!bytes.ok()) return bytes.status();
  // Parsing comes first, because it can name the place of the damage.
  Result<ManifestContent> content = parse_manifest(*bytes, root.manifest_number, root.manifest_seed, !clean);
  if (!content.ok() || !clean) return content;
  if (Status end = check_clean_end(*bytes, root); !end.ok()) return end;
  return content;
}

}  // namespace varve::engine

// Owns: the description of a closed store: making it and comparing it.
// Must never: take a size or a hash from memory if it can be read from the disk.
#include "engine/manifest/clean_end.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

#include "engine/base/expected_file.h"
#include "engine/base/whole_file.h"
#include "format/bytes/bytes.h"
#include "format/bytes/checksum.h"
#include "format/log/file_header.h"
#include "format/log/log_record.h"
#include "io/file.h"

namespace varve::engine {
namespace {

NamedFile segment_name(std::uint64_t number) {
  return format::named_file(format::FileType::kLogSegment, number);
}

Status differs(const NamedFile& name, std::string_view what, std::uint64_t found, std::uint64_t expected) {
  return Status::corruption(std::string(what)
                                .append(" is ")
                                .append(std::to_string(found))
                                .append(", but was ")
                                .append(std::to_string(expected))
                                .append(" when the store was closed"))
      .in_file(name);
}

Result<format::FinalSegment> read_final_segment(io::Directory& directory, const LiveSegment& segment) {
  const NamedFile name = segment_name(segment.number);
  const Result<std::unique_ptr<io::ReadableFile>> file = open_expected(directory, name, io::ReadMode::kDirect);
  if (!file.ok()) return file.status();
  const std::uint64_t size = (*file)->size_bytes();
  if (size != segment.size_bytes) return differs(name, "size", size, segment.size_bytes);

  assert(size >= 2 * io::kSectorBytes);
  const std::uint64_t offset = size - io::kSectorBytes;
  std::string sector(io::kSectorBytes, '\0');
  if (Status read =
          (*file)->read_exactly(offset, std::as_writable_bytes(std::span<char>(sector.data(), sector.size())));
      !read.ok()) {
    return read;
  }
  format::Record footer;
  Status why = Status::corruption("zeros where the footer was expected");
  const format::RecordOutcome outcome = format::read_record_at(sector, {segment.seed, offset}, &footer, &why);
  if (outcome != format::RecordOutcome::kRecord) return why.in_file(name, offset);
  if (footer.header.type != format::RecordType::kFooter) {
    return Status::corruption("the last record is not a footer").in_file(name, offset);
  }
  return format::FinalSegment{segment.number, size, format::content_hash(sector)};
}

/// Reads back the manifest, checks that its content equals `files`, and returns its hash.
Result<std::uint64_t> read_manifest_hash(io::Directory& directory, const FileSet& files, const ManifestFile& manifest) {
  const NamedFile name = format::named_file(format::FileType::kManifest, manifest.number());
  const Result<std::string> bytes = read_whole_file(directory, name, kManifestBytesReadMax, io::ReadMode::kDirect);
  if (!bytes.ok()) return bytes.status();
  if (bytes->size() != manifest.durable_bytes()) return differs(name, "size", bytes->size(), manifest.durable_bytes());
  const Result<ManifestContent> content = parse_manifest(*bytes, manifest.number(), manifest.seed(), false);
  if (!content.ok()) return content.status();
  if (content->files != files) return Status::corruption("reads back differently from what was written").in_file(name);
  return format::content_hash(*bytes);
}

}  // namespace

Result<format::Root> make_clean_root(io::Directory& directory, const format::Root& open, const FileSet& files,
                                     const ManifestFile& manifest, CommitVersion last_version) {
  format::Root clean = open;
  clean.state = format::RootState::kClean;
  clean.last_version = last_version;
  const Result<std::uint64_t> hash = read_manifest_hash(directory, files, manifest);
  if (!hash.ok()) return hash.status();
  clean.manifest_bytes = manifest.durable_bytes();
  clean.manifest_hash = *hash;
  clean.segments.clear();
  for (const auto& [number, segment] : files.segments) {
    assert(segment.closed);
    const Result<format::FinalSegment> last = read_final_segment(directory, segment);
    if (!last.ok()) return last.status();
    clean.segments.push_back(*last);
  }
  return clean;
}

Status check_clean_segments(const format::Root& clean, const FileSet& files) {
  if (files.log_buffer.has_value()) {
    return Status::corruption("says that the store was closed, but the manifest names a log buffer")
        .in_file(format::named_file(format::kRootName));
  }
  if (clean.segments.size() != files.segments.size()) {
    return differs(format::named_file(format::kRootName), "number of log segments in the manifest",
                   files.segments.size(), clean.segments.size());
  }
  for (const format::FinalSegment& last : clean.segments) {
    const auto found = files.segments.find(last.number);
    if (found == files.segments.end() || !found->second.closed) {
      return Status::corruption("is closed in CURRENT, but not in the manifest").in_file(segment_name(last.number));
    }
    if (found->second.size_bytes != last.size_bytes) {
      return differs(segment_name(last.number), "size in the manifest", found->second.size_bytes, last.size_bytes);
    }
  }
  return Status();
}

Status check_clean_footer(const format::Root& clean, std::uint64_t number, std::string_view segment) {
  const auto last = std::find_if(clean.segments.begin(), clean.segments.end(),
                                 [&](const format::FinalSegment& entry) { return entry.number == number; });
  assert(last != clean.segments.end());
  assert(segment.size() == last->size_bytes);
  assert(segment.size() >= io::kSectorBytes);
  const std::size_t offset = segment.size() - io::kSectorBytes;
  if (format::content_hash(segment.substr(offset)) == last->footer_hash) return Status();
  return Status::corruption("the footer differs from the one written when the store was closed")
      .in_file(segment_name(number), offset);
}

}  // namespace varve::engine

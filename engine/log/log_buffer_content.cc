// Owns: finding the used slots of a log buffer.
// Must never: interpret a slot's bytes before its header verified.
#include "engine/log/log_buffer_content.h"

#include "engine/base/whole_file.h"
#include "engine/log/log_files.h"
#include "format/log/file_header.h"
#include "format/log/log_buffer.h"
#include "io/os_error.h"

namespace varve::engine {

namespace {

/// If the header is intact, the file must be the named one. A power cut may have lost the header, like any byte of the
/// mapped file; slots verify without it.
Status check_header(std::string_view file, const format::LogBufferEntry& buffer) {
  const Result<format::FileHeader> header =
      format::decode_file_header(file.substr(0, format::kFileHeaderBytes), format::FileType::kLogBuffer);
  if (header.code() == Code::kUnsupported) return header.status();
  if (!header.ok()) return Status();
  if (header->number == buffer.number && header->seed == buffer.seed) return Status();
  return Status::corruption("this is another log buffer than the one that the manifest names");
}

}  // namespace

Result<LogBufferContent> LogBufferContent::read(io::Directory& directory, const format::LogBufferEntry& buffer) {
  constexpr std::uint64_t kBytes = log_buffer_bytes(kLogBufferSlots, kLogBufferSlotBytes);
  constexpr std::size_t kStride = format::kLogBufferSectorBytes + kLogBufferSlotBytes;
  const NamedFile name = format::named_file(format::FileType::kLogBuffer, buffer.number);
  const Result<std::string> bytes = read_whole_file(directory, name, kBytes, io::ReadMode::kCached);
  if (io::is_missing(bytes.status())) {
    return Status::corruption("the log buffer that the manifest names is missing").in_file(name);
  }
  if (!bytes.ok()) return bytes.status();
  if (bytes->size() != kBytes) {
    return Status::corruption("the log buffer has " + std::to_string(bytes->size()) + " bytes, but was created with " +
                              std::to_string(kBytes))
        .in_file(name);
  }

  LogBufferContent content;
  content.bytes_.assign(bytes->begin(), bytes->end());
  const std::string_view whole(content.bytes_.data(), content.bytes_.size());
  if (Status meant = check_header(whole, buffer); !meant.ok()) return meant.in_file(name, 0);
  for (std::size_t start = format::kLogBufferSectorBytes; start < whole.size(); start += kStride) {
    const Result<format::SlotHeader> header =
        format::load_slot_header(whole.substr(start, format::kSlotHeaderBytes), {buffer.seed, start});
    if (!header.ok()) continue;  // Never used, or torn by a kill: nothing in it was acknowledged.
    content.slots_.push_back({header->segment_number, header->segment_seed, header->log_offset,
                              whole.substr(start + format::kLogBufferSectorBytes, kLogBufferSlotBytes)});
  }
  return content;
}

std::vector<BufferedBytes> LogBufferContent::of_segment(std::uint64_t number, std::uint64_t seed) const {
  std::vector<BufferedBytes> found;
  for (const BufferedBytes& slot : slots_) {
    if (slot.segment_number == number && slot.segment_seed == seed) found.push_back(slot);
  }
  return found;
}

}  // namespace varve::engine

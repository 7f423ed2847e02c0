// Owns: the encoding of WARM (warm_list.h).
// Must never: accept a WARM with a byte that was not checked, or two encodings of one list.
#include "format/log/warm_list.h"

#include <algorithm>
#include <cassert>

#include "format/bytes/bytes.h"
#include "format/bytes/checksum.h"
#include "format/bytes/ordered_fields.h"
#include "format/log/file_header.h"

namespace varve::format {
namespace {

constexpr Tag kWarmBlocksTag = 1;
/// Tag and length of a field.
constexpr std::size_t kFieldFrameBytes = 2 * kVarint64BytesMax;

/// Encodes as many of the blocks as fit into `room` bytes; nothing if none fits.
std::string encode_blocks(const WarmBlocks& blocks, std::size_t room) {
  std::string places;
  std::uint64_t count = 0;
  std::uint64_t before = 0;
  for (const std::uint64_t offset : blocks.offsets) {
    assert(offset > before);
    if (places.size() + 5 * kVarint64BytesMax > room) break;
    append_varint(places, offset - before);
    before = offset;
    ++count;
  }
  std::string value;
  if (count == 0) return value;
  append_varint(value, static_cast<std::uint64_t>(blocks.heat));
  append_varint(value, blocks.file_number);
  append_varint(value, blocks.file_seed);
  append_varint(value, count);
  return value.append(places);
}

/// Returns why the value is damaged, or an empty text.
std::string_view read_blocks(std::string_view value, WarmBlocks* blocks) {
  ByteReader reader(value);
  std::uint64_t heat = 0;
  std::uint64_t count = 0;
  if (!reader.read_varint(&heat) || !reader.read_varint(&blocks->file_number) ||
      !reader.read_varint(&blocks->file_seed) || !reader.read_varint(&count)) {
    return "the blocks of a file do not begin with four numbers";
  }
  if (heat != static_cast<std::uint64_t>(Heat::kProven) && heat != static_cast<std::uint64_t>(Heat::kRecent)) {
    return "a heat is not 1 or 2";
  }
  blocks->heat = static_cast<Heat>(heat);
  // Each block takes a byte or more, so the count is checked before memory is reserved for it.
  if (count == 0 || count > value.size()) return "the number of blocks of a file is impossible";
  blocks->offsets.reserve(count);
  std::uint64_t offset = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t distance = 0;
    if (!reader.read_varint(&distance)) return "the blocks of a file are cut short";
    if (distance == 0 || distance > UINT64_MAX - offset) return "the offsets of blocks do not rise";
    offset += distance;
    blocks->offsets.push_back(offset);
  }
  return reader.at_end() ? std::string_view() : "bytes follow the blocks of a file";
}

Result<WarmList> read_warm_fields(std::string_view fields) {
  WarmList list;
  OrderedFieldReader reader(kWarmListName, fields);
  std::string_view value;
  while (reader.take(kWarmBlocksTag, &value)) {
    WarmBlocks blocks;
    const std::string_view damage = read_blocks(value, &blocks);
    if (!damage.empty()) {
      reader.refuse(Code::kCorruption, damage);
    } else if (!list.files.empty() && list.files.back().heat > blocks.heat) {
      reader.refuse(Code::kCorruption, "the heats of blocks fall");
    } else {
      list.files.push_back(std::move(blocks));
    }
  }
  if (Status read = reader.finish(&list.unknown_fields); !read.ok()) return read;
  return list;
}

}  // namespace

std::string encode_warm_list(const WarmList& list, std::uint64_t seed) {
  std::string bytes = encode_file_header({FileType::kWarmList, kFormatVersion, seed, 0});
  OrderedFieldWriter writer(bytes, list.unknown_fields);
  const std::size_t tail_bytes = kFieldFrameBytes + kChecksumBytes + list.unknown_fields.size();
  for (const WarmBlocks& blocks : list.files) {
    if (bytes.size() + tail_bytes >= kWarmListBytesMax) break;
    const std::string value = encode_blocks(blocks, kWarmListBytesMax - bytes.size() - tail_bytes);
    if (!value.empty()) writer.bytes(kWarmBlocksTag, value);
  }
  writer.finish();
  const std::string_view fields = std::string_view(bytes).substr(kFileHeaderBytes);
  append_u64(bytes, checksum_at({seed, kFileHeaderBytes}, fields));
  assert(bytes.size() <= kWarmListBytesMax);
  return bytes;
}

Result<WarmList> decode_warm_list(std::string_view bytes) {
  const Result<FileHeader> header = decode_file_header(bytes, FileType::kWarmList);
  if (!header.ok()) return header.status();
  if (bytes.size() > kWarmListBytesMax) {
    return Status::corruption("WARM: " + std::to_string(bytes.size()) + " bytes are over the limit of " +
                              std::to_string(kWarmListBytesMax));
  }
  if (bytes.size() < kFileHeaderBytes + kChecksumBytes) return Status::corruption("WARM: is cut short");
  if (header->number != 0) return Status::corruption("WARM: has a file number");
  const std::size_t fields_end = bytes.size() - kChecksumBytes;
  const std::string_view fields = bytes.substr(kFileHeaderBytes, fields_end - kFileHeaderBytes);
  if (load_u64(bytes.data() + fields_end) != checksum_at({header->seed, kFileHeaderBytes}, fields)) {
    return Status::corruption("WARM: content does not verify");
  }
  return read_warm_fields(fields);
}

}  // namespace varve::format

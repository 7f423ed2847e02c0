// Owns: storing and checking the header of a slot in the log buffer (log_buffer.h).
// Must never: return kCorruption. A slot that does not verify contained no acknowledged commit.
#include "format/log/log_buffer.h"

#include <cassert>

#include "format/bytes/bytes.h"
#include "format/bytes/checksum.h"

namespace varve::format {
namespace {

static_assert(kSlotHeaderBytes == kChecksumBytes + 4 * 8);

std::string_view covered(const char* at) noexcept {
  return {at + kChecksumBytes, kSlotHeaderBytes - kChecksumBytes};
}

}  // namespace

void store_slot_header(char* at, const SlotHeader& header, FilePlace place) noexcept {
  store_u64(at + 8, header.segment_number);
  store_u64(at + 16, header.segment_seed);
  store_u64(at + 24, header.log_offset);
  store_u64(at + 32, header.serial);
  store_u64(at, checksum_at(place, covered(at)));
}

Result<SlotHeader> load_slot_header(std::string_view bytes, FilePlace place) {
  assert(bytes.size() >= kSlotHeaderBytes);
  const char* at = bytes.data();
  if (load_u64(at) != checksum_at(place, covered(at))) {
    return Status::not_found("the log buffer slot was never used, or its header is torn");
  }
  SlotHeader header;
  header.segment_number = load_u64(at + 8);
  header.segment_seed = load_u64(at + 16);
  header.log_offset = load_u64(at + 24);
  header.serial = load_u64(at + 32);
  return header;
}

}  // namespace varve::format

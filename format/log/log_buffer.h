// Owns: the layout of the log buffer, a small file that preserves buffered commits if the process is killed.
// Must never: be trusted on its own. Recovery takes from it only the records that continue the log exactly.
//
// The file is one sector of file header (64 bytes, then zeros), followed by slots of equal size. A slot is a sector
// with a slot header, then log bytes exactly as they will be written at the place that the header names:
//   offset size
//        0    8  checksum of bytes 8 to 39 at (buffer's seed, offset of the slot)
//        8    8  segment number
//       16    8  segment seed
//       24    8  log offset of the slot's first byte
//       32    8  serial: rises with every use of any slot
// The records in a slot have their own checksums, by the segment's seed and their log offset.
#pragma once

#include <cstdint>
#include <string_view>

#include "format/bytes/checksum.h"
#include "varve/result.h"

namespace varve::format {

inline constexpr std::size_t kLogBufferSectorBytes = 4096;
inline constexpr std::size_t kSlotHeaderBytes = 40;

struct SlotHeader {
  std::uint64_t segment_number = 0;
  std::uint64_t segment_seed = 0;
  std::uint64_t log_offset = 0;
  std::uint64_t serial = 0;
};

void store_slot_header(char* at, const SlotHeader& header, FilePlace place) noexcept;
/// Errors: kNotFound (the slot was never used, or a kill interrupted its write; no commit in it was acknowledged yet).
/// `bytes` has at least kSlotHeaderBytes bytes.
Result<SlotHeader> load_slot_header(std::string_view bytes, FilePlace place);

}  // namespace varve::format

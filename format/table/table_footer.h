// Owns: the last 64 bytes of a table file, and the places of the blocks at its end.
// Must never: name a block outside its file.
//
//   offset size
//        0   12  top index: u64 offset, u32 bytes
//       12   12  properties, in the same form
//       24   12  table directory, in the same form
//       36   20  zero
//       56    8  checksum of bytes 0 to 55 at (file seed, the footer's offset)
//
// A file ends with dictionaries, table directory, properties, top index, zeros and footer, without gaps. The zeros make
// the file's size a multiple of 4,096.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "format/block/block.h"
#include "format/bytes/sector.h"
#include "varve/result.h"

namespace varve::format {

inline constexpr std::size_t kTableFooterBytes = 64;

struct TableFooter {
  BlockHandle top_index;
  BlockHandle properties;
  BlockHandle directory;
  bool operator==(const TableFooter&) const = default;
};

/// Returns the size in bytes of a file whose top index ends at `top_index_end`.
constexpr std::uint64_t table_file_bytes(std::uint64_t top_index_end) noexcept {
  const std::uint64_t bytes = top_index_end + kTableFooterBytes;
  return (bytes + kSectorBytes - 1) / kSectorBytes * kSectorBytes;
}

std::string encode_table_footer(const TableFooter& footer, FilePlace place);
/// `place` is the footer's: its offset is the file's size minus kTableFooterBytes. The file must be at least that large
/// (asserted). Errors: kCorruption (also if the parts do not adjoin up to the end of the file).
Result<TableFooter> decode_table_footer(std::string_view bytes, FilePlace place);

}  // namespace varve::format

// Owns: the footers of table files (table_footer.h).
// Must never: add up numbers from a file before checking their bounds.
#include "format/table/table_footer.h"

#include <array>
#include <limits>

#include "format/bytes/bytes.h"
#include "format/bytes/damage.h"
#include "format/log/file_header.h"

namespace varve::format {
namespace {

constexpr std::size_t kHandleBytes = 12;
constexpr std::size_t kZerosAt = 3 * kHandleBytes;
constexpr std::size_t kFooterChecksumAt = 56;
static_assert(kFooterChecksumAt + 8 == kTableFooterBytes);

BlockHandle load_handle(std::string_view bytes, std::size_t number) noexcept {
  const char* const at = bytes.data() + number * kHandleBytes;
  return {load_u64(at), load_u32(at + 8)};
}

/// Returns whether `handle` ends at `end`, without wrapping around and without overlapping the file header.
bool ends_at(const BlockHandle& handle, std::uint64_t end) noexcept {
  return handle.offset <= end && handle.offset >= kFileHeaderBytes && handle.bytes == end - handle.offset &&
         handle.bytes >= kBlockFrameBytes;
}

}  // namespace

std::string encode_table_footer(const TableFooter& footer, FilePlace place) {
  std::string bytes;
  for (const BlockHandle& handle : {footer.top_index, footer.properties, footer.directory}) {
    append_u64(bytes, handle.offset);
    append_u32(bytes, static_cast<std::uint32_t>(handle.bytes));
  }
  bytes.resize(kFooterChecksumAt, '\0');
  append_u64(bytes, checksum_at(place, bytes));
  return bytes;
}

Result<TableFooter> decode_table_footer(std::string_view bytes, FilePlace place) {
  if (bytes.size() != kTableFooterBytes) return damaged("table footer", "does not have 64 bytes");
  const std::string_view covered = bytes.substr(0, kFooterChecksumAt);
  if (load_u64(bytes.data() + kFooterChecksumAt) != checksum_at(place, covered)) {
    return damaged("table footer", "does not verify");
  }
  if (covered.find_first_not_of('\0', kZerosAt) != std::string_view::npos) {
    return damaged("table footer", "its reserved bytes are not zero");
  }
  const TableFooter footer{load_handle(covered, 0), load_handle(covered, 1), load_handle(covered, 2)};
  const std::uint64_t file_bytes = place.offset + kTableFooterBytes;
  const std::uint64_t top_end = footer.top_index.offset + footer.top_index.bytes;
  if (footer.top_index.offset > place.offset || top_end > place.offset || !ends_at(footer.top_index, top_end) ||
      table_file_bytes(top_end) != file_bytes) {
    return damaged("table footer", "the top index is not at the end of the file");
  }
  if (!ends_at(footer.properties, footer.top_index.offset))
    return damaged("table footer", "the properties are not directly before the top index");
  if (!ends_at(footer.directory, footer.properties.offset)) {
    return damaged("table footer", "the table directory is not directly before the properties");
  }
  return footer;
}

}  // namespace varve::format

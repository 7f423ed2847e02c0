// Owns: checking the choices for a table file (table_options.h).
// Must never: accept a choice that a builder could not follow.
#include "format/table/table_options.h"

#include <utility>

#include "format/block/filter.h"
#include "format/keys/ends.h"
#include "format/keys/value_pointer.h"

namespace varve::format {

Status check_entry(const DataEntry& entry) {
  if (entry.key.size() + entry.value.size() > kTableEntryBytesMax) {
    return Status::too_large("an entry of a table file must have at most " + std::to_string(kTableEntryBytesMax) +
                             " bytes");
  }
  if (!is_external(entry.kind)) return Status();
  return decode_value_pointer(has_end(entry.kind) ? behind_end(entry.value) : entry.value).status();
}

Result<std::optional<Compressor>> make_compressor(const TableOptions& options) {
  const double bits = options.filter.bits_per_key;
  if (options.filter.kind == FilterKind::kBlockedBloom &&
      !(bits >= kBloomBitsPerKeyMin && bits <= kBloomBitsPerKeyMax)) {
    return Status::invalid_argument("a Bloom filter must have 1 to 32 bits a key, not " + std::to_string(bits));
  }
  std::optional<Compressor> compressor;
  if (options.compression_level != 0) {
    if (options.compression_level < kCompressionLevelMin || options.compression_level > kCompressionLevelMax) {
      return Status::invalid_argument("compression level " + std::to_string(options.compression_level) +
                                      " is not allowed; use " + std::to_string(kCompressionLevelMin) + " to " +
                                      std::to_string(kCompressionLevelMax));
    }
    Result<Compressor> made = Compressor::make(options.compression_level, options.dictionary);
    if (!made.ok()) return made.status();
    compressor.emplace(*std::move(made));
  }
  return compressor;
}

}  // namespace varve::format

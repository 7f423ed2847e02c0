// Owns: the memory that the entries of a listing take, by which its pages are bounded beside their number of entries.
// Must never: count fixed parts of an entry. The number of entries bounds them.
#pragma once

#include <cstdint>
#include <vector>

#include "varve/blob.h"
#include "varve/queue.h"

namespace varve {

/// A page ends when its entries have this many bytes of texts. Metadata alone may have 8 KiB an entry, so that a page
/// without such an end could have 40 MiB.
inline constexpr std::uint64_t kListedBytesMax = std::uint64_t{4} << 20;

inline std::uint64_t listed_bytes(const std::vector<MetadataPair>& metadata) noexcept {
  std::uint64_t bytes = 0;
  for (const MetadataPair& pair : metadata) bytes += pair.name.size() + pair.value.size();
  return bytes;
}

inline std::uint64_t listed_bytes(const BlobListed& entry) noexcept {
  const BlobState& blob = entry.blob;
  const BlobProperties& properties = blob.properties;
  std::uint64_t bytes = entry.prefix.size() + blob.name.size() + blob.copy_source.size() + listed_bytes(blob.metadata);
  bytes += properties.content_type.size() + properties.content_encoding.size() + properties.content_language.size() +
           properties.content_disposition.size() + properties.cache_control.size();
  for (const BlobTag& tag : blob.tags) bytes += tag.name.size() + tag.value.size();
  return bytes;
}

}  // namespace varve

// Owns: the varints that are rare in blocks (varint.h).
// Must never: have rules of its own. The rules are ByteReader's.
#include "format/bytes/varint.h"

#include "format/bytes/bytes.h"

namespace varve::format {

const char* take_long_varint(const char* at, const char* end, std::uint64_t* value) noexcept {
  ByteReader reader({at, static_cast<std::size_t>(end - at)});
  return reader.read_varint(value) ? at + reader.offset() : nullptr;
}

}  // namespace varve::format

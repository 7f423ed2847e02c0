// Owns: the sums of ends (ends.h).
// Must never: accept a sum of no ends.
#include "format/keys/ends.h"

namespace varve::format {

void Ends::add(const Ends& more) noexcept {
  if (more.count == 0) return;
  smallest = count == 0 ? more.smallest : std::min(smallest, more.smallest);
  largest = std::max(largest, more.largest);
  count += more.count;
}

void append_ends(std::string& out, const Ends& ends) {
  assert(ends.count > 0 && is_end(ends.smallest) && ends.smallest <= ends.largest);
  append_varint(out, ends.count);
  append_varint(out, ends.smallest);
  append_varint(out, ends.largest - ends.smallest);
}

Result<Ends> decode_ends(std::string_view bytes) {
  Ends ends;
  std::uint64_t span = 0;
  ByteReader reader(bytes);
  const bool is_whole = reader.read_varint(&ends.count) && reader.read_varint(&ends.smallest) &&
                        reader.read_varint(&span) && reader.rest().empty();
  if (!is_whole || ends.count == 0 || !is_end(ends.smallest) || span > kCommitVersionMax - ends.smallest) {
    return Status::corruption("the sum of the ends is damaged");
  }
  ends.largest = ends.smallest + span;
  return ends;
}

}  // namespace varve::format

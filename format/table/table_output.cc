// Owns: the bytes of a table file while it is built (table_output.h).
// Must never: count a byte of a file without hashing it.
#include "format/table/table_output.h"

#include <cassert>

namespace varve::format {

void TableOutput::append(std::string_view bytes) {
  bytes_.append(bytes);
  pass(bytes);
}

void TableOutput::pass(std::string_view bytes) {
  if (use_ == OutputUse::kFile) hasher_.update(bytes);
  offset_ += bytes.size();
}

void TableOutput::begin_again(std::uint64_t offset) noexcept {
  assert(use_ == OutputUse::kApart);
  bytes_.clear();
  offset_ = offset;
}

BlockHandle TableOutput::append_block(BlockType type, std::string_view content, Compressor* compressor,
                                      DictionaryUse dictionary, Filling filling, BlockMade* made) {
  const std::size_t start = bytes_.size();
  const BlockMade what = format::append_block(bytes_, type, content, compressor, dictionary, place(), filling);
  if (made != nullptr) *made = what;
  const std::string_view block = std::string_view(bytes_).substr(start);
  const BlockHandle handle{offset_, block.size()};
  pass(block);
  if (observer_ != nullptr) observer_->take(type, handle, content);
  return handle;
}

}  // namespace varve::format

// Owns: the bytes of a table file while it is made (table_output.h).
// Must never: count a byte of a file that is not hashed.
#include "format/table_output.h"

namespace varve::format {

void TableOutput::append(std::string_view bytes) {
  bytes_.append(bytes);
  pass(bytes);
}

void TableOutput::pass(std::string_view bytes) {
  if (use_ == OutputUse::kFile) hasher_.update(bytes);
  offset_ += bytes.size();
}

BlockHandle TableOutput::append_block(BlockType type, std::string_view content, Compressor* compressor,
                                      DictionaryUse dictionary, BlockCompression* compression) {
  const std::size_t start = bytes_.size();
  const BlockCompression chosen = format::append_block(bytes_, type, content, compressor, dictionary, place());
  if (compression != nullptr) *compression = chosen;
  const std::string_view block = std::string_view(bytes_).substr(start);
  const BlockHandle handle{offset_, block.size()};
  pass(block);
  if (observer_ != nullptr) observer_->take(type, handle, content);
  return handle;
}

}  // namespace varve::format

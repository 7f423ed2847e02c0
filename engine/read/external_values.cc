// Owns: reading the value of a pointer (external_values.h).
// Must never: read past the end of a value file.
#include "engine/read/external_values.h"

#include <cassert>
#include <string>

#include "engine/tables/stored_bytes.h"
#include "format/bytes/checksum.h"

namespace varve::engine {

Result<BlockWanted> locate_value(const Levels& levels, std::string_view pointer, ReadCost* cost) {
  const Result<format::ValuePointer> decoded = format::decode_value_pointer(pointer);
  if (!decoded.ok()) return decoded.status();
  return locate_value(levels, *decoded, cost);
}

Result<BlockWanted> locate_value(const Levels& levels, const format::ValuePointer& pointer, ReadCost* cost) {
  const ValueFile* const file = levels.value_file(pointer.file);
  if (file == nullptr) {
    return Status::corruption("an entry points into value file " + std::to_string(pointer.file) +
                              ", which the manifest does not name")
        .at_place({FileKind::kLogSegment, pointer.file});
  }
  if (file->open_already() == nullptr) {
    if (Status may = may_use_disk(cost); !may.ok()) return may;
  }
  const Result<const OpenValueFile*> open = file->open();
  if (!open.ok()) return open.status();
  BlockWanted wanted;
  wanted.handle = {pointer.offset, pointer.bytes};
  wanted.values = *open;
  wanted.value_hash = pointer.content_hash;
  if (wanted.handle.end() > file->entry().size_bytes) {
    return Status::corruption("an entry points past the end of the file").in_file((*open)->name, pointer.offset);
  }
  return wanted;
}

Result<PinnedBlock> ExternalValues::read(std::string_view pointer) {
  assert(levels_ != nullptr);
  const Result<BlockWanted> wanted = locate_value(*levels_, pointer, cost_);
  if (!wanted.ok()) return wanted.status();
  if (PinnedBlock cached = blocks_->cache().pin(wanted->cache_id(), wanted->handle.offset); cached) {
    if (cost_ != nullptr) ++cost_->blocks_from_cache;
    return cached;
  }
  if (Status may = may_use_disk(cost_); !may.ok()) return may;
  if (cost_ != nullptr) ++cost_->blocks_read;
  return blocks_->read(*wanted);
}

Status check_value(const Levels& levels, std::string_view pointer) {
  const Result<BlockWanted> wanted = locate_value(levels, pointer);
  if (!wanted.ok()) return wanted.status();
  StoredBytes stored;
  const format::BlockHandle& handle = wanted->handle;
  if (Status ready = stored.prepare(handle.offset, handle.bytes, wanted->file().size_bytes()); !ready.ok())
    return ready;
  if (Status read = wanted->file().read_exactly(stored.offset(), stored.bytes()); !read.ok())
    return read.in_file(wanted->name(), handle.offset);
  if (format::content_hash(stored.of(handle)) == wanted->value_hash) return Status();
  return Status::corruption("the value does not match its entry").in_file(wanted->name(), handle.offset);
}

}  // namespace varve::engine

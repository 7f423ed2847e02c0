// Owns: the reads of parts (part_read.h).
// Must never: verify a part with the hash of the whole value.
#include "engine/read/part_read.h"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "engine/read/external_values.h"
#include "engine/read/lookup.h"

namespace varve::engine {

FoundPlace FoundPlace::of(FoundEntry put, const std::optional<format::ValuePointer>& external) noexcept {
  FoundPlace place;
  place.version = put.version;
  place.end = put.end;
  place.bytes = external ? external->bytes : put.value.size();
  if (external) place.pointer_ = *external;
  place.entry_ = std::move(put);
  return place;
}

namespace {

void copy_part(std::string_view value, const WantedPart& part) noexcept {
  const std::string_view wanted = value.substr(part.offset, part.out.size());
  std::copy(wanted.begin(), wanted.end(), part.out.begin());
}

Status read_sectors(BlockReader& blocks, const BlockWanted& wanted, const WantedPart& part, StoredBytes& stored) {
  const HeldFile& file = wanted.file();
  const format::BlockHandle handle{wanted.handle.offset + part.offset, part.out.size()};
  if (Status ready = stored.prepare(handle.offset, handle.bytes, file.size_bytes()); !ready.ok()) return ready;
  if (Status read = file.read_exactly(stored.offset(), stored.bytes()); !read.ok()) {
    return read.in_file(wanted.name(), handle.offset);
  }
  blocks.count_read(stored.bytes().size());
  copy_part(stored.of(handle), {0, part.out});
  return Status();
}

Status read_external_part(const Levels& levels, BlockReader& blocks, const format::ValuePointer& pointer,
                          const WantedPart& part, ReadCost* cost) {
  const Result<BlockWanted> wanted = locate_value(levels, pointer, cost);
  if (!wanted.ok()) return wanted.status();
  if (const PinnedBlock whole = blocks.cache().pin(wanted->cache_id(), wanted->handle.offset); whole) {
    if (cost != nullptr) ++cost->blocks_from_cache;
    copy_part(whole->content(), part);
    return Status();
  }
  if (Status may = may_use_disk(cost); !may.ok()) return may;
  if (cost != nullptr) ++cost->blocks_read;
  std::unique_ptr<BlockReader::Tools> tools = blocks.lend();
  if (tools == nullptr) return Status::out_of_memory();
  Status read = read_sectors(blocks, *wanted, part, tools->stored);
  blocks.give_back(std::move(tools));
  return read;
}

}  // namespace

Result<std::optional<FoundPlace>> locate_point(const ReadState& state, BlockReader& blocks, std::string_view sort_key,
                                               CommitVersion at_most, ReadCost* cost) {
  const LookupKey key{sort_key, Memtable::hash_of(sort_key), at_most};
  const auto live = [](FoundEntry found, const std::optional<format::ValuePointer>& external = std::nullopt) {
    return found.kind == Kind::kPut ? std::optional(FoundPlace::of(std::move(found), external)) : std::nullopt;
  };
  if (std::optional<FoundEntry> found = read_memtables(state, key)) return live(std::move(*found));
  if (state.tables->file_count() == 0) return std::optional<FoundPlace>();
  try {
    Lookup lookup(*state.tables, key, EntryPart::kPlace, cost, nullptr);
    Result<std::optional<FoundEntry>> found = read_tables(lookup, blocks, cost, EntryPart::kPlace);
    if (!found.ok()) return found.status();
    if (!*found) return std::optional<FoundPlace>();
    return live(std::move(**found), lookup.external());
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

Status read_found_part(const ReadState& state, BlockReader& blocks, const FoundPlace& place, const WantedPart& part,
                       ReadCost* cost) {
  if (part.offset > place.bytes || part.out.size() > place.bytes - part.offset) {
    return Status(Code::kInvalidArgument, "the part ends after the value; read at most to the value's length");
  }
  if (part.out.empty()) return Status();
  if (!place.is_in_file()) {
    copy_part(place.value(), part);
    return Status();
  }
  try {
    return read_external_part(*state.tables, blocks, place.pointer(), part, cost);
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

}  // namespace varve::engine

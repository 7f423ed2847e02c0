// Owns: the loop between lookup and disk (point_read.h).
// Must never: search older places once an entry was found.
#include "engine/read/point_read.h"

#include <new>
#include <utility>

#include "engine/read/lookup.h"
#include "engine/read/value_room.h"

namespace varve::engine {

FoundEntry FoundEntry::in_memtable(const Entry& entry) noexcept {
  FoundEntry found;
  found.version = entry.version;
  found.kind = entry.kind;
  found.value = entry.value;
  if (entry.has_end()) {
    found.kind = Kind::kPut;
    found.end = entry.end();
    found.value = entry.content();
  }
  if (entry.value.size() >= kExternalValueBytesMin) found.large_bytes = found.value.size();
  return found;
}

FoundEntry FoundEntry::copied(const Lookup& lookup, EntryPart part, ValueRoom* room) {
  const Entry& entry = lookup.entry();
  FoundEntry found;
  found.version = entry.version;
  found.kind = entry.kind;
  found.end = lookup.external_end();
  found.large_bytes = lookup.external_bytes();
  std::string_view value = entry.value;
  if (entry.has_end()) {
    found.kind = Kind::kPut;
    found.end = entry.end();
    value = entry.content();
  }
  if (value.empty() || part == EntryPart::kVersion) return found;
  if (room != nullptr) {
    found.value = room->copy(value);
    return found;
  }
  found.owned_.reset(new char[value.size()]);
  std::memcpy(found.owned_.get(), value.data(), value.size());
  found.value = {found.owned_.get(), value.size()};
  return found;
}

std::optional<FoundEntry> read_memtables(const ReadState& state, std::string_view sort_key, CommitVersion at_most) {
  return read_memtables(state, {sort_key, Memtable::hash_of(sort_key), at_most});
}

std::optional<FoundEntry> read_memtables(const ReadState& state, const LookupKey& key) {
  const auto& [sort_key, hash, at_most] = key;
  if (const std::optional<Entry> entry = state.active->find(sort_key, hash, at_most)) {
    return FoundEntry::in_memtable(*entry);
  }
  for (const auto& memtable : state.sealed) {
    if (const std::optional<Entry> entry = memtable->find(sort_key, hash, at_most)) {
      return FoundEntry::in_memtable(*entry);
    }
  }
  return std::nullopt;
}

void prefetch_memtables(const ReadState& state, std::uint64_t hash) noexcept {
  state.active->prefetch(hash);
  for (const auto& memtable : state.sealed) memtable->prefetch(hash);
}

Result<std::optional<FoundEntry>> read_tables(Lookup& lookup, BlockReader& blocks, ReadCost* cost, EntryPart part,
                                              ValueRoom* room) {
  std::optional<FoundEntry> found;
  PinnedBlock block;
  for (;;) {
    Lookup::Step step;
    {
      BlockCache::ReadGuard guard(blocks.cache());
      step = lookup.advance(guard, block ? &*block : nullptr);
      if (step == Lookup::Step::kFound) found = FoundEntry::copied(lookup, part, room);
    }
    block.release();
    switch (step) {
      case Lookup::Step::kFound:
      case Lookup::Step::kAbsent: lookup.keep_known(blocks.cache()); return found;
      case Lookup::Step::kFailed: return lookup.status();
      case Lookup::Step::kPaused: break;  // Only advance_or_pause() returns it.
      case Lookup::Step::kWantsTable: {
        if (Status may = may_use_disk(cost); !may.ok()) return may;
        if (Status opened = lookup.open_wanted(); !opened.ok()) return opened;
        break;
      }
      case Lookup::Step::kWantsBlock: {
        if (Status may = may_use_disk(cost); !may.ok()) return may;
        if (cost != nullptr) ++cost->blocks_read;
        Result<PinnedBlock> read = blocks.read(lookup.wanted());
        if (!read.ok()) return read.status();
        block = std::move(*read);
        break;
      }
    }
  }
}

Result<std::optional<FoundEntry>> read_point(const ReadState& state, BlockReader& blocks, std::string_view sort_key,
                                             CommitVersion at_most, const PointRead& read) {
  const LookupKey key{sort_key, Memtable::hash_of(sort_key), at_most};
  if (std::optional<FoundEntry> found = read_memtables(state, key)) return found;
  if (!state.tables->has_files()) return std::optional<FoundEntry>();
  try {
    Lookup lookup(*state.tables, key, read.part, read.cost, nullptr);
    if (read.expects == Expects::kFound) lookup.expect_key();
    return read_tables(lookup, blocks, read.cost, read.part, read.room);
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

}  // namespace varve::engine

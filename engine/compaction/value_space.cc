// Owns: sums over memtables and file sets (value_space.h).
// Must never: change what it sums up.
#include "engine/compaction/value_space.h"

#include <map>

#include "format/keys/sort_key.h"

namespace varve::engine {

namespace {

constexpr std::uint64_t kPartWorthKeeping = 2;

std::map<std::uint64_t, std::uint64_t> large_bytes_by_segment(const Memtable& memtable, const DeadRanges& dead) {
  std::map<std::uint64_t, std::uint64_t> bytes;
  if (memtable.large_value_bytes() == 0) return bytes;
  Memtable::Cursor cursor(memtable);
  for (cursor.seek_to_first(); cursor.valid(); cursor.next()) {
    const LogPlace place = cursor.log_place();
    if (place.segment == 0 || dead.holds(format::table_id_of(cursor.entry().sort_key))) continue;
    bytes[place.segment] += cursor.entry().value.size();
  }
  return bytes;
}

}  // namespace

std::vector<format::ValueFileEntry> segments_worth_keeping(const Memtable& memtable, const FileSet& files,
                                                           CommitVersion flushed_version, const DeadRanges& dead) {
  std::vector<format::ValueFileEntry> kept;
  for (const auto& [number, bytes] : large_bytes_by_segment(memtable, dead)) {
    const auto found = files.segments.find(number);
    if (found == files.segments.end()) continue;
    const LiveSegment& segment = found->second;
    if (!segment.closed || segment.last_version > flushed_version) continue;
    if (bytes < segment.size_bytes / kPartWorthKeeping) continue;
    kept.push_back({number, segment.seed, segment.size_bytes, {}});
  }
  return kept;
}

std::vector<std::uint64_t> wasteful_value_files(const FileSet& files, std::uint64_t part) {
  std::vector<std::uint64_t> wasteful;
  for (const auto& [number, values] : files.value_files) {
    const ValueFileSum* const used = files.tables.value_sums().look_up(number);
    if (is_wasteful(values.size_bytes, used == nullptr ? 0 : used->bytes, part)) wasteful.push_back(number);
  }
  return wasteful;
}

}  // namespace varve::engine

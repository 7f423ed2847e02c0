// Owns: the deep check of a sorted block (sorted_block_check.h).
// Must never: assume that a restart or a bucket is right.
#include "format/block/sorted_block_check.h"

#include <string>
#include <vector>

#include "format/block/sorted_block_builder.h"
#include "format/bytes/checksum.h"
#include "format/bytes/damage.h"

namespace varve::format {
namespace {

Status damaged_entry(std::size_t offset, std::string_view what) {
  return damaged("sorted block", "the entry at byte " + std::to_string(offset) + " " + std::string(what));
}

Status check_buckets(const SortedBlock& block, const std::vector<HashedKey>& keys) {
  const std::string expected = make_buckets(keys, block.bucket_count());
  for (std::uint32_t number = 0; number < block.bucket_count(); ++number) {
    if (block.bucket(number) != static_cast<std::uint8_t>(expected[number])) {
      return damaged("sorted block", "bucket " + std::to_string(number) + " does not match the keys");
    }
  }
  return Status();
}

}  // namespace

Status check_sorted_block(const SortedBlock& block) {
  std::vector<HashedKey> keys;
  std::string last_key;
  std::uint32_t restarts = 0;
  SortedBlockCursor cursor;
  cursor.open(block);
  for (cursor.seek_to_first(); cursor.valid(); cursor.next()) {
    if (restarts < block.restart_count() && block.restart(restarts) == cursor.offset()) {
      if (block.entries()[cursor.offset()] != '\0')
        return damaged_entry(cursor.offset(), "is a restart without its complete key");
      ++restarts;
    }
    if (cursor.key() < last_key) return damaged_entry(cursor.offset(), "has a key below the previous key");
    last_key = cursor.key();
    if (block.bucket_count() > 0) keys.push_back({content_hash(last_key), restarts - 1});
  }
  if (!cursor.status().ok()) return cursor.status();
  if (restarts != block.restart_count()) {
    return damaged("sorted block", "restart " + std::to_string(restarts) + " is not where an entry begins");
  }
  return block.bucket_count() == 0 ? Status() : check_buckets(block, keys);
}

}  // namespace varve::format

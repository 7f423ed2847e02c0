// Owns: the fuzzer of sorted blocks and of data blocks: hostile content, hostile entries, and entries of our own.
// Must never: let a block that passes the deep check answer differently from a list of its entries.
//
// Input: one byte of mode, one of a restart interval, then
// - mode 0: the content
// - mode 1: entries; matching restarts, buckets and a trailer are added
// - mode 2: keys, each a byte of length and that many bytes, of which a block is built
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "format/block/data_block.h"
#include "format/block/sorted_block_builder.h"
#include "format/block/sorted_block_check.h"
#include "format/bytes/bytes.h"
#include "format/bytes/checksum.h"
#include "format/bytes/varint.h"
#include "format/keys/ends.h"
#include "fuzz/mutation.h"

namespace varve::format {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

void require(bool holds) {
  if (!holds) std::abort();
}

bool damaged(const Status& status) {
  return status.code() == Code::kCorruption;
}

/// Moves cursors in every way. Each cursor has met no damage before.
void move_about(const SortedBlock& block, const std::string& target) {
  SortedBlockCursor cursor;
  std::size_t steps = 0;
  cursor.open(block);
  for (cursor.seek_to_first(); cursor.valid(); cursor.next()) require(++steps <= block.entries().size());
  require(cursor.status().ok() || damaged(cursor.status()));
  cursor.open(block);
  steps = 0;
  for (cursor.seek_to_last(); cursor.valid() && steps < 200; cursor.previous()) ++steps;
  cursor.open(block);
  if (cursor.find(target, content_hash(target))) require(cursor.valid() && cursor.key() == target);
  cursor.open(block);
  if (cursor.seek(target)) require(cursor.valid() && cursor.key() == target);
  if (cursor.valid()) cursor.next();
  cursor.open(block);
  cursor.seek(target);
  if (cursor.valid()) cursor.previous();
  require(cursor.status().ok() || damaged(cursor.status()));
}

/// Compares the block, which passed the deep check, with its list of entries.
void compare_with_list(const SortedBlock& block, const Entries& entries, const std::string& target) {
  const auto below = [](const auto& entry, const std::string& key) { return entry.first < key; };
  const auto at = std::lower_bound(entries.begin(), entries.end(), target, below);
  const bool there = at != entries.end() && at->first == target;
  SortedBlockCursor cursor;
  cursor.open(block);
  require(cursor.seek(target) == there);
  require(cursor.valid() == (at != entries.end()));
  if (cursor.valid()) {
    require(cursor.key() == at->first && cursor.value() == at->second);
    cursor.previous();
    require(cursor.valid() == (at != entries.begin()));
    if (cursor.valid()) require(cursor.key() == std::prev(at)->first && cursor.value() == std::prev(at)->second);
  }
  require(cursor.find(target, content_hash(target)) == there);
  if (there) require(cursor.value() == at->second);
  cursor.seek_to_last();
  require(cursor.valid() && cursor.key() == entries.back().first && cursor.value() == entries.back().second);
  require(cursor.status().ok());
}

void read_as_data_block(std::string_view content, const std::string& target) {
  DataBlockCursor cursor;
  if (!cursor.open(content).ok()) return;
  std::size_t steps = 0;
  for (cursor.seek_to_first(); cursor.valid(); cursor.next()) {
    require(++steps <= content.size());
    require(cursor.version() <= kCommitVersionMax);
    require(cursor.kind() != Kind::kDelete || cursor.value().empty());
    require(!has_end(cursor.kind()) || (cursor.value().size() >= kEndBytes && is_end(end_in(cursor.value()))));
  }
  const Code code = cursor.status().code();
  require(code == Code::kOk || code == Code::kCorruption || code == Code::kUnsupported);
  require(cursor.open(content).ok());
  const FindOutcome outcome = cursor.find(target, content_hash(target), kCommitVersionMax / 2);
  require((outcome == FindOutcome::kFound) == cursor.valid());
  require((outcome == FindOutcome::kDamaged) == !cursor.status().ok());
  if (cursor.valid()) require(cursor.key() == target && cursor.version() <= kCommitVersionMax / 2);
}

void read_content(const std::string& content) {
  const std::string target = content.substr(0, content.size() % 7);
  read_as_data_block(content, target);
  const Result<SortedBlock> block = SortedBlock::parse(content);
  if (!block.ok()) {
    require(damaged(block.status()));
    return;
  }
  move_about(*block, target);
  const Status checked = check_sorted_block(*block);
  require(checked.ok() || damaged(checked));
  if (!checked.ok()) return;
  Entries entries;
  SortedBlockCursor cursor;
  cursor.open(*block);
  for (cursor.seek_to_first(); cursor.valid(); cursor.next()) entries.emplace_back(cursor.key(), cursor.value());
  require(cursor.status().ok() && !entries.empty());
  compare_with_list(*block, entries, target);
  const std::size_t stride = entries.size() / 8 + 1;
  for (std::size_t i = 0; i < entries.size(); i += stride) {
    compare_with_list(*block, entries, entries[i].first);
    compare_with_list(*block, entries, entries[i].first + '\0');
  }
}

/// Adds restarts at whole keys with the requested interval. Adds buckets if their numbers fit.
std::string with_trailer(std::string entries, std::uint32_t interval) {
  std::vector<std::uint32_t> restarts;
  std::vector<HashedKey> keys;
  std::string key;
  std::uint32_t since = interval;
  const char* at = entries.data();
  const char* const end = at + entries.size();
  while (at < end) {
    std::uint64_t shared = 0;
    std::uint64_t unshared = 0;
    std::uint64_t value = 0;
    const char* const entry = at;
    for (std::uint64_t* const number : {&shared, &unshared, &value}) {
      if (at != nullptr) at = take_varint(at, end, number);
    }
    if (at == nullptr || shared > key.size()) break;
    const auto left = static_cast<std::uint64_t>(end - at);
    if (unshared > left || value > left - unshared) break;
    key.resize(shared);
    key.append(at, unshared);
    at += unshared + value;
    if (shared == 0 && since >= interval) {
      restarts.push_back(static_cast<std::uint32_t>(entry - entries.data()));
      since = 0;
    }
    ++since;
    if (!restarts.empty()) keys.push_back({content_hash(key), static_cast<std::uint32_t>(restarts.size() - 1)});
  }
  const bool hashed = restarts.size() <= kHashedIntervalsMax && !keys.empty();
  const auto buckets = static_cast<std::uint16_t>(hashed ? std::min<std::size_t>(keys.size() + 1, 1000) : 0);
  for (const std::uint32_t restart : restarts) append_u32(entries, restart);
  if (hashed) entries += make_buckets(keys, buckets);
  append_u64(entries, 1000);
  append_u32(entries, static_cast<std::uint32_t>(restarts.size()));
  append_u16(entries, buckets);
  append_u16(entries, 0);
  return entries;
}

void build_and_compare(std::string_view input, std::uint32_t interval) {
  Entries entries;
  while (!input.empty()) {
    const std::size_t size = std::min<std::size_t>(static_cast<unsigned char>(input[0]), input.size() - 1);
    entries.emplace_back(input.substr(1, size), std::to_string(entries.size()));
    input.remove_prefix(1 + size);
  }
  if (entries.empty()) return;
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  SortedBlockBuilder builder(interval, Buckets::kIfTheyPay);
  for (const auto& [key, value] : entries) builder.add({key, value, {}, content_hash(key)});
  const std::string content(builder.finish(5));
  const Result<SortedBlock> block = SortedBlock::parse(content);
  require(block.ok() && block->base_version() == 5);
  require(check_sorted_block(*block).ok());
  const std::size_t stride = entries.size() / 32 + 1;
  for (std::size_t i = 0; i < entries.size(); i += stride) compare_with_list(*block, entries, entries[i].first);
  read_content(content);
}

// -- Mutations ------------------------------------------------------------------------------------------------------

struct OwnEntry {
  std::uint64_t shared = 0;
  std::string unshared;
  std::string value;
};

std::vector<OwnEntry> entries_of(std::string_view bytes) {
  std::vector<OwnEntry> found;
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  while (at < end) {
    std::array<std::uint64_t, 3> numbers{};
    for (std::uint64_t& number : numbers) {
      if (at != nullptr) at = take_varint(at, end, &number);
    }
    if (at == nullptr) break;
    const auto left = static_cast<std::uint64_t>(end - at);
    if (numbers[1] > left || numbers[2] > left - numbers[1]) break;
    found.push_back({numbers[0], std::string(at, numbers[1]), std::string(at + numbers[1], numbers[2])});
    at += numbers[1] + numbers[2];
  }
  return found;
}

std::string mutated_entries(fuzz::Chance& chance, std::string_view bytes) {
  std::vector<OwnEntry> entries = entries_of(bytes);
  fuzz::mutate_parts(chance, entries, [&](OwnEntry& entry) {
    switch (chance.below(3)) {
      case 0: entry.shared = chance.one_in(2) ? 0 : fuzz::mutated_number(chance, entry.shared); break;
      case 1: fuzz::mutate_bytes(entry.unshared); break;
      default: fuzz::mutate_bytes(entry.value); break;
    }
  });
  std::string made;
  for (const OwnEntry& entry : entries) {
    append_varint(made, entry.shared);
    append_varint(made, entry.unshared.size());
    append_varint(made, entry.value.size());
    made.append(entry.unshared).append(entry.value);
  }
  return made;
}

std::string mutated_keys(fuzz::Chance& chance, std::string_view bytes) {
  constexpr std::size_t kKeyBytesMax = 255;
  std::vector<std::string> keys;
  while (!bytes.empty()) {
    const std::size_t size = std::min<std::size_t>(static_cast<unsigned char>(bytes[0]), bytes.size() - 1);
    keys.emplace_back(bytes.substr(1, size));
    bytes.remove_prefix(1 + size);
  }
  fuzz::mutate_parts(chance, keys, [](std::string& key) { fuzz::mutate_bytes(key); });
  std::string made;
  for (std::string& key : keys) {
    key.resize(std::min(key.size(), kKeyBytesMax));
    made.push_back(static_cast<char>(key.size()));
    made += key;
  }
  return made;
}

/// Returns a whole content with other entries before the same trailer, or with another number in the trailer.
std::optional<std::string> mutated_content(fuzz::Chance& chance, std::string_view content) {
  const Result<SortedBlock> block = SortedBlock::parse(content);
  if (!block.ok()) return std::nullopt;
  const std::size_t entries = block->entries().size();
  if (!chance.one_in(3)) return mutated_entries(chance, block->entries()).append(content.substr(entries));
  std::string made(content);
  const std::size_t at = entries + 4 * chance.below((made.size() - entries) / 4);
  store_u32(made.data() + at, static_cast<std::uint32_t>(fuzz::mutated_number(chance, load_u32(made.data() + at))));
  return made;
}

std::optional<std::string> mutated(fuzz::Chance& chance, std::string_view input) {
  if (input.size() < 2) return std::nullopt;
  const std::string_view rest = input.substr(2);
  const std::string head(input.substr(0, 2));
  switch (static_cast<unsigned char>(input[0]) % 3) {
    case 0: {
      const std::optional<std::string> content = mutated_content(chance, rest);
      return content ? std::optional(head + *content) : std::nullopt;
    }
    case 1: return head + mutated_entries(chance, rest);
    default: return head + mutated_keys(chance, rest);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::uint32_t interval = 1 + data[1] % 32u;
  const std::string rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  switch (data[0] % 3) {
    case 0: read_content(rest); break;
    case 1: read_content(with_trailer(rest, interval)); break;
    default: build_and_compare(rest, interval); break;
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t size_max,
                                               unsigned seed) {
  return fuzz::mutate_structure(data, size, size_max, seed, mutated);
}

}  // namespace varve::format

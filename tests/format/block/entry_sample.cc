// Owns: creating sample entries and dictionaries (entry_sample.h).
// Must never: use random numbers except those of its seeds.
#include "tests/format/block/entry_sample.h"

#include <algorithm>

#include "format/bytes/compression.h"
#include "tests/format/random_values.h"

namespace varve::format {
namespace {

constexpr CommitVersion kFirstVersion = 638'000'000'000'000'000;

}  // namespace

OwnedEntry owned(const DataEntry& entry) {
  return {std::string(entry.key), entry.version, entry.kind, std::string(entry.value)};
}

bool before(const OwnedEntry& a, const OwnedEntry& b) {
  return a.key != b.key ? a.key < b.key : a.version > b.version;
}

std::string sample_value(std::uint64_t number) {
  RandomValues random(number);
  std::string value = "CustomerName:A customer of the house Street:A street with its number ";
  value += std::to_string(random.below(100)) + " Quantity:" + std::to_string(random.below(1000)) + " Reference:";
  value += random.bytes(16) + " Note:ordinary";
  return value;
}

std::string sample_dictionary(std::uint64_t seed) {
  std::vector<std::string> samples;
  for (std::uint64_t i = 0; i < 400; ++i) samples.push_back(sample_value(seed * 1000 + i) + sample_value(seed + i));
  return *train_dictionary(samples, 4096);
}

std::string sample_key(TableId table, std::uint64_t partition, std::uint64_t row) {
  return *encode_sort_key(table, "partition-" + std::to_string(1000 + partition),
                          "row-" + std::to_string(100'000 + row));
}

std::vector<OwnedEntry> random_entries(std::uint64_t seed, const EntryShape& shape) {
  RandomValues random(seed);
  std::vector<OwnedEntry> entries;
  while (entries.size() < shape.count) {
    const TableId table = make_table_id(1, static_cast<std::uint32_t>(1 + random.below(shape.tables)));
    OwnedEntry entry;
    entry.key = sample_key(table, random.below(shape.partitions), random.below(10 * shape.count));
    if (shape.long_keys != 0 && random.one_in(shape.long_keys)) {
      const std::string text(1 + random.below(3071), static_cast<char>('a' + random.below(3)));
      entry.key = *encode_sort_key(table, text, text + std::to_string(random.below(10)));
    }
    const bool chain = shape.version_chains != 0 && random.one_in(shape.version_chains);
    for (std::uint64_t left = chain ? 1 + random.below(300) : 1; left > 0; --left) {
      entry.version = kFirstVersion + random.below(1'000'000'000);
      entry.kind = random.one_in(10) ? Kind::kDelete : Kind::kPut;
      entry.value = entry.kind == Kind::kDelete ? "" : sample_value(random.number());
      const bool large = shape.large_values != 0 && random.one_in(shape.large_values);
      if (large && entry.kind == Kind::kPut) entry.value = random.bytes(random.below(1u << 20));
      entries.push_back(entry);
    }
  }
  std::sort(entries.begin(), entries.end(), before);
  const auto same = [](const OwnedEntry& a, const OwnedEntry& b) { return a.key == b.key && a.version == b.version; };
  entries.erase(std::unique(entries.begin(), entries.end(), same), entries.end());
  return entries;
}

}  // namespace varve::format

// Owns: the cost of blocks and table files: building them, point lookups, seeks and scans of decompressed blocks.
// Method: entries have the sizes of real tables: keys of about 40 bytes, and entities of about 250 bytes that compress
// to a half. Blocks are decompressed before the clock runs, like blocks in a cache. Keys are looked up in an order that
// no branch predictor learns.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "format/block/block.h"
#include "format/block/data_block.h"
#include "format/bytes/checksum.h"
#include "format/keys/sort_key.h"
#include "format/table/table_builder.h"

namespace varve::format {
namespace {

constexpr TableId kTable = make_table_id(1, 7);
constexpr CommitVersion kVersion = 638'000'000'000'000'000;

std::uint64_t mixed(std::uint64_t number) {
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

std::string key_of(std::uint64_t number) {
  return *encode_sort_key(kTable, "customer-" + std::to_string(1'000'000 + number / 100),
                          "order-" + std::to_string(10'000'000 + number));
}

std::string value_of(std::uint64_t number, std::size_t bytes) {
  std::string value;
  while (value.size() < bytes) {
    value += "Property" + std::to_string(value.size() / 25) + ":";
    for (int i = 0; i < 12; ++i) value.push_back(static_cast<char>(mixed(number * 100 + value.size())));
  }
  value.resize(bytes);
  return value;
}

struct Sample {
  std::vector<std::string> keys;
  std::string content;
};

/// Returns as many entries as a block of 8 KiB contains.
Sample block_sample(std::size_t value_bytes) {
  Sample sample;
  DataBlockBuilder builder;
  for (std::uint64_t i = 0; builder.empty() || builder.estimated_bytes() < 8192; ++i) {
    sample.keys.push_back(key_of(i));
    const std::string value = value_of(i, value_bytes);
    builder.add({sample.keys.back(), kVersion + mixed(i) % 1'000'000, Kind::kPut, value},
                content_hash(sample.keys.back()));
  }
  sample.content = builder.finish();
  return sample;
}

/// Returns the keys in another order.
std::vector<std::string> shuffled(std::vector<std::string> keys) {
  for (std::size_t i = keys.size(); i > 1; --i) std::swap(keys[i - 1], keys[mixed(i) % i]);
  return keys;
}

void BM_DataBlockBuild(benchmark::State& state) {
  const auto value_bytes = static_cast<std::size_t>(state.range(0));
  const Sample sample = block_sample(value_bytes);
  const std::string value = value_of(1, value_bytes);
  DataBlockBuilder builder;
  for (auto _ : state) {
    builder.clear();
    for (const std::string& key : sample.keys) builder.add({key, kVersion, Kind::kPut, value}, content_hash(key));
    benchmark::DoNotOptimize(builder.finish());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(sample.keys.size()));
}
BENCHMARK(BM_DataBlockBuild)->Arg(50)->Arg(250);

/// Measures a lookup including the parsing of the block. Hashing the key is not included, because the filter needed the
/// hash before.
void BM_DataBlockFind(benchmark::State& state) {
  const Sample sample = block_sample(static_cast<std::size_t>(state.range(0)));
  const std::vector<std::string> keys = shuffled(sample.keys);
  std::vector<std::uint64_t> hashes;
  for (const std::string& key : keys) hashes.push_back(content_hash(key));
  DataBlockCursor cursor;
  std::size_t i = 0;
  for (auto _ : state) {
    if (!cursor.open(sample.content).ok()) std::abort();
    if (cursor.find(keys[i], hashes[i], kCommitVersionMax) != FindOutcome::kFound) std::abort();
    benchmark::DoNotOptimize(cursor.value());
    if (++i == keys.size()) i = 0;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_DataBlockFind)->Arg(50)->Arg(250);

void BM_DataBlockSeek(benchmark::State& state) {
  const Sample sample = block_sample(static_cast<std::size_t>(state.range(0)));
  const std::vector<std::string> keys = shuffled(sample.keys);
  DataBlockCursor cursor;
  std::size_t i = 0;
  for (auto _ : state) {
    if (!cursor.open(sample.content).ok()) std::abort();
    cursor.seek(keys[i], kCommitVersionMax);
    benchmark::DoNotOptimize(cursor.value());
    if (++i == keys.size()) i = 0;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_DataBlockSeek)->Arg(50)->Arg(250);

template <typename Step>
void scan(benchmark::State& state, bool forward, Step step) {
  const Sample sample = block_sample(static_cast<std::size_t>(state.range(0)));
  DataBlockCursor cursor;
  for (auto _ : state) {
    if (!cursor.open(sample.content).ok()) std::abort();
    forward ? cursor.seek_to_first() : cursor.seek_to_last();
    for (; cursor.valid(); step(cursor)) benchmark::DoNotOptimize(cursor.entry());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(sample.keys.size()));
}
void BM_DataBlockScan(benchmark::State& state) {
  scan(state, true, [](DataBlockCursor& cursor) { cursor.next(); });
}
BENCHMARK(BM_DataBlockScan)->Arg(50)->Arg(250);
void BM_DataBlockScanBack(benchmark::State& state) {
  scan(state, false, [](DataBlockCursor& cursor) { cursor.previous(); });
}
BENCHMARK(BM_DataBlockScanBack)->Arg(50)->Arg(250);

/// Argument: the compression level. Files of level 0 that are soon merged again have the lowest.
void BM_BlockCompress(benchmark::State& state) {
  const Sample sample = block_sample(250);
  Compressor compressor = *Compressor::make(static_cast<int>(state.range(0)), "");
  std::string out;
  for (auto _ : state) {
    out.clear();
    append_block(out, BlockType::kData, sample.content, &compressor, DictionaryUse::kNever, {1, 64});
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(sample.content.size()));
  state.counters["stored_part"] = static_cast<double>(out.size()) / static_cast<double>(sample.content.size());
}
BENCHMARK(BM_BlockCompress)->Arg(kCompressionLevelMin)->Arg(-3)->Arg(-1)->Arg(1)->Arg(3)->Arg(6);

/// Measures decompression including verification. Argument: the compression level, or zero for none.
void BM_BlockDecode(benchmark::State& state) {
  const Sample sample = block_sample(250);
  std::string block;
  const int level = static_cast<int>(state.range(0));
  Compressor compressor = *Compressor::make(level == 0 ? 1 : level, "");
  append_block(block, BlockType::kData, sample.content, level == 0 ? nullptr : &compressor, DictionaryUse::kNever,
               {1, 64});
  std::string content(sample.content.size(), '\0');
  Decompressor decompressor;
  for (auto _ : state) {
    const Result<BlockFrame> frame = open_block(block, {1, 64}, BlockType::kData);
    if (!frame.ok() || !read_block(*frame, decompressor, nullptr, content).ok()) std::abort();
    benchmark::DoNotOptimize(content.data());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(content.size()));
}
BENCHMARK(BM_BlockDecode)->Arg(kCompressionLevelMin)->Arg(0)->Arg(1);

/// Argument: the compression level.
void BM_TableBuild(benchmark::State& state) {
  constexpr std::uint64_t kEntries = 20'000;
  std::vector<std::string> keys;
  std::vector<std::string> values;
  for (std::uint64_t i = 0; i < kEntries; ++i) {
    keys.push_back(key_of(i));
    values.push_back(value_of(i, 250));
  }
  TableOptions options;
  options.compression_level = static_cast<int>(state.range(0));
  for (auto _ : state) {
    const auto builder = *TableBuilder::make(1, 2, options);
    for (std::size_t i = 0; i < kEntries; ++i) {
      if (!builder->add({keys[i], kVersion + i, Kind::kPut, values[i]}).ok()) std::abort();
      if (builder->pending().size() > (1u << 20)) builder->discard_pending();
    }
    if (!builder->finish().ok()) std::abort();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kEntries));
}
BENCHMARK(BM_TableBuild)->Arg(0)->Arg(1)->Arg(3)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace varve::format

// Owns: the cost of encoding and decoding: sort keys, texts, entities, batches, checksums.
// Method: keys and entities have the sizes of real tables: two short ASCII keys, ten properties, and batches of one and
// of a hundred operations. The data is built before the clock runs.
#include <cstdint>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "format/bytes/checksum.h"
#include "format/keys/batch.h"
#include "format/keys/entity.h"
#include "format/keys/sort_key.h"

namespace varve::format {
namespace {

constexpr TableId kCodecTable = make_table_id(1, 7);

/// Returns sixteen texts of one length, so that the branch predictor cannot learn one of them.
std::vector<std::string> texts(const std::string& stem, std::size_t bytes) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < 16; ++i) {
    std::string text;
    while (text.size() < bytes) text.append(stem).append(std::to_string(i));
    while (text.size() > bytes) text.pop_back();
    while (!is_valid_utf8(text)) text.pop_back();
    all.push_back(text);
  }
  return all;
}

const std::string kAscii = "customer-";
const std::string kScript = "\xE9\xA1\xA7\xE5\xAE\xA2";

void encode_keys(benchmark::State& state, const std::string& stem) {
  const std::vector<std::string> parts = texts(stem, static_cast<std::size_t>(state.range(0)));
  std::size_t i = 0;
  for (auto _ : state) {
    Result<std::string> key = encode_sort_key(kCodecTable, parts[i % 16], parts[(i + 1) % 16]);
    benchmark::DoNotOptimize(key);
    ++i;
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 2);
}
void BM_SortKeyEncodeAscii(benchmark::State& state) {
  encode_keys(state, kAscii);
}
BENCHMARK(BM_SortKeyEncodeAscii)->Arg(8)->Arg(20)->Arg(100)->Arg(1000);
void BM_SortKeyEncodeOtherScript(benchmark::State& state) {
  encode_keys(state, kScript);
}
BENCHMARK(BM_SortKeyEncodeOtherScript)->Arg(20)->Arg(100);

void decode_keys(benchmark::State& state, const std::string& stem) {
  const std::vector<std::string> parts = texts(stem, static_cast<std::size_t>(state.range(0)));
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < 16; ++i) keys.push_back(*encode_sort_key(kCodecTable, parts[i], parts[(i + 1) % 16]));
  std::size_t i = 0;
  for (auto _ : state) {
    Result<SortKey> key = decode_sort_key(keys[i++ % 16]);
    benchmark::DoNotOptimize(key);
  }
}
void BM_SortKeyDecodeAscii(benchmark::State& state) {
  decode_keys(state, kAscii);
}
BENCHMARK(BM_SortKeyDecodeAscii)->Arg(8)->Arg(20)->Arg(100);
void BM_SortKeyDecodeOtherScript(benchmark::State& state) {
  decode_keys(state, kScript);
}
BENCHMARK(BM_SortKeyDecodeOtherScript)->Arg(20)->Arg(100);

void BM_SortKeyIsFramed(benchmark::State& state) {
  const std::string key = *encode_sort_key(kCodecTable, "customer-0000000042", "order-0000000017");
  for (auto _ : state) {
    std::string_view view = key;
    benchmark::DoNotOptimize(view);
    benchmark::DoNotOptimize(is_framed(view));
  }
}
BENCHMARK(BM_SortKeyIsFramed);

void validate(benchmark::State& state, const std::string& stem) {
  const std::string text = texts(stem, static_cast<std::size_t>(state.range(0)))[3];
  for (auto _ : state) {
    std::string_view view = text;
    benchmark::DoNotOptimize(view);
    benchmark::DoNotOptimize(is_valid_utf8(view));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
void BM_ValidateAscii(benchmark::State& state) {
  validate(state, kAscii);
}
BENCHMARK(BM_ValidateAscii)->Arg(20)->Arg(32768);
void BM_ValidateOtherScript(benchmark::State& state) {
  validate(state, kScript);
}
BENCHMARK(BM_ValidateOtherScript)->Arg(20)->Arg(32768);

void BM_CompareText(benchmark::State& state) {
  const std::string a = texts(kAscii, static_cast<std::size_t>(state.range(0)))[3] + "a";
  const std::string b = texts(kAscii, static_cast<std::size_t>(state.range(0)))[3] + "b";
  for (auto _ : state) {
    std::string_view view = a;
    benchmark::DoNotOptimize(view);
    benchmark::DoNotOptimize(compare_text(view, b));
  }
}
BENCHMARK(BM_CompareText)->Arg(20)->Arg(1000);

/// Adds a customer's order: ten properties of six types.
void add_properties(EntityBuilder& builder, std::int64_t number) {
  builder.add_string("CustomerName", "A name of common length");
  builder.add_string("Email", "somebody@example.org");
  builder.add_string("Street", "A street with its number 17");
  builder.add_int32("Quantity", static_cast<std::int32_t>(number));
  builder.add_int64("OrderNumber", number);
  builder.add_double("Amount", 1234.5);
  builder.add_boolean("Shipped", true);
  builder.add_date_time("Ordered", 638'000'000'000'000'000);
  builder.add_guid("Reference", GuidBytes{1, 2, 3, 4});
  builder.add_string("Note", "");
}

std::string order_entity() {
  EntityBuilder builder;
  add_properties(builder, 42);
  return builder.finish();
}

void BM_EntityBuild(benchmark::State& state) {
  EntityBuilder builder;
  std::int64_t number = 0;
  for (auto _ : state) {
    add_properties(builder, number++);
    std::string entity = builder.finish();
    benchmark::DoNotOptimize(entity);
  }
}
BENCHMARK(BM_EntityBuild);

void BM_EntityOpen(benchmark::State& state) {
  const std::string entity = order_entity();
  for (auto _ : state) {
    Result<EncodedEntity> view = EncodedEntity::open(entity);
    benchmark::DoNotOptimize(view);
  }
}
BENCHMARK(BM_EntityOpen);

void find_in_entity(benchmark::State& state, std::string_view name) {
  const std::string entity = order_entity();
  const EncodedEntity view = *EncodedEntity::open(entity);
  for (auto _ : state) {
    benchmark::DoNotOptimize(name);
    std::optional<PropertyView> found = view.find(name);
    benchmark::DoNotOptimize(found);
  }
}
void BM_EntityFindFirst(benchmark::State& state) {
  find_in_entity(state, "CustomerName");
}
BENCHMARK(BM_EntityFindFirst);
void BM_EntityFindLast(benchmark::State& state) {
  find_in_entity(state, "Note");
}
BENCHMARK(BM_EntityFindLast);
void BM_EntityFindNone(benchmark::State& state) {
  find_in_entity(state, "Absent");
}
BENCHMARK(BM_EntityFindNone);

void BM_EntityVerify(benchmark::State& state) {
  const std::string entity = order_entity();
  const EncodedEntity view = *EncodedEntity::open(entity);
  for (auto _ : state) {
    Status status = view.verify();
    benchmark::DoNotOptimize(status);
  }
}
BENCHMARK(BM_EntityVerify);

std::vector<std::string> batch_keys(std::int64_t count) {
  std::vector<std::string> keys;
  for (std::int64_t i = 0; i < count; ++i) {
    keys.push_back(*encode_sort_key(kCodecTable, "customer-0000000042", "order-" + std::to_string(100'000 + i)));
  }
  return keys;
}

void BM_BatchBuild(benchmark::State& state) {
  const std::vector<std::string> keys = batch_keys(state.range(0));
  const std::string value = order_entity();
  BatchBuilder builder;
  for (auto _ : state) {
    for (const std::string& key : keys) builder.put(key, value);
    std::string batch = builder.finish();
    benchmark::DoNotOptimize(batch);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_BatchBuild)->Arg(1)->Arg(100);

void BM_BatchRead(benchmark::State& state) {
  BatchBuilder builder;
  for (const std::string& key : batch_keys(state.range(0))) builder.put(key, order_entity());
  const std::string batch = builder.finish();
  for (auto _ : state) {
    Result<BatchReader> reader = BatchReader::open(batch);
    Operation operation;
    while (true) {
      const Result<bool> more = reader->next(&operation);
      if (!more.ok() || !*more) break;
      benchmark::DoNotOptimize(operation);
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_BatchRead)->Arg(1)->Arg(100);

void BM_Checksum(benchmark::State& state) {
  const std::string bytes(static_cast<std::size_t>(state.range(0)), 'x');
  std::uint64_t offset = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(checksum_at({0x5EED, offset}, bytes));
    offset += 4096;
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_Checksum)->Arg(40)->Arg(500)->Arg(16 << 10);

}  // namespace
}  // namespace varve::format

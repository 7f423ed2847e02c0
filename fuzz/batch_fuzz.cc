// Owns: the fuzzer of batches.
// Must never: accept bytes that the builder would not have made.
//
// Input: a batch.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "format/batch.h"
#include "format/bytes.h"

namespace varve::format {
namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

bool lies_in(std::string_view part, std::string_view whole) {
  return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

void add(BatchBuilder& builder, const Operation& operation) {
  switch (operation.kind) {
    case Kind::kPut: builder.put(operation.key, operation.value); return;
    case Kind::kDelete: builder.remove(operation.key); return;
    case Kind::kAdopt:
      check(operation.key.size() == 8);
      builder.adopt(load_u64_big_endian(operation.key.data()));
      return;
    case Kind::kRetire:
      check(operation.key.size() == 4 || operation.key.size() == 8);
      if (operation.key.size() == 4) builder.retire_account(load_u32_big_endian(operation.key.data()));
      if (operation.key.size() == 8) builder.retire_table(load_u64_big_endian(operation.key.data()));
      return;
    case Kind::kMergeOperand:
    case Kind::kPutExternal:
    case Kind::kPutExpiring: std::abort();  // refused today
  }
  std::abort();
}

bool is_refusal(Code code) {
  return code == Code::kCorruption || code == Code::kUnsupported;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Result<BatchReader> reader = BatchReader::open(bytes);
  if (!reader.ok()) {
    check(is_refusal(reader.code()));
    return 0;
  }
  check(reader->operation_count() <= size);
  BatchBuilder builder;
  if (reader->has_tag()) builder.set_tag(reader->tag());
  std::uint64_t read_count = 0;
  while (true) {
    Operation operation;
    const Result<bool> more = reader->next(&operation);
    if (!more.ok()) {
      check(is_refusal(more.code()));
      check(reader->next(&operation).code() == more.code());
      return 0;
    }
    if (!*more) break;
    ++read_count;
    check(lies_in(operation.key, bytes));
    check(operation.kind != Kind::kPut || lies_in(operation.value, bytes));
    add(builder, operation);
  }
  check(read_count == reader->operation_count());
  check(builder.operation_count() == read_count);
  check(builder.finish() == bytes);
  return 0;
}

}  // namespace varve::format

// Owns: the fuzzer of batches.
// Must never: accept bytes that the builder would not have made.
//
// Input: a batch.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/bytes/bytes.h"
#include "format/keys/batch.h"
#include "format/keys/ends.h"
#include "format/keys/sort_key.h"
#include "fuzz/mutation.h"

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
    case Kind::kPutExpiring:
      check(operation.value.size() >= kEndBytes && is_end(end_in(operation.value)));
      builder.put_expiring(operation.key, operation.value);
      return;
    case Kind::kMergeOperand:
    case Kind::kPutExternal:
    case Kind::kPutExpiringExternal: std::abort();  // always refused at present
  }
  std::abort();
}

bool is_refusal(Code code) {
  return code == Code::kCorruption || code == Code::kUnsupported;
}

// -- Mutations ------------------------------------------------------------------------------------------------------

struct OwnOperation {
  Kind kind = Kind::kPut;
  std::string key;
  std::string value;
};

std::string framed_key(fuzz::Chance& chance, std::string_view before) {
  const Result<SortKey> decoded = decode_sort_key(before);
  SortKey key = decoded.ok() ? *decoded : SortKey{1, "p", "r"};
  switch (chance.below(3)) {
    case 0: key.table = fuzz::mutated_number(chance, key.table); break;
    case 1: fuzz::mutate_bytes(key.partition_key); break;
    default: fuzz::mutate_bytes(key.row_key); break;
  }
  const Result<std::string> encoded = encode_sort_key(key.table, key.partition_key, key.row_key);
  return encoded.ok() ? *encoded : std::string(before);
}

void change(fuzz::Chance& chance, OwnOperation& operation) {
  constexpr std::array kKinds = {Kind::kPut, Kind::kDelete, Kind::kRetire, Kind::kAdopt, Kind::kPutExpiring};
  switch (chance.below(operation.key.empty() ? 1 : 4)) {
    case 0:
      operation.kind = kKinds[chance.below(kKinds.size())];
      if (has_end(operation.kind) && chance.one_in(2)) {
        std::string end;
        append_u64(end, fuzz::mutated_number(chance, kCommitVersionMax));
        operation.value.insert(0, end);
      }
      if (operation.kind == Kind::kPut || operation.kind == Kind::kDelete || has_end(operation.kind)) {
        operation.key = framed_key(chance, operation.key);
      } else {
        operation.key.resize(operation.kind == Kind::kRetire && chance.one_in(2) ? 4 : 8, '\1');
      }
      break;
    case 1: operation.key = framed_key(chance, operation.key); break;
    case 2: fuzz::mutate_bytes(operation.key); break;
    default: fuzz::mutate_bytes(operation.value); break;
  }
}

std::optional<std::string> mutated(fuzz::Chance& chance, std::string_view bytes) {
  Result<BatchReader> reader = BatchReader::open(bytes);
  if (!reader.ok()) return std::nullopt;
  std::vector<OwnOperation> operations;
  Operation operation;
  for (Result<bool> more = reader->next(&operation); more.ok() && *more; more = reader->next(&operation)) {
    operations.push_back({operation.kind, std::string(operation.key), std::string(operation.value)});
  }
  std::string tag(reader->tag());
  if (chance.one_in(6)) fuzz::mutate_bytes(tag);
  fuzz::mutate_parts(chance, operations, [&](OwnOperation& one) { change(chance, one); });

  std::string made(1, tag.empty() ? '\0' : '\1');
  if (!tag.empty()) append_sized(made, tag);
  append_varint(made, operations.size());
  for (const OwnOperation& one : operations) {
    made.push_back(static_cast<char>(one.kind));
    if (one.kind == Kind::kAdopt) {
      made += one.key;
    } else {
      append_sized(made, one.key);
    }
    if (one.kind == Kind::kPut || has_end(one.kind)) append_sized(made, one.value);
  }
  return made;
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
    const bool has_value = operation.kind == Kind::kPut || has_end(operation.kind);
    check(!has_value || lies_in(operation.value, bytes));
    add(builder, operation);
  }
  check(read_count == reader->operation_count());
  check(builder.operation_count() == read_count);
  check(builder.finish() == bytes);
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t size_max,
                                               unsigned seed) {
  return fuzz::mutate_structure(data, size, size_max, seed, mutated);
}

}  // namespace varve::format

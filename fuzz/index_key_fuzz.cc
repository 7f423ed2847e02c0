// Owns: the fuzzer of the keys and definitions of indexes.
// Must never: accept a key or a definition that our encoder would not make, except for the end of a String that was cut.
//
// Input: one byte of mode, then an entry's key (even mode) or a definition (odd mode).
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "format/bytes/bytes.h"
#include "format/keys/index_key.h"

namespace varve::format {
namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

void read_key(std::string_view bytes) {
  const Result<IndexKey> key = decode_index_key(bytes);
  if (!key.ok()) return check(key.code() == Code::kCorruption);
  check(is_framed(bytes) && table_id_of(bytes) == key->index);
  const Result<std::string> entity = encode_sort_key(0, key->entity.partition_key, key->entity.row_key);
  check(entity.ok());
  const Result<std::string> read = entity_key_of(bytes, 0);
  check(read.ok() && *read == *entity);
  std::string components;
  for (const IndexValue& value : key->components) {
    if (value.is_timestamp) {
      append_index_timestamp(components, load_u64(value.value.data()), value.is_descending);
      continue;
    }
    // A cut value has at least one byte more than is kept.
    const std::string whole = value.was_cut ? value.value + 'x' : value.value;
    check(append_index_component(components, value.type, whole, value.is_descending) == value.was_cut);
  }
  check(encode_index_key(key->index, components, *entity) == bytes);
}

void read_definition(std::string_view bytes) {
  const Result<IndexDefinition> definition = decode_index_definition(bytes);
  if (!definition.ok()) {
    return check(definition.code() == Code::kCorruption || definition.code() == Code::kUnsupported);
  }
  check(check_index_definition(*definition).ok());
  const Result<IndexDefinition> again = decode_index_definition(encode_index_definition(*definition));
  check(again.ok() && *again == *definition);
}

}  // namespace
}  // namespace varve::format

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0) {
    varve::format::read_key(bytes);
  } else {
    varve::format::read_definition(bytes);
  }
  return 0;
}

// Owns: the fuzzer of the keys and definitions of indexes.
// Must never: accept a key or a definition that our encoder would not make, except for the end of a String that was cut.
//
// Input: one byte of mode, then an entry's key (even mode) or a definition (odd mode).
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/bytes/bytes.h"
#include "format/keys/index_key.h"
#include "fuzz/field_mutation.h"
#include "fuzz/mutation.h"

namespace varve::format {
namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

/// Returns whether the value was cut, as it says.
bool append_value(std::string& components, const IndexValue& value) {
  if (value.is_timestamp) {
    append_index_timestamp(components, load_u64(value.value.data()), value.is_descending);
    return true;
  }
  // A cut value has at least one byte more than is kept.
  const std::string whole = value.was_cut ? value.value + 'x' : value.value;
  return append_index_component(components, value.type, whole, value.is_descending) == value.was_cut;
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
  for (const IndexValue& value : key->components) check(append_value(components, value));
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

void change_value(fuzz::Chance& chance, IndexValue& value) {
  constexpr std::size_t kTypes = 8;
  switch (chance.below(4)) {
    case 0: value.is_descending = !value.is_descending; break;
    case 1: value.is_timestamp = !value.is_timestamp; break;
    case 2: value.type = static_cast<PropertyType>(1 + chance.below(kTypes)); break;
    default: fuzz::mutate_bytes(value.value); break;
  }
  if (value.is_timestamp) value.type = PropertyType::kDateTime;
  if (const std::optional<std::size_t> bytes = fixed_value_bytes(value.type)) value.value.resize(*bytes);
}

/// Returns a changed key with its frame and escapes, or nothing if the bytes are no key.
std::optional<std::string> mutated_key(fuzz::Chance& chance, std::string_view bytes) {
  const Result<IndexKey> key = decode_index_key(bytes);
  if (!key.ok()) return std::nullopt;
  std::vector<IndexValue> values = key->components;
  fuzz::mutate_parts(chance, values, [&chance](IndexValue& value) { change_value(chance, value); });
  std::string row_key = key->entity.row_key;
  if (chance.one_in(4)) fuzz::mutate_bytes(row_key);
  const Result<std::string> entity = encode_sort_key(0, key->entity.partition_key, row_key);
  if (!entity.ok()) return std::nullopt;
  std::string components;
  for (const IndexValue& value : values) (void)append_value(components, value);
  return encode_index_key(key->index, components, *entity);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0) {
    read_key(bytes);
  } else {
    read_definition(bytes);
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t size_max,
                                               unsigned seed) {
  return fuzz::mutate_structure(data, size, size_max, seed, [](fuzz::Chance& chance, std::string_view input) {
    if (input.empty()) return std::optional<std::string>();
    const std::string_view bytes = input.substr(1);
    if (input[0] % 2 != 0) return std::optional<std::string>("\1" + fuzz::mutated_fields(chance, bytes));
    std::optional<std::string> key = mutated_key(chance, bytes);
    if (key) key->insert(0, 1, '\0');
    return key;
  });
}

}  // namespace varve::format

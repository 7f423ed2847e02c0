// Owns: the fuzzer of tagged fields, and with them of varints and the bounded cursor.
// Must never: accept a field that would be written back differently.
//
// Input: tagged fields.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "format/bytes/tagged_fields.h"
#include "fuzz/field_mutation.h"

namespace varve::format {
namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

void read_number(const Field& field) {
  const Result<std::uint64_t> number = field.number();
  if (!number.ok()) {
    check(number.code() == Code::kCorruption);
    return;
  }
  std::string as_bytes_field;
  std::string as_number_field;
  append_field(as_bytes_field, field.tag, field.value);
  append_number_field(as_number_field, field.tag, *number);
  check(as_bytes_field == as_number_field);
  check(number_field_bytes(field.tag, *number) == as_number_field.size());
  std::array<char, 32> stored{};
  const char* end = store_number_field(stored.data(), field.tag, *number);
  check(std::string_view(stored.data(), static_cast<std::size_t>(end - stored.data())) == as_number_field);
}

void read_unknown(const Field& field) {
  std::string kept;
  const Status status = keep_unknown(field, "thing", kept);
  if (must_be_known(field.tag)) {
    check(status.code() == Code::kUnsupported && kept.empty());
    return;
  }
  check(status.ok());
  FieldReader again(kept);
  const Result<Field> same = again.next();
  check(same.ok() && same->tag == field.tag && same->value == field.value && again.at_end());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  FieldReader reader(bytes);
  std::string written;
  Tag last = 0;
  while (!reader.at_end()) {
    const Result<Field> field = reader.next();
    if (!field.ok()) {
      check(field.code() == Code::kCorruption);
      check(written == bytes.substr(0, written.size()));
      return 0;
    }
    check(field->tag != 0 && field->tag >= last);
    last = field->tag;
    append_field(written, field->tag, field->value);
    read_number(*field);
    read_unknown(*field);
  }
  check(written == bytes);
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t size_max,
                                               unsigned seed) {
  return fuzz::mutate_structure(data, size, size_max, seed, [](fuzz::Chance& chance, std::string_view input) {
    return std::optional<std::string>(fuzz::mutated_fields(chance, input));
  });
}

}  // namespace varve::format

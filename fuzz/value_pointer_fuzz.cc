// Owns: the fuzzer of pointers to values, and of the lists of value files to which a run or a table file points.
// Must never: accept an encoding that our encoder would not make.
//
// Input: one byte of mode, then a pointer (even mode) or a list (odd mode).
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "format/keys/value_pointer.h"

namespace varve::format {
namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

void read_pointer(std::string_view bytes) {
  const Result<ValuePointer> pointer = decode_value_pointer(bytes);
  if (!pointer.ok()) return check(pointer.code() == Code::kCorruption);
  check(pointer->file != 0 && pointer->bytes != 0);
  std::string again;
  append_value_pointer(again, *pointer);
  check(again == bytes);
}

void read_uses(std::string_view bytes) {
  const Result<ValueFileUses> uses = decode_value_file_uses(bytes);
  if (!uses.ok()) return check(uses.code() == Code::kCorruption);
  check(!uses->empty() && encode_value_file_uses(*uses) == bytes);
  ValueFileUses summed;
  for (auto use = uses->rbegin(); use != uses->rend(); ++use) add_value_file_use(summed, *use);
  check(summed == *uses);
}

}  // namespace
}  // namespace varve::format

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0) {
    varve::format::read_pointer(bytes);
  } else {
    varve::format::read_uses(bytes);
  }
  return 0;
}

// Owns: the fuzzer of manifest edits. They have no checksum of their own, so hostile bytes reach all of the code.
// Must never: accept two encodings of one edit.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "format/log/manifest_edit.h"
#include "fuzz/field_mutation.h"

namespace varve::format {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Result<ManifestEdit> edit = decode_manifest_edit(bytes);
  if (edit.ok()) {
    if (encode_manifest_edit(*edit) != bytes) std::abort();
  } else if (edit.code() != Code::kCorruption && edit.code() != Code::kUnsupported) {
    std::abort();
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t size_max,
                                               unsigned seed) {
  return fuzz::mutate_structure(data, size, size_max, seed, [](fuzz::Chance& chance, std::string_view input) {
    return std::optional<std::string>(fuzz::mutated_fields(chance, input));
  });
}

}  // namespace varve::format

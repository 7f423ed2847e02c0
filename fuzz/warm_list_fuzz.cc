// Owns: the fuzzer of WARM: hostile bytes, with and without a valid frame.
// Must never: accept two encodings of one list.
//
// Input: one byte of mode, then the whole file (mode 0), or only its fields (mode 1), which are framed before they are
// read.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "format/bytes/bytes.h"
#include "format/bytes/checksum.h"
#include "format/log/file_header.h"
#include "format/log/warm_list.h"
#include "fuzz/field_mutation.h"

namespace varve::format {
namespace {

constexpr std::uint64_t kSeed = 0x5eed;

std::string framed(std::string_view fields) {
  std::string bytes = encode_file_header({FileType::kWarmList, kFormatVersion, kSeed, 0});
  bytes.append(fields);
  append_u64(bytes, checksum_at({kSeed, kFileHeaderBytes}, fields));
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string bytes = data[0] % 2 == 1 ? framed(rest) : std::string(rest);
  const Result<WarmList> list = decode_warm_list(bytes);
  if (!list.ok()) {
    if (list.code() != Code::kCorruption && list.code() != Code::kUnsupported) std::abort();
    return 0;
  }
  for (const WarmBlocks& blocks : list->files) {
    if (blocks.offsets.empty() || !std::is_sorted(blocks.offsets.begin(), blocks.offsets.end())) std::abort();
  }
  if (encode_warm_list(*list, load_u64(bytes.data() + 16)) != bytes) std::abort();
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t size_max,
                                               unsigned seed) {
  return fuzz::mutate_structure(data, size, size_max, seed, [](fuzz::Chance& chance, std::string_view input) {
    std::string_view fields = input.substr(std::min<std::size_t>(input.size(), 1));
    if (!input.empty() && input[0] % 2 == 0 && fields.size() >= kFileHeaderBytes + 8) {
      fields = fields.substr(kFileHeaderBytes, fields.size() - kFileHeaderBytes - 8);
    }
    return std::optional<std::string>("\1" + fuzz::mutated_fields(chance, fields));
  });
}

}  // namespace varve::format

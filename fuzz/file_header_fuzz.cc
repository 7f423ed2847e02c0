// Owns: the fuzzer of file headers and of file names.
// Must never: accept a header or a name that our writer would not make.
//
// Input: one byte of mode, then a header (mode 0), a header whose magic and checksum are corrected (mode 1), or a file
// name (mode 2).
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "format/bytes/bytes.h"
#include "format/bytes/checksum.h"
#include "format/log/file_header.h"
#include "fuzz/mutation.h"

namespace varve::format {
namespace {

void read_header(std::string_view bytes) {
  for (const FileType type : {FileType::kRoot, FileType::kManifest, FileType::kLogSegment, FileType::kLogBuffer,
                              FileType::kTable, FileType::kValueFile, FileType::kWarmList}) {
    const Result<FileHeader> header = decode_file_header(bytes, type);
    if (header.ok()) {
      if (header->type != type || encode_file_header(*header) != bytes.substr(0, kFileHeaderBytes)) std::abort();
    } else if (header.code() != Code::kCorruption && header.code() != Code::kUnsupported) {
      std::abort();
    }
  }
}

std::string sealed(std::string_view content) {
  std::string bytes(content.substr(0, kFileHeaderBytes));
  bytes.resize(kFileHeaderBytes);
  bytes.replace(0, 8, std::string_view("VARVE\r\n\x1a", 8));
  const FilePlace place{load_u64(bytes.data() + 16), 0};
  store_u64(bytes.data() + 56, checksum_at(place, std::string_view(bytes).substr(0, 56)));
  return bytes;
}

void read_name(std::string_view name) {
  const Result<FileId> id = parse_file_name(name);
  if (id.ok() && file_name(id->type, id->number) != name) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 3) {
    case 0: read_header(rest); break;
    case 1: read_header(sealed(rest)); break;
    default: read_name(rest); break;
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t size_max,
                                               unsigned seed) {
  return fuzz::mutate_structure(data, size, size_max, seed, [](fuzz::Chance& chance, std::string_view input) {
    if (input.size() <= kFileHeaderBytes || input[0] % 3 == 2) return std::optional<std::string>();
    std::string header(input.substr(0, 1 + kFileHeaderBytes));
    header[0] = 1;
    char* const lane = header.data() + 1 + 8 * (1 + chance.below(6));
    store_u64(lane, fuzz::mutated_number(chance, load_u64(lane)));
    return std::optional<std::string>(std::move(header));
  });
}

}  // namespace varve::format

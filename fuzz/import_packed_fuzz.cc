// Owns: the fuzzer of packed and encoded inputs: gzip, bzip2, xz, zstd, tar, zip and UTF-16.
// Must never: end an input without a reason, or give more bytes after its end.
//
// Input: the file.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "fuzz/memory_input.h"
#include "tools/varve/input/input_texts.h"

namespace varve {
namespace {

/// Enough for every format, since a file is read at most so far. A small file can expand to terabytes.
constexpr std::uint64_t kBytesMax = std::uint64_t{1} << 20;

void check(std::string_view file) {
  tool::InputTexts texts = tool::InputTexts::of(std::make_unique<fuzz::MemoryInput>(file, 512), "file");
  std::uint64_t bytes = 0;
  for (int count = 0; count < 100; ++count) {
    Result<std::optional<tool::InputText>> text = texts.next();
    if (!text.ok() || !text->has_value()) return;
    tool::ByteInput& input = *(*text)->bytes;
    std::array<char, 4096> buffer{};
    while (const std::size_t got = input.read(buffer.data(), buffer.size())) {
      if (got > buffer.size() || input.end() != tool::InputEnd::kNone) std::abort();
      bytes += got;
      if (bytes > kBytesMax) return;
    }
    if (input.end() == tool::InputEnd::kNone || input.end() == tool::InputEnd::kSignal) std::abort();
    if (input.end() == tool::InputEnd::kError && input.status().ok()) std::abort();
    if (input.read(buffer.data(), buffer.size()) != 0) std::abort();
    if (input.end() == tool::InputEnd::kError) return;
  }
}

}  // namespace
}  // namespace varve

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  varve::check({reinterpret_cast<const char*>(data), size});
  return 0;
}

// Owns: the fuzzer of filters: hostile content, and sets of hostile hashes.
// Must never: let a filter deny a hash from which it was built.
//
// Input: one byte of mode, then the content of a filter (mode 0), or hashes of eight bytes each. From the hashes a
// Bloom filter (mode 1) or a binary fuse filter (mode 2) is built.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "format/block/filter.h"
#include "format/bytes/bytes.h"
#include "format/bytes/checksum.h"

namespace varve::format {
namespace {

void read_hostile(std::string_view content) {
  const Result<FilterView> filter = FilterView::parse(content);
  if (!filter.ok()) {
    if (filter.code() != Code::kCorruption && filter.code() != Code::kUnsupported) std::abort();
    return;
  }
  unsigned passed = 0;
  for (std::uint64_t i = 0; i < 64; ++i) {
    std::string key;
    append_u64(key, i);
    passed += filter->may_contain(content_hash(key)) ? 1U : 0U;
    passed += filter->may_contain(~std::uint64_t{0} >> i) ? 1U : 0U;
  }
  if (passed > 128) std::abort();
}

void build(FilterKind kind, std::string_view bytes) {
  std::vector<std::uint64_t> hashes;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) hashes.push_back(load_u64(bytes.data()));
  const Result<std::string> content = build_filter(kind, hashes, 10);
  if (!content.ok()) std::abort();
  const Result<FilterView> filter = FilterView::parse(*content);
  if (!filter.ok()) std::abort();
  for (const std::uint64_t hash : hashes) {
    if (!filter->may_contain(hash)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 3) {
    case 0: read_hostile(rest); break;
    case 1: build(FilterKind::kBlockedBloom, rest); break;
    default: build(FilterKind::kBinaryFuse, rest); break;
  }
  return 0;
}

}  // namespace varve::format

// Owns: the fuzzer of request options and of a store's limits.
// Must never: accept options beyond the limits of a scan.
//
// Input: a query string. The same bytes are used as the stored limits of a store.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/core/stored_limits.h"
#include "fuzz/mutation.h"
#include "varve/query_options.h"

namespace varve {
namespace {

void check(std::string_view input) {
  const Result<Scan> scan = parse_query_options(input);
  if (scan.ok()) {
    if (scan->page_entities_max > limits::kPageEntitiesMax) std::abort();
    if (scan->read.select.size() > limits::kSelectedNamesMax) std::abort();
  }
  const Result<StoreLimits> limits = decode_limits(input);
  if (limits.ok() && *decode_limits(encode_limits(*limits)) != *limits) std::abort();
}

}  // namespace
}  // namespace varve

/// Words of such texts.
constexpr std::string_view kWords[] = {"$filter=",
                                       "$top=",
                                       "$select=",
                                       "$orderby=",
                                       "NextPartitionKey=",
                                       "NextRowKey=",
                                       "NextTableName=",
                                       "&",
                                       "?",
                                       "%20",
                                       "%24",
                                       "%27",
                                       "+",
                                       "*",
                                       ",",
                                       "PartitionKey",
                                       "A",
                                       "1!4!Yg--",
                                       "1!0!",
                                       "2!4!Yg--",
                                       "1000",
                                       "1001",
                                       "'a'",
                                       " eq "};

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  varve::check({reinterpret_cast<const char*>(data), size});
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t size_max,
                                               unsigned seed) {
  return varve::fuzz::mutate_words(kWords, data, size, size_max, seed);
}

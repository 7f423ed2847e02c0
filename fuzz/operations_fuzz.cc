// Owns: the fuzzer of lists of operations: the store is compared with the model (tests/lab/model), guided by coverage.
// Must never: continue after a difference.
//
// Input: two bytes of profile, one byte of the machine's seed, then operations of 13 bytes: an operation's name, and
// six numbers of two bytes.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "fuzz/record_mutator.h"
#include "tests/lab/model/operation.h"
#include "tests/lab/model/run.h"

namespace varve::lab {
namespace {

constexpr fuzz::RecordForm kForm{3, 1 + 2 * kOperationNumbers};
constexpr std::size_t kOperationsMax = 100;

std::uint32_t two_bytes(const std::uint8_t* at) {
  return static_cast<std::uint32_t>(at[0]) | static_cast<std::uint32_t>(at[1]) << 8;
}

OperationList list_of(const std::uint8_t* data, std::size_t size) {
  OperationList list;
  list.profile = two_bytes(data);
  list.machine = data[2];
  data += kForm.leading_bytes;
  size -= kForm.leading_bytes;
  for (; size >= kForm.record_bytes && list.operations.size() < kOperationsMax; size -= kForm.record_bytes) {
    Operation operation;
    operation.name = static_cast<OperationName>(data[0] % kOperationNames);
    for (std::size_t i = 0; i < kOperationNumbers; ++i) operation.numbers[i] = two_bytes(data + 1 + 2 * i);
    list.operations.push_back(operation);
    data += kForm.record_bytes;
  }
  return list;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < kForm.leading_bytes) return 0;
  const OperationList list = list_of(data, size);
  const RunResult result = run_list(list);
  if (result.what.empty()) return 0;
  std::fprintf(stderr, "operation %zu: %s\n%s", result.operation, result.what.c_str(), list_text(list).c_str());
  std::abort();
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t size_max,
                                               unsigned seed) {
  return fuzz::mutate_records(kForm, data, size, size_max, seed);
}

}  // namespace varve::lab

// Owns: mutations of inputs that consist of some leading bytes and records of one size. Records are added, removed,
// repeated, exchanged and changed, and stay aligned.
// Must never: make an input of another form longer than its limit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "fuzz/mutation.h"

namespace varve::fuzz {

struct RecordForm {
  std::size_t leading_bytes = 0;
  std::size_t record_bytes = 1;
};

/// Implements LLVMFuzzerCustomMutator.
inline std::size_t mutate_records(RecordForm form, std::uint8_t* data, std::size_t size, std::size_t size_max,
                                  unsigned seed) {
  Chance chance(seed);
  const std::size_t head = form.leading_bytes;
  const std::size_t bytes = form.record_bytes;
  if (size_max < head + bytes) return LLVMFuzzerMutate(data, size, size_max);
  for (; size < head; ++size) data[size] = static_cast<std::uint8_t>(chance.bits());
  std::size_t count = (size - head) / bytes;
  const auto at = [&](std::size_t record) { return data + head + record * bytes; };
  const auto any = [&] { return chance.below(count); };
  const bool has_room = head + (count + 1) * bytes <= size_max;
  switch (count == 0 ? 0 : chance.below(6)) {
    case 0:
      if (!has_room) break;
      for (std::size_t i = 0; i < bytes; ++i) at(count)[i] = static_cast<std::uint8_t>(chance.bits());
      ++count;
      break;
    case 1: {
      const std::size_t gone = any();
      std::memmove(at(gone), at(gone + 1), (count - gone - 1) * bytes);
      --count;
      break;
    }
    case 2: {
      if (!has_room) break;
      const std::size_t again = any();
      std::memmove(at(again + 1), at(again), (count - again) * bytes);
      ++count;
      break;
    }
    case 3: {
      const std::size_t first = any();
      const std::size_t second = any();
      if (first != second) std::swap_ranges(at(first), at(first + 1), at(second));
      break;
    }
    case 4: LLVMFuzzerMutate(data, head, head); break;
    default: LLVMFuzzerMutate(at(any()), bytes, bytes); break;
  }
  return head + count * bytes;
}

}  // namespace varve::fuzz

// Owns: the failing of steps upon table files.
// Must never: fail a step upon a file of another kind.
#pragma once

#include <cstdint>

#include "io/simulated/fault_plan.h"

namespace varve::test {

/// The n-th step of this kind fails, from 0, and all behind it.
inline io::FaultRule fail_table_files(io::OperationKind kind, std::uint64_t nth) {
  io::FaultRule rule;
  rule.kind = kind;
  rule.name_suffix = ".sst";
  rule.skip_count = nth;
  rule.fail_count = io::FaultRule::kFromThenOn;
  return rule;
}

}  // namespace varve::test

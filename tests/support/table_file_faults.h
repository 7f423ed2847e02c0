// Owns: fault rules for operations on table files.
// Must never: make an operation on another kind of file fail.
#pragma once

#include <cstdint>

#include "io/simulated/fault_plan.h"

namespace varve::test {

/// Returns a rule by which the n-th operation of this kind, counted from 0, and all later ones fail.
inline io::FaultRule fail_table_files(io::OperationKind kind, std::uint64_t nth) {
  io::FaultRule rule;
  rule.kind = kind;
  rule.name_suffix = ".sst";
  rule.skip_count = nth;
  rule.fail_count = io::FaultRule::kFromThenOn;
  return rule;
}

}  // namespace varve::test

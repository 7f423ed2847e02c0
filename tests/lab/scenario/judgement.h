// Owns: judging the content of a store that was opened for writing by the version that its open recovered.
// Must never: take the version of work that the store ended after its open for that of a commit of the run.
#pragma once

#include <cstdint>
#include <string>

#include "tests/lab/machine/machine_files.h"
#include "tests/lab/scenario/ledger.h"

namespace varve::lab {

/// The version by which the law holds, or its violation.
struct Judgement {
  std::uint64_t version = 0;
  std::string broken{};
};

/// Compares the content at a look with that of the run. By then, the store may have ended work that a crash left: such a
/// commit has a version above all of the run, and changes nothing that is compared. `before` are the files before the open.
Judgement judge_opened(const Ledger& ledger, const Ledger::Mark& mark, bool killed, const Remains& before,
                       std::uint64_t visible, const Content& found);

}  // namespace varve::lab

#include "tests/lab/scenario/judgement.h"

#include <memory>
#include <vector>

#include "engine/recovery/recovery.h"

namespace varve::lab {
namespace {

/// Returns the version up to which an open recovers the commits on a disk, or zero.
std::uint64_t recovered_version(const Remains& before) {
  const CopyMachine machine(before, 1);
  const Result<std::unique_ptr<io::Directory>> directory =
      machine.env.files.open_directory(machine.files->path("store"));
  if (!directory.ok()) return 0;
  const Result<engine::Recovered> recovered = engine::read_store(machine.env, **directory, false);
  return recovered.ok() ? recovered->last_version : 0;
}

/// Returns the versions that the open may have recovered. On RADOS, changes that arrive beside it are recovered too, so it
/// may be any version of the run.
std::vector<std::uint64_t> recoverable(const Ledger& ledger, const Remains& before, std::uint64_t visible) {
  if (before.pool) return ledger.versions_below(visible);
  const std::uint64_t recovered = recovered_version(before);
  if (recovered == 0 || recovered >= visible) return {};
  return {recovered};
}

}  // namespace

Judgement judge_opened(const Ledger& ledger, const Ledger::Mark& mark, bool killed, const Remains& before,
                       std::uint64_t visible, const Content& found) {
  Judgement seen{visible, ledger.judge(mark, killed, visible, found)};
  if (seen.broken.empty() || visible <= mark.highest_version) return seen;
  for (const std::uint64_t version : recoverable(ledger, before, visible)) {
    Judgement judged{version, ledger.judge(mark, killed, version, found)};
    if (judged.broken.empty() || !before.pool) return judged;
  }
  return seen;
}

}  // namespace varve::lab

#include "bench/varve_bench/workload.h"

#include <utility>

namespace varve::bench {

std::vector<WorkloadRow> in_both_forms(std::vector<WorkloadRow> rows) {
  std::vector<WorkloadRow> all;
  for (WorkloadRow& row : rows) {
    WorkloadRow copied{row.name + " (opponents copy)", {}, row.limit, row.unwritten_limit};
    copied.run = [run = row.run](Session& session) -> Result<Outcome> {
      session.answer_as(Answer::kCopied);
      Result<Outcome> outcome = run(session);
      session.answer_as(Answer::kDecoded);
      return outcome;
    };
    all.push_back(std::move(row));
    all.push_back(std::move(copied));
  }
  return all;
}

}  // namespace varve::bench

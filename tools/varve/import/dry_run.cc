#include "tools/varve/import/dry_run.h"

#include <iostream>

#include "tools/varve/import/import_target.h"
#include "tools/varve/terminal/progress.h"
#include "tools/varve/terminal/terminal.h"
#include "tools/varve/text/entity_json.h"

namespace varve::tool {

Status DryRun::add(const RowPlace& place, const Entity& entity) {
  if (const Status checked = check_entity(entity, StoreLimits()); !checked.ok()) {
    refuse({place, with_remedy(checked, entity)});
    return Status();
  }
  ++counts_.read;
  if (seen_.add(entity.partition_key(), entity.row_key())) {
    ++counts_.repeated;
    return Status();
  }
  ++counts_.imported;
  summary_.add(entity);
  if (first_.size() < kFirstMax) first_.push_back(entity_to_row(entity));
  return Status();
}

void DryRun::refuse(const RefusedRow& row) {
  ++counts_.read;
  ++counts_.refused;
  refusal_(row);
}

void DryRun::report(const std::string& table, bool json) const {
  if (json) {
    std::cout << R"({"dry_run":true,"read":)" << counts_.read << R"(,"would_import":)" << counts_.imported
              << R"(,"repeated":)" << counts_.repeated << R"(,"refused":)" << counts_.refused << R"(,"first":[)";
    for (std::size_t i = 0; i < first_.size(); ++i) std::cout << (i == 0 ? "" : ",") << first_[i];
    std::cout << "]," << summary_json(summary_) << "}\n";
    return;
  }
  std::cout << "would import " << with_commas(counts_.imported) << " of " << with_commas(counts_.read) << " rows into "
            << table << ", and changed nothing\n";
  if (counts_.repeated > 0)
    std::cout << "about " << counted(counts_.repeated, "row has", "rows have") << " an earlier key\n";
  std::cout << "\n" << summary_text(summary_) << (first_.empty() ? "" : "\nthe first entities:\n");
  for (const std::string& entity : first_) std::cout << for_output(entity) << "\n";
}

}  // namespace varve::tool

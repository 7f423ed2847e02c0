#include "tools/varve/import/load_importer.h"

namespace varve::tool {

Status LoadImporter::add(std::uint64_t line, const Entity& entity) {
  if (const Status checked = target_.check(entity); !checked.ok()) {
    refuse(line, checked, 0);
    return Status();
  }
  if (!target_.is_ready()) {
    if (Status created = target_.create(); !created.ok()) return created;
  }
  const Status added = target_.loader().add(entity);
  if (added.code() == Code::kInvalidArgument || added.code() == Code::kTooLarge) {
    refuse(line, added, 0);
    return Status();
  }
  ++counts_.read;
  return added;
}

void LoadImporter::refuse(std::uint64_t line, const Status& reason, std::uint64_t shape_fault) {
  ++counts_.read;
  ++counts_.refused;
  refusal_(line, reason, shape_fault);
}

Status LoadImporter::finish() {
  if (counts_.read > 0 && counts_.refused == counts_.read) return stop();
  if (!target_.is_ready()) {
    if (Status created = target_.create(); !created.ok()) return created;
  }
  const Result<ETag> finished = target_.loader().finish();
  if (finished.ok()) counts_.imported = counts_.read - counts_.refused;
  return finished.status();
}

Status LoadImporter::stop() {
  if (target_.is_ready()) target_.loader().abort();
  return Status();
}

}  // namespace varve::tool

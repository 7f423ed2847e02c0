#include "tools/varve/import/load_importer.h"

#include "tools/varve/input/stop_signal.h"

namespace varve::tool {

Status LoadImporter::add(const RowPlace& place, const Entity& entity) {
  if (const Status checked = target_.check(entity); !checked.ok()) {
    refuse({place, with_remedy(checked, entity)});
    return Status();
  }
  if (!target_.is_ready()) {
    if (Status created = target_.create(); !created.ok()) return created;
  }
  const Status added = target_.loader().add(entity);
  if (added.code() == Code::kInvalidArgument || added.code() == Code::kTooLarge) {
    refuse({place, with_remedy(added, entity)});
    return Status();
  }
  ++counts_.read;
  return added;
}

void LoadImporter::refuse(const RefusedRow& row) {
  ++counts_.read;
  ++counts_.refused;
  refusal_(row);
}

Status LoadImporter::finish() {
  if (counts_.read > 0 && counts_.refused == counts_.read) return stop();
  if (!target_.is_ready()) {
    if (Status created = target_.create(); !created.ok()) return created;
  }
  const Result<ETag> finished =
      target_.loader().finish([](const IndexBuildProgress& /*progress*/) { return stop_signal_seen() == 0; });
  if (finished.ok()) counts_.imported = counts_.read - counts_.refused;
  return finished.status();
}

Status LoadImporter::stop() {
  if (target_.is_ready()) target_.loader().abort();
  return Status();
}

}  // namespace varve::tool

#include "tools/varve/load_importer.h"

#include "tools/varve/lines.h"

namespace varve::tool {

Status LoadImporter::add(std::uint64_t line, const Entity& entity) {
  const Status added = loader_.add(entity);
  if (added.code() == Code::kInvalidArgument || added.code() == Code::kTooLarge) {
    refuse(line, added);
    return Status();
  }
  ++counts_.read;
  return added;
}

void LoadImporter::refuse(std::uint64_t line, const Status& reason) {
  ++counts_.read;
  ++counts_.refused;
  refusal_(line, reason);
}

Status LoadImporter::finish() {
  if (stop_signal() != 0) {
    loader_.abort();
    return Status();
  }
  const Result<ETag> finished = loader_.finish();
  if (finished.ok()) counts_.imported = counts_.read - counts_.refused;
  return finished.status();
}

}  // namespace varve::tool

// Owns: recognising a stray file by its name.
// Must never: judge a file by its content or its age.
#include "engine/manifest/stray_files.h"

#include <string_view>
#include <vector>

#include "engine/base/sync_points.h"
#include "engine/manifest/manifest.h"
#include "engine/manifest/root_file.h"
#include "format/log/file_header.h"
#include "io/probe.h"

namespace varve::engine {
namespace {

bool is_stray(std::string_view name, const FileSet& files, std::uint64_t manifest_number, StrayBallast ballast) {
  if (name == kRootTemporaryName || name == kWarmListTemporaryName) return true;
  if (name == kBallastName) return ballast == StrayBallast::kRemove;
  const Result<format::FileId> id = format::parse_file_name(name);
  if (!id.ok() || id->type == format::FileType::kRoot) return false;
  if (id->type == format::FileType::kManifest) return id->number != manifest_number;
  return !files.names(id->type, id->number);
}

}  // namespace

Status remove_stray_files(io::Directory& directory, const FileSet& files, std::uint64_t manifest_number,
                          StrayBallast ballast) {
  const Result<std::vector<io::DirectoryEntry>> entries = directory.list_names();
  if (!entries.ok()) return entries.status();
  bool removed_any = false;
  for (const io::DirectoryEntry& entry : *entries) {
    if (!entry.regular_file || !is_stray(entry.name, files, manifest_number, ballast)) continue;
    if (Status removed = directory.remove(entry.name); !removed.ok()) return removed;
    io::probe("a stray file was removed");
    removed_any = true;
  }
  return removed_any ? directory.sync(sync_points::kRemovedNames) : Status();
}

}  // namespace varve::engine

#include "tools/varve/backup/backup.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "format/log/root.h"
#include "varve/store.h"

namespace varve::tool {
namespace {

namespace fs = std::filesystem;

/// Returns the names of the regular files in a directory, in their order.
Result<std::vector<std::string>> file_names(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (entry.is_regular_file(error) && entry.path().filename() != "LOCK") names.push_back(entry.path().filename());
  }
  if (error) return Status::io_error(error.message()).in_file(directory);
  std::sort(names.begin(), names.end());
  return names;
}

/// Returns the time of the last commit in a store. Errors: those of Store::open().
Result<std::string> version_of(const std::string& store) {
  StoreOptions options;
  options.read_only = true;
  const Result<std::unique_ptr<Store>> opened = Store::open(store, options);
  if (!opened.ok()) return opened.status();
  const Result<Statistics> statistics = (*opened)->statistics();
  if (!statistics.ok()) return statistics.status();
  return (*statistics).visible_version.to_string();
}

Status copy_files(const std::string& source, BackupPlace& place, const BytesRead& progress, BackupManifest& manifest,
                  BackupCounts& counts, std::vector<std::string>& added) {
  const Result<std::vector<std::string>> names = file_names(source);
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    const std::string path = source + "/" + name;
    Result<FileContent> content = read_content(path, [&](std::string_view piece) {
      progress(piece.size());
      return Status();
    });
    if (!content.ok()) return content.status();
    bool is_new = false;
    if (Status copied = place.add_content(path, *content, is_new); !copied.ok()) return copied;
    if (is_new) {
      added.push_back((*content).hash);
      ++counts.files_new;
      counts.bytes_new += (*content).bytes;
    }
    ++counts.files;
    counts.bytes += (*content).bytes;
    manifest.files.push_back({name, *std::move(content)});
  }
  return Status();
}

/// Prepares the directory of a restored store. An interrupted restore left files of the backup, and no CURRENT.
Status prepare_target(const BackupManifest& manifest, const std::string& target) {
  if (Status made = make_directory(target); !made.ok()) return made;
  std::set<std::string> known;
  for (const BackupFile& file : manifest.files) known.insert(file.name);
  known.erase(std::string(format::kRootName));
  known.insert("RESTORING");
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(target, error)) {
    const std::string name = entry.path().filename();
    if (known.contains(name)) continue;
    return Status::exists("the directory for the restored store holds other things, such as " + name +
                          "; give one that is absent or empty")
        .in_file(target);
  }
  return error ? Status::io_error(error.message()).in_file(target) : Status();
}

}  // namespace

Result<BackupCounts> make_backup(const std::string& source, const std::string& store, BackupPlace& place,
                                 const BytesRead& progress) {
  Result<std::string> version = version_of(source);
  if (!version.ok()) return version.status();
  BackupManifest manifest{store, *version, {}};
  BackupCounts counts;
  std::vector<std::string> added;
  const Status copied = copy_files(source, place, progress, manifest, counts, added);
  Result<std::string> name = copied.ok() ? place.add(manifest) : copied;
  if (!name.ok()) {
    place.remove_contents(added);
    return name.status();
  }
  counts.name = *std::move(name);
  counts.version = *std::move(version);
  return counts;
}

Result<VerifyReport> restore_store(const BackupPlace& place, const BackupManifest& manifest, const std::string& target,
                                   const BytesRead& progress) {
  if (Status prepared = prepare_target(manifest, target); !prepared.ok()) return prepared;
  const std::string temporary = target + "/RESTORING";
  const auto write = [&](const BackupFile& file) {
    progress(file.content.bytes);
    return copy_content(place.content_path(file.content.hash), temporary, target + "/" + file.name, file.content);
  };
  const BackupFile* root = nullptr;
  for (const BackupFile& file : manifest.files) {
    if (file.name == format::kRootName) {
      root = &file;
    } else if (Status written = write(file); !written.ok()) {
      return written;
    }
  }
  if (root == nullptr) return Status::corruption("the backup has no CURRENT, so it is no store");
  if (Status synced = sync_directory(target); !synced.ok()) return synced;
  if (Status written = write(*root); !written.ok()) return written;
  for (const std::string& directory : {target, target + "/.."}) {
    if (Status synced = sync_directory(directory); !synced.ok()) return synced;
  }
  Result<VerifyReport> report = Store::verify(target);
  const bool is_sound = report.ok() && (*report).sound();
  std::error_code ignored;
  if (!is_sound) fs::remove(target + "/" + std::string(format::kRootName), ignored);  // it must not open
  if (!report.ok() || is_sound) return report;
  return Status::corruption("the restored store does not verify: " + (*report).findings.front());
}

}  // namespace varve::tool

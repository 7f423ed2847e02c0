// Owns: comparing the wanted files with one listing of the directory (presence_check.h).
// Must never: report a file as missing or as another size because of the listing alone.
#include "engine/recovery/presence_check.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "io/os_error.h"

namespace varve::engine {

namespace {

Status look_at(io::Directory& directory, const WrittenFile& wanted) {
  const NamedFile name = format::named_file(wanted.id.type, wanted.id.number);
  const Result<std::unique_ptr<io::ReadableFile>> file = directory.open(name, io::ReadMode::kCached);
  if (io::is_missing(file.status())) {
    return Status::corruption("the " + std::string(wanted.thing) + " that the manifest names is missing").in_file(name);
  }
  if (!file.ok()) return file.status();
  if ((*file)->size_bytes() == wanted.size_bytes) return Status();
  return Status::corruption("has " + std::to_string((*file)->size_bytes()) + " bytes, but the manifest records " +
                            std::to_string(wanted.size_bytes))
      .in_file(name);
}

/// The numbered regular files of a directory, with their sizes.
class Listing {
 public:
  explicit Listing(const std::vector<io::DirectoryEntry>& entries) {
    files_.reserve(entries.size());
    for (const io::DirectoryEntry& entry : entries) {
      if (!entry.regular_file) continue;
      const Result<format::FileId> id = format::parse_file_name(entry.name);
      if (id.ok()) files_.emplace_back(id->type, id->number, entry.size_bytes);
    }
    std::sort(files_.begin(), files_.end());
  }

  bool contains(const WrittenFile& wanted) const noexcept {
    return std::binary_search(files_.begin(), files_.end(), File{wanted.id.type, wanted.id.number, wanted.size_bytes});
  }

 private:
  using File = std::tuple<format::FileType, std::uint64_t, std::uint64_t>;
  std::vector<File> files_;
};

}  // namespace

// A listing costs a fraction of opening each file. Only files that it does not confirm are opened. If the
// listing fails, it confirms none, and each file is opened.
Status check_presence(io::Directory& directory, std::span<const WrittenFile> files) {
  if (files.empty()) return Status();
  const Result<std::vector<io::DirectoryEntry>> entries = directory.list();
  const Listing listing(entries.ok() ? *entries : std::vector<io::DirectoryEntry>());
  for (const WrittenFile& file : files) {
    if (listing.contains(file)) continue;
    if (Status there = look_at(directory, file); !there.ok()) return there;
  }
  return Status();
}

}  // namespace varve::engine

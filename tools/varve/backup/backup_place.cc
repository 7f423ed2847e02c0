#include "tools/varve/backup/backup_place.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

namespace varve::tool {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMark = "/VARVE-BACKUPS";
constexpr std::string_view kMarkBegin = "varve backups 1\nstore ";
constexpr std::string_view kMarkFamily = "varve backups ";
constexpr std::string_view kListEnding = ".list";
constexpr std::size_t kNumberDigits = 6;

/// Reads a small text file. Errors: kNotFound, kIoError, kCorruption (it is not small).
Result<std::string> read_text(const std::string& path) {
  constexpr std::size_t kTextMax = std::size_t{256} << 20;  // a list of a million files has about 100 MB
  std::string text;
  const Result<FileContent> content = read_content(path, [&](std::string_view piece) {
    if (text.size() + piece.size() > kTextMax) return Status::corruption("the file is too large").in_file(path);
    text += piece;
    return Status();
  });
  if (!content.ok()) return content.status();
  return text;
}

Status no_backup(const std::string& what) {
  return Status::not_found(what).with_service_error("BackupNotFound");
}

std::string mark_of(const std::string& store) {
  return std::string(kMarkBegin) + store + "\n";
}

/// Returns the number in the name of a backup.
std::uint64_t number_of(const std::string& name) {
  std::uint64_t number = 0;
  (void)std::from_chars(name.data(), name.data() + std::min(name.find('-'), name.size()), number);
  return number;
}

std::string name_of(std::uint64_t number) {
  std::string digits = std::to_string(number);
  digits.insert(0, kNumberDigits - std::min(kNumberDigits, digits.size()), '0');
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::array<char, 32> text{};
  ::gmtime_r(&now, &parts);
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &parts);
  return digits + "-" + std::string(text.data(), size);
}

}  // namespace

bool BackupPlace::is_one(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path + kMark, ignored);
}

Result<BackupPlace> BackupPlace::lock(const std::string& path, bool is_writer) {
  const std::string name = path + "/LOCK";
  const int flags = (is_writer ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW;
  OwnedDescriptor file(::open(name.c_str(), flags, 0600));
  if (!file.is_open()) return failed_call("open", name);
  if (::flock(file.number(), (is_writer ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0) return BackupPlace(path, std::move(file));
  if (errno != EWOULDBLOCK) return failed_call("flock", name);
  return Status(Code::kLocked, "another program uses these backups; try again when it has ended").in_file(path);
}

Status BackupPlace::read_mark() {
  const Result<std::string> mark = read_text(path_ + kMark);
  if (!mark.ok()) return mark.status();
  const bool is_ours = (*mark).starts_with(kMarkBegin) && (*mark).ends_with('\n');
  if (!is_ours && (*mark).starts_with(kMarkFamily) && !(*mark).starts_with(kMarkBegin.substr(0, 15)))
    return Status::unsupported("a newer program made the backups; use that program").in_file(path_);
  if (!is_ours) return Status::corruption("it is damaged").in_file(path_ + kMark);
  store_ = (*mark).substr(kMarkBegin.size(), (*mark).size() - kMarkBegin.size() - 1);
  return Status();
}

Result<BackupPlace> BackupPlace::open(const std::string& path) {
  if (!is_one(path)) return no_backup("there are no backups in " + path + "; `varve backup` makes them");
  Result<BackupPlace> place = lock(path, false);
  if (!place.ok()) return place;
  if (Status read = (*place).read_mark(); !read.ok()) return read;
  return place;
}

Result<BackupPlace> BackupPlace::open_for(const std::string& path, const std::string& store) {
  std::error_code error;
  const bool is_new = !is_one(path);
  if (is_new) {
    if (Status made = make_directory(path); !made.ok()) return made;
    for (const auto& entry : fs::directory_iterator(path, error)) {
      // A backup that was killed at its beginning leaves these names.
      const std::string name = entry.path().filename();
      if (name == "LOCK" || name == "scratch" || name == "contents" || name == "backups") continue;
      return Status::invalid_argument("the directory for backups holds other things, such as " + name +
                                      "; give one that is absent, empty, or has backups of this store")
          .in_file(path);
    }
    if (error) return Status::io_error(error.message()).in_file(path);
  }
  Result<BackupPlace> place = lock(path, true);
  if (!place.ok()) return place;
  fs::remove_all((*place).scratch(), error);
  for (const std::string& name : {(*place).scratch(), path + "/contents", path + "/backups"}) {
    if (Status made = make_directory(name); !made.ok()) return made;
  }
  if (!is_one(path)) {
    if (Status marked = write_small_file((*place).scratch() + "/mark", path + kMark, mark_of(store)); !marked.ok())
      return marked;
    if (Status synced = sync_directory(path); !synced.ok()) return synced;
  }
  if (Status read = (*place).read_mark(); !read.ok()) return read;
  if ((*place).store_ == store) return place;
  return Status::invalid_argument("it has backups of another store (id " + (*place).store_ + ", not " + store +
                                  "); give another directory")
      .in_file(path);
}

Result<std::vector<std::string>> BackupPlace::names() const {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path_ + "/backups", error)) {
    const std::string name = entry.path().filename();
    if (name.ends_with(kListEnding)) names.push_back(name.substr(0, name.size() - kListEnding.size()));
  }
  if (error) return Status::io_error(error.message()).in_file(path_ + "/backups");
  std::sort(names.begin(), names.end(), [](const std::string& left, const std::string& right) {
    return std::pair(number_of(left), left) < std::pair(number_of(right), right);
  });
  return names;
}

Result<BackupManifest> BackupPlace::manifest(const std::string& name) const {
  if (name.empty() || name.find('/') != std::string::npos) return no_backup("there is no backup \"" + name + "\"");
  const Result<std::string> text = read_text(path_ + "/backups/" + name + std::string(kListEnding));
  if (text.code() == Code::kNotFound) return no_backup("there is no backup \"" + name + "\" in " + path_);
  if (!text.ok()) return text.status();
  Result<BackupManifest> manifest = decode_manifest(*text);
  if (!manifest.ok()) return manifest.status().in_file(name);
  return manifest;
}

std::string BackupPlace::content_path(const std::string& hash) const {
  return path_ + "/contents/" + hash.substr(0, 2) + "/" + hash;
}

Status BackupPlace::verify(const BackupManifest& manifest,
                           const std::function<void(std::uint64_t bytes)>& progress) const {
  for (const BackupFile& file : manifest.files) {
    const std::string path = content_path(file.content.hash);
    const Result<FileContent> content = read_content(path, [&](std::string_view piece) {
      progress(piece.size());
      return Status();
    });
    if (content.code() == Code::kNotFound)
      return Status::corruption("the backup lacks the content " + path).in_file(file.name);
    if (!content.ok()) return content.status();
    if (!(*content == file.content))
      return Status::corruption("its content " + path + " is damaged").in_file(file.name);
  }
  return Status();
}

Status BackupPlace::add_content(const std::string& from, const FileContent& content, bool& is_new) {
  const std::string path = content_path(content.hash);
  std::error_code none;
  is_new = !fs::exists(path, none) || fs::file_size(path, none) != content.bytes;
  if (!is_new) return Status();
  const std::string folder = path.substr(0, path.rfind('/'));
  const bool has_folder = fs::exists(folder, none);
  if (Status made = make_directory(folder); !made.ok()) return made;
  if (Status copied = copy_content(from, scratch() + "/content", path, content); !copied.ok()) return copied;
  if (Status synced = sync_directory(folder); !synced.ok()) return synced;
  return has_folder ? Status() : sync_directory(path_ + "/contents");
}

void BackupPlace::remove_contents(const std::vector<std::string>& hashes) noexcept {
  std::error_code ignored;
  for (const std::string& hash : hashes) fs::remove(content_path(hash), ignored);
}

Result<std::string> BackupPlace::add(const BackupManifest& manifest) {
  const Result<std::vector<std::string>> earlier = names();
  if (!earlier.ok()) return earlier.status();
  const std::string name = name_of((*earlier).empty() ? 1 : number_of((*earlier).back()) + 1);
  const std::string path = path_ + "/backups/" + name + std::string(kListEnding);
  if (Status written = write_small_file(scratch() + "/list", path, encode_manifest(manifest)); !written.ok())
    return written;
  if (Status synced = sync_directory(path_ + "/backups"); !synced.ok()) return synced;
  return name;
}

Result<PruneCounts> BackupPlace::prune(std::size_t kept) {
  PruneCounts counts;
  const Result<std::vector<std::string>> all = names();
  if (!all.ok()) return all.status();
  std::set<std::string> needed;
  for (std::size_t i = 0; i < (*all).size(); ++i) {
    if (i + kept < (*all).size()) continue;
    const Result<BackupManifest> manifest = this->manifest((*all)[i]);
    if (!manifest.ok()) return manifest.status();
    for (const BackupFile& file : (*manifest).files) needed.insert(file.content.hash);
  }
  std::error_code error;
  for (std::size_t i = 0; i + kept < (*all).size(); ++i) {
    fs::remove(path_ + "/backups/" + (*all)[i] + std::string(kListEnding), error);
    if (error) return Status::io_error(error.message()).in_file((*all)[i]);
    ++counts.backups;
  }
  // A list must be gone durably before a content that it needs.
  if (Status synced = sync_directory(path_ + "/backups"); !synced.ok()) return synced;
  std::vector<fs::path> unneeded;
  for (const auto& entry : fs::recursive_directory_iterator(path_ + "/contents", error)) {
    const std::string hash = entry.path().filename();
    if (is_hash(hash) && !needed.contains(hash)) unneeded.push_back(entry.path());
  }
  for (const fs::path& content : unneeded) {
    const std::uint64_t bytes = fs::file_size(content, error);
    if (error || !fs::remove(content, error)) break;
    ++counts.contents;
    counts.bytes += bytes;
  }
  if (error) return Status::io_error(error.message()).in_file(path_ + "/contents");
  return counts;
}

}  // namespace varve::tool

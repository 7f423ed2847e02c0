// Owns: golden stores as files.
// Must never: overwrite a golden store.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "format/bytes/bytes.h"
#include "tests/lab/corrupt/sample.h"
#include "tests/lab/golden/golden.h"

namespace varve::lab {

namespace {

constexpr std::size_t kSector = 512;
/// The size from which a log is stored by its sectors, because most of it is zeros.
constexpr std::size_t kSparseFrom = 8 << 10;

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Status write_text(const std::filesystem::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  return file ? Status() : Status::io_error(path.string());
}

struct KeptFile {
  std::string line;  // in files.txt
  std::string bytes;
};

KeptFile kept(const std::string& name, const std::string& bytes) {
  KeptFile file{name + " " + std::to_string(bytes.size()), {}};
  if (bytes.size() < kSparseFrom) {
    file.bytes = bytes;
    return file;
  }
  for (std::size_t sector = 0; sector * kSector < bytes.size(); ++sector) {
    const std::string_view part = std::string_view(bytes).substr(sector * kSector, kSector);
    if (format::find_first_written(part) == std::string_view::npos) continue;
    file.line += " " + std::to_string(sector);
    file.bytes += part;
  }
  return file;
}

std::string restored(std::istringstream& sectors, std::size_t size, std::string kept) {
  std::string bytes(size, '\0');
  std::size_t at = 0;
  for (std::size_t sector = 0; sectors >> sector; at += kSector) {
    const std::string_view part = std::string_view(kept).substr(at, kSector);
    bytes.replace(sector * kSector, part.size(), part);
  }
  return at == 0 ? std::move(kept) : bytes;
}

Status keep_store(const GoldenStore& store, const std::filesystem::path& directory) {
  if (std::filesystem::exists(directory)) return Status::exists(directory.string());
  std::filesystem::create_directories(directory);
  std::string list;
  for (const std::string& name : store.disk.file_names(kSamplePath)) {
    const Result<std::vector<std::byte>> bytes = store.disk.read_file(sample_path(name));
    if (!bytes.ok()) return bytes.status();
    const KeptFile file = kept(name, std::string(format::as_text(*bytes)));
    list += file.line + "\n";
    if (Status written = write_text(directory / name, file.bytes); !written.ok()) return written;
  }
  if (Status written = write_text(directory / "files.txt", list); !written.ok()) return written;
  std::string lines;
  for (const std::string& line : store.expected) lines += line + "\n";
  return write_text(directory / "expected.jsonl", lines);
}

}  // namespace

Status keep_golden_stores(const std::vector<GoldenStore>& stores, const std::string& directory) {
  for (const GoldenStore& store : stores) {
    if (Status kept = keep_store(store, std::filesystem::path(directory) / store.name); !kept.ok()) return kept;
  }
  return Status();
}

Result<GoldenStore> read_golden_store(const std::string& directory, std::string_view name) {
  const std::filesystem::path path = std::filesystem::path(directory) / name;
  if (!std::filesystem::exists(path / "files.txt")) return Status::not_found(path.string());
  GoldenStore store;
  store.name = name;
  store.disk.make_directory(kSamplePath);
  std::istringstream list(read_text(path / "files.txt"));
  for (std::string line; std::getline(list, line);) {
    std::istringstream words(line);
    std::string file;
    std::size_t size = 0;
    words >> file >> size;
    const std::string bytes = restored(words, size, read_text(path / file));
    if (bytes.size() != size) return Status::io_error((path / file).string() + " is not as files.txt says");
    store.disk.write_file(sample_path(file), format::as_bytes(bytes));
  }
  std::istringstream lines(read_text(path / "expected.jsonl"));
  for (std::string line; std::getline(lines, line);) store.expected.push_back(line);
  return store;
}

}  // namespace varve::lab

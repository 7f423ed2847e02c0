#include "tests/lab/repair/damage.h"

#include <algorithm>
#include <random>

namespace varve::lab::repair {
namespace {

constexpr std::uint64_t kSectorBytes = 4096;

std::vector<std::string> damageable(const io::MemoryDisk& disk) {
  std::vector<std::string> names = disk.file_names(kStorePath);
  std::erase_if(names, [](const std::string& name) { return name == "LOCK" || name == "BALLAST"; });
  return names;
}

void zero(io::MemoryDisk& disk, const std::string& path, std::uint64_t offset, std::uint64_t bytes) {
  auto content = disk.read_file(path);
  if (!content.ok() || content->size() <= offset) return;
  const std::uint64_t end = std::min<std::uint64_t>(content->size(), offset + bytes);
  std::fill(content->begin() + static_cast<std::ptrdiff_t>(offset), content->begin() + static_cast<std::ptrdiff_t>(end),
            std::byte{0});
  disk.write_file(path, *content);
}

}  // namespace

std::string type_of(const std::string& name) {
  const std::size_t dot = name.find('.');
  return dot != std::string::npos ? name.substr(dot + 1) : name.substr(0, name.find('-'));
}

std::string path_of(const std::string& file) {
  return std::string(kStorePath) + "/" + file;
}

std::string Damage::to_string() const {
  const std::string at = file + " at " + std::to_string(offset);
  switch (harm) {
    case Harm::kFlip: return "flip " + at;
    case Harm::kZero: return "zero " + std::to_string(bytes) + " bytes of " + at;
    case Harm::kCut: return "cut " + at;
    case Harm::kEmpty: return "empty " + file;
    case Harm::kRemove: return "remove " + file;
    case Harm::kExtend: return "extend " + file;
    case Harm::kForeign: return "exchange " + file + " for another store's " + foreign;
  }
  return "?";
}

void Damage::apply(io::MemoryDisk& disk, const io::MemoryDisk& other) const {
  const std::string path = path_of(file);
  const Result<std::uint64_t> size = disk.file_size_bytes(path);
  if (!size.ok()) return;
  switch (harm) {
    case Harm::kFlip:
      if (offset < *size) (void)disk.flip_bit(path, offset, std::byte{0x21});
      break;
    case Harm::kZero: zero(disk, path, offset, bytes); break;
    case Harm::kCut: (void)disk.truncate(path, std::min(offset, *size)); break;
    case Harm::kEmpty: (void)disk.truncate(path, 0); break;
    case Harm::kRemove: (void)disk.remove_file(path); break;
    case Harm::kExtend: (void)disk.truncate(path, *size + kSectorBytes); break;
    case Harm::kForeign: {
      const auto content = other.read_file(path_of(foreign));
      if (content.ok()) disk.write_file(path, *content);
      break;
    }
  }
}

std::vector<Damage> every_damage(const io::MemoryDisk& disk, const io::MemoryDisk& other, std::uint64_t stride) {
  std::vector<Damage> all;
  for (const std::string& file : damageable(disk)) {
    const std::uint64_t size = *disk.file_size_bytes(path_of(file));
    for (std::uint64_t offset = 0; offset < size; offset += stride) all.push_back({Harm::kFlip, file, offset, 1});
    for (std::uint64_t offset = 0; offset < size; offset += kSectorBytes) {
      all.push_back({Harm::kZero, file, offset, kSectorBytes});
      all.push_back({Harm::kCut, file, offset + 1, 0});
      all.push_back({Harm::kCut, file, offset, 0});
    }
    for (const Harm harm : {Harm::kEmpty, Harm::kRemove, Harm::kExtend}) all.push_back({harm, file, 0, 0});
    for (const std::string& foreign : damageable(other)) {
      if (type_of(foreign) == type_of(file)) all.push_back({Harm::kForeign, file, 0, 0, foreign});
    }
  }
  return all;
}

Damage random_damage(const io::MemoryDisk& disk, const io::MemoryDisk& other, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::vector<std::string> names = damageable(disk);
  const std::string file = names[random() % names.size()];
  const std::uint64_t size = std::max<std::uint64_t>(1, *disk.file_size_bytes(path_of(file)));
  switch (random() % 10) {
    case 0: return {Harm::kRemove, file, 0, 0};
    case 1: return {Harm::kCut, file, random() % size, 0};
    case 2: return {Harm::kEmpty, file, 0, 0};
    case 3: {
      std::vector<std::string> alike = damageable(other);
      std::erase_if(alike, [&](const std::string& name) { return type_of(name) != type_of(file); });
      if (alike.empty()) return {Harm::kRemove, file, 0, 0};
      return {Harm::kForeign, file, 0, 0, alike[random() % alike.size()]};
    }
    case 4:
    case 5:
    case 6: return {Harm::kZero, file, random() % size, 1 + random() % (3 * kSectorBytes)};
    default: return {Harm::kFlip, file, random() % size, 1};
  }
}

}  // namespace varve::lab::repair

#include "tests/lab/corrupt/damage.h"

#include <algorithm>
#include <cassert>
#include <span>

#include "format/bytes/bytes.h"
#include "format/log/file_header.h"
#include "format/log/root.h"

namespace varve::lab {

namespace {

std::string read_text(const io::MemoryDisk& disk, const std::string& name) {
  const Result<std::vector<std::byte>> bytes = disk.read_file(sample_path(name));
  return bytes.ok() ? std::string(format::as_text(*bytes)) : std::string();
}

std::string_view kind_word(DamageKind kind) {
  switch (kind) {
    case DamageKind::kFlip: return "flip";
    case DamageKind::kCut: return "cut";
    case DamageKind::kExtend: return "extend";
    case DamageKind::kZero: return "zero";
    case DamageKind::kSwap: return "swap";
    case DamageKind::kCopy: return "copy";
    case DamageKind::kMissing: return "missing";
    case DamageKind::kEmpty: return "empty";
    case DamageKind::kDouble: return "double";
    case DamageKind::kRename: return "rename";
    case DamageKind::kReplace: return "replace";
    case DamageKind::kRootAndState: return "root-and-manifest";
  }
  return "?";
}

/// Returns `bytes`, cut or filled with zeros to `size`.
std::string fitted(std::string bytes, std::uint64_t size) {
  bytes.resize(size, '\0');
  return bytes;
}

std::string renamed(const std::string& name) {
  constexpr std::uint64_t kFar = 7000;  // a number that no other file has
  const Result<format::FileId> id = format::parse_file_name(name);
  assert(id.ok() && id->number != 0);
  return format::file_name(id->type, id->number + kFar);
}

}  // namespace

std::string_view Damage::name() const {
  const bool is_of_region = kind == DamageKind::kCopy;
  if (kind != DamageKind::kReplace && !is_of_region) return kind_word(kind);
  if (source_disk.empty()) return is_of_region ? "block-of-another-file" : "another-file";
  if (source_disk.starts_with("old")) return is_of_region ? "stale-block" : "replayed-file";
  if (source_disk == "foreign") return is_of_region ? "foreign-block" : "foreign-file";
  return is_of_region ? "checkpoint-block" : "checkpoint-file";
}

std::string Damage::text() const {
  std::string text(kind_word(kind));
  text.append(" ").append(file).append(" ").append(std::to_string(offset)).append(" ").append(std::to_string(bytes));
  text.append(" ").append(std::to_string(mask)).append(" from ").append(source_disk).append("/").append(source_file);
  text.append(" ").append(std::to_string(source_offset)).append(" ").append(std::to_string(source_bytes));
  return text;
}

Victim::Victim(const Sample& sample) : sample_(sample), names_(sample.disk.file_names(kSamplePath)) {
  const auto take = [](const io::MemoryDisk& disk, const std::string& name) {
    std::string bytes = read_text(disk, name);
    std::vector<Region> regions = regions_of(name, bytes);
    return File{std::move(bytes), std::move(regions)};
  };
  for (const std::string& name : names_) files_.emplace(name, take(sample.disk, name));
  for (const OtherDisk& other : sample.others) {
    for (const std::string& name : other.disk.file_names(kSamplePath)) {
      others_[other.name].emplace(name, take(other.disk, name));
    }
  }
}

const Victim::File& Victim::source_file(const Damage& damage) const {
  if (damage.source_disk.empty()) return files_.at(damage.source_file);
  return others_.at(damage.source_disk).at(damage.source_file);
}

std::string Victim::changed_bytes(const Damage& damage) const {
  const std::string& old = bytes(damage.file);
  std::string now = old;
  switch (damage.kind) {
    case DamageKind::kFlip: now[damage.offset] = static_cast<char>(now[damage.offset] ^ damage.mask); break;
    case DamageKind::kCut: now.resize(damage.offset); break;
    case DamageKind::kExtend: now.append(damage.offset, '\0'); break;
    case DamageKind::kZero: now.replace(damage.offset, damage.bytes, damage.bytes, '\0'); break;
    case DamageKind::kSwap: {
      const std::string one = old.substr(damage.offset, damage.bytes);
      const std::string other = old.substr(damage.source_offset, damage.source_bytes);
      now.replace(damage.offset, damage.bytes, fitted(other, damage.bytes));
      now.replace(damage.source_offset, damage.source_bytes, fitted(one, damage.source_bytes));
      break;
    }
    case DamageKind::kCopy:
      now.replace(damage.offset, damage.bytes,
                  fitted(source_file(damage).bytes.substr(damage.source_offset, damage.source_bytes), damage.bytes));
      break;
    case DamageKind::kEmpty: now.clear(); break;
    case DamageKind::kDouble: now += old; break;
    case DamageKind::kReplace: now = source_file(damage).bytes; break;
    case DamageKind::kMissing:
    case DamageKind::kRename:
    case DamageKind::kRootAndState: break;
  }
  return now;
}

std::optional<io::MemoryDisk> Victim::with_root_of(const std::string& disk) const {
  const std::map<std::string, File>& other = others_.at(disk);
  const std::string name(format::kRootName);
  const Result<format::Root> root = format::decode_root(other.at(name).bytes);
  assert(root.ok());
  const std::string manifest = format::file_name(format::FileType::kManifest, root->manifest_number);
  if (other.at(name).bytes == bytes(name)) return std::nullopt;
  io::MemoryDisk changed = sample_.disk;
  changed.write_file(sample_path(name), format::as_bytes(other.at(name).bytes));
  changed.write_file(sample_path(manifest), format::as_bytes(other.at(manifest).bytes));
  return changed;
}

std::optional<io::MemoryDisk> Victim::apply(const Damage& damage) const {
  if (damage.kind == DamageKind::kRootAndState) return with_root_of(damage.source_disk);
  io::MemoryDisk disk = sample_.disk;
  const std::string path = sample_path(damage.file);
  if (damage.kind == DamageKind::kFlip) {
    const Status flipped = disk.flip_bit(path, damage.offset, static_cast<std::byte>(damage.mask));
    assert(flipped.ok());
    return disk;
  }
  if (damage.kind == DamageKind::kMissing || damage.kind == DamageKind::kRename) {
    const Status removed = disk.remove_file(path);
    assert(removed.ok());
    if (damage.kind == DamageKind::kRename) {
      disk.write_file(sample_path(renamed(damage.file)), format::as_bytes(bytes(damage.file)));
    }
    return disk;
  }
  const std::string now = changed_bytes(damage);
  if (now == bytes(damage.file)) return std::nullopt;
  disk.write_file(path, format::as_bytes(now));
  return disk;
}

std::uint64_t Victim::first_changed_byte(const Damage& damage, const io::MemoryDisk& after) const {
  const std::string& before = bytes(damage.file);
  const std::string now = read_text(after, damage.file);
  const auto place = std::mismatch(before.begin(), before.end(), now.begin(), now.end());
  return static_cast<std::uint64_t>(place.first - before.begin());
}

}  // namespace varve::lab

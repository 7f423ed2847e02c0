// Owns: the 64 bytes at the front of every file, and the names of numbered files (file_header.h).
// Must never: call a newer format damaged, or accept a byte that it did not check.
#include "format/log/file_header.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include "format/bytes/bytes.h"
#include "format/bytes/checksum.h"
#include "format/log/root.h"

namespace varve::format {
namespace {

constexpr std::string_view kMagic("VARVE\r\n\x1a", 8);
constexpr std::size_t kFileTypeAt = 8;
constexpr std::size_t kVersionAt = 10;
constexpr std::size_t kFirstZerosAt = 12;
constexpr std::size_t kSeedAt = 16;
constexpr std::size_t kNumberAt = 24;
constexpr std::size_t kSecondZerosAt = 32;
constexpr std::size_t kChecksumAt = 56;
static_assert(kChecksumAt + 8 == kFileHeaderBytes);

constexpr std::size_t kNumberDigitsMin = 6;
constexpr std::string_view kManifestPrefix = "MANIFEST-";

std::string_view type_name(std::uint16_t type) noexcept {
  switch (static_cast<FileType>(type)) {
    case FileType::kRoot: return "CURRENT";
    case FileType::kManifest: return "manifest";
    case FileType::kLogSegment: return "log segment";
    case FileType::kLogBuffer: return "log buffer";
    case FileType::kTable: return "table";
    case FileType::kValueFile: return "value file";
    case FileType::kWarmList: return "WARM";
  }
  return "unknown file";
}

/// Returns a text like "log segment (type 3)".
std::string describe(std::uint16_t type) {
  return std::string(type_name(type)).append(" (type ").append(std::to_string(type)).append(")");
}

bool all_zero(std::string_view bytes) noexcept {
  return find_first_written(bytes) == std::string_view::npos;
}

Status check_frame(std::string_view bytes) {
  if (bytes.size() < kFileHeaderBytes) {
    return Status::corruption("the file has " + std::to_string(bytes.size()) + " bytes; its header alone has 64");
  }
  if (bytes.substr(0, kMagic.size()) != kMagic) {
    if (bytes.substr(0, 5) == kMagic.substr(0, 5)) {
      return Status::corruption("the first eight bytes of the file are damaged; it may have been copied as text");
    }
    return Status::corruption("not a Varve file: it does not begin with VARVE");
  }
  const FilePlace place{load_u64(bytes.data() + kSeedAt), 0};
  if (load_u64(bytes.data() + kChecksumAt) != checksum_at(place, bytes.substr(0, kChecksumAt))) {
    return Status::corruption("the file header does not verify");
  }
  return Status();
}

struct Suffix {
  FileType type;
  std::string_view text;
};
constexpr std::array<Suffix, 4> kSuffixes = {{{FileType::kLogSegment, ".wal"},
                                              {FileType::kLogBuffer, ".buf"},
                                              {FileType::kTable, ".sst"},
                                              {FileType::kValueFile, ".val"}}};

}  // namespace

std::string encode_file_header(const FileHeader& header) {
  std::string bytes(kFileHeaderBytes, '\0');
  bytes.replace(0, kMagic.size(), kMagic);
  store_u16(bytes.data() + kFileTypeAt, static_cast<std::uint16_t>(header.type));
  store_u16(bytes.data() + kVersionAt, header.format_version);
  store_u64(bytes.data() + kSeedAt, header.seed);
  store_u64(bytes.data() + kNumberAt, header.number);
  const std::string_view covered = std::string_view(bytes).substr(0, kChecksumAt);
  store_u64(bytes.data() + kChecksumAt, checksum_at({header.seed, 0}, covered));
  return bytes;
}

Result<FileHeader> decode_file_header(std::string_view bytes, FileType expected) {
  if (Status frame = check_frame(bytes); !frame.ok()) return frame;

  const std::uint16_t type = load_u16(bytes.data() + kFileTypeAt);
  if (type != static_cast<std::uint16_t>(expected)) {
    return Status::corruption("the file is a " + describe(type) + "; expected a " +
                              describe(static_cast<std::uint16_t>(expected)));
  }
  // The version is checked before any bytes that a later version may give a meaning.
  const std::uint16_t version = load_u16(bytes.data() + kVersionAt);
  if (version > kFormatVersion) {
    return Status::unsupported("format version " + std::to_string(version) + " of this " + describe(type) +
                               " is newer than " + std::to_string(kFormatVersion) + ", the newest this build reads");
  }
  if (version == 0) return Status::corruption("the file header has format version 0, which never existed");

  const bool zeros = all_zero(bytes.substr(kFirstZerosAt, kSeedAt - kFirstZerosAt)) &&
                     all_zero(bytes.substr(kSecondZerosAt, kChecksumAt - kSecondZerosAt));
  if (!zeros) return Status::corruption("the file header has bytes set that are zero in format version 1");

  FileHeader header;
  header.type = expected;
  header.format_version = version;
  header.seed = load_u64(bytes.data() + kSeedAt);
  header.number = load_u64(bytes.data() + kNumberAt);
  if (expected == FileType::kRoot && header.number != 0) return Status::corruption("CURRENT has a file number");
  return header;
}

std::string file_name(FileType type, std::uint64_t number) {
  if (type == FileType::kRoot) return std::string(kRootName);
  std::string digits = std::to_string(number);
  if (digits.size() < kNumberDigitsMin) digits.insert(0, kNumberDigitsMin - digits.size(), '0');
  if (type == FileType::kManifest) return std::string(kManifestPrefix).append(digits);
  for (const Suffix& suffix : kSuffixes) {
    if (suffix.type == type) digits.append(suffix.text);
  }
  return digits;
}

Result<FileId> parse_file_name(std::string_view name) {
  const auto other = [] { return Status::invalid_argument("not the name of a numbered file or CURRENT"); };
  if (name == kRootName) return FileId{FileType::kRoot, 0};

  FileId id;
  std::string_view digits;
  if (name.substr(0, kManifestPrefix.size()) == kManifestPrefix) {
    id.type = FileType::kManifest;
    digits = name.substr(kManifestPrefix.size());
  } else {
    for (const Suffix& suffix : kSuffixes) {
      const std::size_t stem = name.size() - std::min(name.size(), suffix.text.size());
      if (name.substr(stem) != suffix.text) continue;
      id.type = suffix.type;
      digits = name.substr(0, stem);
    }
  }
  if (digits.empty()) return other();
  const char* end = digits.data() + digits.size();
  const std::from_chars_result parsed = std::from_chars(digits.data(), end, id.number);
  if (parsed.ec != std::errc() || parsed.ptr != end) return other();
  // Each file has one name. Other spellings of its number are not names of the store.
  if (file_name(id.type, id.number) != name) return other();
  return id;
}

NamedFile named_file(FileType type, std::uint64_t number) {
  static_assert(static_cast<int>(FileKind::kRoot) == static_cast<int>(FileType::kRoot));
  static_assert(static_cast<int>(FileKind::kValueFile) == static_cast<int>(FileType::kValueFile));
  return {static_cast<FileKind>(type), number, file_name(type, number)};
}

NamedFile named_file(std::string_view name) {
  const Result<FileId> id = parse_file_name(name);
  return id.ok() ? named_file(id->type, id->number) : NamedFile{FileKind::kNone, 0, std::string(name)};
}

}  // namespace varve::format

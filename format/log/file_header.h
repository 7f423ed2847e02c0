// Owns: the 64 bytes at the front of every file that has content.
// Must never: change its layout. A build of any age must be able to report "newer format" instead of "damaged".
//
//   offset size
//        0    8  magic 'V' 'A' 'R' 'V' 'E' 0D 0A 1A (shows text-mode damage)
//        8    2  file type
//       10    2  format version of that type, 1 now
//       12    4  zero
//       16    8  seed of this file: random, part of every checksum in it
//       24    8  file number, as in its name; zero for CURRENT
//       32   24  zero
//       56    8  checksum of bytes 0 to 55 at (seed, 0)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "varve/result.h"

namespace varve::format {

enum class FileType : std::uint16_t {
  kRoot = 1,        // CURRENT
  kManifest = 2,    // MANIFEST-*
  kLogSegment = 3,  // *.wal
  kLogBuffer = 4,   // *.buf
  kTable = 5,       // *.sst
  kValueFile = 6,   // *.val
  kWarmList = 7,    // WARM
};

inline constexpr std::size_t kFileHeaderBytes = 64;
inline constexpr std::uint16_t kFormatVersion = 1;

struct FileHeader {
  FileType type = FileType::kRoot;
  std::uint16_t format_version = kFormatVersion;
  std::uint64_t seed = 0;
  std::uint64_t number = 0;
};

std::string encode_file_header(const FileHeader& header);

/// Errors: kUnsupported (an intact header of a newer format version, which the message names); kCorruption (every other
/// header that does not verify, also one of another type or of another program's file; the message names the reason).
Result<FileHeader> decode_file_header(std::string_view bytes, FileType expected);

/// Returns the file's name, for example "000042.wal" or "MANIFEST-000042". The number has at least six digits.
std::string file_name(FileType type, std::uint64_t number);
/// The type and number of a file. parse_file_name() accepts exactly the names that file_name() returns, and returns
/// kInvalidArgument for every other name.
struct FileId {
  FileType type = FileType::kRoot;
  std::uint64_t number = 0;
};
Result<FileId> parse_file_name(std::string_view name);

/// Returns the file's name with its kind and number, for Status::in_file(). A failure then has its place.
NamedFile named_file(FileType type, std::uint64_t number);
/// The same for a name that is known as a text. A name that parse_file_name() does not accept has the kind kNone.
NamedFile named_file(std::string_view name);

}  // namespace varve::format

// Owns: correcting the checksums of changed files, so that a fuzzer reaches the code after the checks.
// Must never: define the places of checksums for the store's own code. It follows FORMAT.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "format/bytes/bytes.h"
#include "format/bytes/checksum.h"
#include "format/log/file_header.h"
#include "format/log/log_record.h"

namespace varve::fuzz {

/// Stores the checksum of the range [offset, offset + bytes) in the last eight bytes of the range.
inline void seal_range(std::string& file, std::uint64_t seed, std::uint64_t offset, std::uint64_t bytes) {
  if (bytes < 8 || offset > file.size() || bytes > file.size() - offset) return;
  const std::string_view covered = std::string_view(file).substr(offset, bytes - 8);
  format::store_u64(file.data() + offset + bytes - 8, format::checksum_at({seed, offset}, covered));
}

inline void seal_file_header(std::string& file, std::uint64_t seed) {
  if (file.size() < format::kFileHeaderBytes) return;
  format::store_u64(file.data() + 16, seed);
  seal_range(file, seed, 0, format::kFileHeaderBytes);
}

/// Corrects the checksums of a possible record at `offset`, and limits its payload's size to the file. Returns the
/// offset of the next possible record, or the file's size if there is none.
inline std::size_t seal_record_at(std::string& file, std::size_t offset, std::uint64_t seed) {
  const std::size_t rest = file.size() - offset;
  char* const record = file.data() + offset;
  if (rest < 24) return file.size();
  const std::size_t header = format::load_u16(record + 8);
  if (header < 16 || header > format::kRecordHeaderBytesMax || header + 8 > rest) return file.size();
  const std::size_t payload = format::load_u32(record + 12) % (rest - header - 8 + 1);
  format::store_u32(record + 12, static_cast<std::uint32_t>(payload));
  format::store_u64(record, format::checksum_at({seed, offset}, {record + 8, header - 8}));
  format::store_u64(record + header + payload,
                    format::checksum_at({seed, offset + header}, {record + header, payload}));
  const std::size_t end = offset + header + payload + 8;
  return (end + format::kRecordAlignment - 1) / format::kRecordAlignment * format::kRecordAlignment;
}

}  // namespace varve::fuzz

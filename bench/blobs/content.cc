#include "bench/blobs/content.h"

#include <algorithm>
#include <cstring>

#include "bench/varve_bench/entities.h"

namespace varve::bench {

namespace {

constexpr std::uint64_t kShift = 4'096;  // the beginnings of two pieces of a blob differ by this many bytes
constexpr std::uint64_t kShifts = kPieceBytes / kShift;

const std::string& bytes_of_all_pieces() {
  static const std::string bytes = [] {
    std::string filled(2 * kPieceBytes, '\0');
    Random random(7);
    for (std::size_t at = 0; at < filled.size(); at += sizeof(std::uint64_t)) {
      const std::uint64_t word = random.next();
      std::memcpy(filled.data() + at, &word, sizeof(word));
    }
    return filled;
  }();
  return bytes;
}

}  // namespace

std::string_view piece_of(std::uint64_t number) {
  return std::string_view(bytes_of_all_pieces()).substr(number % kShifts * kShift, kPieceBytes);
}

Status for_pieces(std::uint64_t bytes,
                  const std::function<Status(std::uint64_t offset, std::string_view piece)>& write) {
  for (std::uint64_t offset = 0; offset < bytes; offset += kPieceBytes) {
    const std::string_view piece = piece_of(offset / kPieceBytes).substr(0, bytes - offset);
    if (Status written = write(offset, piece); !written.ok()) return written;
  }
  return Status();
}

Status check_piece(std::uint64_t offset, std::string_view bytes) {
  constexpr std::size_t kComparedBytes = 4'096;
  const std::string_view compared = bytes.substr(0, kComparedBytes);
  if (compared == piece_of(offset / kPieceBytes).substr(offset % kPieceBytes, compared.size())) return Status();
  return Status::corruption("a read returned other bytes than were written");
}

}  // namespace varve::bench

// Owns: reading and proving values (salvaged_values.h).
// Must never: read past the end of a file.
#include "engine/repair/salvaged_values.h"

#include <span>
#include <utility>

#include "engine/base/expected_file.h"
#include "format/bytes/checksum.h"
#include "format/keys/value_pointer.h"
#include "format/log/file_header.h"

namespace varve::engine {

Result<std::string> SalvagedValues::read(std::string_view pointer) {
  const Result<format::ValuePointer> place = format::decode_value_pointer(pointer);
  if (!place.ok()) return place.status();
  const std::string name = format::file_name(format::FileType::kLogSegment, place->file);
  if (file_ == nullptr || number_ != place->file) {
    Result<std::unique_ptr<io::ReadableFile>> file = open_expected(directory_, name, io::ReadMode::kCached);
    if (!file.ok()) return file.status();
    file_ = *std::move(file);
    number_ = place->file;
  }
  const std::uint64_t size = file_->size_bytes();
  if (place->offset > size || place->bytes > size - place->offset) {
    return Status::corruption("a value lies past the end of the file").in_file(name, place->offset);
  }
  std::string value(place->bytes, '\0');
  if (Status done = file_->read_exactly(place->offset, std::as_writable_bytes(std::span(value))); !done.ok()) {
    return done;
  }
  if (format::content_hash(value) == place->content_hash) return value;
  return Status::corruption("a value does not match its entry").in_file(name, place->offset);
}

Loss SalvagedValues::place_of(std::string_view pointer) const {
  Loss loss;
  const Result<format::ValuePointer> place = format::decode_value_pointer(pointer);
  if (!place.ok()) return loss;
  loss.file = format::file_name(format::FileType::kLogSegment, place->file);
  loss.offset = place->offset;
  loss.bytes = place->bytes;
  return loss;
}

}  // namespace varve::engine

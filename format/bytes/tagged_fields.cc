// Owns: the encoding of tagged fields (tagged_fields.h).
// Must never: change a field that it keeps. Varints have their shortest form, so a kept field has exactly one encoding.
#include "format/bytes/tagged_fields.h"

#include <cassert>
#include <limits>

namespace varve::format {
namespace {

Status damaged_field(std::size_t offset, std::string_view what) {
  return Status::corruption("tagged field at byte " + std::to_string(offset) + ": " + std::string(what));
}

}  // namespace

void append_field(std::string& out, Tag tag, std::string_view value) {
  assert(tag != 0);
  append_varint(out, tag);
  append_sized(out, value);
}

void append_number_field(std::string& out, Tag tag, std::uint64_t value) {
  assert(tag != 0);
  append_varint(out, tag);
  append_varint(out, varint_bytes(value));
  append_varint(out, value);
}

std::size_t number_field_bytes(Tag tag, std::uint64_t value) noexcept {
  const std::size_t size = varint_bytes(value);
  return varint_bytes(tag) + varint_bytes(size) + size;
}

char* store_number_field(char* at, Tag tag, std::uint64_t value) noexcept {
  assert(tag != 0);
  at = store_varint(at, tag);
  at = store_varint(at, varint_bytes(value));
  return store_varint(at, value);
}

Result<std::uint64_t> Field::number() const {
  ByteReader reader(value);
  std::uint64_t read = 0;
  if (!reader.read_varint(&read) || !reader.at_end()) {
    return Status::corruption("the value of tag " + std::to_string(tag) + " is not a single number");
  }
  return read;
}

Result<Field> FieldReader::next() {
  const std::size_t start = reader_.offset();
  std::uint64_t tag = 0;
  if (!reader_.read_varint(&tag)) return damaged_field(start, "has no tag");
  if (tag == 0 || tag > std::numeric_limits<Tag>::max()) {
    return damaged_field(start, "tag " + std::to_string(tag) + " is impossible");
  }
  if (tag < last_tag_) {
    return damaged_field(start, "tag " + std::to_string(tag) + " follows tag " + std::to_string(last_tag_));
  }
  Field field;
  field.tag = static_cast<Tag>(tag);
  if (!reader_.read_sized(&field.value)) {
    return damaged_field(start, "the value of tag " + std::to_string(tag) + " runs past the end");
  }
  last_tag_ = field.tag;
  return field;
}

Status keep_unknown(const Field& field, std::string_view thing, std::string& kept) {
  if (must_be_known(field.tag)) {
    return Status::unsupported(std::string(thing) + " has field " + std::to_string(field.tag) +
                               ", which a reader must know; a newer build is needed");
  }
  append_field(kept, field.tag, field.value);
  return Status();
}

}  // namespace varve::format

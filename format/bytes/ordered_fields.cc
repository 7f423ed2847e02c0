// Owns: reading and writing tagged fields by a list of known tags (ordered_fields.h).
// Must never: lose or move an unknown field.
#include "format/bytes/ordered_fields.h"

#include <cassert>
#include <limits>
#include <utility>

#include "format/bytes/bytes.h"
#include "varve/result.h"

namespace varve::format {

OrderedFieldReader::OrderedFieldReader(std::string_view thing, std::string_view fields)
    : thing_(thing), reader_(fields) {
  advance();
}

bool OrderedFieldReader::take(Tag tag, std::string_view* value) {
  assert(tag >= last_known_);
  pass_below(tag);
  if (!ok() || !next_.has_value() || next_->tag != tag) return false;
  *value = next_->value;
  last_known_ = tag;
  advance();
  return ok();
}

bool OrderedFieldReader::take_number(Tag tag, std::uint64_t* value) {
  assert(tag >= last_known_);
  pass_below(tag);
  if (!ok() || !next_.has_value() || next_->tag != tag) return false;
  const Result<std::uint64_t> number = next_->number();
  if (!number.ok()) {
    refuse(Code::kCorruption, "field " + std::to_string(tag) + ": " + std::string(number.status().message()));
    return false;
  }
  *value = *number;
  last_known_ = tag;
  advance();
  return ok();
}

void OrderedFieldReader::require(Tag tag, std::string_view* value) {
  if (!take(tag, value)) refuse(Code::kCorruption, "field " + std::to_string(tag) + " is missing");
}

void OrderedFieldReader::require_number(Tag tag, std::uint64_t* value) {
  if (!take_number(tag, value)) refuse(Code::kCorruption, "field " + std::to_string(tag) + " is missing");
}

void OrderedFieldReader::require_version(Tag tag, CommitVersion* value) {
  std::uint64_t number = 0;
  require_number(tag, &number);
  if (number > kCommitVersionMax) {
    refuse(Code::kCorruption, "field " + std::to_string(tag) + " is above the greatest commit version");
    return;
  }
  if (ok()) *value = number;
}

void OrderedFieldReader::number_unless_zero(Tag tag, std::uint64_t* value) {
  if (take_number(tag, value) && *value == 0) {
    refuse(Code::kCorruption, "field " + std::to_string(tag) + " is zero; zero is expressed by leaving the field out");
  }
}

void OrderedFieldReader::refuse(Code code, std::string_view message) {
  if (!ok()) return;
  std::string text(thing_);
  text.append(": ").append(message);
  status_ = Status(code, text);
}

Status OrderedFieldReader::finish(std::string* unknown_fields) {
  pass_below(std::numeric_limits<std::uint64_t>::max());
  if (ok()) *unknown_fields = std::move(unknown_);
  return status_;
}

void OrderedFieldReader::advance() {
  next_.reset();
  if (!ok() || reader_.at_end()) return;
  const Result<Field> field = reader_.next();
  if (!field.ok()) {
    refuse(field.code(), field.status().message());
    return;
  }
  next_ = *field;
}

void OrderedFieldReader::pass_below(std::uint64_t tag) {
  while (ok() && next_.has_value() && next_->tag < tag) {
    if (next_->tag == last_known_) {
      refuse(Code::kCorruption, "field " + std::to_string(last_known_) + " is given twice");
      return;
    }
    if (Status kept = keep_unknown(*next_, thing_, unknown_); !kept.ok()) {
      status_ = std::move(kept);
      return;
    }
    advance();
  }
}

std::string_view KeptFields::below(Tag tag) noexcept {
  ByteReader reader(rest_);
  std::size_t end = 0;
  while (!reader.at_end()) {
    std::uint64_t next_tag = 0;
    const bool has_tag = reader.read_varint(&next_tag);
    assert(has_tag);
    if (!has_tag || next_tag >= tag) break;
    std::string_view value;
    const bool has_value = reader.read_sized(&value);
    assert(has_value);
    if (!has_value) break;
    end = reader.offset();
  }
  const std::string_view handed = rest_.substr(0, end);
  rest_.remove_prefix(end);
  return handed;
}

void OrderedFieldWriter::begin(Tag tag) {
  assert(tag >= last_tag_);
  last_tag_ = tag;
  out_.append(kept_.below(tag));
}

void OrderedFieldWriter::bytes(Tag tag, std::string_view value) {
  begin(tag);
  append_field(out_, tag, value);
}

void OrderedFieldWriter::number(Tag tag, std::uint64_t value) {
  begin(tag);
  append_number_field(out_, tag, value);
}

void OrderedFieldWriter::finish() {
  out_.append(kept_.rest());
}

}  // namespace varve::format

// Owns: mutations of tagged fields, which form headers of records, manifest edits, CURRENT and properties.
// Must never: know the meaning of a tag.
#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "format/bytes/bytes.h"
#include "format/bytes/tagged_fields.h"
#include "fuzz/mutation.h"

namespace varve::fuzz {

struct OwnField {
  format::Tag tag = 0;
  std::string_view value;
};

/// Returns the complete fields at the front of `bytes`.
inline std::vector<OwnField> fields_of(std::string_view bytes) {
  std::vector<OwnField> found;
  format::FieldReader reader(bytes);
  while (!reader.at_end()) {
    const Result<format::Field> field = reader.next();
    if (!field.ok()) break;
    found.push_back({field->tag, field->value});
  }
  return found;
}

inline std::string bytes_of(const std::vector<OwnField>& fields) {
  std::string bytes;
  for (const OwnField& field : fields) format::append_field(bytes, field.tag, field.value);
  return bytes;
}

std::string mutated_fields(Chance& chance, std::string_view bytes, int depth = 0);

/// Changes a value as a number, as nested fields, or as bytes, depending on its form.
inline void mutate_value(Chance& chance, std::string& value, int depth) {
  constexpr int kDepthMax = 3;
  const Result<std::uint64_t> number = format::Field{1, value}.number();
  if (number.ok() && !chance.one_in(4)) {
    value.clear();
    format::append_varint(value, mutated_number(chance, *number));
  } else if (depth < kDepthMax && value.size() > 2 && !fields_of(value).empty() && !chance.one_in(4)) {
    value = mutated_fields(chance, value, depth + 1);
  } else {
    mutate_bytes(value);
  }
}

/// Makes one change. In seven of eight cases the tags of the result are ascending.
inline std::string mutated_fields(Chance& chance, std::string_view bytes, int depth) {
  std::vector<OwnField> fields = fields_of(bytes);
  std::deque<std::string> own;  // values of which `fields` has views
  mutate_parts(chance, fields, [&](OwnField& field) {
    if (field.tag == 0 || chance.one_in(8)) field.tag = static_cast<format::Tag>(1 + chance.below(40));
    std::string& value = own.emplace_back(field.value);
    mutate_value(chance, value, depth);
    field.value = value;
  });
  if (!chance.one_in(8)) {
    std::stable_sort(fields.begin(), fields.end(),
                     [](const OwnField& left, const OwnField& right) { return left.tag < right.tag; });
  }
  return bytes_of(fields);
}

}  // namespace varve::fuzz

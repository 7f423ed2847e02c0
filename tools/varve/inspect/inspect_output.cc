// Owns: formatting the lines of inspect_output.h.
// Must never: fail on bytes that are no text.
#include "tools/varve/inspect/inspect_output.h"

#include <array>
#include <cstdio>

#include "api/model/large_value_maker.h"
#include "format/keys/entity.h"
#include "format/keys/index_key.h"
#include "tools/varve/terminal/terminal.h"
#include "tools/varve/text/value_text.h"
#include "varve/types.h"

namespace varve::tool {

namespace {

using Json = nlohmann::ordered_json;

/// The columns of a text before it is cut. JSON output is never cut.
constexpr std::size_t kTextColumnsMax = 60;

std::string hex_digits(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 0xFU];
  }
  return text;
}

std::string cut_and_quoted(std::string_view text) {
  return "\"" + show_text(text, kTextColumnsMax).text + "\"";
}

Value value_of(const format::PropertyView& property) {
  switch (property.type) {
    case format::PropertyType::kBinary: return Value(Binary{std::string(property.value)});
    case format::PropertyType::kBoolean: return Value(property.as_boolean());
    case format::PropertyType::kDateTime: return Value(DateTime{property.as_date_time_ticks()});
    case format::PropertyType::kDouble: return Value(property.as_double());
    case format::PropertyType::kGuid: return Value(Guid{property.as_guid()});
    case format::PropertyType::kInt32: return Value(property.as_int32());
    case format::PropertyType::kInt64: return Value(property.as_int64());
    case format::PropertyType::kLargeValue: return Value(LargeValueMaker::make(property.as_large_value()));
    case format::PropertyType::kString: break;
  }
  return Value(property.value);
}

InspectField properties_field(const format::EncodedEntity& entity) {
  InspectField field{"properties", Json::array(), ""};
  for (std::size_t i = 0; i < entity.property_count(); ++i) {
    const format::PropertyView property = entity.property(i);
    const Value value = value_of(property);
    const std::string text = to_text(value);
    field.value.push_back({{"name", property.name}, {"type", property_type_name(value.type())}, {"value", text}});
    if (!field.text.empty()) field.text += " ";
    field.text += show_text(property.name, kTextColumnsMax).text + "=";
    field.text += value.type() == PropertyType::kString ? cut_and_quoted(text) : show_text(text, kTextColumnsMax).text;
  }
  return field;
}

InspectField components_field(const format::IndexKey& entry) {
  InspectField field{"components", Json::array(), ""};
  for (const format::IndexValue& component : entry.components) {
    const Value value = value_of(format::PropertyView{{}, component.type, component.value});
    const std::string text = to_text(value);
    field.value.push_back({{"type", property_type_name(value.type())},
                           {"value", text},
                           {"cut", component.was_cut},
                           {"descending", component.is_descending}});
    if (!field.text.empty()) field.text += " ";
    field.text += value.type() == PropertyType::kString ? cut_and_quoted(text) : show_text(text, kTextColumnsMax).text;
    if (component.was_cut) field.text += "...";
    if (component.is_descending) field.text += ":desc";
  }
  return field;
}

/// Returns "durable_upto" as "durable upto".
std::string spaced(std::string_view name) {
  std::string text(name);
  for (char& c : text) {
    if (c == '_') c = ' ';
  }
  return text;
}

}  // namespace

InspectField number_field(std::string name, std::uint64_t number) {
  return {std::move(name), number, std::to_string(number)};
}

InspectField version_field(std::string name, format::CommitVersion version) {
  return {std::move(name), version, version == 0 ? "none" : DateTime{version}.to_string()};
}

InspectField hex_field(std::string name, std::uint64_t number) {
  std::array<char, 20> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(number));
  return {std::move(name), digits.data(), digits.data()};
}

InspectField text_field(std::string name, std::string_view text) {
  return {std::move(name), std::string(text), cut_and_quoted(text)};
}

InspectField word_field(std::string name, std::string_view word) {
  return {std::move(name), std::string(word), std::string(word)};
}

InspectField table_field(std::string name, format::TableId table) {
  return word_field(std::move(name),
                    std::to_string(format::account_of(table)) + "." + std::to_string(table & 0xFFFFFFFFU));
}

InspectFields key_fields(std::string_view sort_key) {
  if (format::is_framed(sort_key) && format::is_index(format::table_id_of(sort_key))) {
    const Result<format::IndexKey> entry = format::decode_index_key(sort_key);
    if (entry.ok()) {
      return {table_field("index", entry->index), components_field(*entry),
              text_field("partition_key", entry->entity.partition_key), text_field("row_key", entry->entity.row_key)};
    }
  }
  const Result<format::SortKey> key = format::decode_sort_key(sort_key);
  if (!key.ok()) return {word_field("key_bytes_in_hexadecimal", hex_digits(sort_key))};
  return {table_field("table", key->table), text_field("partition_key", key->partition_key),
          text_field("row_key", key->row_key)};
}

InspectFields value_fields(std::string_view value) {
  InspectFields fields{number_field("value_bytes", value.size())};
  const Result<format::EncodedEntity> entity = format::EncodedEntity::open(value);
  if (entity.ok() && entity->verify().ok()) {
    fields.push_back(properties_field(*entity));
  } else {
    fields.push_back(word_field("not_an_entity", hex_digits(value.substr(0, 32))));
  }
  return fields;
}

void InspectOutput::item(std::uint64_t offset, std::string_view kind, const InspectFields& fields) {
  write(offset, kind, fields);
}

void InspectOutput::part(std::string_view kind, const InspectFields& fields) {
  write(std::nullopt, kind, fields);
}

void InspectOutput::damage(std::optional<std::uint64_t> offset, const Status& status) {
  status_ = status;
  const std::string message = show_text(status.to_string(), SIZE_MAX).text;
  if (json_) {
    write(offset, "damage", {word_field("message", message)});
    return;
  }
  out_ << "damaged";
  if (offset) out_ << " at offset " << *offset;
  out_ << ": " << message << "\n";
}

void InspectOutput::write(std::optional<std::uint64_t> offset, std::string_view kind, const InspectFields& fields) {
  if (json_) {
    Json line;
    if (offset) line["offset"] = *offset;
    line["item"] = kind;
    for (const InspectField& field : fields) line[field.name] = field.value;
    out_ << line.dump(-1, ' ', false, Json::error_handler_t::replace) << "\n";
    return;
  }
  std::string line = offset ? std::to_string(*offset) : "";
  line.resize(std::max<std::size_t>(line.size(), offset ? 10 : 14), ' ');
  line += spaced(kind);
  bool first = true;
  for (const InspectField& field : fields) {
    line += (first ? ": " : ", ") + spaced(field.name) + " " + field.text;
    first = false;
  }
  out_ << line << "\n";
}

}  // namespace varve::tool

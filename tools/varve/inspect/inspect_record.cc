// Owns: a record of the log as text: its flags, its commits, their operations.
// Must never: show a payload as complete that its reader refused.
#include "format/keys/batch.h"
#include "format/keys/ends.h"
#include "tools/varve/inspect/inspect.h"

namespace varve::tool {

namespace {

using format::Kind;
using format::RecordType;

std::string_view type_name(RecordType type) noexcept {
  switch (type) {
    case RecordType::kGroup: return "group";
    case RecordType::kWatermark: return "watermark";
    case RecordType::kFooter: return "footer";
    case RecordType::kManifestEdit: return "manifest edit";
  }
  return "record";
}

InspectFields marks_of(const format::Record& record) {
  const format::RecordHeader& header = record.header;
  InspectFields fields{number_field("bytes", record.size_bytes)};
  if (header.first_version != 0) fields.push_back(version_field("first_version", header.first_version));
  if (header.last_version != 0) fields.push_back(version_field("last_version", header.last_version));
  fields.push_back(version_field("ceiling", header.ceiling));
  fields.push_back(number_field("durable_upto", header.durable_upto));
  fields.push_back(number_field("manifest", header.manifest_number));
  fields.push_back(number_field("manifest_durable_bytes", header.manifest_durable_bytes));
  fields.push_back(number_field("previous", header.previous_offset));
  return fields;
}

std::uint64_t big_endian(std::string_view bytes) noexcept {
  std::uint64_t number = 0;
  for (const char c : bytes) number = number << 8U | static_cast<unsigned char>(c);
  return number;
}

void show_operation(const format::Operation& operation, InspectOutput& out) {
  if (operation.kind == Kind::kRetire) {
    const bool account = operation.key.size() == 4;
    out.part("retire", {account ? number_field("account", big_endian(operation.key))
                                : table_field("table", big_endian(operation.key))});
    return;
  }
  if (operation.kind == Kind::kAdopt) return out.part("adopt", {table_field("table", big_endian(operation.key))});
  InspectFields fields = key_fields(operation.key);
  if (operation.kind == Kind::kDelete) return out.part("delete", fields);
  std::string_view value = operation.value;
  if (format::has_end(operation.kind)) {
    fields.push_back(version_field("end", format::end_in(value)));
    value = format::behind_end(value);
  }
  for (InspectField& field : value_fields(value)) fields.push_back(std::move(field));
  out.part("put", fields);
}

Status show_batch(const format::GroupMember& member, InspectOutput& out) {
  Result<format::BatchReader> batch = format::BatchReader::open(member.batch);
  if (!batch.ok()) return batch.status();
  InspectFields fields{version_field("version", member.version), number_field("operations", batch->operation_count())};
  if (batch->has_tag()) fields.push_back(text_field("tag", batch->tag()));
  out.part("commit", fields);
  format::Operation operation;
  for (;;) {
    const Result<bool> more = batch->next(&operation);
    if (!more.ok()) return more.status();
    if (!*more) return Status();
    show_operation(operation, out);
  }
}

Status show_group(const format::Record& record, InspectOutput& out) {
  format::GroupReader members(record.header, record.payload);
  format::GroupMember member;
  for (;;) {
    const Result<bool> more = members.next(&member);
    if (!more.ok()) return more.status();
    if (!*more) return Status();
    if (Status shown = show_batch(member, out); !shown.ok()) return shown;
  }
}

}  // namespace

bool show_log_record(const format::Record& record, std::uint64_t offset, InspectOutput& out) {
  out.item(offset, type_name(record.header.type), marks_of(record));
  if (record.header.type != RecordType::kGroup) return true;
  const Status shown = show_group(record, out);
  if (!shown.ok()) out.damage(offset, shown);
  return shown.ok();
}

}  // namespace varve::tool

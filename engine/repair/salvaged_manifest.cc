// Owns: iterating over a manifest's edits (salvaged_manifest.h).
// Must never: follow a length that did not verify, which format::read_record() ensures.
#include "engine/repair/salvaged_manifest.h"

#include "format/log/file_header.h"
#include "format/log/log_record.h"
#include "format/log/manifest_edit.h"

namespace varve::engine {

namespace {

/// Returns Ok, or the reason why the record is not the manifest's next edit.
Status take(const format::Record& record, std::uint64_t position, std::uint64_t number, SalvagedManifest& manifest) {
  const bool is_first = position == format::kFileHeaderBytes;
  const format::RecordHeader& header = record.header;
  if (header.type != format::RecordType::kManifestEdit || header.file_number != number ||
      header.durable_upto != (is_first ? 0 : position)) {
    return Status::corruption("a record does not follow the previous record");
  }
  const Result<format::ManifestEdit> edit = format::decode_manifest_edit(record.payload);
  if (!edit.ok()) return edit.status();
  if (is_first && !edit->store_id.has_value()) return Status::corruption("the first edit has no store id");
  if (Status applied = manifest.files.apply(*edit); !applied.ok()) return applied;
  manifest.removed.insert(edit->removed_tables.begin(), edit->removed_tables.end());
  manifest.removed.insert(edit->removed_segments.begin(), edit->removed_segments.end());
  ++manifest.edits;
  return Status();
}

}  // namespace

Result<SalvagedManifest> salvage_manifest(std::string_view bytes, std::uint64_t number, std::uint64_t seed) {
  SalvagedManifest manifest;
  std::uint64_t position = format::kFileHeaderBytes;
  while (position < bytes.size()) {
    format::Record record;
    Status why = Status::corruption("zeros where a record was expected");
    const format::RecordOutcome outcome = format::read_record(bytes, position, seed, &record, &why);
    if (outcome == format::RecordOutcome::kUnsupported) return why;
    if (outcome == format::RecordOutcome::kRecord) why = take(record, position, number, manifest);
    if (!why.ok() && outcome == format::RecordOutcome::kRecord && why.code() == Code::kUnsupported) return why;
    if (outcome != format::RecordOutcome::kRecord || !why.ok()) {
      manifest.ended = why;
      break;
    }
    position += record.size_bytes;
  }
  if (manifest.edits == 0 && manifest.ended.ok()) manifest.ended = Status::corruption("has no complete first record");
  manifest.valid_bytes = manifest.edits == 0 ? 0 : position;
  return manifest;
}

}  // namespace varve::engine

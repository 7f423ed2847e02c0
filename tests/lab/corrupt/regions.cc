#include "tests/lab/corrupt/regions.h"

#include <algorithm>

#include "format/log/file_header.h"
#include "format/log/log_buffer.h"
#include "format/log/log_record.h"
#include "format/table/table_verify.h"

namespace varve::lab {

namespace {

constexpr std::uint64_t kLogSector = format::kLogBufferSectorBytes;

std::string_view kind_of(format::RecordType type) {
  switch (type) {
    case format::RecordType::kGroup: return "group";
    case format::RecordType::kWatermark: return "watermark";
    case format::RecordType::kFooter: return "footer";
    case format::RecordType::kManifestEdit: return "manifest edit";
  }
  return "record";
}

Region region_of(const format::Record& record, std::uint64_t offset) {
  Region region{std::string(kind_of(record.header.type)), offset, record.size_bytes};
  region.first_version = record.header.first_version;
  region.last_version = record.header.last_version;
  region.durable_upto = record.header.durable_upto;
  region.manifest_number = record.header.manifest_number;
  region.manifest_durable_bytes = record.header.manifest_durable_bytes;
  return region;
}

std::uint64_t next_sector(std::uint64_t offset) {
  return offset / kLogSector * kLogSector + kLogSector;
}

/// Adds the records from `offset` on. Their offsets in their own file are greater by `shift`. Bytes that do not verify
/// are skipped.
void add_records(std::string_view bytes, std::uint64_t offset, std::uint64_t end, std::uint64_t seed,
                 std::uint64_t shift, std::vector<Region>& regions) {
  while (offset < end) {
    format::Record record;
    Status why;
    const auto outcome =
        format::read_record_at(bytes.substr(offset, end - offset), {seed, offset + shift}, &record, &why);
    if (outcome != format::RecordOutcome::kRecord) {
      offset = next_sector(offset);
      continue;
    }
    regions.push_back(region_of(record, offset));
    offset += record.size_bytes;
  }
}

void add_manifest(std::string_view bytes, std::uint64_t seed, std::vector<Region>& regions) {
  for (std::uint64_t offset = format::kFileHeaderBytes; offset < bytes.size();) {
    format::Record record;
    Status why;
    if (format::read_record(bytes, offset, seed, &record, &why) != format::RecordOutcome::kRecord) return;
    regions.push_back(region_of(record, offset));
    offset += record.size_bytes;
  }
}

void add_buffer(std::string_view bytes, std::uint64_t seed, std::vector<Region>& regions) {
  struct Slot {
    std::uint64_t offset;
    format::SlotHeader header;
  };
  std::vector<Slot> slots;
  for (std::uint64_t at = kLogSector; at + format::kSlotHeaderBytes <= bytes.size(); at += kLogSector) {
    const auto header = format::load_slot_header(bytes.substr(at, format::kSlotHeaderBytes), {seed, at});
    if (header.ok()) slots.push_back({at, *header});
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    regions.push_back({"slot header", slots[i].offset, format::kSlotHeaderBytes});
    const std::uint64_t begin = slots[i].offset + kLogSector;
    const std::uint64_t end = i + 1 < slots.size() ? slots[i + 1].offset : bytes.size();
    add_records(bytes, begin, end, slots[i].header.segment_seed, slots[i].header.log_offset - begin, regions);
  }
}

class TableRegions final : public format::TableVisitor {
 public:
  explicit TableRegions(std::vector<Region>& regions) : regions_(regions) {}
  void on_index(const format::TableIndex& index) override {
    for (const format::DictionaryEntry& entry : index.properties().dictionaries) add("dictionary", entry.block);
    add("table directory", index.footer().directory);
    add("properties", index.footer().properties);
    add("top index", index.footer().top_index);
  }
  void on_run(const format::RunEntry& run) override {
    add("filter partition", run.filter());
    add("index partition", run.index());
  }
  void on_block(const format::BlockHandle& handle, const format::BlockFrame& frame) override {
    if (frame.type == format::BlockType::kData) add("data block", handle);
  }

 private:
  void add(std::string kind, const format::BlockHandle& handle) {
    regions_.push_back({std::move(kind), handle.offset, handle.bytes});
  }
  std::vector<Region>& regions_;
};

void add_table(std::string_view bytes, const format::FileHeader& header, std::vector<Region>& regions) {
  TableRegions visitor(regions);
  const format::ReadBytes read = [&](std::uint64_t offset, std::uint64_t size) -> Result<std::string_view> {
    if (offset > bytes.size() || size > bytes.size() - offset) return Status::corruption("behind the end");
    return bytes.substr(offset, size);
  };
  static_cast<void>(format::verify_table({header.number, header.seed, bytes.size()}, read, &visitor));
  regions.push_back({"table footer", bytes.size() - format::kTableFooterBytes, format::kTableFooterBytes});
}

}  // namespace

std::vector<Region> regions_of(std::string_view name, std::string_view bytes) {
  std::vector<Region> regions;
  if (bytes.size() < format::kFileHeaderBytes) return regions;
  regions.push_back({"header", 0, format::kFileHeaderBytes});
  auto type = format::FileType::kRoot;
  if (const Result<format::FileId> id = format::parse_file_name(name); id.ok()) type = id->type;
  const Result<format::FileHeader> header = format::decode_file_header(bytes.substr(0, format::kFileHeaderBytes), type);
  if (!header.ok()) return regions;
  switch (type) {
    case format::FileType::kWarmList:
    case format::FileType::kRoot:
      regions.push_back({"fields", format::kFileHeaderBytes, bytes.size() - format::kFileHeaderBytes - 8});
      regions.push_back({"checksum", bytes.size() - 8, 8});
      break;
    case format::FileType::kManifest: add_manifest(bytes, header->seed, regions); break;
    case format::FileType::kLogSegment: add_records(bytes, kLogSector, bytes.size(), header->seed, 0, regions); break;
    case format::FileType::kLogBuffer: add_buffer(bytes, header->seed, regions); break;
    case format::FileType::kTable: add_table(bytes, *header, regions); break;
    case format::FileType::kValueFile: break;
  }
  std::sort(regions.begin(), regions.end(),
            [](const Region& left, const Region& right) { return left.offset < right.offset; });
  return regions;
}

}  // namespace varve::lab

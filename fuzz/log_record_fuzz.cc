// Owns: the fuzzer of records: hostile bytes, with and without checksums that hold.
// Must never: let a reading go unchecked: what reads as a record must be exactly what our writer makes.
//
// Input: one byte of mode, then the file. In mode 1 every record's checksums are made right before it is read, so that
// what lies behind them is reached.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "format/bytes.h"
#include "format/log_record.h"
#include "format/manifest_edit.h"
#include "fuzz/sealing.h"

namespace varve::format {
namespace {

constexpr std::uint64_t kSeed = 0x5eed;

void require(bool holds) {
  if (!holds) std::abort();
}

void read_payload(const Record& record) {
  if (record.header.type == RecordType::kManifestEdit) {
    if (const Result<ManifestEdit> edit = decode_manifest_edit(record.payload); edit.ok()) {
      require(encode_manifest_edit(*edit) == record.payload);
    }
    return;
  }
  GroupReader reader(record.header, record.payload);
  GroupMember member;
  std::string again;
  while (true) {
    const Result<bool> more = reader.next(&member);
    if (!more.ok()) return;
    if (!*more) break;
    const std::size_t start = again.size();
    again.resize(start + group_member_bytes(record.header.first_version, member.version, member.batch.size()));
    store_group_member(again.data() + start, record.header.first_version, member.version, member.batch);
  }
  require(again == record.payload);
  require(member.version == record.header.last_version);
}

void check_record(const std::string& file, std::size_t offset, const Record& record) {
  require(record.size_bytes >= 24 && record.size_bytes % kRecordAlignment == 0);
  require(record.size_bytes <= file.size() - offset);
  std::string again;
  append_record(again, record.header, record.payload, {kSeed, offset});
  require(again == std::string_view(file).substr(offset, record.size_bytes));

  std::string moved;
  append_moved_record(moved, file, offset, kSeed, record.header, {kSeed + 1, 0});
  Record there;
  Status why;
  require(read_record(moved, 0, kSeed + 1, &there, &why) == RecordOutcome::kRecord);
  require(there.header == record.header && there.payload == record.payload);
  require(read_record(moved, 0, kSeed, &there, &why) == RecordOutcome::kInvalid);
  read_payload(record);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const bool sealed = data[0] % 2 == 1;
  std::string file(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::size_t offset = 0;
  while (true) {
    if (sealed && offset < file.size()) fuzz::seal_record_at(file, offset, kSeed);
    Record record;
    Status why;
    const RecordOutcome outcome = read_record(file, offset, kSeed, &record, &why);
    require(why.ok() == (outcome == RecordOutcome::kRecord || outcome == RecordOutcome::kZeros));
    if (outcome != RecordOutcome::kRecord) return 0;
    check_record(file, offset, record);
    offset += record.size_bytes;
  }
}

}  // namespace varve::format

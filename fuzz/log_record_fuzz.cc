// Owns: the fuzzer of records: hostile bytes, with and without valid checksums.
// Must never: let a reading go unchecked: bytes that read as a record must be exactly the bytes that our writer makes.
//
// Input: one byte of mode, then the file. In mode 1 every record's checksums are corrected before it is read, so that
// the code after the checks is reached.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/bytes/bytes.h"
#include "format/log/log_record.h"
#include "format/log/manifest_edit.h"
#include "fuzz/field_mutation.h"
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

// -- Mutations ------------------------------------------------------------------------------------------------------

struct OwnRecord {
  RecordHeader header;
  std::string payload;
};

struct OwnMember {
  CommitVersion version = 0;
  std::string batch;
};

std::vector<OwnRecord> records_of(std::string file, bool sealed) {
  std::vector<OwnRecord> found;
  std::size_t offset = 0;
  while (true) {
    if (sealed && offset < file.size()) fuzz::seal_record_at(file, offset, kSeed);
    Record record;
    Status why;
    if (read_record(file, offset, kSeed, &record, &why) != RecordOutcome::kRecord) return found;
    found.push_back({record.header, std::string(record.payload)});
    offset += record.size_bytes;
  }
}

void change_header(fuzz::Chance& chance, RecordHeader& header) {
  const std::array<std::uint64_t*, 8> numbers = {
      &header.file_number,  &header.first_version,   &header.last_version,           &header.ceiling,
      &header.durable_upto, &header.manifest_number, &header.manifest_durable_bytes, &header.previous_offset};
  std::uint64_t& number = *numbers[chance.below(numbers.size())];
  number = fuzz::mutated_number(chance, number);
  if (header.file_number == 0) header.file_number = 1;  // the number is never omitted
}

/// Adds, removes and changes members of the group. In seven of eight cases their versions ascend and the header
/// contains the last version.
void change_group(fuzz::Chance& chance, OwnRecord& record) {
  std::vector<OwnMember> members;
  GroupReader reader(record.header, record.payload);
  GroupMember member;
  for (Result<bool> more = reader.next(&member); more.ok() && *more; more = reader.next(&member)) {
    members.push_back({member.version, std::string(member.batch)});
  }
  CommitVersion& first = record.header.first_version;
  fuzz::mutate_parts(chance, members, [&](OwnMember& one) {
    if (one.version == 0 || chance.one_in(2)) one.version = first + chance.below(100);
    fuzz::mutate_bytes(one.batch);
  });
  if (!chance.one_in(8)) {
    const auto below = [](const OwnMember& left, const OwnMember& right) { return left.version < right.version; };
    std::sort(members.begin(), members.end(), below);
  }
  if (!members.empty()) record.header.last_version = members.back().version;
  record.payload.clear();
  for (const OwnMember& one : members) {
    const std::size_t start = record.payload.size();
    record.payload.resize(start + group_member_bytes(first, one.version, one.batch.size()));
    store_group_member(record.payload.data() + start, first, one.version, one.batch);
  }
}

void change(fuzz::Chance& chance, OwnRecord& record) {
  constexpr std::size_t kTypes = 4;
  switch (chance.below(4)) {
    case 0: change_header(chance, record.header); break;
    case 1: record.header.type = static_cast<RecordType>(1 + chance.below(kTypes)); break;
    default:
      if (record.header.type == RecordType::kManifestEdit) {
        record.payload = fuzz::mutated_fields(chance, record.payload);
      } else if (record.header.type == RecordType::kGroup) {
        change_group(chance, record);
      } else {
        fuzz::mutate_bytes(record.payload);
      }
      break;
  }
}

std::optional<std::string> mutated(fuzz::Chance& chance, std::string_view input) {
  if (input.empty()) return std::nullopt;
  std::vector<OwnRecord> records = records_of(std::string(input.substr(1)), input[0] % 2 == 1);
  fuzz::mutate_parts(chance, records, [&](OwnRecord& record) { change(chance, record); });
  std::string made;
  for (const OwnRecord& record : records) append_record(made, record.header, record.payload, {kSeed, made.size()});
  return std::string(1, '\0') + made;
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

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t size_max,
                                               unsigned seed) {
  return fuzz::mutate_structure(data, size, size_max, seed, mutated);
}

}  // namespace varve::format

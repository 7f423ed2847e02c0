// Owns: applying the commits of a group.
// Must never: assume that a verified record makes sense. Another build may have written it.
#include "engine/recovery/log_replay.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "format/bytes/bytes.h"
#include "format/keys/batch.h"
#include "format/log/file_header.h"
#include "io/probe.h"

namespace varve::engine {
namespace {

bool is_put_or_delete(format::Kind kind) noexcept {
  return kind == format::Kind::kPut || kind == format::Kind::kDelete || kind == format::Kind::kPutExpiring;
}

bool do_keys_rise(std::string_view batch) {
  format::BatchReader reader = *format::BatchReader::open(batch);
  std::string_view last;
  format::Operation operation;
  while (*reader.next(&operation)) {
    if (!is_put_or_delete(operation.kind)) continue;
    if (operation.key <= last) return false;
    last = operation.key;
  }
  return true;
}

/// Checks that a commit contains each key once, so that (key, version) is unique. Batches are usually sorted.
/// Memtable::demand_of() has already read this batch completely.
Status check_keys_differ(std::string_view batch) {
  if (do_keys_rise(batch)) return Status();
  std::vector<std::string_view> keys;
  format::BatchReader reader = *format::BatchReader::open(batch);
  format::Operation operation;
  while (*reader.next(&operation)) {
    if (is_put_or_delete(operation.kind)) keys.push_back(operation.key);
  }
  std::sort(keys.begin(), keys.end());
  if (std::adjacent_find(keys.begin(), keys.end()) == keys.end()) return Status();
  return Status::corruption("a commit contains a key twice");
}

}  // namespace

Status LogReplay::take(const format::Record& record, bool from_buffer) {
  const format::RecordHeader& header = record.header;
  if (Status marks = check_marks(header); !marks.ok()) return marks;
  switch (header.type) {
    case format::RecordType::kGroup:
      if (from_buffer) io::probe("a group was in the log buffer alone");
      if (Status taken = take_group(record, from_buffer); !taken.ok()) return taken;
      break;
    case format::RecordType::kWatermark:
      if (header.first_version != 0 || header.last_version != 0) {
        return Status::corruption("a watermark names versions, but contains no commit");
      }
      break;
    case format::RecordType::kFooter:
      if (header.first_version != 0) return Status::corruption("a footer names a first version");
      break;
    case format::RecordType::kManifestEdit: return Status::corruption("a manifest edit is in a log segment");
  }
  recovered_.version_ceiling = std::max(recovered_.version_ceiling, header.ceiling);
  ++recovered_.figures.log_records;
  return Status();
}

Status LogReplay::check_marks(const format::RecordHeader& header) const {
  if (header.manifest_number > manifest_.number) {
    return Status::corruption("CURRENT is older than the log: it names manifest " + std::to_string(manifest_.number) +
                              ", but the log names manifest " + std::to_string(header.manifest_number))
        .in_file(format::named_file(format::kRootName));
  }
  if (header.manifest_number == manifest_.number && header.manifest_durable_bytes > manifest_.durable_bytes) {
    return Status::corruption("damaged: the log records that " + std::to_string(header.manifest_durable_bytes) +
                              " bytes were durable")
        .in_file(format::named_file(format::FileType::kManifest, manifest_.number), manifest_.durable_bytes);
  }
  return Status();
}

Status LogReplay::take_group(const format::Record& record, bool from_buffer) {
  if (record.header.first_version <= recovered_.last_version) {
    return Status::corruption("a group begins with version " + std::to_string(record.header.first_version) +
                              ", which is not above the previous version " + std::to_string(recovered_.last_version));
  }
  format::GroupReader reader(record.header, record.payload);
  format::GroupMember member;
  for (;;) {
    const Result<bool> more = reader.next(&member);
    if (!more.ok()) return more.status();
    if (!*more) break;
    if (Status taken = take_commit(member, from_buffer); !taken.ok()) return taken;
  }
  recovered_.last_version = record.header.last_version;
  recovered_.version_ceiling = std::max(recovered_.version_ceiling, record.header.last_version);
  return Status();
}

Status LogReplay::take_commit(const format::GroupMember& member, bool from_buffer) {
  const Result<format::BatchReader> batch = format::BatchReader::open(member.batch);
  if (!batch.ok()) return batch.status();
  const Result<MemtableDemand> demand = Memtable::demand_of(member.batch);
  if (!demand.ok()) return demand.status();
  if (demand->entry_count > 1) {
    if (Status checked = check_keys_differ(member.batch); !checked.ok()) return checked;
  }
  if (member.version <= recovered_.files.flushed_version) return Status();  // It is in the tables.
  const Result<Memtable::Reservation> room = recovered_.memtable->reserve(*demand);
  if (!room.ok()) return room.status();
  // Operations that can still be refused are applied before the entries.
  if (demand->other_count > 0) {
    if (Status taken = take_other_operations(*batch, member.version); !taken.ok()) return taken;
  }
  inserts_.add(*room, member.batch, member.version);
  if (batch->has_tag()) recovered_.last_tag = format::CommitTag{member.version, std::string(batch->tag()), {}};
  ++recovered_.figures.commits;
  if (from_buffer) ++recovered_.figures.commits_from_buffer;
  return Status();
}

/// Applies an adoption. The manifest named the table's files before the commit was made. It calls them loading until
/// the memtable with the commit is written to a table file.
Status LogReplay::take_adoption(format::TableId table) {
  const std::vector<format::TableId>& loading = recovered_.files.loading_ids;
  const std::vector<format::TableId>& adopted = recovered_.adopted;
  if (adoptions_ == AdoptionRule::kAnyTable) {
    recovered_.adopted.push_back(table);
    return Status();
  }
  if (std::find(loading.begin(), loading.end(), table) == loading.end() ||
      std::find(adopted.begin(), adopted.end(), table) != adopted.end()) {
    return Status::corruption("a commit adopts table " + std::to_string(table) + ", which is not being loaded");
  }
  recovered_.adopted.push_back(table);
  return Status();
}

/// Applies the other operations of a batch that was already read completely.
Status LogReplay::take_other_operations(format::BatchReader batch, CommitVersion version) {
  format::Operation operation;
  while (*batch.next(&operation)) {
    if (operation.kind == format::Kind::kAdopt) {
      if (Status taken = take_adoption(format::load_u64_big_endian(operation.key.data())); !taken.ok()) return taken;
    }
    if (operation.kind != format::Kind::kRetire) continue;
    if (Status room = recovered_.retired.reserve(1); !room.ok()) return room;
    recovered_.retired.add(operation.key, version);
  }
  return Status();
}

}  // namespace varve::engine

// Owns: creating, editing and opening the files of a small store.
// Must never: hide a failed step.
#include "tests/support/store_image.h"

#include <algorithm>
#include <cassert>

#include "engine/base/sync_points.h"
#include "engine/manifest/manifest_file.h"
#include "format/bytes/bytes.h"
#include "format/log/file_header.h"
#include "format/log/log_buffer.h"

namespace varve::test {

std::string path_of(std::string_view name) {
  return std::string(kImagePath).append("/").append(name);
}

StoreMachine::StoreMachine(io::MemoryDisk disk, std::uint64_t seed)
    : random(seed), files(std::move(disk)), env{files, clock, random, scheduler} {
  const Status made = files.create_directory(kImagePath, engine::sync_points::kStoreDirectory);
  assert(made.ok());
  Result<std::unique_ptr<io::Directory>> opened = files.open_directory(kImagePath);
  assert(opened.ok());
  directory = *std::move(opened);
}

Result<engine::Recovered> StoreMachine::read(bool for_writing) {
  return engine::read_store(env, *directory, for_writing);
}

Status StoreMachine::open() {
  Result<engine::Recovered> read_first = read();
  if (!read_first.ok()) return read_first.status();
  recovered = *std::move(read_first);
  Result<engine::Established> second = engine::establish(env, *directory, recovered);
  if (!second.ok()) return second.status();
  established = *std::move(second);
  return Status();
}

StoreContent content_of(const engine::Recovered& recovered) {
  StoreContent content;
  engine::Memtable::Cursor cursor(*recovered.memtable);
  for (cursor.seek_to_first(); cursor.valid(); cursor.next()) {
    const engine::Entry entry = cursor.entry();
    content.entries.push_back({std::string(entry.sort_key), entry.version, entry.kind, std::string(entry.value)});
  }
  content.retired = recovered.retired.list();
  std::sort(content.retired.begin(), content.retired.end(),
            [](const format::DeadId& left, const format::DeadId& right) { return left.prefix < right.prefix; });
  content.last_tag = recovered.last_tag;
  content.last_version = recovered.last_version;
  return content;
}

std::vector<std::string> rows_of(const engine::Recovered& recovered) {
  std::vector<std::string> rows;
  for (const StoreContent::Entry& entry : content_of(recovered).entries) {
    const Result<format::SortKey> key = format::decode_sort_key(entry.key);
    assert(key.ok());
    rows.push_back(key->row_key + "=" + entry.value + "@" + std::to_string(entry.version));
  }
  return rows;
}

StoreImage::StoreImage(std::uint64_t seed) {
  StoreMachine machine(io::MemoryDisk(), seed);
  Result<engine::Established> made = engine::make_store(machine.env, *machine.directory, {});
  assert(made.ok());
  segment_number = made->segment.number;
  segment_seed = made->segment.seed;
  buffer_number = made->buffer.number;
  buffer_seed = made->buffer.seed;
  manifest_number = made->manifest->mark().number;
  disk = machine.files.process_death(machine.random);
  disk.settle();
  const Result<std::optional<engine::RootFile>> root = engine::RootFile::load(*machine.directory);
  assert(root.ok() && root->has_value());
  manifest_seed = (*root)->root().manifest_seed;
}

std::string StoreImage::log_name(const LogWriter& log) {
  return format::file_name(format::FileType::kLogSegment, log.number());
}
std::string StoreImage::manifest_name() const {
  return format::file_name(format::FileType::kManifest, manifest_number);
}
std::string StoreImage::buffer_name() const {
  return format::file_name(format::FileType::kLogBuffer, buffer_number);
}

std::string StoreImage::read(std::string_view name) const {
  const Result<std::vector<std::byte>> bytes = disk.read_file(path_of(name));
  assert(bytes.ok());
  return std::string(format::as_text(*bytes));
}

void StoreImage::change_header(const std::string& name, format::FileType type,
                               const std::function<void(format::FileHeader&)>& change) {
  std::string bytes = read(name);
  format::FileHeader header = *format::decode_file_header(bytes.substr(0, format::kFileHeaderBytes), type);
  change(header);
  write(name, bytes.replace(0, format::kFileHeaderBytes, format::encode_file_header(header)));
}

void StoreImage::write(std::string_view name, std::string_view bytes) {
  disk.write_file(path_of(name), format::as_bytes(bytes));
}

void StoreImage::remove(std::string_view name) {
  const Status removed = disk.remove_file(path_of(name));
  assert(removed.ok());
}

bool StoreImage::contains(std::string_view name) const {
  return disk.contains(path_of(name));
}

LogWriter StoreImage::announce(std::uint64_t number, bool is_recycled) {
  const std::uint64_t seed = segment_seed + number;
  LogWriter log(number, seed);
  format::ManifestEdit edit;
  edit.announced_segments.push_back({number, seed, {}, is_recycled});
  append_edit(edit);
  write_log(log);
  return log;
}

void StoreImage::close_in_manifest(const LogWriter& log) {
  format::ManifestEdit edit;
  edit.closed_segments.push_back({log.number(), log.position(), log.last_version(), {}});
  append_edit(edit);
}

void StoreImage::append_edit(const format::ManifestEdit& edit) {
  std::string bytes = read(manifest_name());
  format::RecordHeader header;
  header.type = format::RecordType::kManifestEdit;
  header.file_number = manifest_number;
  header.durable_upto = bytes.size();
  format::append_record(bytes, header, format::encode_manifest_edit(edit), {manifest_seed, bytes.size()});
  write(manifest_name(), bytes);
}

engine::ManifestMark StoreImage::manifest_mark() const {
  return {manifest_number, read(manifest_name()).size()};
}

void StoreImage::write_slot(std::size_t slot, const LogWriter& log, WrittenRange range) {
  std::string buffer = read(buffer_name());
  const std::size_t start =
      format::kLogBufferSectorBytes + slot * (format::kLogBufferSectorBytes + engine::kLogBufferSlotBytes);
  format::store_slot_header(buffer.data() + start, {log.number(), log.seed(), range.begin, 1 + slot},
                            {buffer_seed, start});
  const std::string bytes = log.bytes_of(range);
  assert(bytes.size() <= engine::kLogBufferSlotBytes);
  buffer.replace(start + format::kLogBufferSectorBytes, bytes.size(), bytes);
  write(buffer_name(), buffer);
}

Result<engine::Recovered> StoreImage::recover(bool for_writing) const {
  return StoreMachine(disk).read(for_writing);
}

}  // namespace varve::test

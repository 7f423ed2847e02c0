// Owns: the reads of a blob (blob_read.h).
// Must never: read past the end of a piece.
#include "api/read/blob_read.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/read/cursor.h"

namespace varve {
namespace {

Status missing_part() {
  return Status::corruption("a part of a content is missing");
}

Result<std::vector<ListEntry>> read_list_part(const engine::ReadView& view, format::TableId contents, ContentId list,
                                              std::uint64_t first) {
  const auto found = view.get(content_part_key(contents, list, first));
  if (!found.ok()) return found.status();
  if (!*found) return missing_part();
  const Result<std::string_view> bytes = decode_part(list, first, (*found)->value);
  if (!bytes.ok()) return bytes.status();
  return decode_list_entries(*bytes);
}

Result<std::size_t> count_list_parts(const engine::ReadView& view, format::TableId contents, ContentId list) {
  const Result<std::uint32_t> entries = count_list_entries(view, contents, list);
  if (!entries.ok()) return entries.status();
  return (std::size_t{*entries} + kListEntriesOfPart - 1) / kListEntriesOfPart;
}

/// Copies the bytes of a part from `begin` on, as many as both have. Returns their number.
std::size_t copy_from(std::string_view part, std::size_t begin, std::span<char> out) noexcept {
  const std::size_t bytes = std::min(out.size(), part.size() - begin);
  std::memcpy(out.data(), part.data() + begin, bytes);
  return bytes;
}

/// Bytes of a part, from `begin` on.
struct PartWanted {
  ContentId content;
  std::uint64_t offset;  // of the part
  std::size_t begin;
  std::span<char> out;
};

/// Reads a part through the block cache.
Status read_whole_part(const engine::ReadView& view, const std::string& key, const PartWanted& part) {
  const auto found = view.get(key);
  if (!found.ok()) return found.status();
  if (!*found) return missing_part();
  std::string room;
  const Result<std::string_view> bytes = decode_any_part(part.content, part.offset, (*found)->value, room);
  if (!bytes.ok()) return bytes.status();
  if (bytes->size() < part.begin + part.out.size()) return missing_part();
  (void)copy_from(*bytes, part.begin, part.out);
  return Status();
}

/// Reads the wanted bytes of a part, rounded out to the bytes that have one hash, and its hashes. Of a packed part it reads
/// all bytes.
Status read_in_part(const engine::ReadView& view, const std::string& key, const engine::FoundPlace& place,
                    const PartWanted& part) {
  const std::optional<std::size_t> bytes = part_bytes_of(place.bytes);
  const std::size_t end = part.begin + part.out.size();
  const std::size_t head_bytes = part_head_bytes(bytes.value_or(kPartBytes));
  std::string head(static_cast<std::size_t>(std::min<std::uint64_t>(head_bytes, place.bytes)), '\0');
  const std::size_t low = part.begin / kHashedBytes * kHashedBytes;
  const std::size_t most = std::min(bytes.value_or(0), (end + kHashedBytes - 1) / kHashedBytes * kHashedBytes);
  const std::size_t high = std::max(low, most);
  const bool is_exact = low == part.begin && high == end;
  std::string around(is_exact ? 0 : high - low, '\0');
  const std::span<char> hashed = is_exact ? part.out : std::span<char>(around);
  // Packed parts are shorter than a whole one, and have their bytes elsewhere. So only a whole one is read with its head.
  const bool is_whole = bytes == kPartBytes && end <= kPartBytes;
  Status read =
      is_whole ? view.read_pair(place, {{{0, head}, {head_bytes + low, hashed}}}) : view.read_part(place, 0, head);
  if (!read.ok()) return read;
  if (is_packed_part(head)) return read_whole_part(view, key, part);
  if (!bytes || *bytes < end) return missing_part();
  if (!is_whole) read = view.read_part(place, head_bytes + low, hashed);
  if (!read.ok()) return read;
  const Result<PartHead> hashes = PartHead::open(part.content, part.offset, *bytes, head);
  if (!hashes.ok()) return hashes.status();
  if (Status checked = hashes->check(low, {hashed.data(), hashed.size()}); !checked.ok()) return checked;
  if (!is_exact) (void)copy_from(around, part.begin - low, part.out);
  return Status();
}

Status find_in_part(const engine::ReadView& view, const std::string& key, const PartWanted& part) {
  const Result<std::optional<engine::FoundPlace>> place = view.locate(key);
  if (!place.ok()) return place.status();
  return *place ? read_in_part(view, key, **place, part) : missing_part();
}

/// Reads as many of the wanted bytes as the part at the cursor has. Returns their number, which is not zero.
Result<std::size_t> read_part_at(const engine::ReadView& view, const engine::Cursor& at, PartWanted part) {
  if (at.has_value()) {
    const Result<std::string_view> bytes = decode_part(part.content, part.offset, at.value());
    if (!bytes.ok()) return bytes.status();
    if (part.begin >= bytes->size()) return missing_part();
    return copy_from(*bytes, part.begin, part.out);
  }
  const std::string key(at.key());
  const Result<std::optional<engine::FoundPlace>> place = view.locate(key);
  if (!place.ok()) return place.status();
  const std::optional<std::size_t> bytes = *place ? part_bytes_of((*place)->bytes) : std::nullopt;
  if (!bytes || part.begin >= *bytes) return missing_part();
  part.out = part.out.first(std::min(part.out.size(), *bytes - part.begin));
  const Status read =
      part.out.size() == *bytes ? read_whole_part(view, key, part) : read_in_part(view, key, **place, part);
  if (!read.ok()) return read;
  return part.out.size();
}

}  // namespace

Result<std::optional<FoundBlob>> find_blob(const engine::ReadView& view, format::TableId container,
                                           std::string_view name) {
  const auto found = view.get(blob_row_key(container, name));
  if (!found.ok()) return found.status();
  if (!*found) return std::optional<FoundBlob>();
  Result<BlobRow> row = decode_blob_row((*found)->version, (*found)->value);
  if (!row.ok()) return row.status();
  return std::optional<FoundBlob>(FoundBlob{*std::move(row), (*found)->version});
}

Result<format::TableId> container_at(const Container::State& container, const engine::ReadView& view) {
  const Result<std::optional<ContainerRow>> row = Catalog::find_container(view, container.name);
  if (!row.ok()) return row.status();
  if (!*row) return container.core->catalog().missing_container(view, container.name);
  return (*row)->id;
}

Result<std::uint32_t> count_list_entries(const engine::ReadView& view, format::TableId contents, ContentId list) {
  const auto found = view.get(content_head_key(contents, list));
  if (!found.ok()) return found.status();
  if (!*found) return Status::corruption("a list of blocks has no head");
  const Result<ContentHead> head = decode_content_head((*found)->value);
  if (!head.ok()) return head.status();
  if (head->kind != ContentKind::kList) return Status::corruption("a content is no list of blocks");
  return static_cast<std::uint32_t>(head->length);  // at most limits::kBlocksMax
}

Result<std::vector<ListEntry>> read_list(const engine::ReadView& view, format::TableId contents, ContentId list) {
  const Result<std::size_t> parts = count_list_parts(view, contents, list);
  if (!parts.ok()) return parts.status();
  std::vector<ListEntry> entries;
  for (std::size_t i = 0; i < *parts; ++i) {
    Result<std::vector<ListEntry>> part = read_list_part(view, contents, list, i * kListEntriesOfPart);
    if (!part.ok()) return part.status();
    std::move(part->begin(), part->end(), std::back_inserter(entries));
  }
  return entries;
}

Result<std::size_t> ListIndex::count(const engine::ReadView& view) {
  {
    const io::MutexGuard guard(mutex_);
    if (!begins_.empty()) return begins_.size();
  }
  const Result<std::size_t> parts = count_list_parts(view, contents_, list_);
  if (!parts.ok()) return parts.status();
  if (*parts == 0) return Status::corruption("a list of blocks is empty");
  const io::MutexGuard guard(mutex_);
  if (begins_.empty()) begins_.assign(*parts, kUnknown);
  return begins_.size();
}

Result<std::uint64_t> ListIndex::begin_of(const engine::ReadView& view, std::size_t index) {
  {
    const io::MutexGuard guard(mutex_);
    if (begins_[index] != kUnknown) return begins_[index];
  }
  const Result<Part> read = part(view, index);
  if (!read.ok()) return read.status();
  return (*read)->front().offset;
}

Result<ListIndex::Part> ListIndex::part(const engine::ReadView& view, std::size_t index) {
  {
    const io::MutexGuard guard(mutex_);
    for (const Kept& each : kept_) {
      if (each.part && each.index == index) return each.part;
    }
  }
  Result<std::vector<ListEntry>> entries = read_list_part(view, contents_, list_, index * kListEntriesOfPart);
  if (!entries.ok()) return entries.status();
  if (entries->empty()) return Status::corruption("a part of a list of blocks is empty");
  Part read = std::make_shared<const std::vector<ListEntry>>(*std::move(entries));
  const io::MutexGuard guard(mutex_);
  begins_[index] = read->front().offset;
  kept_[oldest_] = {index, read};
  oldest_ = (oldest_ + 1) % kPartsKept;
  return read;
}

Result<ListIndex::Place> ListIndex::find(const engine::ReadView& view, std::uint64_t offset) {
  const Result<std::size_t> parts = count(view);
  if (!parts.ok()) return parts.status();
  std::size_t low = 0;
  std::size_t high = *parts;
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    const Result<std::uint64_t> begin = begin_of(view, middle);
    if (!begin.ok()) return begin.status();
    (*begin <= offset ? low : high) = middle;
  }
  const Result<Part> entries = part(view, low);
  if (!entries.ok()) return entries.status();
  const auto after = std::upper_bound((*entries)->begin(), (*entries)->end(), offset,
                                      [](std::uint64_t at, const ListEntry& entry) { return at < entry.offset; });
  if (after == (*entries)->begin()) return Status::corruption("a list of blocks does not begin at its first byte");
  return Place{*entries, static_cast<std::size_t>(after - (*entries)->begin()) - 1};
}

Status read_plain(const engine::ReadView& view, format::TableId contents, ContentId content, std::uint64_t offset,
                  std::span<char> out) {
  while (!out.empty()) {
    const std::uint64_t part_at = offset / kPartBytes * kPartBytes;
    const auto begin = static_cast<std::size_t>(offset - part_at);
    const std::span<char> wanted = out.first(std::min(out.size(), kPartBytes - begin));
    const std::string key = content_part_key(contents, content, part_at);
    const PartWanted part{content, part_at, begin, wanted};
    const Status read = wanted.size() == kPartBytes ? read_whole_part(view, key, part) : find_in_part(view, key, part);
    if (!read.ok()) return read;
    offset += wanted.size();
    out = out.subspan(wanted.size());
  }
  return Status();
}

Status read_growing(const engine::ReadView& view, format::TableId contents, ContentId content, std::uint64_t offset,
                    std::span<char> out) {
  if (out.empty()) return Status();
  const std::string prefix = content_prefix(contents, content);
  engine::Cursor cursor = view.cursor(prefix, format::end_of_prefix(prefix));
  cursor.leave_values();  // A range of a large part reads no more of it than it needs.
  cursor.seek_before(content_part_key(contents, content, offset + 1));
  while (!out.empty()) {
    if (!cursor.valid()) return cursor.status().ok() ? missing_part() : cursor.status();
    const Result<ContentPlace> place = decode_content_key(cursor.key());
    if (!place.ok()) return place.status();
    if (!place->offset || *place->offset > offset) return missing_part();
    const auto begin = static_cast<std::size_t>(offset - *place->offset);
    const Result<std::size_t> copied = read_part_at(view, cursor, {content, *place->offset, begin, out});
    if (!copied.ok()) return copied.status();
    offset += *copied;
    out = out.subspan(*copied);
    if (!out.empty()) cursor.next();
  }
  return Status();
}

namespace {

/// Fills the buffer from the appended contents that a list has.
Status read_listed(const engine::ReadView& view, format::TableId contents, ContentId list, std::uint64_t offset,
                   std::span<char> out) {
  const Result<std::vector<ListEntry>> entries = read_list(view, contents, list);
  if (!entries.ok()) return entries.status();
  auto entry = std::upper_bound(entries->begin(), entries->end(), offset,
                                [](std::uint64_t at, const ListEntry& each) { return at < each.offset; });
  if (entry == entries->begin()) return Status::corruption("a list of appends does not begin at its first byte");
  for (--entry; !out.empty(); ++entry) {
    if (entry == entries->end()) return missing_part();
    const std::uint64_t begin = offset - entry->offset;
    if (begin >= entry->length) return Status::corruption("a list of appends has a gap");
    const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), entry->length - begin));
    if (Status read = read_growing(view, contents, entry->content, begin, out.first(bytes)); !read.ok()) return read;
    offset += bytes;
    out = out.subspan(bytes);
  }
  return Status();
}

/// Fills the buffer from one piece of the row, which has the bytes.
Status read_piece(const engine::ReadView& view, format::TableId contents, const BlobRow& row, const ContentPiece& piece,
                  std::uint64_t offset, std::span<char> out) {
  if (row.kind != BlobKind::kAppend) return read_plain(view, contents, piece.content, offset, out);
  const bool is_list = &piece < row.pieces.data() + row.lists;
  return is_list ? read_listed(view, contents, piece.content, offset, out)
                 : read_growing(view, contents, piece.content, offset, out);
}

}  // namespace

Status read_pieces(const engine::ReadView& view, format::TableId contents, const BlobRow& row, std::uint64_t offset,
                   std::span<char> buffer) {
  for (const ContentPiece& piece : row.pieces) {
    if (buffer.empty()) break;
    if (offset >= piece.length) {
      offset -= piece.length;
      continue;
    }
    const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), piece.length - offset));
    const Status read = read_piece(view, contents, row, piece, offset, buffer.first(bytes));
    if (!read.ok()) return read;
    buffer = buffer.subspan(bytes);
    offset = 0;
  }
  return buffer.empty() ? Status() : missing_part();
}

Status BlobReader::State::read(std::uint64_t offset, std::span<char> buffer) const {
  if (row.pieces.empty()) {
    (void)copy_from(row.inlined, static_cast<std::size_t>(offset), buffer);
    return Status();
  }
  const ReaderPin::Use use(*pin);
  const Result<engine::ReadView> view = core->view(use);
  if (!view.ok()) return view.status();
  return list ? read_list_range(*view, offset, buffer) : read_pieces(*view, contents, row, offset, buffer);
}

Status BlobReader::State::read_list_range(const engine::ReadView& view, std::uint64_t offset,
                                          std::span<char> buffer) const {
  while (!buffer.empty()) {
    const Result<ListIndex::Place> place = list->find(view, offset);
    if (!place.ok()) return place.status();
    bool has_read = false;
    for (const ListEntry& entry : std::span(*place->part).subspan(place->index)) {
      if (buffer.empty()) break;
      const std::uint64_t begin = offset - entry.offset;
      if (begin >= entry.length) continue;
      const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), entry.length - begin));
      const Status read = read_plain(view, contents, entry.content, begin, buffer.first(bytes));
      if (!read.ok()) return read;
      offset += bytes;
      buffer = buffer.subspan(bytes);
      has_read = true;
    }
    if (!has_read) return Status::corruption("a list of blocks has a gap");
  }
  return Status();
}

}  // namespace varve

// Owns: the walks of a recount (owner_recount.h).
// Must never: read the parts of a plain content that has its head.
#include "api/blob/owner_recount.h"

#include <algorithm>

#include "api/blob/blob_rows.h"
#include "api/blob/large_values.h"
#include "engine/read/cursor.h"
#include "format/bytes/crc64.h"

namespace varve {

void OwnerRecount::note(ContentId content, std::uint64_t length) {
  Names& names = names_[content];
  ++names.count;
  names.reach = std::max(names.reach, length);
}

/// A row that cannot be decoded may have names.
Status OwnerRecount::add_container(format::TableId container) {
  const std::string prefix = format::encode_table(container);
  engine::Cursor rows = view_.cursor(prefix, format::end_of_prefix(prefix));
  for (rows.seek_to_first(); rows.valid(); rows.next()) {
    const char kind = blob_row_kind(rows.key());
    if (kind == 'B') {
      const Result<BlobRow> blob = decode_blob_row(rows.version(), rows.value());
      may_miss_names_ = may_miss_names_ || !blob.ok();
      if (!blob.ok()) continue;
      for (const ContentPiece& piece : blob->pieces) note(piece.content, piece.length);
    } else if (kind == 'U') {
      const Result<StagedBlock> block = decode_staged_block(rows.value());
      may_miss_names_ = may_miss_names_ || !block.ok();
      if (block.ok()) note(block->piece.content, block->piece.length);
    }
  }
  return rows.status();
}

/// An entity that cannot be decoded may have names.
Status OwnerRecount::add_table(format::TableId table) {
  const std::string prefix = format::encode_table(table);
  engine::Cursor rows = view_.cursor(prefix, format::end_of_prefix(prefix));
  std::vector<format::ContentReference> named;
  for (rows.seek_to_first(); rows.valid(); rows.next()) {
    named.clear();
    const bool is_read = add_large_values(rows.value(), named).ok();
    may_miss_names_ = may_miss_names_ || !is_read;
    for (const format::ContentReference& each : named) {
      Names& names = names_[each.content];
      ++names.count;
      names.length = each.length;
    }
  }
  return rows.status();
}

Result<OwnerRecount::Rows> OwnerRecount::finish() {
  if (Status read = read_heads(); !read.ok()) return read;
  for (const Head& found : heads_) {
    if (found.head.kind != ContentKind::kList) continue;
    if (Status added = add_list(found); !added.ok()) return added;
  }
  Rows rows;
  for (const Head& found : heads_) {
    if (Status added = add_mended(found, rows); !added.ok()) return added;
  }
  if (Status found = find_empty_values(); !found.ok()) return found;
  for (const ContentId content : headless_) {
    if (Status added = add_headless(content, rows); !added.ok()) return added;
  }
  return rows;
}

Status OwnerRecount::read_heads() {
  const std::string prefix = format::encode_table(contents_);
  engine::Cursor rows = view_.cursor(prefix, format::end_of_prefix(prefix));
  rows.leave_values();
  for (rows.seek_to_first(); rows.valid();) {
    const Result<ContentPlace> place = decode_content_key(rows.key());
    if (!place.ok()) {
      rows.next();
      continue;
    }
    if (!place->offset && rows.has_value()) {
      const Result<ContentHead> head = decode_content_head(rows.value());
      if (head.ok()) heads_.push_back({place->content, *head});
    }
    if (place->offset) headless_.push_back(place->content);  // A head comes before the parts.
    rows.seek(format::end_of_prefix(content_prefix(contents_, place->content)));
  }
  return rows.status();
}

/// Parts that are lost have no names. A removal of the list passes over them too.
Status OwnerRecount::add_list(const Head& list) {
  const Result<std::uint64_t> done = entries_let_go(list.content);
  if (!done.ok()) return done.status();
  for (std::uint64_t first = 0; first < list.head.length; first += kListEntriesOfPart) {
    const auto part = view_.get(content_part_key(contents_, list.content, first));
    if (!part.ok()) return part.status();
    if (!*part) continue;
    const Result<std::string_view> bytes = decode_part(list.content, first, (*part)->value);
    const Result<std::vector<ListEntry>> entries =
        bytes.ok() ? decode_list_entries(*bytes) : Result<std::vector<ListEntry>>(bytes.status());
    may_miss_names_ = may_miss_names_ || !entries.ok();
    if (!entries.ok()) continue;
    for (std::size_t i = 0; i < entries->size(); ++i) {
      if (first + i >= *done) note((*entries)[i].content, (*entries)[i].length);
    }
  }
  return Status();
}

Result<std::uint64_t> OwnerRecount::entries_let_go(ContentId list) const {
  const auto row = view_.get(work_of(WorkKind::kLeaving, list));
  if (!row.ok()) return row.status();
  if (!*row) return std::uint64_t{0};
  Result<std::uint64_t> done = decode_work((*row)->value);
  return done.ok() ? done : Result<std::uint64_t>(std::uint64_t{0});
}

Status OwnerRecount::add_mended(const Head& found, Rows& rows) const {
  const auto named = names_.find(found.content);
  std::uint32_t owners = named == names_.end() ? 0 : named->second.count;
  if (may_miss_names_) owners = std::max(owners, found.head.owners);
  if (owners != found.head.owners) {
    ContentHead head = found.head;
    head.owners = owners;
    rows.emplace_back(content_head_key(contents_, found.content), encode_content_head(head));
  }
  if (found.head.kind == ContentKind::kGrowing && named != names_.end()) {
    if (Status added = add_unreached(found.content, rows); !added.ok()) return added;
  }
  if (owners > 0) return Status();
  const Result<bool> leaves = has_work(WorkKind::kLeaving, found.content);
  if (!leaves.ok()) return leaves.status();
  if (!*leaves) rows.emplace_back(work_of(WorkKind::kLeaving, found.content), encode_work());
  return Status();
}

/// Each part ends where an append ended, and so does the reach. A row that cannot be decoded reads no part.
Status OwnerRecount::add_unreached(ContentId content, Rows& rows) const {
  engine::Cursor parts = view_.cursor(content_part_key(contents_, content, names_.at(content).reach),
                                      format::end_of_prefix(content_prefix(contents_, content)));
  parts.leave_values();
  for (parts.seek_to_first(); parts.valid(); parts.next()) rows.emplace_back(parts.key(), std::nullopt);
  return parts.status();
}

/// A value without a byte has no row but its head.
Status OwnerRecount::find_empty_values() {
  std::vector<ContentId> empty;
  for (const auto& [content, names] : names_) {
    if (names.length == 0) empty.push_back(content);
  }
  std::sort(empty.begin(), empty.end());
  for (const ContentId content : empty) {
    const auto head = view_.get(content_head_key(contents_, content));
    if (!head.ok()) return head.status();
    if (!*head) headless_.push_back(content);
  }
  return Status();
}

/// Only an entity says what its content was. A blob may name a plain content, a list or a growing content.
Status OwnerRecount::add_headless(ContentId content, Rows& rows) const {
  const auto named = names_.find(content);
  if (named == names_.end()) return may_miss_names_ ? Status() : add_orphan(content, rows);
  const Names& names = named->second;
  if (!names.length) return Status();
  const Result<std::optional<std::uint64_t>> crc64 = crc64_of(content, *names.length);
  if (!crc64.ok()) return crc64.status();
  rows.emplace_back(content_head_key(contents_, content),
                    encode_content_head({ContentKind::kValue, names.count, *names.length, *crc64}));
  return Status();
}

/// Lets the parts be removed, unless a row of work leads to them.
Status OwnerRecount::add_orphan(ContentId content, Rows& rows) const {
  for (const WorkKind kind : {WorkKind::kFilling, WorkKind::kLeaving}) {
    const Result<bool> has = has_work(kind, content);
    if (!has.ok()) return has.status();
    if (*has) return Status();
  }
  rows.emplace_back(work_of(WorkKind::kLeaving, content), encode_work());
  return Status();
}

/// Returns the CRC-64 of a value's parts, or nothing if one of them is damaged or missing.
Result<std::optional<std::uint64_t>> OwnerRecount::crc64_of(ContentId content, std::uint64_t length) const {
  const std::optional<std::uint64_t> none;
  format::Crc64 crc64;
  for (std::uint64_t offset = 0; offset < length;) {
    const auto part = view_.get(content_part_key(contents_, content, offset));
    if (part.code() == Code::kCorruption) return none;
    if (!part.ok()) return part.status();
    if (!*part) return none;
    const Result<std::string_view> bytes = decode_part(content, offset, (*part)->value);
    if (!bytes.ok() || bytes->empty() || bytes->size() > length - offset) return none;
    crc64.update(*bytes);
    offset += bytes->size();
  }
  return std::optional(crc64.value());
}

Result<bool> OwnerRecount::has_work(WorkKind kind, ContentId content) const {
  const auto row = view_.get(work_of(kind, content));
  if (!row.ok()) return row.status();
  return row->has_value();
}

std::string OwnerRecount::work_of(WorkKind kind, ContentId content) const {
  return work_key({kind, content, format::account_of(contents_)});
}

}  // namespace varve

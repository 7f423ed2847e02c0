// Owns: the walks of a recount (owner_recount.h).
// Must never: read the parts of a plain content.
#include "api/blob/owner_recount.h"

#include <algorithm>

#include "api/blob/blob_rows.h"
#include "api/blob/large_values.h"
#include "api/catalog/work_rows.h"
#include "engine/read/cursor.h"

namespace varve {

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
      for (const ContentPiece& piece : blob->pieces) ++names_[piece.content];
    } else if (kind == 'U') {
      const Result<ContentPiece> block = decode_staged_block(rows.value());
      may_miss_names_ = may_miss_names_ || !block.ok();
      if (block.ok()) ++names_[block->content];
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
    for (const format::ContentReference& each : named) ++names_[each.content];
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
      if (first + i >= *done) ++names_[(*entries)[i].content];
    }
  }
  return Status();
}

Result<std::uint64_t> OwnerRecount::entries_let_go(ContentId list) const {
  const auto row = view_.get(work_key({WorkKind::kLeaving, list, format::account_of(contents_)}));
  if (!row.ok()) return row.status();
  if (!*row) return std::uint64_t{0};
  Result<std::uint64_t> done = decode_work((*row)->value);
  return done.ok() ? done : Result<std::uint64_t>(std::uint64_t{0});
}

Status OwnerRecount::add_mended(const Head& found, Rows& rows) const {
  const auto named = names_.find(found.content);
  std::uint32_t owners = named == names_.end() ? 0 : named->second;
  if (may_miss_names_) owners = std::max(owners, found.head.owners);
  if (owners != found.head.owners) {
    ContentHead head = found.head;
    head.owners = owners;
    rows.emplace_back(content_head_key(contents_, found.content), encode_content_head(head));
  }
  if (owners > 0) return Status();
  const std::string work = work_key({WorkKind::kLeaving, found.content, format::account_of(contents_)});
  const auto row = view_.get(work);
  if (!row.ok()) return row.status();
  if (!*row) rows.emplace_back(work, encode_work());
  return Status();
}

}  // namespace varve

// Owns: the parts of the work (left_work.h).
// Must never: change a row of which another commit may still add a part.
#include "api/blob/left_work.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "api/blob/blob_rows.h"
#include "api/blob/content_owners.h"
#include "api/blob/large_values.h"
#include "api/catalog/catalog_rows.h"
#include "api/catalog/row_change.h"
#include "api/commit/commit.h"
#include "engine/read/cursor.h"
#include "format/keys/batch.h"

namespace varve {
namespace {

constexpr std::size_t kRowsAtOnce = 256;
constexpr std::size_t kOwnersAtOnce = 64;

Refusal was_done(const engine::Newest& row) {
  return {Status(Code::kConflict, "others did this work"), row.version};
}

/// Commits what `judge` adds, if the work row is still there with the same content.
template <typename Judge>
Result<bool> commit_part(Backend& backend, const std::string& row_key, std::optional<std::uint64_t> done,
                         const std::vector<std::string>& more_keys, std::vector<format::TableId> tables, Judge judge,
                         std::span<const std::string> locks = {}) {
  std::vector<std::string> keys{row_key};
  keys.insert(keys.end(), more_keys.begin(), more_keys.end());
  RowChange change(std::move(keys), [&](const auto& /*view*/, auto rows, format::BatchBuilder& batch) -> Refusal {
    const engine::Newest& row = rows[0];
    if (!row.value) return was_done(row);
    if (done) {
      const Result<std::uint64_t> present = decode_work(*row.value);
      if (!present.ok()) return present.status();
      if (*present != *done) return was_done(row);
    }
    return judge(rows.subspan(1), batch);
  });
  for (const std::string& lock : locks) change.lock(format::partition_of(lock));
  change.request.tables = std::move(tables);
  change.request.durability = Durability::kBuffered;
  change.request.frees_space = true;
  const Result<engine::CommitVersion> version = commit(backend, change);
  if (!version.ok()) return version.status();
  return true;
}

/// Returns the keys of the first rows of a content.
Result<std::vector<std::string>> first_keys(const engine::ReadView& view, const std::string& prefix) {
  engine::Cursor cursor = view.cursor(prefix, format::end_of_prefix(prefix));
  cursor.leave_values();  // Reading what is about to be removed would cost as much as the content.
  std::vector<std::string> keys;
  for (cursor.seek_to_first(); cursor.valid() && keys.size() < kRowsAtOnce; cursor.next()) {
    keys.emplace_back(cursor.key());
  }
  if (!cursor.status().ok() && keys.empty()) return cursor.status();
  return keys;
}

Status add_contents_of_entity(std::string_view value, std::vector<ContentId>& contents) {
  std::vector<format::ContentReference> named;
  if (Status read = add_large_values(value, named); !read.ok()) return read;
  for (const format::ContentReference& each : named) contents.push_back(each.content);
  return Status();
}

/// Adds the contents that a row of a container, or an entity, names.
Status add_contents(std::string_view key, format::CommitVersion version, std::string_view value,
                    std::vector<ContentId>& contents) {
  if (has_large_values(format::table_id_of(key))) return add_contents_of_entity(value, contents);
  const char kind = blob_row_kind(key);
  if (kind == 'B') {
    const Result<BlobRow> row = decode_blob_row(version, value);
    if (!row.ok()) return row.status();
    for (const ContentPiece& piece : row->pieces) contents.push_back(piece.content);
  } else if (kind == 'U') {
    const Result<ContentPiece> block = decode_staged_block(value);
    if (!block.ok()) return block.status();
    contents.push_back(block->content);
  }
  return Status();
}

Status add_contents_of(const engine::ReadView& view, const engine::Cursor& at, std::vector<ContentId>& contents) {
  if (at.has_value()) return add_contents(at.key(), at.version(), at.value(), contents);
  const auto found = view.get(at.key());
  if (!found.ok()) return found.status();
  if (!*found) return Status::corruption("a row of a container or table is missing");
  return add_contents(at.key(), at.version(), (*found)->value, contents);
}

}  // namespace

/// Rows of a container or a table that one commit removes, the contents that they name, and the error of a row that was
/// left out.
struct RowsToRelease {
  std::vector<std::string> keys;
  std::vector<ContentId> contents;
  Status failure;

  /// Gathers rows from `from` on that can be read.
  static RowsToRelease gather(const engine::ReadView& view, const std::string& from, const std::string& end,
                              std::size_t at_once) {
    RowsToRelease rows;
    engine::Cursor cursor = view.cursor(from, end);
    cursor.leave_values();
    for (cursor.seek_to_first(); cursor.valid() && rows.keys.size() < at_once; cursor.next()) {
      if (rows.contents.size() >= kOwnersAtOnce) break;
      const Status added = add_contents_of(view, cursor, rows.contents);
      if (added.ok()) rows.keys.emplace_back(cursor.key());
      if (rows.failure.ok()) rows.failure = added;
    }
    if (rows.failure.ok()) rows.failure = cursor.status();
    return rows;
  }
};

Result<bool> LeftWork::do_part(const Work& work, std::string_view value) {
  if (work.kind == WorkKind::kExpiry) return expire(work, value);
  const Result<std::uint64_t> done = decode_work(value);
  if (!done.ok()) return done.status();
  switch (work.kind) {
    case WorkKind::kFilling: return board_.is_filling(work.subject) ? Result<bool>(false) : remove_rows(work);
    case WorkKind::kLeaving: return remove_leaving(work, *done);
    case WorkKind::kStaged: return release_rows(work, work.owner, staged_blocks_prefix(work.owner, work.subject));
    case WorkKind::kContainer:
    case WorkKind::kTable: return release_rows(work, work.subject, format::encode_table(work.subject));
    case WorkKind::kExpiry: break;
  }
  return false;
}

Result<bool> LeftWork::forget(const Work& work) {
  return commit_part(backend_, work_key(work), std::nullopt, {}, {},
                     [&](auto /*rows*/, format::BatchBuilder& batch) -> Refusal {
                       batch.remove(work_key(work));
                       const bool has_id = work.kind == WorkKind::kContainer || work.kind == WorkKind::kTable;
                       if (has_id) batch.retire_table(work.subject);
                       return {};
                     });
}

Result<bool> LeftWork::remove_rows(const Work& work) {
  const format::TableId contents = contents_of_account(static_cast<std::uint32_t>(work.owner));
  const Result<std::vector<std::string>> keys = first_keys(backend_.view(), content_prefix(contents, work.subject));
  if (!keys.ok()) return keys.status();
  if (keys->empty()) return forget(work);
  const std::string lock = content_head_key(contents, work.subject);
  return commit_part(backend_, work_key(work), std::nullopt, {}, {contents},
                     [&](auto /*rows*/, format::BatchBuilder& batch) -> Refusal {
                       for (const std::string& key : *keys) batch.remove(key);
                       return {};
                     },
                     {&lock, 1});
}

Result<bool> LeftWork::remove_leaving(const Work& work, std::uint64_t done) {
  const format::TableId contents = contents_of_account(static_cast<std::uint32_t>(work.owner));
  bool has_entries = false;
  {
    const engine::ReadView view = backend_.view();
    const auto head = view.get(content_head_key(contents, work.subject));
    if (!head.ok()) return head.status();
    if (*head) {
      const Result<ContentHead> decoded = decode_content_head((*head)->value);
      if (!decoded.ok()) return decoded.status();
      has_entries = decoded->kind == ContentKind::kList && done < decoded->length;
    }
  }
  return has_entries ? release_entries(work, done) : remove_rows(work);
}

Result<bool> LeftWork::release_entries(const Work& work, std::uint64_t done) {
  const format::TableId contents = contents_of_account(static_cast<std::uint32_t>(work.owner));
  const std::uint64_t part = done / kListEntriesOfPart * kListEntriesOfPart;
  const Result<std::vector<ListEntry>> entries = read_entries(contents, work.subject, part);
  if (!entries.ok()) return entries.status();
  const std::size_t first = static_cast<std::size_t>(done - part);
  const std::size_t end = std::min(entries->size(), first + kOwnersAtOnce);
  if (first >= end) return Status::corruption("a part of a list of blocks is too short");
  std::vector<ContentId> planned;
  for (std::size_t i = first; i < end; ++i) planned.push_back((*entries)[i].content);
  ContentOwners owners(contents, planned);
  return commit_part(backend_, work_key(work), done, owners.keys(), {contents},
                     [&](auto heads, format::BatchBuilder& batch) -> Refusal {
                       for (const ContentId content : planned) owners.add(content, -1);
                       const Result<bool> settled = owners.settle(heads, batch);
                       if (!settled.ok()) return settled.status();
                       batch.put(work_key(work), encode_work(done + (end - first)));
                       return {};
                     });
}

Result<std::vector<ListEntry>> LeftWork::read_entries(format::TableId contents, ContentId list, std::uint64_t part) {
  const engine::ReadView view = backend_.view();
  const auto found = view.get(content_part_key(contents, list, part));
  if (!found.ok()) return found.status();
  if (!*found) return Status::corruption("a part of a list of blocks is missing");
  const Result<std::string_view> bytes = decode_part(list, part, (*found)->value);
  if (!bytes.ok()) return bytes.status();
  return decode_list_entries(*bytes);
}

Result<bool> LeftWork::release_rows(const Work& work, format::TableId container, const std::string& prefix) {
  const std::string end = format::end_of_prefix(prefix);
  std::string from = prefix;
  std::size_t at_once = kOwnersAtOnce;
  Status failure;
  for (;;) {
    const RowsToRelease rows = RowsToRelease::gather(backend_.view(), from, end, at_once);
    if (failure.ok()) failure = rows.failure;
    if (rows.keys.empty()) return failure.ok() ? forget(work) : Result<bool>(failure);
    Result<bool> released = release(work, contents_of(container), rows);
    if (released.ok() || released.code() != Code::kCorruption) return released;
    // A content of one of the rows is damaged. Each row is tried by itself, and that row stays.
    if (rows.keys.size() == 1) {
      if (failure.ok()) failure = released.status();
      from = rows.keys.front() + '\0';
    }
    at_once = 1;
  }
}

Result<bool> LeftWork::release(const Work& work, format::TableId contents, const RowsToRelease& rows) {
  ContentOwners owners(contents, rows.contents);
  return commit_part(
      backend_, work_key(work), std::nullopt, owners.keys(), {contents},
      [&](auto heads, format::BatchBuilder& batch) -> Refusal {
        for (const ContentId content : rows.contents) owners.add(content, -1);
        for (const std::string& key : rows.keys) batch.remove(key);
        const Result<bool> settled = owners.settle(heads, batch);
        return settled.ok() ? Refusal() : Refusal(settled.status());
      },
      rows.keys);
}

Result<bool> LeftWork::expire(const Work& work, std::string_view value) {
  const Ticks now = backend_.time();
  if (work.subject + kStagedTime > now) return false;
  const Result<StagedPlace> place = decode_expiry(value);
  if (!place.ok()) return place.status();
  const std::string list_key = staged_list_key(place->container, place->name);
  return commit_part(backend_, work_key(work), std::nullopt, {list_key}, {},
                     [&](auto rows, format::BatchBuilder& batch) -> Refusal {
                       batch.remove(work_key(work));
                       if (!rows[0].value) return {};
                       const Result<StagedList> list = decode_staged_list(*rows[0].value);
                       if (!list.ok()) return list.status();
                       if (list->generation != work.owner) return {};
                       if (list->last + kStagedTime > now) {
                         batch.put(work_key({WorkKind::kExpiry, list->last, work.owner}), encode_expiry(*place));
                         return {};
                       }
                       batch.remove(list_key);
                       batch.put(work_key({WorkKind::kStaged, list->generation, place->container}), encode_work());
                       return {};
                     });
}

}  // namespace varve

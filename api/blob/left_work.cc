// Owns: the parts of the work (left_work.h).
// Must never: change a row of which another commit may still add a part, or remove a content that has an owner.
#include "api/blob/left_work.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "api/blob/blob_rows.h"
#include "api/blob/content_owners.h"
#include "api/blob/content_rows.h"
#include "api/blob/large_values.h"
#include "api/blob/row_walk.h"
#include "api/catalog/catalog_rows.h"
#include "api/catalog/row_change.h"
#include "api/commit/commit.h"
#include "engine/read/cursor.h"
#include "format/keys/batch.h"

namespace varve {
namespace {

constexpr std::size_t kRowsAtOnce = 256;
constexpr std::size_t kOwnersAtOnce = 64;
/// Commits that one part tries, because a store that closes waits for the part.
constexpr int kTriesOfPart = 16;

bool reports_damage(const Status& status) noexcept {
  return status.code() == Code::kCorruption || status.code() == Code::kUnsupported;
}

void note_first(Status& damage, const Status& status) {
  if (damage.ok()) damage = status;
}

Refusal was_done(const engine::Newest& row) {
  return {Status(Code::kConflict, "others did this work"), row.version};
}

/// Whether a commit may use the space that is kept for drops. A removal of rows may not: it frees space only after a
/// merge, and it could use all of that space.
enum class Space : std::uint8_t { kCommon, kOfDrops };

/// A part of work, as one commit.
struct WorkPart {
  std::string row_key;
  /// What the work row must still say.
  std::optional<std::uint64_t> done{};
  /// Rows that the judge sees besides the work row.
  std::vector<std::string> more_keys{};
  std::vector<format::TableId> tables{};
  /// Keys of other rows that the commit changes.
  std::span<const std::string> locks{};
  Space space = Space::kCommon;
};

/// Commits what `judge` adds, if the work row is still there with the same content.
template <typename Judge>
Result<bool> commit_part(Backend& backend, WorkPart part, Judge judge) {
  std::vector<std::string> keys{std::move(part.row_key)};
  keys.insert(keys.end(), part.more_keys.begin(), part.more_keys.end());
  RowChange change(std::move(keys), [&](const auto& /*view*/, auto rows, format::BatchBuilder& batch) -> Refusal {
    const engine::Newest& row = rows[0];
    if (!row.value) return was_done(row);
    if (part.done) {
      const Result<std::uint64_t> present = decode_work(*row.value);
      if (!present.ok()) return present.status();
      if (*present != *part.done) return was_done(row);
    }
    return judge(rows.subspan(1), batch);
  });
  for (const std::string& lock : part.locks) change.lock(format::partition_of(lock));
  change.request.tables = std::move(part.tables);
  change.request.durability = Durability::kBuffered;
  change.request.frees_space = part.space == Space::kOfDrops;
  const Result<engine::CommitVersion> version = commit(backend, change);
  if (!version.ok()) return version.status();
  return true;
}

/// The keys of the first rows of a content, and whether there are no others.
struct FirstKeys {
  std::vector<std::string> keys;
  bool are_all = false;
};

Result<FirstKeys> first_keys(const engine::ReadView& view, const std::string& prefix) {
  // Reading the values of rows to be removed would cost as much as the content.
  RowWalk rows(view, prefix, format::end_of_prefix(prefix), true);
  FirstKeys first;
  for (; rows.valid() && first.keys.size() < kRowsAtOnce; rows.next()) first.keys.emplace_back(rows.row().key());
  if (!rows.failure().ok() && first.keys.empty()) return rows.failure();
  first.are_all = !rows.valid() && rows.failure().ok();
  return first;
}

/// Returns about how many bytes the parts among these rows of one content have. The offset of each part is the end of the
/// part before. That of the last one is not known, so it counts as a full part.
std::uint64_t bytes_of_parts(const std::vector<std::string>& keys) {
  std::optional<std::uint64_t> begin;
  std::uint64_t end = 0;
  for (const std::string& key : keys) {
    const Result<ContentPlace> place = decode_content_key(key);
    if (!place.ok() || !place->offset) continue;
    begin = std::min(begin.value_or(*place->offset), *place->offset);
    end = std::max(end, *place->offset + kPartBytes);
  }
  return begin ? end - *begin : 0;
}

/// Returns whether the head, if there is one, has owners. After a repair that lost a newer state of a work row, the row
/// may name a content that is in use.
Result<bool> has_owner(const engine::Newest& head) {
  if (!head.value) return false;
  const Result<ContentHead> decoded = decode_content_head(*head.value);
  if (!decoded.ok()) return decoded.status();
  return decoded->owners > 0;
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
    const Result<StagedBlock> block = decode_staged_block(value);
    if (!block.ok()) return block.status();
    contents.push_back(block->piece.content);
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

/// Rows of a container or a table that one commit removes, the contents that they name, and the error of rows that were
/// left out.
struct RowsToRelease {
  std::vector<std::string> keys;
  std::vector<ContentId> contents;
  Status failure;
  std::string next;     // where the rows after the gathered ones begin
  bool is_end = false;  // There are no others, or they cannot be read.

  /// Gathers rows from `from` on that can be read. They name at most kOwnersAtOnce contents, unless one row names more.
  static RowsToRelease gather(const engine::ReadView& view, const std::string& from, const std::string& end,
                              std::size_t at_once) {
    RowsToRelease rows;
    rows.next = from;
    RowWalk walk(view, from, end, true);
    for (std::size_t visited = 0; walk.valid(); walk.next(), ++visited) {
      if (rows.keys.size() == at_once || visited == kRowsAtOnce) break;
      std::vector<ContentId> named;
      const Status added = add_contents_of(view, walk.row(), named);
      if (!rows.keys.empty() && rows.contents.size() + named.size() > kOwnersAtOnce) break;
      rows.next.assign(walk.row().key()).push_back('\0');
      note_first(rows.failure, added);
      if (!added.ok()) continue;
      rows.keys.emplace_back(walk.row().key());
      rows.contents.insert(rows.contents.end(), named.begin(), named.end());
    }
    rows.is_end = !walk.valid();
    note_first(rows.failure, walk.failure());
    return rows;
  }
};

Result<bool> LeftWork::do_part(const Work& work, std::string_view value, Status& damage) {
  if (work.kind == WorkKind::kExpiry) return expire(work, value);
  const Result<std::uint64_t> done = decode_work(value);
  if (!done.ok()) return done.status();
  const format::TableId container = work.kind == WorkKind::kStaged ? work.owner : work.subject;
  switch (work.kind) {
    case WorkKind::kFilling: return board_.is_filling(work.subject) ? Result<bool>(false) : remove_rows(work);
    case WorkKind::kLeaving: return remove_leaving(work, *done, damage);
    case WorkKind::kStaged: return release_rows(work, container, staged_blocks_prefix(container, work.subject), damage);
    case WorkKind::kContainer:
    case WorkKind::kTable: return release_rows(work, container, format::encode_table(container), damage);
    case WorkKind::kExpiry: break;
  }
  return false;
}

Result<bool> LeftWork::end(const Work& work, Retires id) {
  const bool has_id = work.kind == WorkKind::kContainer || work.kind == WorkKind::kTable;
  const bool retires = has_id && id == Retires::kYes;
  return commit_part(backend_, {.row_key = work_key(work), .space = retires ? Space::kOfDrops : Space::kCommon},
                     [&](auto /*rows*/, format::BatchBuilder& batch) -> Refusal {
                       batch.remove(work_key(work));
                       if (retires) batch.retire_table(work.subject);
                       return {};
                     });
}

/// The work row goes with the last rows. If the content has an owner, the work row goes alone.
Result<bool> LeftWork::remove_rows(const Work& work) {
  const format::TableId contents = contents_of_account(static_cast<std::uint32_t>(work.owner));
  const Result<FirstKeys> first = first_keys(backend_.view(), content_prefix(contents, work.subject));
  if (!first.ok()) return first.status();
  return commit_part(
      backend_,
      {.row_key = work_key(work), .more_keys = {content_head_key(contents, work.subject)}, .tables = {contents}},
      [&](auto heads, format::BatchBuilder& batch) -> Refusal {
        const Result<bool> is_owned = has_owner(heads[0]);
        if (!is_owned.ok()) return is_owned.status();
        if (*is_owned || first->are_all) batch.remove(work_key(work));
        if (*is_owned) return {};
        for (const std::string& key : first->keys) batch.remove(key);
        batch.let_go_of(bytes_of_parts(first->keys));
        return {};
      });
}

Result<bool> LeftWork::remove_leaving(const Work& work, std::uint64_t done, Status& damage) {
  const format::TableId contents = contents_of_account(static_cast<std::uint32_t>(work.owner));
  bool has_entries = false;
  {
    const engine::ReadView view = backend_.view();
    const auto head = view.get(content_head_key(contents, work.subject));
    if (!head.ok()) return head.status();
    if (*head) {
      const Result<ContentHead> decoded = decode_content_head((*head)->value);
      if (!decoded.ok()) return decoded.status();
      has_entries = decoded->owners == 0 && decoded->kind == ContentKind::kList && done < decoded->length;
    }
  }
  return has_entries ? release_entries(work, done, damage) : remove_rows(work);
}

/// Passes over entries that cannot be read, and over contents whose heads cannot be changed. These contents stay.
Result<bool> LeftWork::release_entries(const Work& work, std::uint64_t done, Status& damage) {
  const format::TableId contents = contents_of_account(static_cast<std::uint32_t>(work.owner));
  const std::uint64_t part = done / kListEntriesOfPart * kListEntriesOfPart;
  const auto first = static_cast<std::size_t>(done - part);
  const Result<std::vector<ListEntry>> entries = read_entries(contents, work.subject, part, first + 1);
  if (!entries.ok()) {
    if (!reports_damage(entries.status())) return entries.status();
    note_first(damage, entries.status());
    return pass_entries(work, done, part + kListEntriesOfPart);
  }
  std::span<const ListEntry> some(*entries);
  for (some = some.subspan(first, std::min(some.size() - first, kOwnersAtOnce));; some = some.first(some.size() / 2)) {
    const Result<bool> released = release_owners(work, done, some);
    if (released.ok() || !reports_damage(released.status())) return released;
    if (some.size() > 1) continue;
    note_first(damage, released.status());
    return pass_entries(work, done, done + 1);
  }
}

Result<bool> LeftWork::release_owners(const Work& work, std::uint64_t done, std::span<const ListEntry> entries) {
  const format::TableId contents = contents_of_account(static_cast<std::uint32_t>(work.owner));
  std::vector<ContentId> planned;
  for (const ListEntry& entry : entries) planned.push_back(entry.content);
  ContentOwners owners(contents, planned);
  return commit_part(backend_,
                     {.row_key = work_key(work), .done = done, .more_keys = owners.keys(), .tables = {contents}},
                     [&](auto heads, format::BatchBuilder& batch) -> Refusal {
                       for (const ContentId content : planned) owners.add(content, -1);
                       const Result<bool> settled = owners.settle(heads, batch);
                       if (!settled.ok()) return settled.status();
                       batch.put(work_key(work), encode_work(done + entries.size()));
                       return {};
                     });
}

Result<bool> LeftWork::pass_entries(const Work& work, std::uint64_t done, std::uint64_t to) {
  const format::TableId contents = contents_of_account(static_cast<std::uint32_t>(work.owner));
  return commit_part(backend_, {.row_key = work_key(work), .done = done, .tables = {contents}},
                     [&](auto /*rows*/, format::BatchBuilder& batch) -> Refusal {
                       batch.put(work_key(work), encode_work(to));
                       return {};
                     });
}

Result<std::vector<ListEntry>> LeftWork::read_entries(format::TableId contents, ContentId list, std::uint64_t part,
                                                      std::size_t least) {
  const engine::ReadView view = backend_.view();
  const auto found = view.get(content_part_key(contents, list, part));
  if (!found.ok()) return found.status();
  if (!*found) return Status::corruption("a part of a list of blocks is missing");
  const Result<std::string_view> bytes = decode_part(list, part, (*found)->value);
  if (!bytes.ok()) return bytes.status();
  Result<std::vector<ListEntry>> entries = decode_list_entries(*bytes);
  if (entries.ok() && entries->size() < least) return Status::corruption("a part of a list of blocks is too short");
  return entries;
}

Result<bool> LeftWork::release_rows(const Work& work, format::TableId container, const std::string& prefix,
                                    Status& damage) {
  std::string key = work_key(work);
  const auto known = passed_.find(key);
  Passed passed = known == passed_.end() ? Passed{prefix} : known->second;
  Result<bool> done = release_from(passed, work, container, prefix);
  note_first(damage, passed.damage);
  if (passed.is_over) {
    passed_.erase(key);
  } else {
    passed_.insert_or_assign(std::move(key), std::move(passed));
  }
  return done;
}

/// If a content of the rows is damaged, or their commit is too large, fewer rows are tried. A row that is tried alone, and
/// fails, stays.
Result<bool> LeftWork::release_from(Passed& passed, const Work& work, format::TableId container,
                                    const std::string& prefix) {
  const std::string end = format::end_of_prefix(prefix);
  std::size_t at_once = kOwnersAtOnce;
  for (int tries = 0; tries < kTriesOfPart; ++tries) {
    const RowsToRelease rows = RowsToRelease::gather(backend_.view(), passed.from, end, at_once);
    note_first(passed.damage, rows.failure);
    if (rows.keys.empty()) {
      if (rows.is_end) return passed.damage.ok() ? end_rows(passed, work, prefix) : Result<bool>(false);
      passed.from = rows.next;
      continue;
    }
    // The end of a container or table retires its id, by a commit of its own.
    const bool are_all = passed.from == prefix && rows.is_end && passed.damage.ok();
    const bool ends_work = are_all && work.kind == WorkKind::kStaged;
    Result<bool> released = release(work, contents_of(container), rows, ends_work);
    if (released.ok()) passed = {rows.next, passed.damage, ends_work};
    const bool are_too_many = released.code() == Code::kTooLarge;
    if (released.ok() || !(are_too_many || reports_damage(released.status()))) return released;
    if (rows.keys.size() == 1) {
      note_first(passed.damage, released.status());
      passed.from = rows.next;
    }
    at_once = std::max<std::size_t>(1, rows.keys.size() / 2);
  }
  return true;
}

/// Ends the work if no row is left. The last look begins at the first row.
Result<bool> LeftWork::end_rows(Passed& passed, const Work& work, const std::string& prefix) {
  if (passed.from != prefix) {
    passed.from = prefix;
    return true;
  }
  Result<bool> ended = end(work, Retires::kYes);
  passed.is_over = ended.ok();
  return ended;
}

Result<bool> LeftWork::release(const Work& work, format::TableId contents, const RowsToRelease& rows, bool ends_work) {
  ContentOwners owners(contents, rows.contents);
  return commit_part(backend_,
                     {.row_key = work_key(work), .more_keys = owners.keys(), .tables = {contents}, .locks = rows.keys},
                     [&](auto heads, format::BatchBuilder& batch) -> Refusal {
                       for (const ContentId content : rows.contents) owners.add(content, -1);
                       for (const std::string& key : rows.keys) batch.remove(key);
                       if (ends_work) batch.remove(work_key(work));
                       const Result<bool> settled = owners.settle(heads, batch);
                       return settled.ok() ? Refusal() : Refusal(settled.status());
                     });
}

Result<bool> LeftWork::expire(const Work& work, std::string_view value) {
  const Ticks now = backend_.time();
  if (work.subject + staged_time_ > now) return false;
  const Result<StagedPlace> place = decode_expiry(value);
  if (!place.ok()) return place.status();
  const std::string list_key = staged_list_key(place->container, place->name);
  return commit_part(backend_, {.row_key = work_key(work), .more_keys = {list_key}},
                     [&](auto rows, format::BatchBuilder& batch) -> Refusal {
                       batch.remove(work_key(work));
                       if (!rows[0].value) return {};
                       const Result<StagedList> list = decode_staged_list(*rows[0].value);
                       if (!list.ok()) return list.status();
                       if (list->generation != work.owner) return {};
                       if (list->last + staged_time_ > now) {
                         batch.put(work_key({WorkKind::kExpiry, list->last, work.owner}), encode_expiry(*place));
                         return {};
                       }
                       batch.remove(list_key);
                       batch.put(work_key({WorkKind::kStaged, list->generation, place->container}), encode_work());
                       return {};
                     });
}

}  // namespace varve

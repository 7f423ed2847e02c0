// Owns: the check of blobs (blob_check.h).
// Must never: accept a content with a gap.
#include "api/blob/blob_check.h"

#include <utility>
#include <vector>

#include "api/blob/large_values.h"
#include "engine/read/cursor.h"
#include "format/bytes/bytes.h"
#include "format/bytes/checksum.h"

namespace varve {
namespace {

std::uint64_t hash_of(ContentId content) {
  char bytes[8];
  format::store_u64(bytes, content);
  return format::content_hash({bytes, sizeof bytes});
}

Status broken(std::string_view what) {
  return Status::corruption(what);
}

}  // namespace

Status BlobCheck::visit_work(std::string_view key, std::string_view value) {
  const Result<Work> work = decode_work_key(key);
  if (!work.ok()) return work.status();
  if (work->kind == WorkKind::kExpiry) return decode_expiry(value).status();
  const Result<std::uint64_t> done = decode_work(value);
  note_work(*work, done.ok() ? std::optional(*done) : std::nullopt);
  return done.status();
}

void BlobCheck::note_unread_work(std::string_view key) {
  const Result<Work> work = decode_work_key(key);
  if (work.ok()) note_work(*work, std::nullopt);
}

/// `done` is unknown if the row cannot be read.
void BlobCheck::note_work(const Work& work, std::optional<std::uint64_t> done) {
  if (work.kind == WorkKind::kFilling) filling_.insert(work.subject);
  if (work.kind == WorkKind::kLeaving) leaving_[work.subject] = done.value_or(0);
  if (work.kind == WorkKind::kLeaving && !done) incomplete_.insert(static_cast<std::uint32_t>(work.owner));
  if (work.kind == WorkKind::kContainer) add_container(work.subject);
  if (work.kind == WorkKind::kTable) leaving_tables_.insert(work.subject);
}

Status BlobCheck::name(format::TableId container, ContentId content, std::uint64_t length, Taken taken) {
  const std::uint32_t account = format::account_of(container);
  const auto head = view_.get(content_head_key(contents_of(container), content));
  if (!head.ok()) {
    incomplete_.insert(account);
    return head.status();
  }
  if (!*head) return broken("it names a content that is not there");
  balances_[account] += hash_of(content);
  const Result<ContentHead> decoded = decode_content_head((*head)->value);
  if (!decoded.ok()) return Status();  // A damaged head is found as a row.
  const bool is_value = decoded->kind == ContentKind::kValue;
  const bool is_list = decoded->kind == ContentKind::kList;
  if (is_value != (taken == Taken::kValue) || is_list != (taken == Taken::kList)) {
    return broken("it names a content of another kind");
  }
  if (decoded->kind == ContentKind::kGrowing) {
    const bool is_there = may_reach(contents_of(container), content, length);
    return is_there ? Status() : broken("it names more bytes than a content that grows has");
  }
  if (is_list) return Status();
  return decoded->length == length ? Status() : broken("it names another length than its content has");
}

bool BlobCheck::may_reach(format::TableId contents, ContentId content, std::uint64_t length) const {
  if (length == 0) return true;
  const std::string prefix = content_prefix(contents, content);
  engine::Cursor rows = view_.cursor(prefix, format::end_of_prefix(prefix));
  rows.leave_values();
  rows.seek_before(content_part_key(contents, content, length));
  if (!rows.valid()) return !rows.status().ok();
  const Result<ContentPlace> last = decode_content_key(rows.key());
  if (!last.ok()) return true;
  if (!last->offset) return false;
  std::optional<std::uint64_t> stored;
  if (rows.has_value()) {
    stored = rows.value().size();
  } else if (const auto place = view_.locate(rows.key()); place.ok() && *place) {
    stored = (*place)->bytes;
  }
  const std::optional<std::size_t> bytes = stored ? part_bytes_of(*stored) : std::nullopt;
  return !bytes || *last->offset + *bytes >= length;
}

Status BlobCheck::visit_entity(std::string_view key, std::string_view value) {
  std::vector<format::ContentReference> named;
  if (!add_large_values(value, named).ok()) {
    note_unread_entity(key);
    return Status();
  }
  Status first;
  for (const format::ContentReference& each : named) {
    const Status checked = name(format::table_id_of(key), each.content, each.length, Taken::kValue);
    if (first.ok()) first = checked;
  }
  return first;
}

Status BlobCheck::visit_row(std::string_view key, format::CommitVersion version, std::string_view value) {
  switch (blob_row_kind(key)) {
    case 'B': return visit_blob(key, version, value);
    case 'H': return visit_staged_list(key, value);
    case 'U': {
      const Result<StagedBlock> block = decode_staged_block(value);
      if (!block.ok()) note_unread_row(key);
      const Status named =
          block.ok() ? name(format::table_id_of(key), block->piece.content, block->piece.length) : block.status();
      const Result<std::string> id = decode_staged_key(key);
      return id.ok() ? named : id.status();
    }
    default: return broken("a row of a container has an unknown kind");
  }
}

Status BlobCheck::visit_blob(std::string_view key, format::CommitVersion version, std::string_view value) {
  ++blobs_;
  const Result<BlobRow> row = decode_blob_row(version, value);
  if (!row.ok()) note_unread_row(key);
  Status failure = row.status();
  const bool has_content = row.ok() && row->pieces.empty();
  if (has_content && row->crc64 && *row->crc64 != format::crc64(row->inlined)) {
    failure = broken("a blob does not match its CRC-64");
  }
  for (std::size_t i = 0; row.ok() && i < row->pieces.size(); ++i) {
    const ContentPiece& piece = row->pieces[i];
    const Taken taken = row->is_list || i < row->lists ? Taken::kList : Taken::kBytes;
    const Status named = name(format::table_id_of(key), piece.content, piece.length, taken);
    if (failure.ok()) failure = named;
  }
  const Result<std::string> blob = decode_named_key(key);
  if (!blob.ok()) return blob.status();
  const Status legal = check_blob_name(*blob);
  return legal.ok() ? failure : legal;
}

Status BlobCheck::visit_staged_list(std::string_view key, std::string_view value) {
  const Result<StagedList> list = decode_staged_list(value);
  if (!list.ok()) return list.status();
  const std::string prefix = staged_blocks_prefix(format::table_id_of(key), list->generation);
  engine::Cursor rows = view_.cursor(prefix, format::end_of_prefix(prefix));
  std::uint64_t blocks = 0;
  for (rows.seek_to_first(); rows.valid(); rows.next()) ++blocks;
  if (!rows.status().ok()) return rows.status();
  return blocks == list->count ? Status() : broken("a list of staged blocks has another count than there are blocks");
}

Status BlobCheck::begin_content(ContentId content) {
  Status before;
  if (present_ && present_->content != content) before = end_content();
  if (!present_) present_ = Present{content, std::nullopt, 0, 0};
  return before;
}

/// Notes that a row of the present content is damaged. The head comes first: without one, the row may be of a list.
void BlobCheck::note_damage(format::TableId contents) {
  present_->is_damaged = true;
  if (damaged_.size() < kDamagedKept) damaged_.insert(present_->content);
  const bool has_names = !present_->head || present_->head->kind == ContentKind::kList;
  if (has_names) incomplete_.insert(format::account_of(contents));
}

void BlobCheck::note_unread_row(std::string_view key) {
  incomplete_.insert(format::account_of(format::table_id_of(key)));
}

Status BlobCheck::note_unread_content(std::string_view key) {
  const Result<ContentPlace> place = decode_content_key(key);
  if (!place.ok()) return Status();
  const Status before = begin_content(place->content);
  note_damage(format::table_id_of(key));
  return before;
}

Status BlobCheck::visit_content(std::string_view key, std::string_view value, Status& before) {
  const Result<ContentPlace> place = decode_content_key(key);
  if (!place.ok()) return place.status();
  before = begin_content(place->content);
  const Status row = visit_content_row(format::account_of(format::table_id_of(key)), *place, value);
  if (row.code() == Code::kCorruption || row.code() == Code::kUnsupported) note_damage(format::table_id_of(key));
  return row;
}

Status BlobCheck::visit_content_row(std::uint32_t account, const ContentPlace& place, std::string_view value) {
  if (place.offset) return visit_part(account, *place.offset, value);
  const Result<ContentHead> head = decode_content_head(value);
  if (!head.ok()) return head.status();
  balances_[account] -= head->owners * hash_of(place.content);
  present_->head = *head;
  const bool has_end = head->owners != 0 || leaving_.count(place.content) != 0;
  return has_end ? Status() : broken("a content has no owner");
}

Status BlobCheck::visit_part(std::uint32_t account, std::uint64_t offset, std::string_view value) {
  Present& present = *present_;
  std::string room;
  const bool may_be_packed = !present.head || present.head->kind == ContentKind::kPlain;
  const Result<std::string_view> bytes = may_be_packed ? decode_any_part(present.content, offset, value, room)
                                                       : decode_part(present.content, offset, value);
  if (!bytes.ok()) return bytes.status();
  if (!present.head && !present.is_damaged) {
    if (filling_.count(present.content) != 0 || leaving_.count(present.content) != 0) return Status();
    return broken("a part of a content has no head");
  }
  if (present.head && present.head->kind == ContentKind::kList) return visit_entries(account, offset, *bytes);
  const bool may_have_gaps = leaving_.count(present.content) != 0 || present.is_damaged;
  if (offset != present.bytes && !may_have_gaps) return broken("a content has a gap");
  present.bytes += bytes->size();
  content_bytes_ += bytes->size();
  if (present.head && present.head->crc64) present.crc64.update(*bytes);
  return Status();
}

Status BlobCheck::visit_entries(std::uint32_t account, std::uint64_t first, std::string_view bytes) {
  Present& present = *present_;
  const Result<std::vector<ListEntry>> entries = decode_list_entries(bytes);
  if (!entries.ok()) return entries.status();
  const auto leaving = leaving_.find(present.content);
  const std::uint64_t done = leaving == leaving_.end() ? 0 : leaving->second;
  present.entries += entries->size();
  Status failure;
  for (std::size_t i = 0; i < entries->size(); ++i) {
    if (first + i < done) continue;
    const Status named = name(contents_of_account(account), (*entries)[i].content, (*entries)[i].length);
    if (failure.ok()) failure = named;
  }
  return failure;
}

Status BlobCheck::end_content() {
  const Present present = *std::exchange(present_, std::nullopt);
  if (!present.head || present.is_damaged || leaving_.count(present.content) != 0) return Status();
  const ContentHead& head = *present.head;
  const bool is_whole = head.kind == ContentKind::kGrowing ||
                        head.length == (head.kind == ContentKind::kList ? present.entries : present.bytes);
  if (!is_whole) return broken("a content is not as long as its head says");
  const bool has_sum = head.kind != ContentKind::kList && head.crc64;
  return has_sum && *head.crc64 != present.crc64.value() ? broken("a content does not match its CRC-64") : Status();
}

Status BlobCheck::end_contents() {
  return present_ ? end_content() : Status();
}

}  // namespace varve

// Owns: the commit of an append (append_change.h).
// Must never: make an append visible in parts, or give two appends one ETag.
#include "api/write/append_change.h"

#include <algorithm>
#include <utility>

#include "api/blob/append_lines.h"
#include "api/blob/blob_rows.h"
#include "api/model/guarded.h"
#include "api/model/service_error.h"
#include "api/write/blob_change.h"
#include "api/write/blob_checks.h"
#include "format/bytes/crc64.h"
#include "varve/limits.h"

namespace varve {
namespace {

/// Contents that the row of one blob names, before all but the last one are put into a list. A new one begins with each
/// append that was written in parts, and when the last one is shared with a copy. Earlier builds wrote rows with up to
/// 1,024.
constexpr std::size_t kPiecesMax = 512;
/// A list needs ids, and entries for appends have none.
constexpr std::string_view kIdOfListedAppend = "-";

Status position_differs(std::uint64_t length) {
  return Status(Code::kPreconditionFailed,
                "the blob has " + std::to_string(length) + " bytes, not as the condition says")
      .with_service_error("AppendPositionConditionNotMet");
}
Status would_be_longer(std::uint64_t length_max) {
  return Status(Code::kPreconditionFailed, "the blob would have more than " + std::to_string(length_max) + " bytes")
      .with_service_error("MaxBlobSizeConditionNotMet");
}
Status too_many_appends(std::uint32_t appends) {
  return Status(Code::kConflict, "the blob was made of " + std::to_string(appends) + " appends; begin another one")
      .with_service_error("BlockCountExceedsLimit");
}

Status admit_append(const BlobRow& row, std::uint64_t bytes, const AppendOptions& options, std::uint32_t appends_max) {
  if (options.position && *options.position != row.length) return position_differs(row.length);
  const bool is_too_long =
      options.length_max && (row.length > *options.length_max || bytes > *options.length_max - row.length);
  if (is_too_long) return would_be_longer(*options.length_max);
  if (row.length > limits::kBlobBytesMax || bytes > limits::kBlobBytesMax - row.length) {
    return service_error::request_body_too_large("the blob would have more bytes than a blob may have");
  }
  return row.appends < appends_max ? Status() : too_many_appends(row.appends);
}

/// Whether the last content of the row may grow: it is the blob's alone.
Result<bool> may_grow(const BlobDraft& draft) {
  if (draft.row->pieces.empty()) return false;
  const engine::Newest& state = draft.owners.head_of(draft.row->pieces.back().content, draft.heads);
  if (!state.value) return Status::corruption("a content that a blob names is missing");
  const Result<ContentHead> head = decode_content_head(*state.value);
  if (!head.ok()) return head.status();
  return head->kind == ContentKind::kGrowing && head->owners == 1;
}

/// The number of a list that an attempt may need, and its lock.
ContentId plan_list(const Container::State& container, const ResolvedTable& at, const BlobRow* row, BlobPlan& plan) {
  if (row == nullptr || row->pieces.size() < kPiecesMax) return 0;
  const ContentId list = container.core->backend().draw_tick();
  plan.locks.push_back(content_head_key(contents_of(at.id), list));
  return list;
}

/// Puts all contents of the row but its lists and the last one into a list. The list owns them instead of the blob, so the
/// counts of their owners stay.
void fold_pieces(BlobDraft& draft, ContentId list) {
  std::vector<ContentPiece>& pieces = draft.row->pieces;
  const auto first = pieces.begin() + draft.row->lists;
  std::vector<ListEntry> entries;
  std::uint64_t length = 0;
  for (auto piece = first; piece != pieces.end() - 1; ++piece) {
    entries.push_back({length, piece->content, piece->length, std::string(kIdOfListedAppend)});
    length += piece->length;
  }
  const format::TableId contents = contents_of(draft.container);
  draft.batch.put(content_head_key(contents, list), encode_content_head({ContentKind::kList, 1, entries.size(), {}}));
  draft.batch.put(content_part_key(contents, list, 0), encode_part(list, 0, encode_list_entries(entries)));
  *first = {list, length};
  pieces.erase(first + 1, pieces.end() - 1);
  ++draft.row->lists;
}

/// Makes room in the row for another content. `list` is planned, or zero.
Refusal make_room(BlobDraft& draft, ContentId list) {
  const BlobRow& row = *draft.row;
  if (row.pieces.size() < kPiecesMax) return {};
  if (row.lists + 1 >= row.pieces.size()) return draft.refuse(too_many_appends(row.appends));
  if (list == 0) return plan_again(draft.rests_on);
  fold_pieces(draft, list);
  return {};
}

/// Counts an append. A blob of an earlier build has no CRC-64 until it is written again.
void lengthen(BlobRow& row, std::uint64_t bytes, std::uint64_t crc64) {
  if (row.length == 0) {
    row.crc64 = crc64;
  } else if (row.crc64) {
    row.crc64 = format::joined_crc64(*row.crc64, crc64, bytes);
  }
  row.length += bytes;
  ++row.appends;
}

/// The numbers of the contents that an append may begin.
struct FreshContents {
  ContentId content = 0;
  ContentId list = 0;
};

/// Appends to one blob that one commit makes, in their order.
struct Appending {
  std::string_view blob;
  SharedAppend* first;
};

Durability durability_of(const Appending& appending) noexcept {
  Durability durability = Durability::kBuffered;
  for (const SharedAppend* each = appending.first; each != nullptr; each = each->next) {
    if (each->durability == Durability::kSync) durability = Durability::kSync;
  }
  return durability;
}

/// Adds to the batch what the bytes need at the end of the row's contents.
void add_bytes(BlobDraft& draft, BlobRow& row, bool grows, ContentId fresh, std::string_view bytes) {
  const format::TableId contents = contents_of(draft.container);
  if (!grows) {
    row.pieces.push_back({fresh, 0});
    draft.batch.put(content_head_key(contents, fresh), encode_content_head({ContentKind::kGrowing, 1, 0, {}}));
  }
  ContentPiece& tail = row.pieces.back();
  for (std::size_t at = 0; at < bytes.size(); at += kPartBytes) {
    const std::string_view part = bytes.substr(at, kPartBytes);
    draft.batch.put(content_part_key(contents, tail.content, tail.length),
                    encode_part(tail.content, tail.length, part));
    tail.length += part.size();
  }
}

/// The commit of appends to one blob. Each is judged as if those before it were committed.
class AppendsVerb {
 public:
  AppendsVerb(const Container::State& container, const Appending& appending) noexcept
      : container_(container), appending_(appending) {}

  Status plan(const ResolvedTable& at, const BlobRow* row, BlobPlan& plan) {
    last_ = nullptr;
    are_refused_ = false;
    for (const SharedAppend* each = appending_.first; each != nullptr; each = each->next) {
      plan.bytes += each->bytes.size();
    }
    fresh_ = {container_.core->backend().draw_tick(), plan_list(container_, at, row, plan)};
    plan.locks.push_back(content_head_key(contents_of(at.id), fresh_.content));
    return Status();
  }

  Refusal judge(BlobDraft& draft) {
    bool grows = false;
    std::string gathered;
    for (SharedAppend* each = appending_.first; each != nullptr; each = each->next) {
      each->outcome = admit_append_to(draft.row, draft.name, each->bytes.size(), *each->options, draft.now,
                                      container_.core->limits().blob_appends_max);
      if (!each->outcome.ok()) continue;
      if (last_ == nullptr) {
        const Result<bool> may = may_grow(draft);
        if (!may.ok()) return may.status();
        grows = *may;
        if (!grows) {
          if (Refusal refusal = make_room(draft, fresh_.list); refusal.is_refused()) return refusal;
        }
      }
      last_ = each;
      if (appending_.first->next != nullptr) gathered += each->bytes;
      take(*draft.row, *each);
    }
    are_refused_ = last_ == nullptr;
    if (are_refused_) return draft.refuse(appending_.first->outcome);
    BlobRow row = *draft.row;
    add_bytes(draft, row, grows, fresh_.content, appending_.first->next != nullptr ? gathered : last_->bytes);
    row.changed = 0;
    draft.replace(std::move(row));
    return {};
  }

  /// Settles all outcomes, after the commit has ended so.
  void end(const Result<BlobState>& written) const noexcept {
    if (written.ok()) {
      last_->block.etag = written->etag;
      return;
    }
    const Status& failure = written.status();
    const Status& refusal = appending_.first->outcome;
    if (are_refused_ && failure.code() == refusal.code() && failure.service_error() == refusal.service_error()) return;
    for (SharedAppend* each = appending_.first; each != nullptr; each = each->next) each->outcome = failure;
  }

 private:
  /// Each append has an ETag of its own, also one that no reader sees.
  void take(BlobRow& row, SharedAppend& append) {
    append.block.offset = row.length;
    lengthen(row, append.bytes.size(), append.crc64);
    append.block.append_count = row.appends;
    row.changed = container_.core->backend().draw_tick();
    append.block.etag = ETag::of_timestamp(DateTime{row.changed});
  }

  const Container::State& container_;
  const Appending& appending_;
  FreshContents fresh_;
  SharedAppend* last_ = nullptr;  // the last one that is admitted, whose ETag is that of the commit
  bool are_refused_ = false;
};

/// Commits the appends, and sets their outcomes. `check` may refuse the container, by its id. Returns the state of the blob
/// after the last one.
template <typename Check>
Result<BlobState> commit_appends(const Container::State& container, const Appending& appending, Check check) {
  AppendsVerb appends(container, appending);
  BlobVerb verb;
  verb.name = appending.blob;
  verb.durability = durability_of(appending);
  verb.touches = BlobVerb::Touches::kLast;
  verb.plan = [&](const ResolvedTable& at, const BlobRow* row, BlobPlan& plan) -> Status {
    if (Status checked = check(at.id); !checked.ok()) return checked;
    return appends.plan(at, row, plan);
  };
  verb.judge = [&](BlobDraft& draft) { return appends.judge(draft); };
  Result<BlobState> written = guarded([&] { return commit_blob(container, verb); });
  appends.end(written);
  return written;
}

/// Commits appends to a blob of any container.
void commit_group(const Container::State& container, const Appending& appending) {
  (void)commit_appends(container, appending, [](format::TableId /*container*/) { return Status(); });
}

/// Names the blob for the appends that wait beside each other.
std::string line_of(const Container::State& container, std::string_view blob) {
  std::string key = container.name.account;
  key.append("/").append(container.name.lower).append("/").append(blob);
  return key;
}

Refusal judge_written_append(BlobDraft& draft, const BlobWriter::State& writer, ContentId list) {
  const std::uint64_t bytes = writer.content.length();
  const Status admitted = admit_append_to(draft.row, draft.name, bytes, *writer.append, draft.now,
                                          writer.container->core->limits().blob_appends_max);
  if (!admitted.ok()) return draft.refuse(admitted);
  if (Refusal refusal = make_room(draft, list); refusal.is_refused()) return refusal;
  BlobRow row = *draft.row;
  row.pieces.push_back(writer.content.piece());
  lengthen(row, bytes, writer.content.crc64());
  row.changed = 0;
  draft.replace(std::move(row));
  return {};
}

}  // namespace

Status admit_append_to(std::optional<BlobRow>& row, std::string_view blob, std::uint64_t bytes,
                       const AppendOptions& options, Ticks now, std::uint32_t appends_max) {
  const ChangeNeeds needs{.lease = true, .kind = BlobKind::kAppend};
  const Status admitted = admit_change(row, blob, options.conditions, now, needs);
  return admitted.ok() ? admit_append(*row, bytes, options, appends_max) : admitted;
}

Result<AppendedBlock> append_to_blob(const Container::State& container, std::string_view blob, std::string_view bytes,
                                     const AppendOptions& options, Durability durability) {
  SharedAppend append{.bytes = bytes,
                      .options = &options,
                      .durability = durability,
                      .crc64 = format::crc64(bytes),
                      .outcome = {},
                      .block = {}};
  if (bytes.size() > AppendLines::kAppendBytesMax) {
    commit_group(container, {blob, &append});
  } else {
    AppendLines& lines = container.core->append_lines();
    const std::string line = line_of(container, blob);
    const AppendLines::Part part = lines.join(line, append);
    if (part.kind == AppendLines::Part::Kind::kAlone) commit_group(container, {blob, &append});
    if (part.kind == AppendLines::Part::Kind::kLeads) {
      commit_group(container, {blob, part.group->first()});
      lines.end(line, *part.group);
    }
  }
  if (!append.outcome.ok()) return append.outcome;
  return append.block;
}

Result<BlobState> append_written_content(BlobWriter::State& writer) {
  if (writer.content.length() == 0) return service_error::invalid_header_value("an append has at least one byte");
  if (writer.content.is_in_memory()) {
    SharedAppend append{.bytes = writer.content.pending(),
                        .options = &*writer.append,
                        .durability = writer.durability(),
                        .crc64 = writer.content.crc64(),
                        .outcome = {},
                        .block = {}};
    return commit_appends(*writer.container, {writer.name, &append},
                          [&](format::TableId container) { return writer.content.check_for(container); });
  }
  writer.content.end();
  ContentId list = 0;
  BlobVerb verb;
  verb.name = writer.name;
  verb.durability = writer.durability();
  verb.touches = BlobVerb::Touches::kNone;
  verb.plan = [&](const ResolvedTable& at, const BlobRow* row, BlobPlan& plan) {
    list = plan_list(*writer.container, at, row, plan);
    return writer.content.add_to(at.id, plan);
  };
  verb.judge = [&](BlobDraft& draft) { return judge_written_append(draft, writer, list); };
  Result<BlobState> written = commit_blob(*writer.container, verb);
  if (written.ok()) writer.content.has_owner();
  return written;
}

}  // namespace varve

// Owns: the stream of a content (content_writer.h).
// Must never: write a part before its work row.
#include "api/write/content_writer.h"

#include <algorithm>
#include <utility>

#include "api/catalog/row_change.h"
#include "api/catalog/work_rows.h"
#include "api/model/service_error.h"
#include "varve/limits.h"

namespace varve {
namespace {

/// A part is packed if that saves this part of it.
constexpr std::size_t kShrinksBy = 8;

}  // namespace

ContentWriter::ContentWriter(std::shared_ptr<StoreCore> core, format::TableId container, Inline in_row,
                             ContentKind kind)
    : core_(std::move(core)),
      contents_(contents_of(container)),
      in_row_(in_row),
      content_(core_->backend().draw_tick()),
      kind_(kind) {}

ContentWriter::~ContentWriter() {
  if (!core_ || !filling_) return;
  if (!core_->is_usable()) {  // A thread of the parent may have held the board's mutex when the process forked.
    filling_->abandon();
    return;
  }
  filling_.reset();
  if (has_rows_) core_->wake_blob_keeper();
}

Status ContentWriter::append(std::string_view bytes) {
  if (Status usable = check(); !usable.ok()) return usable;
  has_gap_ = true;  // Also when memory runs out, which leaves this function by an exception.
  failure_ = add(bytes);
  has_gap_ = !failure_.ok();
  return failure_;
}

Status ContentWriter::check() const {
  if (!failure_.ok()) return failure_;
  if (has_gap_) return Status(Code::kOutOfMemory, "memory ran out in an append to this content; write it again");
  return Status();
}

Status ContentWriter::add(std::string_view bytes) {
  if (bytes.size() > limits::kBlobBytesMax - length_) {
    return service_error::request_body_too_large("the content has more bytes than a blob may have");
  }
  while (!bytes.empty()) {
    const std::size_t taken = std::min(bytes.size(), kPartBytes - pending_.size());
    const std::size_t needed = pending_.size() + taken;
    // Never more than a part, unlike the string's own growth. A caller counts this memory.
    if (needed > pending_.capacity()) {
      const std::size_t grown = has_rows_ ? kPartBytes : 2 * pending_.capacity();
      pending_.reserve(std::min(kPartBytes, std::max(needed, grown)));
    }
    pending_.append(bytes.substr(0, taken));
    length_ += taken;
    bytes.remove_prefix(taken);
    if (pending_.size() < kPartBytes) continue;
    if (Status written = write_part(); !written.ok()) return written;
  }
  return Status();
}

Status ContentWriter::account_was_dropped() const {
  constexpr std::string_view kWhat = "the account was dropped while the content was written";
  return kind_ == ContentKind::kValue ? service_error::table_not_found(kWhat)
                                      : service_error::container_not_found(kWhat);
}

std::string ContentWriter::encode_pending(std::uint64_t offset) {
  if (packing_ == Packing::kNo) return encode_part(content_, offset, pending_);
  std::optional<std::string> packed =
      encode_packed_part(content_, offset, pending_, pending_.size() - pending_.size() / kShrinksBy);
  if (packing_ == Packing::kUntried) packing_ = packed ? Packing::kYes : Packing::kNo;
  return packed ? *std::move(packed) : encode_part(content_, offset, pending_);
}

Status ContentWriter::write_part() {
  const Work work{WorkKind::kFilling, content_, format::account_of(contents_)};
  const std::uint64_t offset = length_ - pending_.size();
  RowChange change({}, [](const auto& /*view*/, auto /*rows*/, format::BatchBuilder& /*batch*/) { return Refusal(); });
  const std::string key = content_part_key(contents_, content_, offset);
  change.lock(format::partition_of(key));
  const std::string work_row = work_key(work);
  if (!has_rows_) {
    filling_.emplace(core_->blobs(), content_);
    change.lock(format::partition_of(work_row));
    change.batch().put(work_row, encode_work());
  }
  change.batch().put(key, encode_pending(offset));
  change.paced_bytes = pending_.size();
  change.request.tables = {contents_};
  change.request.durability = Durability::kBuffered;
  has_rows_ = true;  // Even after an error the row may be there.
  const Status written = commit(core_->backend(), change).status();
  std::string().swap(pending_);  // a writer that waits for its next bytes holds no memory
  return service_error::is_table_gone(written) ? account_was_dropped() : written;
}

bool ContentWriter::is_in_row() const noexcept {
  return in_row_ == Inline::kYes && length_ <= kInlineBytesMax;
}

void ContentWriter::end() {
  if (is_in_row() || pending_.empty()) return;
  // The writer may wait for its commit beside many others, so it keeps no room that it does not use.
  if (pending_.capacity() > 2 * pending_.size()) pending_ = std::string(pending_);
  last_part_ = encode_pending(length_ - pending_.size());
}

Status ContentWriter::check_for(format::TableId container) const {
  if (Status whole = check(); !whole.ok()) return whole;
  return contents_of(container) == contents_ ? Status() : account_was_dropped();
}

Status ContentWriter::add_to(format::TableId container, BlobPlan& plan) const {
  if (Status checked = check_for(container); !checked.ok()) return checked;
  plan.bytes += pending_.size();
  if (is_in_row()) return Status();
  plan.locks.push_back(content_head_key(contents_, content_));
  if (has_rows_) plan.locks.push_back(filling_key());
  plan.fill = [this](format::BatchBuilder& batch) { add_rows(batch, 1); };
  return Status();
}

void ContentWriter::add_rows(format::BatchBuilder& batch, std::uint32_t owners) const {
  batch.put(content_head_key(contents_, content_), encode_content_head({kind_, owners, length_, crc64_}));
  if (!pending_.empty()) batch.put(content_part_key(contents_, content_, length_ - pending_.size()), last_part_);
  if (has_rows_) batch.remove(filling_key());
}

std::string ContentWriter::filling_key() const {
  if (!has_rows_) return {};
  return work_key({WorkKind::kFilling, content_, format::account_of(contents_)});
}

void ContentWriter::offer(const std::shared_ptr<ContentWriter>& writer) {
  BlobBoard& board = writer->core_->blobs();
  if (!writer->filling_) writer->filling_.emplace(board, writer->content_);
  board.offer(writer->content_, writer);
}

void ContentWriter::give_to(BlobRow& row) const {
  row.length = length_;
  if (is_in_row()) {
    row.inlined = pending_;
  } else {
    row.pieces = {piece()};
  }
}

}  // namespace varve

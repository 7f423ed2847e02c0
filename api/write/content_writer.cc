// Owns: the stream of a content (content_writer.h).
// Must never: write a part before its work row.
#include "api/write/content_writer.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "api/catalog/row_change.h"
#include "api/catalog/work_rows.h"
#include "api/commit/commit.h"
#include "api/model/guarded.h"
#include "api/model/service_error.h"
#include "engine/base/step.h"
#include "io/scheduler.h"
#include "varve/limits.h"

namespace varve {
namespace {

/// A part is packed if that saves this part of it.
constexpr std::size_t kShrinksBy = 8;
/// A content of so many parts is short. The caller's thread writes them, so that a store without long contents starts no
/// threads for them.
constexpr std::uint64_t kPartsOfCaller = 2;
/// Parts of one content that other threads write at once, while the next one comes. Three writes beside each other keep a
/// device busy whose single writes wait for it.
constexpr std::size_t kFlightsOfContent = 4;

/// The commit of one part whose content has its work row. It rests on no state, and writes one row. So parts of one content
/// go into the log and the memtable beside each other.
class PartChange final : public Change {
 public:
  PartChange(std::string_view key, std::string batch)
      : lock_{format::partition_hash(format::partition_of(key))},
        row_(format::row_hash(key)),
        batch_(std::move(batch)) {}

  std::span<const std::uint64_t> locks_needed() const noexcept override { return lock_; }
  std::optional<std::uint64_t> row_needed() const noexcept override { return row_; }
  StatesWanted states_wanted() override { return {}; }
  Refusal judge(const engine::ReadView& /*view*/, std::span<const engine::Newest> /*states*/) override { return {}; }
  std::string take_batch() override { return std::move(batch_); }

 private:
  const std::array<std::uint64_t, 1> lock_;
  const std::uint64_t row_;
  std::string batch_;
};

/// Returns the part packed if that is small enough, or nothing.
std::optional<std::string> packed_if_small(ContentId content, std::uint64_t offset, std::string_view bytes) {
  return encode_packed_part(content, offset, bytes, bytes.size() - bytes.size() / kShrinksBy);
}

}  // namespace

/// A full part from its bytes to its commit. A thread of the store's calls writes it. If none has begun when the writer
/// waits, the writer's own thread does. So writers that run in such calls never wait for each other.
class ContentWriter::Flight final : public engine::Step {
 public:
  struct Place {
    format::TableId contents;
    ContentId content;
    std::uint64_t offset;
  };
  /// `bytes` are those of the part from `begin` on. Before them is the beginning of its batch, or nothing. The store
  /// outlives the write.
  Flight(StoreCore& core, const Place& place, std::string bytes, std::size_t begin, bool may_pack)
      : backend_(core.backend()),
        board_(core.blobs()),
        place_(place),
        bytes_(std::move(bytes)),
        begin_(begin),
        may_pack_(may_pack),
        written_(backend_.env().scheduler) {}

  /// Hashes the part and commits it.
  Status write() {
    const std::string key = content_part_key(place_.contents, place_.content, place_.offset);
    const std::uint64_t bytes = bytes_.size() - begin_;
    PartChange change(key, batch(key));
    std::string memory;
    change.paced_bytes = bytes;
    change.request.tables = {place_.contents};
    change.request.durability = Durability::kBuffered;
    change.request.spent_batch = &memory;
    Status written = commit(backend_, change).status();
    board_.give_memory(std::move(memory));
    return written;
  }

  /// Lets a thread of the calls write the part. Began an operation of the executor, and has a place on the board, both of
  /// which end with the step. The writer outlives the write, but not the step.
  static void post(const std::shared_ptr<Flight>& part, engine::AsyncEngine& async) noexcept {
    part->executor_ = &async.executor();
    part->self_ = part;
    async.workers().post(*part);
  }
  void run() noexcept override {
    std::shared_ptr<Flight> self = std::move(self_);
    engine::Executor& executor = *executor_;
    if (begin()) end();
    board_.give_flight();
    self.reset();
    executor.end_operation();  // After it, the store may be gone.
  }

  bool is_written() const noexcept { return written_.is_set(); }
  /// Waits until the part is written. Called once, by the writer.
  Status land() noexcept {
    if (begin()) {
      end();
    } else {
      written_.wait();
    }
    return std::move(outcome_);
  }

 private:
  std::string batch(const std::string& key) {
    if (begin_ > 0) {
      end_part_batch(bytes_, place_.content, place_.offset);
      return std::move(bytes_);
    }
    std::optional<std::string> packed;
    if (may_pack_) packed = packed_if_small(place_.content, place_.offset, bytes_);
    format::BatchBuilder builder;
    builder.put(key, packed ? *packed : encode_part(place_.content, place_.offset, bytes_));
    std::string().swap(bytes_);
    return builder.finish();
  }
  bool begin() noexcept { return !is_begun_.exchange(true, std::memory_order_acq_rel); }
  void end() noexcept {
    outcome_ = guarded([this] { return write(); });
    written_.set();
  }

  Backend& backend_;
  BlobBoard& board_;
  const Place place_;
  std::string bytes_;
  const std::size_t begin_;
  const bool may_pack_;
  std::atomic<bool> is_begun_{false};
  Status outcome_;
  io::Event written_;
  // A part that was posted has these too:
  engine::Executor* executor_ = nullptr;
  std::shared_ptr<Flight> self_;  // until the step has run
};

ContentWriter::ContentWriter(std::shared_ptr<StoreCore> core, format::TableId container, Inline in_row,
                             ContentKind kind)
    : core_(std::move(core)),
      contents_(contents_of(container)),
      in_row_(in_row),
      content_(core_->backend().draw_tick()),
      kind_(kind) {}

ContentWriter::ContentWriter(ContentWriter&&) noexcept = default;

ContentWriter::~ContentWriter() {
  if (!core_ || !filling_) return;
  if (!core_->is_usable()) {  // A thread of the parent may have held the board's mutex when the process forked.
    filling_->abandon();
    return;
  }
  while (!flights_.empty()) (void)land_one();
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
  if (Status landed = land(kFlightsOfContent); !landed.ok()) return landed;
  while (!bytes.empty()) {
    const std::size_t taken = std::min(bytes.size(), kPartBytes - pending().size());
    make_room(taken);
    pending_.append(bytes.substr(0, taken));
    crc64_.update(bytes.substr(0, taken));
    length_ += taken;
    bytes.remove_prefix(taken);
    if (pending().size() < kPartBytes) continue;
    if (Status written = write_part(); !written.ok()) return written;
  }
  return Status();
}

void ContentWriter::make_room(std::size_t bytes) {
  if (has_rows_ && packing_ == Packing::kNo && pending_.empty()) {
    pending_ = begin_part_batch(core_->blobs().take_memory(), contents_, content_, length_);
    pending_at_ = pending_.size();
    return;
  }
  const std::size_t needed = pending_.size() + bytes;
  if (needed <= pending_.capacity()) return;
  // Never more than a part, unlike the string's own growth. A caller counts this memory.
  const std::size_t grown = has_rows_ ? kPartBytes : 2 * pending_.capacity();
  pending_.reserve(std::min(kPartBytes, std::max(needed, grown)));
}

Status ContentWriter::account_was_dropped() const {
  constexpr std::string_view kWhat = "the account was dropped while the content was written";
  return kind_ == ContentKind::kValue ? service_error::table_not_found(kWhat)
                                      : service_error::container_not_found(kWhat);
}

std::string ContentWriter::encode_pending(std::uint64_t offset) {
  if (packing_ == Packing::kNo) return encode_part(content_, offset, pending());
  std::optional<std::string> packed = packed_if_small(content_, offset, pending());
  if (packing_ == Packing::kUntried) packing_ = packed ? Packing::kYes : Packing::kNo;
  return packed ? *std::move(packed) : encode_part(content_, offset, pending());
}

Status ContentWriter::write_part() {
  if (!has_rows_) return write_first_part();
  const std::uint64_t offset = length_ - kPartBytes;
  const std::size_t begin = std::exchange(pending_at_, 0);
  auto part = std::make_unique<Flight>(*core_, Flight::Place{contents_, content_, offset}, std::exchange(pending_, {}),
                                       begin, packing_ == Packing::kYes);
  if (offset < kPartsOfCaller * kPartBytes) return explained(part->write());
  return begin_flight(std::move(part));
}

Status ContentWriter::write_first_part() {
  const Work work{WorkKind::kFilling, content_, format::account_of(contents_)};
  RowChange change({}, [](const auto& /*view*/, auto /*rows*/, format::BatchBuilder& /*batch*/) { return Refusal(); });
  const std::string key = content_part_key(contents_, content_, 0);
  const std::string work_row = work_key(work);
  change.lock(format::partition_of(key));
  change.lock(format::partition_of(work_row));
  filling_.emplace(core_->blobs(), content_);
  change.batch().put(work_row, encode_work());
  change.batch().put(key, encode_pending(0));
  change.paced_bytes = pending_.size();
  change.request.tables = {contents_};
  change.request.durability = Durability::kBuffered;
  has_rows_ = true;  // Even after an error the row may be there.
  const Status written = commit(core_->backend(), change).status();
  std::string().swap(pending_);  // a writer that waits for its next bytes holds no memory
  return explained(written);
}

/// Lets another thread write the part, or writes it if none may.
Status ContentWriter::begin_flight(std::unique_ptr<Flight> part) {
  if (Status landed = land(kFlightsOfContent - 1); !landed.ok()) return landed;
  flights_.reserve(kFlightsOfContent);
  const std::shared_ptr<Flight> shared = std::move(part);
  const Result<engine::AsyncEngine*> async = core_->async();
  if (!async.ok() || !core_->blobs().take_flight()) return explained(shared->write());
  if (!(*async)->executor().begin_operation()) {
    core_->blobs().give_flight();
    return explained(shared->write());
  }
  flights_.push_back(shared);
  Flight::post(shared, **async);
  return Status();
}

Status ContentWriter::land(std::size_t most) {
  Status first;
  while (!flights_.empty() && (flights_.size() > most || flights_.front()->is_written())) {
    const Status landed = land_one();
    if (first.ok()) first = landed;
  }
  return explained(std::move(first));
}

Status ContentWriter::land_one() noexcept {
  Status landed = flights_.front()->land();
  flights_.erase(flights_.begin());
  return landed;
}

Status ContentWriter::explained(Status written) const {
  return service_error::is_table_gone(written) ? account_was_dropped() : written;
}

bool ContentWriter::is_in_row() const noexcept {
  return in_row_ == Inline::kYes && length_ <= kInlineBytesMax;
}

void ContentWriter::end() {
  if (is_in_row() || has_gap_) return;
  // The writer may wait for its commit beside many others, so it keeps no room that it does not use.
  if (pending_.capacity() > 2 * pending().size()) {
    pending_ = std::string(pending());
  } else {
    pending_.erase(0, pending_at_);
  }
  pending_at_ = 0;
  if (!pending_.empty()) last_part_ = encode_pending(length_ - pending_.size());
  if (flights_.empty()) return;
  has_gap_ = true;  // As in append().
  failure_ = land(0);
  has_gap_ = !failure_.ok();
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
  std::optional<std::uint64_t> crc64;
  if (kind_ != ContentKind::kGrowing) crc64 = crc64_.value();  // Appends may add to it.
  batch.put(content_head_key(contents_, content_), encode_content_head({kind_, owners, length_, crc64}));
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
  row.crc64 = crc64_.value();
  if (is_in_row()) {
    row.inlined = pending_;
  } else {
    row.pieces = {piece()};
  }
}

}  // namespace varve

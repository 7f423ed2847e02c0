// Owns: encoding a batch and iterating over it (batch.h).
// Must never: return an operation before checking its bounds, kind and key.
#include "format/keys/batch.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "format/bytes/bytes.h"
#include "format/bytes/varint.h"
#include "format/keys/ends.h"
#include "format/keys/sort_key.h"

namespace varve::format {
namespace {

constexpr std::uint8_t kTagFollows = 0x01;
constexpr std::uint8_t kKnownFlags = kTagFollows;

/// Size in bytes of the usual head: the flags, and a count below 128 as a varint.
constexpr std::size_t kUsualHeadBytes = 2;
constexpr std::uint32_t kUsualCountMax = 127;

/// Size in bytes of the smallest operation: a retire of an account.
constexpr std::size_t kOperationBytesMin = 1 + 1 + kAccountIdBytes;

/// Reserves memory for all parts of one operation at once. Doubles the capacity like push_back, so that many small
/// appends take linear time.
void make_room(std::string& out, std::size_t more_bytes) {
  const std::size_t needed = out.size() + more_bytes;
  if (needed > out.capacity()) out.reserve(std::max(needed, 2 * out.capacity()));
}

Status damaged_operation(std::uint64_t index, std::string_view what) {
  return Status::corruption("batch, operation " + std::to_string(index) + ": " + std::string(what));
}

/// Returns whether a batch may contain operations of this kind today.
bool is_batch_kind(Kind kind) noexcept {
  switch (kind) {
    case Kind::kPut:
    case Kind::kDelete:
    case Kind::kPutExpiring:
    case Kind::kRetire:
    case Kind::kAdopt: return true;
    case Kind::kMergeOperand:
    case Kind::kPutExternal:
    case Kind::kPutExpiringExternal: return false;
  }
  return false;
}

/// Reads the bytes that follow the kind. Returns false if they run past the end.
bool read_body(ByteReader& reader, Operation& operation) noexcept {
  if (operation.kind == Kind::kAdopt) return reader.read_bytes(kTableIdBytes, &operation.key);
  if (!reader.read_sized(&operation.key)) return false;
  const bool has_value = operation.kind == Kind::kPut || operation.kind == Kind::kPutExpiring;
  return !has_value || reader.read_sized(&operation.value);
}

bool begins_with_end(std::string_view stored, EndForms forms) noexcept {
  if (stored.size() < kEndBytes) return false;
  const std::uint64_t end = load_u64(stored.data());
  return is_end(end) || (forms == EndForms::kEndsAndAges && is_age(end));
}

}  // namespace

Result<LoneOperation> LoneOperation::make(Kind kind, TableId table, std::string_view partition_key,
                                          std::string_view row_key, std::size_t value_bytes) {
  static_assert(kHeadRoomBytes == kUsualHeadBytes);
  assert(kind == Kind::kPut || kind == Kind::kDelete);
  LoneOperation operation;
  std::string& bytes = operation.bytes_;
  std::size_t key_bytes = sort_key_bytes(partition_key, row_key);
  bytes.reserve(kHeadRoomBytes + 1 + key_bytes + value_bytes + 2 * kVarint64BytesMax);
  if (is_plain(partition_key) && is_plain(row_key)) {  // as most keys are
    operation.key_at_ = kHeadRoomBytes + 1 + varint_bytes(key_bytes);
    bytes.resize(operation.key_at_ + key_bytes);
    bytes[kHeadRoomBytes] = static_cast<char>(kind);
    char* const key = store_varint(bytes.data() + kHeadRoomBytes + 1, key_bytes);
    store_plain_sort_key(key, table, partition_key, row_key);
    operation.key_bytes_ = key_bytes;
    operation.value_at_ = bytes.size();
    return operation;
  }
  bytes.resize(kHeadRoomBytes);
  bytes.push_back(static_cast<char>(kind));
  // A key that contains bytes 00 or 01 is longer than computed. Such keys are rare, and are encoded twice.
  for (;;) {
    append_varint(bytes, key_bytes);
    operation.key_at_ = bytes.size();
    if (Status encoded = append_sort_key(bytes, table, partition_key, row_key); !encoded.ok()) return encoded;
    operation.key_bytes_ = bytes.size() - operation.key_at_;
    if (operation.key_bytes_ == key_bytes) break;
    key_bytes = operation.key_bytes_;
    bytes.resize(kHeadRoomBytes + 1);
  }
  operation.value_at_ = bytes.size();
  return operation;
}

std::string LoneOperation::take_for_value(std::size_t value_bytes) {
  if (end_bytes_ > 0) bytes_[kHeadRoomBytes] = static_cast<char>(Kind::kPut);
  end_bytes_ = 0;
  bytes_.resize(key_at_ + key_bytes_);
  append_varint(bytes_, value_bytes);
  value_at_ = bytes_.size();
  return std::move(bytes_);
}

void LoneOperation::set_value(std::string_view value) {
  std::string bytes = take_for_value(value.size());
  bytes.append(value);
  give_with_value(std::move(bytes));
}

void LoneOperation::set_end(std::uint64_t end) {
  assert(is_whole() && static_cast<Kind>(bytes_[kHeadRoomBytes]) != Kind::kDelete);
  assert(end == 0 || is_end(end) || is_age(end));
  if (end != 0 && end_bytes_ > 0) return store_u64(bytes_.data() + value_at_ - kEndBytes, end);
  const std::string value(this->value());
  std::string bytes = take_for_value(value.size() + (end != 0 ? kEndBytes : 0));
  if (end != 0) append_u64(bytes, end);
  bytes.append(value);
  give_with_value(std::move(bytes));
  if (end == 0) return;
  bytes_[kHeadRoomBytes] = static_cast<char>(Kind::kPutExpiring);
  end_bytes_ = kEndBytes;
  value_at_ += kEndBytes;
}

bool LoneOperation::is_whole() const noexcept {
  // The value's length precedes the value, so value_at_ moves once the put has its value.
  return value_at_ > key_at_ + key_bytes_ || static_cast<Kind>(bytes_[kHeadRoomBytes]) == Kind::kDelete;
}

std::string LoneOperation::into_batch() {
  assert(is_whole());
  bytes_[0] = 0;
  bytes_[1] = 1;
  return std::exchange(bytes_, std::string());
}

void BatchBuilder::add(const LoneOperation& operation) {
  assert(operation.is_whole());  // Its key is framed, since make() encoded it.
  if (bytes_.empty()) bytes_.resize(kUsualHeadBytes);
  make_room(bytes_, operation.bytes().size());
  bytes_.append(operation.bytes());
  ++count_;
}

void BatchBuilder::append_operation(Kind kind, std::string_view key, std::size_t value_bytes) {
  if (bytes_.empty()) bytes_.resize(kUsualHeadBytes);
  make_room(bytes_, 1 + kVarint64BytesMax + key.size() + value_bytes);
  bytes_.push_back(static_cast<char>(kind));
  append_sized(bytes_, key);
  ++count_;
}

void BatchBuilder::reserve(std::size_t operations, std::size_t key_and_value_bytes) {
  constexpr std::size_t kOfEachMax = 1 + 2 * kVarint64BytesMax;
  bytes_.reserve(kUsualHeadBytes + key_and_value_bytes + operations * kOfEachMax);
}

void BatchBuilder::put(std::string_view sort_key, std::string_view value) {
  assert(is_framed(sort_key));
  append_operation(Kind::kPut, sort_key, kVarint64BytesMax + value.size());
  append_sized(bytes_, value);
}

void BatchBuilder::put_expiring(std::string_view sort_key, std::string_view stored) {
  assert(is_framed(sort_key) && begins_with_end(stored, EndForms::kEndsAndAges));
  append_operation(Kind::kPutExpiring, sort_key, kVarint64BytesMax + stored.size());
  append_sized(bytes_, stored);
}

void BatchBuilder::put_stamped(Kind kind, std::string_view index_key, std::size_t timestamp_at,
                               std::string_view stored) {
  assert(is_framed(index_key) && (kind == Kind::kPut || kind == Kind::kPutExpiring));
  append_operation(kind, index_key, kVarint64BytesMax + stored.size());
  timestamps_.push_back(static_cast<std::uint32_t>(bytes_.size() - index_key.size() + timestamp_at));
  append_sized(bytes_, stored);
}

void BatchBuilder::remove(std::string_view sort_key) {
  assert(is_framed(sort_key));
  append_operation(Kind::kDelete, sort_key, 0);
}

void BatchBuilder::retire_table(TableId id) {
  std::array<char, kTableIdBytes> prefix;
  store_u64_big_endian(prefix.data(), id);
  append_operation(Kind::kRetire, {prefix.data(), prefix.size()}, 0);
}

void BatchBuilder::retire_account(std::uint32_t account) {
  std::array<char, kAccountIdBytes> prefix;
  store_u32_big_endian(prefix.data(), account);
  append_operation(Kind::kRetire, {prefix.data(), prefix.size()}, 0);
}

void BatchBuilder::adopt(TableId id) {
  if (bytes_.empty()) bytes_.resize(kUsualHeadBytes);
  bytes_.push_back(static_cast<char>(Kind::kAdopt));
  append_table_id(bytes_, id);
  ++count_;
}

void BatchBuilder::set_tag(std::string_view tag) {
  assert(tag.size() <= kTagBytesMax);
  tag_ = tag;
}

std::string BatchBuilder::finish(std::vector<std::uint32_t>* timestamps) {
  if (bytes_.empty()) bytes_.resize(kUsualHeadBytes);
  std::string batch = std::exchange(bytes_, std::string());
  const std::string tag = std::exchange(tag_, std::string());
  const std::uint32_t count = std::exchange(count_, 0);
  let_go_bytes_ = 0;
  std::vector<std::uint32_t> places = std::exchange(timestamps_, std::vector<std::uint32_t>());
  assert(places.empty() || timestamps != nullptr);
  if (timestamps != nullptr) *timestamps = std::move(places);
  if (tag.empty() && count <= kUsualCountMax) {
    batch[0] = 0;
    batch[1] = static_cast<char>(count);
    return batch;
  }
  std::string head;
  head.push_back(static_cast<char>(tag.empty() ? 0 : kTagFollows));
  if (!tag.empty()) append_sized(head, tag);
  append_varint(head, count);
  batch.replace(0, kUsualHeadBytes, head);
  if (timestamps != nullptr) {
    for (std::uint32_t& place : *timestamps) place += static_cast<std::uint32_t>(head.size() - kUsualHeadBytes);
  }
  return batch;
}

Result<BatchReader> BatchReader::open(std::string_view bytes, EndForms ends) {
  ByteReader reader(bytes);
  std::uint8_t flags = 0;
  if (!reader.read_u8(&flags)) return Status::corruption("the batch is empty");
  if ((flags & ~kKnownFlags) != 0) {
    return Status::unsupported("the batch has flags " + std::to_string(flags) +
                               ", and this build does not know all of them");
  }
  BatchReader batch;
  batch.ends_ = ends;
  batch.has_tag_ = (flags & kTagFollows) != 0;
  if (batch.has_tag_) {
    if (!reader.read_sized(&batch.tag_)) return Status::corruption("the batch ends inside its tag");
    if (batch.tag_.empty() || batch.tag_.size() > kTagBytesMax) {
      return Status::corruption("the batch has a tag of " + std::to_string(batch.tag_.size()) + " bytes; 1 to " +
                                std::to_string(kTagBytesMax) + " are allowed");
    }
  }
  if (!reader.read_varint(&batch.count_)) return Status::corruption("the batch has no count of operations");
  batch.rest_ = reader.rest();
  if (batch.count_ > batch.rest_.size() / kOperationBytesMin) {
    return Status::corruption("the batch names " + std::to_string(batch.count_) + " operations, but has only " +
                              std::to_string(batch.rest_.size()) + " bytes for them");
  }
  return batch;
}

Result<bool> BatchReader::next(Operation* operation) {
  if (read_ == count_) {
    if (!rest_.empty()) return Status::corruption("the batch has bytes after its last operation");
    return false;
  }
  ByteReader reader(rest_);
  std::uint8_t kind = 0;
  if (!reader.read_u8(&kind)) return damaged_operation(read_, "is missing");
  Operation read;
  read.kind = static_cast<Kind>(kind);
  if (!is_batch_kind(read.kind)) {
    return Status::unsupported("batch, operation " + std::to_string(read_) + ": kind " + std::to_string(kind) +
                               " is not known to this build in a batch");
  }
  if (!read_body(reader, read)) return damaged_operation(read_, "runs past the end");
  if (read.kind == Kind::kRetire && !is_id_prefix(read.key))
    return damaged_operation(read_, "retires no account and no table");
  if (read.kind == Kind::kPutExpiring && !begins_with_end(read.value, ends_)) {
    return damaged_operation(read_, "has no end before its value");
  }
  const bool is_entry = read.kind == Kind::kPut || read.kind == Kind::kDelete || read.kind == Kind::kPutExpiring;
  if (is_entry && !is_framed(read.key)) {
    return damaged_operation(read_, "has a key without the frame of a sort key");
  }
  *operation = read;
  rest_ = reader.rest();
  ++read_;
  return true;
}

namespace {

/// Reads a varint, and as many bytes. All of them are there.
std::string_view take_sized(const char*& at, const char* end) noexcept {
  std::uint64_t size = 0;
  at = take_varint(at, end, &size);
  assert(at != nullptr && size <= static_cast<std::uint64_t>(end - at));
  const std::string_view taken(at, static_cast<std::size_t>(size));
  at += taken.size();
  return taken;
}

}  // namespace

AcceptedBatch::AcceptedBatch(std::string_view bytes) noexcept : at_(bytes.data()), end_(at_ + bytes.size()) {
  assert(!bytes.empty());
  const auto flags = static_cast<std::uint8_t>(*at_++);
  if ((flags & kTagFollows) != 0) (void)take_sized(at_, end_);
  std::uint64_t count = 0;
  at_ = take_varint(at_, end_, &count);
  assert(at_ != nullptr);
}

bool AcceptedBatch::next(Operation& operation) noexcept {
  if (at_ == end_) return false;
  operation.kind = static_cast<Kind>(static_cast<std::uint8_t>(*at_++));
  assert(is_batch_kind(operation.kind));
  if (operation.kind == Kind::kAdopt) {
    operation.key = {at_, kTableIdBytes};
    at_ += kTableIdBytes;
  } else {
    operation.key = take_sized(at_, end_);
  }
  const bool has_value = operation.kind == Kind::kPut || operation.kind == Kind::kPutExpiring;
  operation.value = has_value ? take_sized(at_, end_) : std::string_view();
  return true;
}

}  // namespace varve::format

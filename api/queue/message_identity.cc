// Owns: the making and the judging of ids and receipts (message_identity.h), and the text of a receipt.
// Must never: read a store.
#include "api/queue/message_identity.h"

#include <array>
#include <string>

#include "api/model/base64.h"
#include "api/model/service_error.h"
#include "format/bytes/bytes.h"
#include "format/bytes/checksum.h"

namespace varve {
namespace {

constexpr std::size_t kReceiptBytes = 24;

/// `purpose` keeps the hashes of ids and of receipts apart.
std::uint64_t keyed_hash(std::uint64_t secret, std::uint64_t purpose, std::uint64_t first,
                         std::uint64_t second) noexcept {
  std::array<char, 32> bytes;
  format::store_u64_big_endian(bytes.data(), secret);
  format::store_u64_big_endian(bytes.data() + 8, purpose);
  format::store_u64_big_endian(bytes.data() + 16, first);
  format::store_u64_big_endian(bytes.data() + 24, second);
  return format::content_hash({bytes.data(), bytes.size()});
}

constexpr std::uint64_t kForIds = 1;
constexpr std::uint64_t kForReceipts = 2;

}  // namespace

Guid MessageIdentity::id_of(Sequence sequence) noexcept {
  std::array<char, 16> bytes;
  format::store_u64_big_endian(bytes.data(), sequence);
  format::store_u64_big_endian(bytes.data() + 8, keyed_hash(0, kForIds, sequence, 0));
  Guid id;
  for (std::size_t i = 0; i < bytes.size(); ++i) id.bytes[i] = static_cast<std::uint8_t>(bytes[i]);
  return id;
}

std::optional<Sequence> MessageIdentity::sequence_of(const Guid& id) noexcept {
  Sequence sequence = 0;
  for (std::size_t i = 0; i < 8; ++i) sequence = sequence << 8 | id.bytes[i];
  return id_of(sequence) == id ? std::optional(sequence) : std::nullopt;
}

PopReceipt MessageIdentity::receipt_of(Sequence sequence, format::CommitVersion version) const noexcept {
  return {sequence, version, keyed_hash(secret_, kForReceipts, sequence, version)};
}

bool MessageIdentity::is_own(const PopReceipt& receipt) const noexcept {
  return receipt_of(receipt.sequence, receipt.version) == receipt;
}

std::string PopReceipt::to_string() const {
  std::array<char, kReceiptBytes> bytes;
  format::store_u64_big_endian(bytes.data(), sequence);
  format::store_u64_big_endian(bytes.data() + 8, version);
  format::store_u64_big_endian(bytes.data() + 16, check);
  return encode_base64({bytes.data(), bytes.size()});
}

Result<PopReceipt> PopReceipt::parse(std::string_view text) {
  const std::optional<std::string> bytes = decode_base64(text);
  if (!bytes || bytes->size() != kReceiptBytes) {
    return service_error::invalid_parameter(
        "the receipt is not 24 bytes in base64; use the receipt of a put, get or "
        "update");
  }
  return PopReceipt{format::load_u64_big_endian(bytes->data()), format::load_u64_big_endian(bytes->data() + 8),
                    format::load_u64_big_endian(bytes->data() + 16)};
}

}  // namespace varve

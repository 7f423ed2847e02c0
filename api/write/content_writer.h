// Owns: writing one content as a stream: parts in commits of their own, until a commit gives the content an owner.
// Must never: hold more than two parts in memory, besides those that threads of the store write.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/blob/blob_board.h"
#include "api/blob/blob_rows.h"
#include "api/core/container_state.h"
#include "api/write/blob_change.h"
#include "format/bytes/crc64.h"
#include "varve/status.h"

namespace varve {

/// One thread at a time may use it. Movable.
///
/// After the first parts, threads of the store's calls hash and commit the parts, while the caller adds the bytes of the
/// next one. The next call reports the error of such a part, and end() waits for all of them.
class ContentWriter {
 public:
  /// Whether a short content may lie in the row of its owner.
  enum class Inline : std::uint8_t { kNo, kYes };

  /// Begins a content of the account of this container, or of this table: then entities will own it, and the kind is
  /// kValue.
  ContentWriter(std::shared_ptr<StoreCore> core, format::TableId container, Inline in_row,
                ContentKind kind = ContentKind::kPlain);
  ContentWriter(ContentWriter&&) noexcept;
  ContentWriter& operator=(ContentWriter&&) = delete;
  /// Waits for parts that other threads write. If the content has rows and no owner, lets them be removed.
  ~ContentWriter();

  /// Adds bytes. Errors: those of commits; kNotFound (ContainerNotFound, or TableNotFound of a value: the account was
  /// dropped); kTooLarge (RequestBodyTooLarge). After an error, or when memory runs out, the
  /// content has a gap: check() returns the error, and add_to() refuses the content.
  Status append(std::string_view bytes);
  /// Returns the error of the append that failed, if one did.
  Status check() const;
  std::uint64_t length() const noexcept { return length_; }
  /// The CRC-64 of all bytes.
  std::uint64_t crc64() const noexcept { return crc64_.value(); }
  /// Bytes that the commit of the owner writes.
  std::size_t pending_bytes() const noexcept { return pending().size(); }

  /// Returns whether no part was written, so that all bytes are pending.
  bool is_in_memory() const noexcept { return !has_rows_; }
  std::string_view pending() const noexcept { return std::string_view(pending_).substr(pending_at_); }
  /// Checks that the content is whole, and belongs to the account of this container. Errors: as add_to().
  Status check_for(format::TableId container) const;

  /// Prepares the last part, after which nothing may be added. Waits for the parts that other threads write; check()
  /// returns their error.
  void end();
  /// Adds what the commit of an owner in this container needs. May be called for each attempt. This object outlives the
  /// attempt. Errors: those of check(); kNotFound (ContainerNotFound: the container belongs to another account than the
  /// content, because the account was dropped and created again).
  Status add_to(format::TableId container, BlobPlan& plan) const;
  /// Adds what the commit needs that names the content first, and makes this many owners of it. All of it was added.
  void add_rows(format::BatchBuilder& batch, std::uint32_t owners) const;
  /// Lets entities name the content, all of which was added. It is offered as long as a pointer to it exists.
  static void offer(const std::shared_ptr<ContentWriter>& writer);
  /// Lets parts be packed, if the first one shrinks by an eighth. Called before append().
  void allow_packing() noexcept { packing_ = Packing::kUntried; }
  /// Says that appends may add to the content after it has an owner. Called before end().
  void make_growing() noexcept { kind_ = ContentKind::kGrowing; }
  /// The id of the contents of its account.
  format::TableId contents() const noexcept { return contents_; }
  /// Returns the key of the row that exists until the content has its first owner, or an empty text if no row of the
  /// content was written yet.
  std::string filling_key() const;
  /// Gives the row this content. It must be empty.
  void give_to(BlobRow& row) const;
  /// The content, if it does not lie in the row.
  ContentPiece piece() const noexcept { return {content_, length_}; }
  /// Says that the content has an owner.
  void has_owner() noexcept { has_rows_ = false; }

 private:
  enum class Packing : std::uint8_t { kNo, kUntried, kYes };
  class Flight;

  bool is_in_row() const noexcept;
  Status account_was_dropped() const;
  Status add(std::string_view bytes);
  /// Makes room for `bytes` more pending bytes, less than a part in all.
  void make_room(std::size_t bytes);
  /// Encodes the pending bytes as the part at this offset.
  std::string encode_pending(std::uint64_t offset);
  Status write_part();
  Status write_first_part();
  Status begin_flight(std::unique_ptr<Flight> part);
  /// Takes the results of the parts that other threads have written, and waits while more than `most` are left.
  Status land(std::size_t most);
  /// Waits for the first of these parts.
  Status land_one() noexcept;
  Status explained(Status written) const;

  std::shared_ptr<StoreCore> core_;
  format::TableId contents_;
  Inline in_row_;
  ContentId content_;
  std::optional<BlobBoard::Filling> filling_;
  std::uint64_t length_ = 0;
  std::string pending_;  // less than a part: a full one is written at once, also if no byte follows
  /// Where the bytes begin. Before them, there may be the beginning of the batch of their part.
  std::size_t pending_at_ = 0;
  std::string last_part_;                         // encoded by end()
  std::vector<std::shared_ptr<Flight>> flights_;  // parts that other threads write, in their order
  ContentKind kind_;
  Packing packing_ = Packing::kNo;
  format::Crc64 crc64_;
  bool has_rows_ = false;
  bool has_gap_ = false;  // from the beginning of an append, or of the wait of end(), to its success
  Status failure_;
};

}  // namespace varve

// Owns: the owners of contents that the entities of a commit gain and lose (BX-21).
// Must never: let an entity name a content whose owners do not count it.
//
// L1  What an entity names before the write is read twice: in a view, to know which heads to lock, and under the locks. If
//     it names others under the locks, the commit is planned again.
// L2  A content gets its head from the first commit that names it. Until then a writer of this process offers it
//     (content_writer.h), and its filling row, if it has one, exists.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/blob/content_owners.h"
#include "api/catalog/catalog_rows.h"
#include "api/core/store_core.h"
#include "api/write/blob_change.h"
#include "api/write/content_writer.h"
#include "api/write/entity_change.h"
#include "api/write/entity_write.h"
#include "varve/result.h"

namespace varve {

/// Checks the writes, whose sort keys have their tables' ids. Errors: kInvalidArgument (InvalidInput: a LargeValue for a
/// table that was not made for them); in a transaction, the error has the index of the write.
Status check_large_values(std::span<const PreparedWrite> writes, bool in_transaction = true);

/// The writes of one commit.
struct OwningWrites {
  /// Their sort keys have their tables' ids.
  std::span<const PreparedWrite> writes;
  /// Whether errors have the index of the write.
  bool in_transaction = true;
  /// Bytes of the commit that count in the limit of a transaction, besides those of contents that entities name.
  std::uint64_t other_bytes = 0;
};

/// One attempt to commit the owners.
class LargeValuePart {
 public:
  /// Plans the writes. Returns null if no write is to a table with large values. The part needs nothing of the writes
  /// afterwards. Errors: those of reading; kTooLarge (RequestBodyTooLarge: contents that no entity named before have too
  /// many bytes that were not written yet).
  static Result<std::unique_ptr<LargeValuePart>> make(StoreCore& core, const OwningWrites& writes);

  /// Returns whether the write is to a table with large values.
  static bool counts(const PreparedWrite& write) noexcept {
    return has_large_values(format::table_id_of(write.sort_key()));
  }

  std::vector<std::uint64_t> locks() const;
  std::vector<format::TableId> tables() const { return tables_; }
  std::uint64_t bytes() const noexcept;

  /// Notes what a write changes. Called for each write of the commit, in their order. `before` is the newest state of its
  /// entity.
  Refusal extend(const engine::Newest* before, const PreparedWrite& after);
  /// Adds the changes of the owners to the batch. Refuses a LargeValue whose content the account does not have.
  Refusal finish(const engine::ReadView& view, format::BatchBuilder& batch);
  /// Returns whether another attempt may succeed, because an entity names other contents than were planned. In a poisoned
  /// store, the wait for that entity fails, and another plan would be overtaken again.
  bool may_go_on(const Status& failure) const noexcept { return was_overtaken_ && asks_for_another_plan(failure); }
  /// Called after the commit.
  void committed() noexcept {
    if (has_work_) core_.wake_blob_keeper();
  }

 private:
  /// A content that the commit changes.
  struct Change {
    std::int64_t owners = 0;
    /// The length that a written entity names; zero if no written entity names the content.
    std::uint64_t length = 0;
    bool is_named = false;
    /// The first write that names it.
    std::size_t write = 0;
    /// The length that the entities named which let go of it; kNoLength if they named different ones, which is damage.
    std::optional<std::uint64_t> length_before{};
    static constexpr std::uint64_t kNoLength = UINT64_MAX;
    /// Returns whether an entity would name it without a gain of owners, by a length that no entity is known to name.
    bool has_new_length() const noexcept { return is_named && owners <= 0 && length_before != length; }
    bool is_unchanged() const noexcept { return owners == 0 && !has_new_length(); }
  };
  /// A content of a writer of this process.
  struct Offered {
    std::shared_ptr<const ContentWriter> writer;
    /// The first write that names it.
    std::size_t write = 0;
    /// Whether it had a head when it was planned. Then its bytes were written. It may be gone when the locks are held.
    bool has_head = false;
    std::uint64_t bytes() const noexcept { return has_head ? 0 : writer->pending_bytes(); }
  };
  using AllOffered = std::map<ContentId, Offered>;
  /// The contents of one account.
  struct Account {
    explicit Account(ContentOwners planned) : owners(std::move(planned)) {}
    ContentOwners owners;
    AllOffered offered{};
    std::map<ContentId, Change> changes{};
  };
  struct Planned {
    std::vector<ContentId> contents;
    AllOffered offered;
  };
  using Plans = std::map<format::TableId, Planned>;

  LargeValuePart(StoreCore& core, bool in_transaction) noexcept : core_(core), in_transaction_(in_transaction) {}
  Status blamed(const Status& status, std::size_t write) const {
    return in_transaction_ ? status.at_operation(static_cast<std::uint32_t>(write)) : status;
  }
  Status plan(std::span<const PreparedWrite> writes);
  Status plan_given(const PreparedWrite& write, std::size_t index, Plans& plans) const;
  Status plan_before(std::span<const PreparedWrite> writes, const engine::ReadView& view, Plans& plans) const;
  static Status find_heads(const engine::ReadView& view, Plans& plans);
  Status check_bytes(std::uint64_t bytes) const;
  Refusal overtaken();
  /// Refuses with the states of the entities, and one of a content, as the reasons.
  Refusal refuse(Status status, engine::CommitVersion version = 0) const {
    return {std::move(status), std::max(rests_on_, version)};
  }
  Refusal begin(ContentId content, const ContentWriter& writer, const Change& change, const engine::ReadView& view,
                format::BatchBuilder& batch) const;
  Refusal gain(Account& account, ContentId content, const engine::Newest& head, const engine::ReadView& view,
               format::BatchBuilder& batch) const;
  static Result<std::vector<engine::Newest>> heads_of(const Account& account, const engine::ReadView& view);
  Refusal settle(Account& account, std::span<const engine::Newest> heads, const engine::ReadView& view,
                 format::BatchBuilder& batch);

  StoreCore& core_;
  const bool in_transaction_;
  std::map<format::TableId, Account> accounts_;  // by the id of an account's contents
  std::vector<format::TableId> tables_;
  engine::CommitVersion rests_on_ = 0;  // the newest state of an entity that was judged
  std::size_t extended_ = 0;            // writes
  bool was_overtaken_ = false;
  bool has_work_ = false;
};

}  // namespace varve

// Owns: the check of blobs and contents: each row decodes, each content is whole, and owners are a recount.
// Must never: keep memory for each blob or content.
//
// Owners are blobs, staged blocks, entries of lists, and large values of entities.
//
// Names of contents and their owners are compared as sums of a hash of each content's number: the rows that name a
// content add its hash, and its head subtracts the hash for each owner. So a lost or a surplus name is found, but not
// which. A name without a content is found in the row that has the name.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "api/blob/blob_rows.h"
#include "api/blob/content_rows.h"
#include "api/catalog/work_rows.h"
#include "engine/engine.h"
#include "format/bytes/crc64.h"
#include "varve/status.h"

namespace varve {

class BlobCheck {
 public:
  /// The view outlives the object.
  explicit BlobCheck(const engine::ReadView& view) noexcept : view_(view) {}

  /// Takes a work row. All of them come before the rows of containers. Errors: kCorruption, kUnsupported.
  Status visit_work(std::string_view key, std::string_view value);
  /// Takes a work row whose value cannot be read.
  void note_unread_work(std::string_view key);
  /// Says that the id is a container's.
  void add_container(format::TableId container) { containers_.insert(container); }
  bool is_container(format::TableId id) const noexcept { return containers_.count(id) != 0; }

  /// Returns whether the id is of a table that was dropped, and whose entities are being removed.
  bool is_leaving_table(format::TableId id) const noexcept { return leaving_tables_.count(id) != 0; }

  /// Checks the large values of an entity of a table that may have some. The caller finds an entity that does not decode.
  /// Errors: kCorruption, those of reading.
  Status visit_entity(std::string_view key, std::string_view value);
  /// Takes an entity of such a table that cannot be read.
  void note_unread_entity(std::string_view key) { incomplete_.insert(format::account_of(format::table_id_of(key))); }
  /// Checks a row of a container. Errors: kCorruption, kUnsupported, those of reading.
  Status visit_row(std::string_view key, format::CommitVersion version, std::string_view value);
  /// Takes a row of a container that cannot be read.
  void note_unread_row(std::string_view key);
  /// Checks a row of the id of contents. `before` becomes the error of the content that ended before it. Errors: the same.
  Status visit_content(std::string_view key, std::string_view value, Status& before);
  /// Takes a row of the id of contents whose value cannot be read. Returns the error of the content that ended before it.
  Status note_unread_content(std::string_view key);
  /// Compares the last content's parts with its head, after the last row of an id of contents. Errors: kCorruption.
  Status end_contents();
  /// Compares names and owners. Calls `report` with each account's number and the error.
  template <typename Report>
  void compare_owners(Report report) const {
    for (const auto& [account, balance] : balances_) {
      if (balance != 0 && incomplete_.count(account) == 0) {
        report(account, Status::corruption("the names of contents and the counts of their owners differ"));
      }
    }
  }

  /// Contents with damage that was found, kDamagedKept of them at most. Blobs whose content is one of them are damaged.
  const std::set<ContentId>& damaged() const noexcept { return damaged_; }
  static constexpr std::size_t kDamagedKept = 1000;

  std::uint64_t blobs() const noexcept { return blobs_; }
  std::uint64_t content_bytes() const noexcept { return content_bytes_; }

 private:
  /// The content whose rows are being visited.
  struct Present {
    ContentId content = 0;
    std::optional<ContentHead> head;
    std::uint64_t bytes = 0;    // of its parts
    std::uint64_t entries = 0;  // of a list
    format::Crc64 crc64{};      // of its parts, if the head has one
    bool is_damaged = false;    // so its length has no meaning
  };

  void note_work(const Work& work, std::optional<std::uint64_t> done);
  /// Notes that a row of this id names `length` bytes of a content.
  /// What a row takes a content for.
  enum class Taken : std::uint8_t { kBytes, kList, kValue };
  Status name(format::TableId container, ContentId content, std::uint64_t length, Taken taken = Taken::kBytes);
  /// Returns whether the parts of a growing content may have so many bytes. A part that cannot be read may have any.
  bool may_reach(format::TableId contents, ContentId content, std::uint64_t length) const;
  Status visit_blob(std::string_view key, format::CommitVersion version, std::string_view value);
  Status visit_staged_list(std::string_view key, std::string_view value);
  /// Begins a content, if the row is not of the present one.
  Status begin_content(ContentId content);
  void note_damage(format::TableId contents);
  Status visit_content_row(std::uint32_t account, const ContentPlace& place, std::string_view value);
  Status visit_part(std::uint32_t account, std::uint64_t offset, std::string_view value);
  Status visit_entries(std::uint32_t account, std::uint64_t first, std::string_view bytes);
  Status end_content();

  const engine::ReadView& view_;
  std::unordered_set<format::TableId> containers_;
  std::unordered_set<format::TableId> leaving_tables_;
  std::unordered_set<ContentId> filling_;
  std::unordered_map<ContentId, std::uint64_t> leaving_;  // and the entries that were let go
  std::map<std::uint32_t, std::uint64_t> balances_;       // by account
  std::optional<Present> present_;
  std::set<ContentId> damaged_;
  std::unordered_set<std::uint32_t> incomplete_;  // accounts some of whose names could not be read
  std::uint64_t blobs_ = 0;
  std::uint64_t content_bytes_ = 0;
};

}  // namespace varve

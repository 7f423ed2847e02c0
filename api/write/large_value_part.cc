// Owns: the plan and the count of contents that entities name (large_value_part.h).
// Must never: read an entity of a table without large values.
#include "api/write/large_value_part.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "api/blob/large_values.h"
#include "api/model/service_error.h"
#include "format/keys/entity.h"
#include "format/keys/sort_key.h"
#include "varve/limits.h"

namespace varve {
namespace {

using Contents = std::vector<format::ContentReference>;

format::TableId table_of(const PreparedWrite& write) noexcept {
  return format::table_id_of(write.sort_key());
}

std::uint64_t lock_of(std::string_view key) noexcept {
  return format::partition_hash(format::partition_of(key));
}

Status no_such_value() {
  return service_error::large_value_not_found(
      "a LargeValue names a content that this account does not have, or no longer has; write the content again");
}

Status too_many_contents() {
  return service_error::request_body_too_large("the last MiB of the contents that one commit names have more than " +
                                               std::to_string(limits::kStoreTransactionBytesMax) +
                                               " bytes together; name them in several commits");
}

/// Checks whether an entity may name the content of this head. One without owners is being removed.
Status check_head(std::string_view value, std::uint64_t length) {
  const Result<ContentHead> head = decode_content_head(value);
  if (!head.ok()) return head.status();
  const bool may_be_named = head->kind == ContentKind::kValue && head->owners != 0 && head->length == length;
  return may_be_named ? Status() : no_such_value();
}

}  // namespace

Status check_large_values(std::span<const PreparedWrite> writes, bool in_transaction) {
  for (std::size_t i = 0; i < writes.size(); ++i) {
    if (!writes[i].has_large_values || has_large_values(table_of(writes[i]))) continue;
    const Status refused = service_error::invalid_input(
        "the table cannot have large values; create it with TableOptions::has_large_values");
    return in_transaction ? refused.at_operation(static_cast<std::uint32_t>(i)) : refused;
  }
  return Status();
}

Result<std::unique_ptr<LargeValuePart>> LargeValuePart::make(StoreCore& core, std::span<const PreparedWrite> writes) {
  const auto counts = [](const PreparedWrite& write) { return has_large_values(table_of(write)); };
  if (std::none_of(writes.begin(), writes.end(), counts)) return std::unique_ptr<LargeValuePart>();
  std::unique_ptr<LargeValuePart> part(new LargeValuePart(core));
  core.keep_blobs();
  Plans plans;
  for (const PreparedWrite& write : writes) {
    if (!counts(write)) continue;
    const format::TableId table = table_of(write);
    part->tables_.insert(part->tables_.end(), {table_fence_of(table), contents_of(table)});
    plans.try_emplace(contents_of(table));
    if (Status planned = part->plan_given(write, plans); !planned.ok()) return planned;
  }
  {
    const engine::ReadView view = core.backend().view();
    if (Status planned = plan_before(writes, view, plans); !planned.ok()) return planned;
    if (Status found = find_heads(view, plans); !found.ok()) return found;
  }
  for (auto& [id, planned] : plans) {
    Account& account =
        part->accounts_.emplace(id, Account(ContentOwners(id, std::move(planned.contents)))).first->second;
    account.offered = std::move(planned.offered);
  }
  if (part->bytes() > limits::kStoreTransactionBytesMax) return too_many_contents();
  return part;
}

/// Plans the contents that the write gives to its entity.
Status LargeValuePart::plan_given(const PreparedWrite& write, Plans& plans) {
  if (!write.has_large_values) return Status();
  Contents given;
  if (Status read = add_large_values(write.value(), given); !read.ok()) return read;
  const format::TableId id = contents_of(table_of(write));
  Planned& planned = plans[id];
  for (const format::ContentReference& each : given) {
    planned.contents.push_back(each.content);
    std::shared_ptr<const ContentWriter> writer = core_.blobs().find_offered(each.content);
    if (writer && writer->contents() == id) planned.offered.emplace(each.content, Offered{std::move(writer)});
  }
  return Status();
}

/// Plans the contents that the entities name now. An insert needs none: there must be no entity.
Status LargeValuePart::plan_before(std::span<const PreparedWrite> writes, const engine::ReadView& view, Plans& plans) {
  std::vector<std::string_view> keys;
  for (const PreparedWrite& write : writes) {
    const bool may_replace = write.kind != WriteOperation::Kind::kInsert && !write.key_too_long;
    if (may_replace && has_large_values(table_of(write))) keys.push_back(write.sort_key());
  }
  if (keys.empty()) return Status();
  const auto found = view.get_many(keys);
  if (!found.ok()) return found.status();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::optional<engine::FoundEntry>& entity = (*found)[i];
    if (!entity) continue;
    Contents named;
    if (Status read = add_large_values(entity->value, named); !read.ok()) return read;
    Planned& planned = plans[contents_of(format::table_id_of(keys[i]))];
    for (const format::ContentReference& each : named) planned.contents.push_back(each.content);
  }
  return Status();
}

/// Notes which offered contents have a head, so that the commit does not write their bytes again. A head that cannot be
/// read may be missing.
Status LargeValuePart::find_heads(const engine::ReadView& view, Plans& plans) {
  for (auto& [id, planned] : plans) {
    if (planned.offered.empty()) continue;
    std::vector<std::string> heads;
    for (const auto& [content, offered] : planned.offered) heads.push_back(content_head_key(id, content));
    const std::vector<std::string_view> keys(heads.begin(), heads.end());
    const auto found = view.get_many(keys);
    if (found.status().code() == Code::kOutOfMemory) return found.status();
    if (!found.ok()) continue;
    auto head = found->begin();
    for (auto& [content, offered] : planned.offered) offered.has_head = (head++)->has_value();
  }
  return Status();
}

std::vector<std::uint64_t> LargeValuePart::locks() const {
  std::vector<std::uint64_t> hashes;
  for (const auto& [id, account] : accounts_) {
    for (const std::string& key : account.owners.keys()) hashes.push_back(lock_of(key));
    for (const auto& [content, offered] : account.offered) {
      if (const std::string row = offered.writer->filling_key(); !row.empty()) hashes.push_back(lock_of(row));
    }
  }
  return hashes;
}

std::uint64_t LargeValuePart::bytes() const noexcept {
  std::uint64_t bytes = 0;
  for (const auto& [id, account] : accounts_) {
    for (const auto& [content, offered] : account.offered) bytes += offered.bytes();
  }
  return bytes;
}

Refusal LargeValuePart::overtaken() {
  was_overtaken_ = true;
  return refuse(Status(Code::kConflict, "the entity was changed meanwhile"));
}

Refusal LargeValuePart::extend(const engine::Newest* before, const PreparedWrite& after) {
  const format::TableId table = table_of(after);
  if (!has_large_values(table)) return {};
  Account& account = accounts_.at(contents_of(table));
  if (before != nullptr) rests_on_ = std::max(rests_on_, before->version);
  Contents lost;
  if (before != nullptr && before->value) {
    if (Status read = add_large_values(*before->value, lost); !read.ok()) return read;
  }
  Contents named;
  if (after.kind != WriteOperation::Kind::kRemove) {
    if (Status read = add_large_values(after.value(), named); !read.ok()) return read;
  }
  for (const format::ContentReference& each : lost) {
    if (!account.owners.is_planned(each.content)) return overtaken();
    --account.changes[each.content].owners;
  }
  for (const format::ContentReference& each : named) {
    if (!account.owners.is_planned(each.content)) return overtaken();
    Change& change = account.changes[each.content];
    if (change.is_named && change.length != each.length) return refuse(no_such_value());
    ++change.owners;
    change.is_named = true;
    change.length = each.length;
  }
  return {};
}

/// A content that keeps its owners is not read, so that damage of its head holds up no other change.
Refusal LargeValuePart::finish(const engine::ReadView& view, format::BatchBuilder& batch) {
  for (auto& [id, account] : accounts_) {
    std::erase_if(account.changes, [](const auto& change) { return change.second.owners == 0; });
    if (account.changes.empty()) continue;
    const Result<std::vector<engine::Newest>> heads = heads_of(account, view);
    if (!heads.ok()) return heads.status();
    if (Refusal refusal = settle(account, *heads, view, batch); refusal.is_refused()) return refusal;
  }
  return {};
}

/// Returns the heads in the order of the plan. That of a content whose owners do not change is empty.
Result<std::vector<engine::Newest>> LargeValuePart::heads_of(const Account& account, const engine::ReadView& view) {
  const std::vector<std::string>& planned = account.owners.keys();
  std::vector<std::size_t> places;
  std::vector<std::string_view> keys;
  for (const auto& [content, change] : account.changes) {
    places.push_back(account.owners.place_of(content));
    keys.push_back(planned[places.back()]);
  }
  Result<std::vector<engine::Newest>> read = view.newest_many(keys, engine::EntryPart::kAll);
  if (!read.ok() || read->size() == planned.size()) return read;
  std::vector<engine::Newest> heads(planned.size());
  for (std::size_t i = 0; i < places.size(); ++i) heads[places[i]] = std::move((*read)[i]);
  return heads;
}

/// Adds the rows of a content that no entity named before.
Refusal LargeValuePart::begin(const ContentWriter& writer, const Change& change, const engine::ReadView& view,
                              format::BatchBuilder& batch) const {
  if (writer.length() != change.length) return refuse(no_such_value());
  if (const std::string row = writer.filling_key(); !row.empty()) {
    const Result<engine::Newest> filling = view.newest(row, engine::EntryPart::kVersion);
    if (!filling.ok()) return filling.status();
    // An entity named it before, and its last owner has let it go.
    if (!filling->value) return refuse(no_such_value(), filling->version);
  }
  writer.add_rows(batch, static_cast<std::uint32_t>(change.owners));
  return {};
}

Refusal LargeValuePart::settle(Account& account, std::span<const engine::Newest> heads, const engine::ReadView& view,
                               format::BatchBuilder& batch) {
  for (const auto& [content, change] : account.changes) {
    const engine::Newest& head = account.owners.head_of(content, heads);
    if (change.owners > 0 && !head.value) {
      const auto offered = account.offered.find(content);
      if (offered == account.offered.end()) return refuse(no_such_value(), head.version);
      if (Refusal refusal = begin(*offered->second.writer, change, view, batch); refusal.is_refused()) return refusal;
      continue;
    }
    if (change.owners > 0) {
      const Status fits = check_head(*head.value, change.length);
      if (!fits.ok()) return refuse(fits, head.version);
    }
    account.owners.add(content, change.owners);
  }
  const Result<bool> settled = account.owners.settle(heads, batch);
  if (!settled.ok()) return settled.status();
  has_work_ = has_work_ || *settled;
  return {};
}

}  // namespace varve

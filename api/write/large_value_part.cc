// Owns: the plan and the count of contents that entities name (large_value_part.h).
// Must never: read an entity of a table without large values.
#include "api/write/large_value_part.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "api/blob/large_values.h"
#include "api/model/quoted.h"
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

Status no_such_value(ContentId content) {
  return service_error::large_value_not_found("the LargeValue " + std::to_string(content) +
                                              " names a content that this account does not have, or no longer has; "
                                              "write the content again");
}

Status too_many_contents() {
  return service_error::request_body_too_large(
      "the commit names new contents whose last MiB, with its other writes, have more than " +
      std::to_string(limits::kStoreTransactionBytesMax) + " bytes; name the contents in several commits");
}

/// As add_large_values(). An error names the entity.
Status add_values_of(std::string_view sort_key, std::string_view value, Contents& contents) {
  const Status read = add_large_values(value, contents);
  if (read.ok()) return read;
  return Status(read.code(),
                "the stored entity " + quoted_keys(sort_key) + " cannot be decoded: " + std::string(read.message()));
}

/// Checks whether an entity may name the content of this head. One without owners is being removed.
Status check_head(std::string_view value, ContentId content, std::uint64_t length) {
  const Result<ContentHead> head = decode_content_head(value);
  if (!head.ok()) return head.status();
  const bool may_be_named = head->kind == ContentKind::kValue && head->owners != 0 && head->length == length;
  return may_be_named ? Status() : no_such_value(content);
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

Result<std::unique_ptr<LargeValuePart>> LargeValuePart::make(StoreCore& core, const OwningWrites& writes) {
  if (std::none_of(writes.writes.begin(), writes.writes.end(), counts)) return std::unique_ptr<LargeValuePart>();
  std::unique_ptr<LargeValuePart> part(new LargeValuePart(core, writes.in_transaction));
  core.keep_blobs();
  if (Status planned = part->plan(writes.writes); !planned.ok()) return planned;
  if (Status few = part->check_bytes(writes.other_bytes); !few.ok()) return few;
  return part;
}

Status LargeValuePart::plan(std::span<const PreparedWrite> writes) {
  Plans plans;
  for (std::size_t i = 0; i < writes.size(); ++i) {
    const format::TableId table = table_of(writes[i]);
    if (!has_large_values(table)) continue;
    tables_.insert(tables_.end(), {table_fence_of(table), contents_of(table)});
    plans.try_emplace(contents_of(table));
    if (Status planned = plan_given(writes[i], i, plans); !planned.ok()) return planned;
  }
  const engine::ReadView view = core_.backend().view();
  if (Status planned = plan_before(writes, view, plans); !planned.ok()) return planned;
  if (Status found = find_heads(view, plans); !found.ok()) return found;
  for (auto& [id, planned] : plans) {
    Account& account = accounts_.emplace(id, Account(ContentOwners(id, std::move(planned.contents)))).first->second;
    account.offered = std::move(planned.offered);
  }
  return Status();
}

/// Plans the contents that the write gives to its entity.
Status LargeValuePart::plan_given(const PreparedWrite& write, std::size_t index, Plans& plans) const {
  if (!write.has_large_values) return Status();
  Contents given;
  if (Status read = add_large_values(write.value(), given); !read.ok()) return blamed(read, index);
  const format::TableId id = contents_of(table_of(write));
  Planned& planned = plans[id];
  for (const format::ContentReference& each : given) {
    planned.contents.push_back(each.content);
    std::shared_ptr<const ContentWriter> writer = core_.blobs().find_offered(each.content);
    if (writer && writer->contents() == id) planned.offered.emplace(each.content, Offered{std::move(writer), index});
  }
  return Status();
}

/// Plans the contents that the entities name now. An insert needs none: there must be no entity.
Status LargeValuePart::plan_before(std::span<const PreparedWrite> writes, const engine::ReadView& view,
                                   Plans& plans) const {
  std::vector<std::string_view> keys;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < writes.size(); ++i) {
    const bool may_replace = writes[i].kind != WriteOperation::Kind::kInsert && !writes[i].key_too_long;
    if (!may_replace || !has_large_values(table_of(writes[i]))) continue;
    keys.push_back(writes[i].sort_key());
    places.push_back(i);
  }
  if (keys.empty()) return Status();
  const auto found = view.get_many(keys);
  if (!found.ok()) return found.status();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::optional<engine::FoundEntry>& entity = (*found)[i];
    if (!entity) continue;
    Contents named;
    if (Status read = add_values_of(keys[i], entity->value, named); !read.ok()) return blamed(read, places[i]);
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

/// `bytes` are those besides the contents. The error has the write whose content is over the limit.
Status LargeValuePart::check_bytes(std::uint64_t bytes) const {
  std::map<std::size_t, std::uint64_t> of_writes;
  for (const auto& [id, account] : accounts_) {
    for (const auto& [content, offered] : account.offered) of_writes[offered.write] += offered.bytes();
  }
  for (const auto& [write, more] : of_writes) {
    bytes += more;
    if (more != 0 && bytes > limits::kStoreTransactionBytesMax) return blamed(too_many_contents(), write);
  }
  return Status();
}

Refusal LargeValuePart::overtaken() {
  was_overtaken_ = true;
  return refuse(Status(Code::kConflict, "the entity was changed meanwhile"));
}

Refusal LargeValuePart::extend(const engine::Newest* before, const PreparedWrite& after) {
  const std::size_t write = extended_++;
  const format::TableId table = table_of(after);
  if (!has_large_values(table)) return {};
  Account& account = accounts_.at(contents_of(table));
  if (before != nullptr) rests_on_ = std::max(rests_on_, before->version);
  Contents lost;
  if (before != nullptr && before->value) {
    if (Status read = add_values_of(after.sort_key(), *before->value, lost); !read.ok()) return read;
  }
  Contents named;
  if (after.kind != WriteOperation::Kind::kRemove) {
    if (Status read = add_large_values(after.value(), named); !read.ok()) return read;
  }
  for (const format::ContentReference& each : lost) {
    if (!account.owners.is_planned(each.content)) return overtaken();
    Change& change = account.changes[each.content];
    --change.owners;
    change.length_before = change.length_before.value_or(each.length) == each.length ? each.length : Change::kNoLength;
  }
  for (const format::ContentReference& each : named) {
    if (!account.owners.is_planned(each.content)) return overtaken();
    Change& change = account.changes[each.content];
    if (change.is_named && change.length != each.length) return refuse(no_such_value(each.content));
    if (!change.is_named) change.write = write;
    ++change.owners;
    change.is_named = true;
    change.length = each.length;
  }
  return {};
}

/// A content that keeps its owners and its length is not read, so that damage of its head holds up no other change.
Refusal LargeValuePart::finish(const engine::ReadView& view, format::BatchBuilder& batch) {
  for (auto& [id, account] : accounts_) {
    std::erase_if(account.changes, [](const auto& change) { return change.second.is_unchanged(); });
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
Refusal LargeValuePart::begin(ContentId content, const ContentWriter& writer, const Change& change,
                              const engine::ReadView& view, format::BatchBuilder& batch) const {
  if (writer.length() != change.length) return refuse(blamed(no_such_value(content), change.write));
  if (const std::string row = writer.filling_key(); !row.empty()) {
    const Result<engine::Newest> filling = view.newest(row, engine::EntryPart::kVersion);
    if (!filling.ok()) return blamed(filling.status(), change.write);
    // An entity named it before, and its last owner has let it go.
    if (!filling->value) return refuse(blamed(no_such_value(content), change.write), filling->version);
  }
  writer.add_rows(batch, static_cast<std::uint32_t>(change.owners));
  return {};
}

/// Checks a content that gains owners, or that entities name by another length. Begins it if no entity named it before.
Refusal LargeValuePart::gain(Account& account, ContentId content, const engine::Newest& head,
                             const engine::ReadView& view, format::BatchBuilder& batch) const {
  const Change& change = account.changes.at(content);
  if (head.value) {
    const Status fits = check_head(*head.value, content, change.length);
    if (!fits.ok()) return refuse(blamed(fits, change.write), head.version);
    account.owners.add(content, change.owners);
    return {};
  }
  if (change.owners <= 0) return refuse(blamed(no_such_value(content), change.write), head.version);
  const auto offered = account.offered.find(content);
  if (offered == account.offered.end()) return refuse(blamed(no_such_value(content), change.write), head.version);
  return begin(content, *offered->second.writer, change, view, batch);
}

Refusal LargeValuePart::settle(Account& account, std::span<const engine::Newest> heads, const engine::ReadView& view,
                               format::BatchBuilder& batch) {
  for (const auto& [content, change] : account.changes) {
    if (change.owners < 0 && !change.has_new_length()) {
      account.owners.add(content, change.owners);
      continue;
    }
    Refusal refusal = gain(account, content, account.owners.head_of(content, heads), view, batch);
    if (refusal.is_refused()) return refusal;
  }
  const Result<bool> settled = account.owners.settle(heads, batch);
  if (!settled.ok()) return settled.status();
  has_work_ = has_work_ || *settled;
  return {};
}

}  // namespace varve

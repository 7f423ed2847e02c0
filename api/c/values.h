// Owns: values and entities of C as those of the library, and the other way round.
// Must never: check a rule of the table model; the verbs do. It checks what C can get wrong: pointers and numbers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "varve/c.h"
#include "varve/entity_view.h"
#include "varve/options.h"
#include "varve/query.h"
#include "varve/result.h"
#include "varve/table.h"
#include "varve/transaction.h"
#include "varve/types.h"

namespace varve::c {

inline varve_text text_of(std::string_view text) noexcept {
  return {text.data(), text.size()};
}

/// Errors: kInvalidArgument (`data` is NULL and `size` is not zero; `name` names the text).
Result<std::string_view> read_text(const varve_text& text, std::string_view name) noexcept;

/// Copies names of properties. Errors: kInvalidArgument (`names` is NULL and `count` is not zero; `what` names the array).
Result<std::vector<std::string>> read_names(const varve_text* names, std::size_t count, std::string_view what);

/// Calls a verb with the names of an account, and of a table or queue. `kind` is "table" or "queue".
template <typename Verb>
Status with_names(const varve_text& account, const varve_text& name, std::string_view kind, const Verb& verb) {
  const Result<std::string_view> account_name = read_text(account, "account");
  if (!account_name.ok()) return account_name.status();
  const Result<std::string_view> own_name = read_text(name, kind);
  if (!own_name.ok()) return own_name.status();
  return verb(*account_name, *own_name);
}

/// Every number is an ETag.
inline ETag to_etag(varve_etag etag) noexcept {
  return ETag::of_timestamp(DateTime{etag});
}
inline varve_etag from_etag(ETag etag) noexcept {
  return etag.timestamp().ticks;
}
inline void give_etag(ETag etag, varve_etag* given) noexcept {
  if (given != nullptr) *given = from_etag(etag);
}

/// A patch, and how the caller asks for it.
struct ReadPatch {
  Patch patch;
  ETag if_match;
  bool may_insert = false;
};

/// Errors of these: kInvalidArgument (a null pointer, an unknown type or kind).
/// @{
Result<Entity> read_entity(const varve_entity* entity);
Result<WriteOperation> read_operation(const varve_operation& operation, const varve_text& condition = {});
Result<ReadPatch> read_patch(const varve_patch* patch);
Result<std::vector<EntityKey>> read_keys(const varve_key* keys, std::size_t count);
Result<WriteOptions> read_write_options(const varve_write_options* options);
Result<ReadOptions> read_read_options(const varve_read_options* options);
/// `limits` are those of the store.
Result<Scan> read_scan(const varve_scan* scan, const StoreLimits& limits);
Result<Access> read_access(const varve_access* access);
Result<std::optional<Snapshot>> read_snapshot(const varve_snapshot* snapshot);
/// @}

/// Returns milliseconds of C. A value above 2^40 stays too long, and the verb refuses it.
std::chrono::milliseconds to_milliseconds(std::uint64_t count) noexcept;
/// Reads VARVE_SYNC, VARVE_BUFFERED or zero.
Result<std::optional<Durability>> read_durability(std::int32_t durability);

/// Returns a view of a value. The memory that `value` points to must outlive it.
varve_value value_of(const ValueView& value) noexcept;

}  // namespace varve::c

// SPDX-License-Identifier: Apache-2.0
// Owns: the verbs of a table and of a store transaction on a mapped struct.
// Must never: write without a condition if the struct has an ETag member.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "condition.h"
#include "cursor.h"
#include "mapped_entity.h"
#include "mapping.h"
#include "options.h"
#include "query.h"
#include "query_builder.h"
#include "result.h"
#include "status.h"
#include "store_transaction.h"
#include "table.h"
#include "transaction.h"
#include "types.h"

namespace varve {

namespace mapped {

/// Returns the object's ETag member, which is the condition of its next write.
template <Mapped T>
ETag carried_etag(const T& object) {
  static_assert(count_of<T>(Element::kETag) == 1,
                "the varve::mapping declares no etag: pass the ETag, or ETag::any(), as the condition");
  ETag etag;
  with_element<Element::kETag, T>([&](const auto& element) { etag = object.*element.member; });
  return etag;
}

/// Sets the object's ETag and Timestamp members to those of its written entity.
template <Mapped T>
void stamp(T& object, ETag etag) {
  with_element<Element::kETag, T>([&](const auto& element) { object.*element.member = etag; });
  with_element<Element::kTimestamp, T>([&](const auto& element) { object.*element.member = etag.timestamp(); });
}

/// What changes of members have in common.
template <Mapped T>
class MemberChanges {
 protected:
  template <auto... path>
  static constexpr bool is_optional() {
    return (OptionalValue<MemberOf<path>>::kIsOptional || ...);
  }
  template <auto... path>
  static std::string name_of() {
    static_assert(begins_in_struct<path...>(), "the path begins in another struct than that of the patch");
    return MemberField<path...>().name();
  }
  /// Calls `use` with the stored value of the member, or notes the first error.
  template <typename V, typename Use>
  void add(std::string name, const V& value, const Use& use) {
    Result<Value> held = to_value(name, value);
    if (held.ok()) {
      use(std::move(name), *std::move(held));
    } else if (status_.ok()) {
      status_ = held.status();
    }
  }

  Status status_;

 private:
  template <auto first, auto... rest>
  static constexpr bool begins_in_struct() {
    return std::is_base_of_v<OwnerOf<first>, T>;
  }
};

}  // namespace mapped

/// A Patch of the entity of a `T`. A path names a member, or a member of a flattened struct:
///
///   TypedPatch<Order> sale("eu", "0001");
///   sale.increment<&Order::lines>(1).set<&Order::customer>("Ann").only_if(field<&Order::lines>() < 10);
///   Result<Order> order = orders.patch(sale, ETag::any());
///
/// Nothing is checked before the write. If a member cannot hold a value or a number to add, the write returns
/// kInvalidArgument, and names the property.
template <Mapped T>
class TypedPatch : private mapped::MemberChanges<T> {
  using Base = mapped::MemberChanges<T>;
  using Base::status_;

 public:
  /// Makes a patch that changes no property of the entity with these keys. It still gives the entity a new ETag.
  TypedPatch(std::string partition_key, std::string row_key) : patch_(std::move(partition_key), std::move(row_key)) {
    mapped::check_mapping<T>();
  }
  /// Makes a patch of the entity with the keys of the object. The other members of the object are not used.
  explicit TypedPatch(const T& object) : patch_(std::string(), std::string()) {
    mapped::check_mapping<T>();
    EntityKey key = key_of(object);
    patch_ = Patch(std::move(key.partition_key), std::move(key.row_key));
  }

  /// Sets the property of the member.
  template <auto... path>
  TypedPatch& set(const typename MemberField<path...>::value_type& value) {
    Base::add(Base::template name_of<path...>(), value,
              [this](std::string name, Value held) { patch_.set(std::move(name), std::move(held)); });
    return *this;
  }
  /// Removes the property of an optional member.
  template <auto... path>
  TypedPatch& remove() {
    static_assert(Base::template is_optional<path...>(), "only the property of an optional member can be removed");
    patch_.remove(Base::template name_of<path...>());
    return *this;
  }
  /// Adds `by` to the property of a number, in the type in which the member is stored. An insert_or_patch() of an absent
  /// entity begins at zero.
  template <auto... path>
  TypedPatch& increment(typename MemberField<path...>::value_type by) {
    static_assert(mapped::Number<typename MemberField<path...>::value_type>, "only a number can be incremented");
    Base::add(Base::template name_of<path...>(), by,
              [this](std::string name, Value held) { patch_.increment(std::move(name), std::move(held)); });
    return *this;
  }
  /// Requires that the stored entity meets the condition. A second call replaces the first one.
  TypedPatch& only_if(const Condition& condition) {
    if (status_.ok()) status_ = condition.status();
    patch_.only_if(condition.text());
    return *this;
  }

  /// Returns the patch of an entity, or the first error.
  Result<Patch> patch() const { return status_.ok() ? Result<Patch>(patch_) : status_; }

 private:
  Patch patch_;
};

/// What TypedTable::update_where() does to the entity of each `T`. A path names a member, as in a TypedPatch:
///
///   orders.update_where(Query<Order>().where(field<&Order::lines>() == 0), TypedChanges<Order>().remove<&Order::note>());
template <Mapped T>
class TypedChanges : private mapped::MemberChanges<T> {
  using Base = mapped::MemberChanges<T>;
  using Base::status_;

 public:
  /// Sets the property of the member.
  template <auto... path>
  TypedChanges& set(const typename MemberField<path...>::value_type& value) {
    Base::add(Base::template name_of<path...>(), value, [this](std::string name, Value held) {
      changes_.set.push_back({std::move(name), std::move(held)});
    });
    return *this;
  }
  /// Removes the property of an optional member.
  template <auto... path>
  TypedChanges& remove() {
    static_assert(Base::template is_optional<path...>(), "only the property of an optional member can be removed");
    changes_.remove.push_back(Base::template name_of<path...>());
    return *this;
  }
  /// Returns the changes of entities, or the first error.
  Result<PropertyChanges> changes() const { return status_.ok() ? Result<PropertyChanges>(changes_) : status_; }

 private:
  PropertyChanges changes_;
};

namespace mapped {

/// Returns which entities a query finds, its discriminator included. Errors: those of the conditions;
/// kInvalidArgument (it has an option that a change by filter lacks).
template <Mapped T>
Result<Where> where_of(const Query<T>& query) {
  const Result<Scan> asked = query.scan();
  if (!asked.ok()) return asked.status();
  const Result<Scan> of_all = Query<T>().scan();
  if (!of_all.ok()) return of_all.status();
  if (asked->filter == of_all->filter && asked->range.kind() == ScanRange::Kind::kTable) {
    return Status::invalid_argument("the query of a change by filter has no condition; use Table with Where::all")
        .with_service_error("InvalidInput");
  }
  const bool is_plain = query.taken() == PageCursor::kNoLimit && asked->order_by.empty() &&
                        asked->read.select.empty() && !asked->read.snapshot && asked->continuation.empty();
  if (is_plain) return Where{asked->range, asked->filter, false};
  return Status::invalid_argument(
      "the query of a change by filter has take, order_by, select, at or continue_from; expected only where and in");
}

}  // namespace mapped

/// A table whose entities are `T`. It may also hold other entities. A TypedTable is as cheap to copy and as safe for
/// threads as its Table, and has the verbs and errors of Table. It also returns kInvalidArgument if a struct and an
/// entity do not match (mapped_entity.h).
///
/// A successful write of a non-const object sets the object's ETag and Timestamp members to the new values. replace(),
/// merge() and remove() without a condition require the ETag that the object has. An object that was not read from a
/// store has no ETag, and is refused. Pass ETag::any() to write regardless of the stored ETag. Source: C-01, C-03.
template <Mapped T>
class TypedTable {
 public:
  /// The verbs of write().
  using Kind = WriteOperation::Kind;

  /// Makes a typed handle of this table. Does not read the table.
  explicit TypedTable(Table table) : table_(std::move(table)) { mapped::check_mapping<T>(); }

  /// Returns the handle for the same table with plain entities.
  /// @{
  Table& table() & noexcept { return table_; }
  const Table& table() const& noexcept { return table_; }
  Table table() && noexcept { return std::move(table_); }
  /// @}

  /// Does Table::write() with the verb `kind` and the object, and returns the new ETag; kRemove has none and leaves the
  /// object as it is.
  /// @{
  Result<ETag> write(Kind kind, T& object, ETag if_match, const WriteOptions& options = {}) {
    const Result<ETag> etag = write(kind, std::as_const(object), if_match, options);
    if (etag.ok() && kind != Kind::kRemove) mapped::stamp(object, *etag);
    return etag;
  }
  Result<ETag> write(Kind kind, const T& object, ETag if_match, const WriteOptions& options = {}) {
    const Result<Entity> entity = to_entity(object);
    if (!entity.ok()) return entity.status();
    return table_.write({kind, *entity, if_match}, options);
  }
  /// @}

  /// Does Table::insert() and returns the new ETag.
  /// @{
  Result<ETag> insert(T& object, const WriteOptions& options = {}) {
    return write(Kind::kInsert, object, ETag(), options);
  }
  Result<ETag> insert(const T& object, const WriteOptions& options = {}) {
    return write(Kind::kInsert, object, ETag(), options);
  }
  /// @}

  /// Does Table::insert_or_replace() and returns the new ETag.
  /// @{
  Result<ETag> insert_or_replace(T& object, const WriteOptions& options = {}) {
    return write(Kind::kInsertOrReplace, object, ETag(), options);
  }
  Result<ETag> insert_or_replace(const T& object, const WriteOptions& options = {}) {
    return write(Kind::kInsertOrReplace, object, ETag(), options);
  }
  /// @}

  /// Does Table::insert_or_merge() and returns the new ETag. An optional member without a value does not change the
  /// stored property (D-45).
  /// @{
  Result<ETag> insert_or_merge(T& object, const WriteOptions& options = {}) {
    return write(Kind::kInsertOrMerge, object, ETag(), options);
  }
  Result<ETag> insert_or_merge(const T& object, const WriteOptions& options = {}) {
    return write(Kind::kInsertOrMerge, object, ETag(), options);
  }
  /// @}

  /// Does Table::replace() and returns the new ETag. Without `if_match`, the condition is the ETag in the object.
  /// @{
  Result<ETag> replace(T& object, const WriteOptions& options = {}) {
    return write(Kind::kReplace, object, mapped::carried_etag(object), options);
  }
  Result<ETag> replace(T& object, ETag if_match, const WriteOptions& options = {}) {
    return write(Kind::kReplace, object, if_match, options);
  }
  Result<ETag> replace(const T& object, ETag if_match, const WriteOptions& options = {}) {
    return write(Kind::kReplace, object, if_match, options);
  }
  /// @}

  /// Does Table::merge() and returns the new ETag. Without `if_match`, the condition is the ETag in the object. An
  /// optional member without a value does not change the stored property (D-45).
  /// @{
  Result<ETag> merge(T& object, const WriteOptions& options = {}) {
    return write(Kind::kMerge, object, mapped::carried_etag(object), options);
  }
  Result<ETag> merge(T& object, ETag if_match, const WriteOptions& options = {}) {
    return write(Kind::kMerge, object, if_match, options);
  }
  Result<ETag> merge(const T& object, ETag if_match, const WriteOptions& options = {}) {
    return write(Kind::kMerge, object, if_match, options);
  }
  /// @}

  /// Does Table::remove() with the keys of the object. Without `if_match`, the condition is the ETag in the object.
  /// @{
  Status remove(const T& object, const WriteOptions& options = {}) {
    return remove(object, mapped::carried_etag(object), options);
  }
  Status remove(const T& object, ETag if_match, const WriteOptions& options = {}) {
    const EntityKey key = key_of(object);
    return table_.remove(key.partition_key, key.row_key, if_match, options);
  }
  /// @}

  /// Does the patch of the same name of Table, and returns the object after it. kUnknown: the patch is committed, but the
  /// entity does not match the struct.
  /// @{
  Result<T> patch(const TypedPatch<T>& patch, ETag if_match, const WriteOptions& options = {}) {
    const Result<Patch> made = patch.patch();
    return made.ok() ? object_of(table_.patch(*made, if_match, options)) : made.status();
  }
  Result<T> insert_or_patch(const TypedPatch<T>& patch, const WriteOptions& options = {}) {
    const Result<Patch> made = patch.patch();
    return made.ok() ? object_of(table_.insert_or_patch(*made, options)) : made.status();
  }
  /// @}

  /// Do the changes by filter of the same names of Table, on the entities that the query finds. Of the query only where() and
  /// in() count. If the struct has a discriminator, other entities stay as they are.
  /// @{
  Result<WhereProgress> delete_where(const Query<T>& query, const WhereOptions& options = {}) {
    const Result<Where> where = mapped::where_of(query);
    return where.ok() ? table_.delete_where(*where, options) : where.status();
  }
  Result<WhereProgress> update_where(const Query<T>& query, const TypedChanges<T>& changes,
                                     const WhereOptions& options = {}) {
    const Result<Where> where = mapped::where_of(query);
    if (!where.ok()) return where.status();
    const Result<PropertyChanges> made = changes.changes();
    return made.ok() ? table_.update_where(*where, *made, options) : made.status();
  }
  /// @}

  /// Returns the object, or nothing if it does not exist.
  Result<std::optional<T>> get(std::string_view partition_key, std::string_view row_key,
                               const ReadOptions& options = {}) const {
    const Result<std::optional<Entity>> found = table_.get(partition_key, row_key, options);
    if (!found.ok()) return found.status();
    if (!found->has_value()) return std::optional<T>();
    Result<T> object = from_entity<T>(**found);
    if (!object.ok()) return object.status();
    return std::optional<T>(*std::move(object));
  }

  /// Returns a cursor over the objects that match. Reads nothing yet.
  Cursor<T> query(Condition where = {}) const { return run(Query<T>().where(std::move(where))); }
  /// Returns a cursor over the results of the query. Reads nothing yet.
  Cursor<T> run(const Query<T>& query) const { return query.run(table_); }

 private:
  static Result<T> object_of(const Result<Entity>& patched) {
    if (!patched.ok()) return patched.status();
    Result<T> object = from_entity<T>(*patched);
    if (object.ok()) return object;
    return Status(Code::kUnknown, "the patch is committed, but " + std::string(object.status().message()));
  }

  Table table_;
};

/// One page of objects, as Page.
template <Mapped T>
struct TypedPage {
  /// The objects, in the order of the entities.
  std::vector<T> objects;
  /// The token for Query::continue_from(), as Page::continuation.
  std::optional<std::string> continuation;
  /// The cost of this page alone.
  PageCost cost;
};

/// A StoreTransaction's view of one table of structs. A transaction may have several, of different tables and structs.
/// It borrows the transaction, and has the verbs and errors of StoreTransaction. It also returns kInvalidArgument if a
/// struct and an entity do not match (mapped_entity.h). Writes are checked by StoreTransaction::commit().
///
///   store->transact([&](StoreTransaction& transaction) -> Status {
///     TypedTransaction orders(transaction, order_table);
///     Result<std::optional<Order>> order = orders.get("eu", "0001");
///     if (!order.ok()) return order.status();
///     (*order)->lines += 1;
///     return orders.replace(**order);
///   });
template <Mapped T>
class TypedTransaction {
 public:
  /// The verbs of add().
  using Kind = WriteOperation::Kind;

  /// The transaction must outlive the object.
  TypedTransaction(StoreTransaction& transaction, TypedTable<T> table) noexcept
      : transaction_(&transaction), table_(std::move(table)) {}

  /// Does StoreTransaction::get().
  Result<std::optional<T>> get(std::string_view partition_key, std::string_view row_key,
                               const ReadOptions& options = {}) {
    const Result<std::optional<Entity>> found = transaction_->get(table_.table(), partition_key, row_key, options);
    if (!found.ok()) return found.status();
    if (!found->has_value()) return std::optional<T>();
    Result<T> object = from_entity<T>(**found);
    if (!object.ok()) return object.status();
    return std::optional<T>(*std::move(object));
  }

  /// Does StoreTransaction::scan_checked() with the query, and returns one page. Query::take() is Scan::take. To check the
  /// rest of the range too, ask again with continue_from() and the token of the page. If an entity of the page does not match
  /// the struct, commit() checks the range nevertheless.
  Result<TypedPage<T>> scan_checked(const Query<T>& query) {
    Result<Scan> scan = query.scan();
    if (!scan.ok()) return scan.status();
    if (query.taken() != PageCursor::kNoLimit) scan->take = query.taken();
    Result<Page> page = transaction_->scan_checked(table_.table(), *std::move(scan));
    if (!page.ok()) return page.status();
    TypedPage<T> made{{}, std::move(page->continuation), page->cost};
    made.objects.reserve(page->entities.size());
    for (const Entity& entity : page->entities) {
      Result<T> object = from_entity<T>(entity);
      if (!object.ok()) return object.status();
      made.objects.push_back(*std::move(object));
    }
    return made;
  }

  /// Appends a write with the object. Errors: kInvalidArgument (the object makes no entity); then nothing is appended.
  Status add(Kind kind, const T& object, ETag if_match) {
    Result<Entity> entity = to_entity(object);
    if (!entity.ok()) return entity.status();
    transaction_->add(table_.table(), {kind, *std::move(entity), if_match});
    return Status();
  }
  /// Appends a write with the Table verb of the same name. Without `if_match`, the condition is the ETag in the object.
  /// @{
  Status insert(const T& object) { return add(Kind::kInsert, object, ETag()); }
  Status insert_or_replace(const T& object) { return add(Kind::kInsertOrReplace, object, ETag()); }
  Status insert_or_merge(const T& object) { return add(Kind::kInsertOrMerge, object, ETag()); }
  Status replace(const T& object) { return replace(object, mapped::carried_etag(object)); }
  Status replace(const T& object, ETag if_match) { return add(Kind::kReplace, object, if_match); }
  Status merge(const T& object) { return merge(object, mapped::carried_etag(object)); }
  Status merge(const T& object, ETag if_match) { return add(Kind::kMerge, object, if_match); }
  Status remove(const T& object) { return remove(object, mapped::carried_etag(object)); }
  Status remove(const T& object, ETag if_match) { return add(Kind::kRemove, object, if_match); }
  /// @}
  /// Appends a patch with the verb of the same name. StoreTransaction::patched_entities() has the entities afterwards.
  /// Errors: kInvalidArgument (a member cannot hold a value of the patch); then nothing is appended.
  /// @{
  Status patch(const TypedPatch<T>& patch, ETag if_match) {
    Result<Patch> made = patch.patch();
    if (!made.ok()) return made.status();
    transaction_->patch(table_.table(), *std::move(made), if_match);
    return Status();
  }
  Status insert_or_patch(const TypedPatch<T>& patch) {
    Result<Patch> made = patch.patch();
    if (!made.ok()) return made.status();
    transaction_->insert_or_patch(table_.table(), *std::move(made));
    return Status();
  }
  /// @}

 private:
  StoreTransaction* transaction_;
  TypedTable<T> table_;
};

}  // namespace varve

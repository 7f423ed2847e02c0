// Owns: the calls of the C interface for indexes of tables, and for changes by filter.
// Must never: read a field of a caller's struct before its size is checked.
#include "api/c/indexes.h"

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "api/c/call.h"
#include "api/c/objects.h"
#include "api/c/page.h"
#include "api/c/sized.h"
#include "api/model/guarded.h"
#include "varve/store.h"

namespace vc = varve::c;

namespace varve::c {
namespace {

Result<IndexDefinition> read_index_definition(const varve_index_definition* definition) {
  if (definition == nullptr) return null_pointer("definition");
  const Result<varve_index_definition> given = read_sized(definition);
  if (!given.ok()) return given.status();
  if (given->components == nullptr && given->component_count != 0) return null_pointer("components");
  const Result<std::string_view> name = read_text(given->name, "the name of the index");
  if (!name.ok()) return name.status();
  Result<std::vector<std::string>> carried = read_names(given->carried, given->carried_count, "carried");
  if (!carried.ok()) return carried.status();
  IndexDefinition read;
  read.is_unique = given->is_unique;
  read.name = *name;
  read.carried = *std::move(carried);
  for (std::size_t i = 0; i < given->component_count; ++i) {
    const Result<std::string_view> property = read_text(given->components[i].property, "property");
    if (!property.ok()) return property.status();
    read.components.push_back({std::string(*property), given->components[i].is_descending});
  }
  return read;
}

/// A change by filter as the library takes it.
struct ReadWhere {
  Where where;
  PropertyChanges changes;
  WhereOptions options;
};

Result<ReadWhere> read_where(const varve_where& given, const StoreLimits& limits) {
  Result<Scan> scan = read_scan(given.scan, limits);
  if (!scan.ok()) return scan.status();
  // A field without an effect could be a limit that the caller relies on.
  if (scan->take || scan->backward || !scan->order_by.empty() || !scan->read.select.empty() || scan->read.snapshot ||
      scan->order_time_max != Scan().order_time_max || !scan->filter_extensions) {
    return Status::invalid_argument(
        "the scan of a change by filter sets has_take, backward, order_by, order_time_max_ms, no_filter_extensions, "
        "select or snapshot; expected a range, a filter and a continuation");
  }
  const Result<WriteOptions> write = read_write_options(given.write);
  if (!write.ok()) return write.status();
  const varve_entity of_set{{}, {}, given.set, given.set_count, VARVE_ETAG_NONE};
  Result<Entity> set = read_entity(&of_set);
  if (!set.ok()) return set.status();
  Result<std::vector<std::string>> removed = read_names(given.removed, given.removed_count, "removed");
  if (!removed.ok()) return removed.status();
  ReadWhere read;
  read.where = {std::move(scan->range), std::move(scan->filter), given.all};
  read.changes.set = std::move(*std::move(set)).properties();
  read.changes.remove = *std::move(removed);
  read.options.continuation = std::move(scan->continuation);
  if (given.batch_entities_max != 0) read.options.batch_entities_max = given.batch_entities_max;
  read.options.dry_run = given.dry_run;
  read.options.write = *write;
  return read;
}

varve_where_progress progress_of(const WhereProgress& now) noexcept {
  return {now.matched, now.changed, now.left, now.continuation ? text_of(*now.continuation) : varve_text{}};
}

/// The batches are committed, so a lack of memory must not read as no change.
Status give_end(const WhereProgress& done, varve_page** page) {
  const Status given = guarded([&] {
    auto made = std::make_unique<PageObject>();
    made->end(done.continuation, PageCost());
    return give_handle(std::move(made), page);
  });
  if (given.code() != Code::kOutOfMemory) return given;
  return Status(Code::kUnknown, "the change ended, but there was no memory for the page");
}

/// `verb` calls the verb of the table.
template <typename Verb>
varve_status* change_where(const varve_table* table, const varve_where* where, varve_where_progress* figures,
                           varve_page** page, const Verb& verb) noexcept {
  if (page != nullptr) *page = nullptr;
  if (figures != nullptr) *figures = varve_where_progress{};
  return call_on<TableObject>(table, [&](TableObject& held) -> Status {
    if (where == nullptr) return null_pointer("where");
    const Result<varve_where> given = read_sized(where);
    if (!given.ok()) return given.status();
    Result<ReadWhere> read = read_where(*given, held.limits);
    if (!read.ok()) return read.status();
    std::stop_source stop;
    if (given->progress != nullptr) {
      read->options.stop = stop.get_token();
      read->options.progress = [&](const WhereProgress& now) {
        const varve_where_progress shown = progress_of(now);
        if (!given->progress(&shown, given->context)) stop.request_stop();
      };
    }
    const Result<WhereProgress> done = verb(held.table, *read);
    if (!done.ok()) return done.status();
    if (figures != nullptr) *figures = {done->matched, done->changed, done->left, {}};
    return page != nullptr ? give_end(*done, page) : Status();
  });
}

}  // namespace
}  // namespace varve::c

varve_status* varve_index_create(varve_store* store, varve_text account, varve_text table,
                                 const varve_index_definition* definition, varve_index_progress progress,
                                 void* context) {
  return vc::call_on<vc::StoreObject>(store, [&](const vc::StoreObject& held) -> varve::Status {
    const varve::Result<varve::IndexDefinition> read = vc::read_index_definition(definition);
    if (!read.ok()) return read.status();
    std::function<bool(const varve::IndexBuildProgress&)> shown;
    if (progress != nullptr) {
      shown = [&](const varve::IndexBuildProgress& now) { return progress(now.entities, now.entries, context); };
    }
    return vc::with_names(account, table, "table",
                          [&](auto owner, auto name) { return held.store->create_index(owner, name, *read, shown); });
  });
}

varve_status* varve_index_drop(varve_store* store, varve_text account, varve_text table, varve_text index) {
  return vc::call_on<vc::StoreObject>(store, [&](const vc::StoreObject& held) -> varve::Status {
    const varve::Result<std::string_view> dropped = vc::read_text(index, "index");
    if (!dropped.ok()) return dropped.status();
    return vc::with_names(account, table, "table",
                          [&](auto owner, auto name) { return held.store->drop_index(owner, name, *dropped); });
  });
}

varve_status* varve_index_list(varve_store* store, varve_text account, varve_text table, varve_indexes** indexes) {
  if (indexes != nullptr) *indexes = nullptr;
  return vc::call_on<vc::StoreObject>(store, [&](const vc::StoreObject& held) -> varve::Status {
    if (indexes == nullptr) return vc::null_pointer("indexes");
    return vc::with_names(account, table, "table", [&](auto owner, auto name) -> varve::Status {
      varve::Result<std::vector<varve::IndexInfo>> found = held.store->indexes(owner, name);
      if (!found.ok()) return found.status();
      return vc::give_handle(std::make_unique<vc::IndexesObject>(*std::move(found)), indexes);
    });
  });
}

varve_status* varve_indexes_read(const varve_indexes* indexes, const varve_index** all, size_t* count) {
  if (all != nullptr) *all = nullptr;
  if (count != nullptr) *count = 0;
  return vc::call_on<vc::IndexesObject>(indexes, [&](const vc::IndexesObject& held) -> varve::Status {
    if (all == nullptr) return vc::null_pointer("all");
    if (count == nullptr) return vc::null_pointer("count");
    *all = held.shown().data();
    *count = held.shown().size();
    return varve::Status();
  });
}

void varve_indexes_free(varve_indexes* indexes) {
  vc::free_handle(indexes, vc::Kind::kIndexes);
}

varve_status* varve_table_delete_where(const varve_table* table, const varve_where* where,
                                       varve_where_progress* figures, varve_page** page) {
  return vc::change_where(table, where, figures, page, [](varve::Table& on, const vc::ReadWhere& read) {
    return on.delete_where(read.where, read.options);
  });
}

varve_status* varve_table_update_where(const varve_table* table, const varve_where* where,
                                       varve_where_progress* figures, varve_page** page) {
  return vc::change_where(table, where, figures, page, [](varve::Table& on, const vc::ReadWhere& read) {
    return on.update_where(read.where, read.changes, read.options);
  });
}

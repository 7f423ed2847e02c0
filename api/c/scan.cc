// Owns: the calls of the C interface that scan: pages, cursors, counts, plans.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/c/call.h"
#include "api/c/lists.h"
#include "api/c/objects.h"
#include "api/c/page.h"
#include "api/c/values.h"
#include "varve/aggregate.h"
#include "varve/table.h"

namespace vc = varve::c;

namespace varve::c {
namespace {

/// Reads one page without a copy of its own for each entity.
Result<std::unique_ptr<PageObject>> scan_page(const Table& table, const Scan& scan) {
  auto made = std::make_unique<PageObject>();
  const Result<Page> page = table.scan_in_place(scan, [&made](const EntityView& entity) { made->add(entity); });
  if (!page.ok()) return page.status();
  made->end(page->continuation, page->cost);
  return made;
}

varve_status* scan_in_transaction(varve_transaction* transaction, const varve_table* table, const varve_scan* scan,
                                  varve_page** page, bool is_checked) {
  if (page != nullptr) *page = nullptr;
  return call_on<TransactionObject>(transaction, [&](TransactionObject& held) -> Status {
    if (page == nullptr) return null_pointer("page");
    const Use<TableObject> from(table);
    if (!from.ok()) return from.status();
    Result<Scan> read = read_scan(scan, from->limits);
    if (!read.ok()) return read.status();
    const Result<Page> found = is_checked ? held.transaction.scan_checked(from->table, *std::move(read))
                                          : held.transaction.scan(from->table, *std::move(read));
    if (!found.ok()) return found.status();
    auto made = std::make_unique<PageObject>();
    for (const Entity& entity : found->entities) made->add(entity);
    made->end(found->continuation, found->cost);
    return give_handle(std::move(made), page);
  });
}

Result<Aggregate> read_aggregate(const varve_aggregate& given) {
  if (given.kind < VARVE_AGGREGATE_COUNT || given.kind > VARVE_AGGREGATE_DISTINCT) {
    return Status::invalid_argument(
        "the kind of a figure is none of VARVE_AGGREGATE_COUNT to VARVE_AGGREGATE_DISTINCT");
  }
  const Result<std::string_view> property = read_text(given.property, "property");
  if (!property.ok()) return property.status();
  return Aggregate{static_cast<Aggregate::Kind>(given.kind), std::string(*property)};
}

Result<GroupBy> read_group_by(const varve_group_by& given) {
  const Result<std::string_view> property = read_text(given.property, "property");
  if (!property.ok()) return property.status();
  const Result<std::string_view> delimiter = read_text(given.delimiter, "delimiter");
  if (!delimiter.ok()) return delimiter.status();
  return GroupBy{std::string(*property), given.characters, std::string(*delimiter)};
}

Result<Aggregation> read_aggregation(std::span<const varve_aggregate> figures, std::span<const varve_group_by> groups) {
  std::vector<Aggregate> of;
  for (const varve_aggregate& given : figures) {
    Result<Aggregate> figure = read_aggregate(given);
    if (!figure.ok()) return figure.status();
    of.push_back(*std::move(figure));
  }
  std::vector<GroupBy> group_by;
  for (const varve_group_by& given : groups) {
    Result<GroupBy> group = read_group_by(given);
    if (!group.ok()) return group.status();
    group_by.push_back(*std::move(group));
  }
  return Aggregation::create(std::move(of), std::move(group_by));
}

/// A property of a row. Its name fits into a short text.
struct NamedValue {
  std::string name;
  const Value* value;
};

void add_values(char kind, const std::vector<std::optional<Value>>& values, std::vector<NamedValue>& row) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i]) row.push_back({kind + std::to_string(i), &*values[i]});
  }
}

Result<std::unique_ptr<PageObject>> page_of_rows(const Aggregation& figures, const PageCost& cost) {
  const Result<std::vector<AggregateRow>> rows = figures.rows();
  if (!rows.ok()) return rows.status();
  auto made = std::make_unique<PageObject>();
  std::vector<NamedValue> named;
  std::vector<PropertyView> properties;
  for (const AggregateRow& row : *rows) {
    named.clear();
    add_values('g', row.group, named);
    add_values('f', row.figures, named);
    properties.clear();
    for (const NamedValue& value : named) properties.push_back({value.name, view_of(*value.value)});
    made->add(EntityView{{}, {}, properties, ETag::any()});
  }
  made->end(std::nullopt, cost);
  return made;
}

Status add_all_pages(const Table& table, Scan scan, Aggregation& figures, PageCost& cost) {
  for (;;) {
    const Result<Count> part = table.aggregate(scan, figures);
    if (!part.ok()) return part.status();
    cost += part->cost;
    if (!part->continuation) return Status();
    scan.continuation = *part->continuation;
  }
}

}  // namespace
}  // namespace varve::c

varve_status* varve_table_scan(const varve_table* table, const varve_scan* scan, varve_page** page) {
  if (page != nullptr) *page = nullptr;
  return vc::call_on<vc::TableObject>(table, [&](const vc::TableObject& held) -> varve::Status {
    if (page == nullptr) return vc::null_pointer("page");
    const varve::Result<varve::Scan> read = vc::read_scan(scan, held.limits);
    if (!read.ok()) return read.status();
    varve::Result<std::unique_ptr<vc::PageObject>> made = vc::scan_page(held.table, *read);
    if (!made.ok()) return made.status();
    return vc::give_handle(*std::move(made), page);
  });
}

varve_status* varve_table_scan_in_place(const varve_table* table, const varve_scan* scan, varve_visitor visitor,
                                        void* context, varve_page** page) {
  if (page != nullptr) *page = nullptr;
  return vc::call_on<vc::TableObject>(table, [&](const vc::TableObject& held) -> varve::Status {
    if (visitor == nullptr) return vc::null_pointer("visitor");
    const varve::Result<varve::Scan> read = vc::read_scan(scan, held.limits);
    if (!read.ok()) return read.status();
    auto made = std::make_unique<vc::PageObject>();
    std::vector<varve_property> properties;
    const varve::Result<varve::Page> found = held.table.scan_in_place(*read, [&](const varve::EntityView& entity) {
      properties.clear();
      for (const varve::PropertyView& property : entity.properties) {
        properties.push_back({vc::text_of(property.name), vc::value_of(property.value)});
      }
      const varve_entity shown{vc::text_of(entity.partition_key), vc::text_of(entity.row_key), properties.data(),
                               properties.size(), vc::from_etag(entity.etag)};
      visitor(&shown, context);
    });
    if (!found.ok()) return found.status();
    if (page == nullptr) return varve::Status();
    made->end(found->continuation, found->cost);
    return vc::give_handle(std::move(made), page);
  });
}

varve_status* varve_table_count(const varve_table* table, const varve_scan* scan, uint64_t* count, varve_page** page) {
  if (page != nullptr) *page = nullptr;
  if (count != nullptr) *count = 0;
  return vc::call_on<vc::TableObject>(table, [&](const vc::TableObject& held) -> varve::Status {
    if (count == nullptr) return vc::null_pointer("count");
    const varve::Result<varve::Scan> read = vc::read_scan(scan, held.limits);
    if (!read.ok()) return read.status();
    const varve::Result<varve::Count> counted = held.table.count(*read);
    if (!counted.ok()) return counted.status();
    if (page == nullptr && counted->continuation) {
      return varve::Status::invalid_argument("the count has a continuation, and page is NULL; pass a page");
    }
    if (page != nullptr) {
      auto made = std::make_unique<vc::PageObject>();
      made->end(counted->continuation, counted->cost);
      if (varve::Status given = vc::give_handle(std::move(made), page); !given.ok()) return given;
    }
    *count = counted->entities;
    return varve::Status();
  });
}

varve_status* varve_table_aggregate(const varve_table* table, const varve_scan* scan, const varve_aggregate* figures,
                                    size_t figure_count, const varve_group_by* groups, size_t group_count,
                                    varve_page** rows) {
  if (rows != nullptr) *rows = nullptr;
  return vc::call_on<vc::TableObject>(table, [&](const vc::TableObject& held) -> varve::Status {
    if (rows == nullptr) return vc::null_pointer("rows");
    if (figures == nullptr && figure_count > 0) return vc::null_pointer("figures");
    if (groups == nullptr && group_count > 0) return vc::null_pointer("groups");
    varve::Result<varve::Scan> read = vc::read_scan(scan, held.limits);
    if (!read.ok()) return read.status();
    varve::Result<varve::Aggregation> made = vc::read_aggregation({figures, figure_count}, {groups, group_count});
    if (!made.ok()) return made.status();
    varve::PageCost cost;
    if (varve::Status added = vc::add_all_pages(held.table, *std::move(read), *made, cost); !added.ok()) return added;
    varve::Result<std::unique_ptr<vc::PageObject>> page = vc::page_of_rows(*made, cost);
    if (!page.ok()) return page.status();
    return vc::give_handle(*std::move(page), rows);
  });
}

varve_status* varve_table_explain(const varve_table* table, const varve_scan* scan, varve_plan** plan) {
  if (plan != nullptr) *plan = nullptr;
  return vc::call_on<vc::TableObject>(table, [&](const vc::TableObject& held) -> varve::Status {
    if (plan == nullptr) return vc::null_pointer("plan");
    const varve::Result<varve::Scan> read = vc::read_scan(scan, held.limits);
    if (!read.ok()) return read.status();
    varve::Result<varve::ScanPlan> explained = held.table.explain(*read);
    if (!explained.ok()) return explained.status();
    return vc::give_handle(std::make_unique<vc::PlanObject>(*std::move(explained)), plan);
  });
}

varve_status* varve_cursor_open(const varve_table* table, const varve_scan* scan, varve_cursor** cursor) {
  if (cursor != nullptr) *cursor = nullptr;
  return vc::call_on<vc::TableObject>(table, [&](const vc::TableObject& held) -> varve::Status {
    if (cursor == nullptr) return vc::null_pointer("cursor");
    varve::Result<varve::Scan> read = vc::read_scan(scan, held.limits);
    if (!read.ok()) return read.status();
    return vc::give_handle(std::make_unique<vc::CursorObject>(held.table, *std::move(read), held.gate()), cursor);
  });
}

varve_status* varve_cursor_next(varve_cursor* cursor, varve_page** page) {
  if (page != nullptr) *page = nullptr;
  return vc::call_on<vc::CursorObject>(cursor, [&](vc::CursorObject& held) -> varve::Status {
    if (page == nullptr) return vc::null_pointer("page");
    if (held.at_end) return varve::Status();
    varve::Result<std::unique_ptr<vc::PageObject>> made = vc::scan_page(held.table, held.scan);
    if (!made.ok()) return made.status();
    const varve_text continuation = (*made)->view().continuation;
    std::string next(continuation.data == nullptr ? "" : continuation.data, continuation.size);
    if (varve::Status given = vc::give_handle(*std::move(made), page); !given.ok()) return given;
    held.at_end = next.empty();
    held.scan.continuation = std::move(next);
    return varve::Status();
  });
}

void varve_cursor_free(varve_cursor* cursor) {
  vc::free_handle(cursor, vc::Kind::kCursor);
}

varve_status* varve_transaction_scan(varve_transaction* transaction, const varve_table* table, const varve_scan* scan,
                                     varve_page** page) {
  return vc::scan_in_transaction(transaction, table, scan, page, false);
}

varve_status* varve_transaction_scan_checked(varve_transaction* transaction, const varve_table* table,
                                             const varve_scan* scan, varve_page** page) {
  return vc::scan_in_transaction(transaction, table, scan, page, true);
}

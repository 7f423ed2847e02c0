// Owns: the calls of the C interface that scan: pages, cursors, counts, plans.
#include <memory>
#include <utility>

#include "api/c/call.h"
#include "api/c/lists.h"
#include "api/c/objects.h"
#include "api/c/page.h"
#include "api/c/values.h"
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

// Owns: the calls that list names, and those that show lists, plans and reports (lists.h).
#include "api/c/lists.h"

#include "api/c/call.h"
#include "api/c/objects.h"
#include "api/c/sized.h"

namespace vc = varve::c;

namespace varve::c {
namespace {

Result<ListOptions> read_list_options(const varve_list_options* options) {
  const Result<varve_list_options> given = read_sized(options);
  if (!given.ok()) return given.status();
  const Result<std::string_view> prefix = read_text(given->prefix, "prefix");
  if (!prefix.ok()) return prefix.status();
  const Result<std::string_view> continuation = read_text(given->continuation, "continuation");
  if (!continuation.ok()) return continuation.status();
  Result<std::optional<Snapshot>> snapshot = read_snapshot(given->snapshot);
  if (!snapshot.ok()) return snapshot.status();
  ListOptions read;
  read.prefix = *prefix;
  read.continuation = *continuation;
  if (given->page_names_max != 0) read.page_names_max = given->page_names_max;
  read.snapshot = *std::move(snapshot);
  return read;
}

}  // namespace
}  // namespace varve::c

varve_status* varve_account_list(varve_store* store, const varve_list_options* options, varve_list** list) {
  return vc::call_on<vc::StoreObject>(store, [&](const vc::StoreObject& held) -> varve::Status {
    if (list == nullptr) return vc::null_pointer("list");
    *list = nullptr;
    const varve::Result<varve::ListOptions> read = vc::read_list_options(options);
    if (!read.ok()) return read.status();
    varve::Result<varve::AccountPage> page = held.store->list_accounts(*read);
    if (!page.ok()) return page.status();
    return vc::give_handle(std::make_unique<vc::ListObject>(page->accounts, std::move(page->continuation)), list);
  });
}

varve_status* varve_table_list(varve_store* store, varve_text account, const varve_list_options* options,
                               varve_list** list) {
  return vc::call_on<vc::StoreObject>(store, [&](const vc::StoreObject& held) -> varve::Status {
    if (list == nullptr) return vc::null_pointer("list");
    *list = nullptr;
    const varve::Result<std::string_view> name = vc::read_text(account, "account");
    if (!name.ok()) return name.status();
    const varve::Result<varve::ListOptions> read = vc::read_list_options(options);
    if (!read.ok()) return read.status();
    varve::Result<varve::TablePage> page = held.store->list_tables(*name, *read);
    if (!page.ok()) return page.status();
    return vc::give_handle(std::make_unique<vc::ListObject>(page->tables, std::move(page->continuation)), list);
  });
}

varve_status* varve_queue_list(varve_store* store, varve_text account, const varve_list_options* options,
                               varve_list** list) {
  return vc::call_on<vc::StoreObject>(store, [&](const vc::StoreObject& held) -> varve::Status {
    if (list == nullptr) return vc::null_pointer("list");
    *list = nullptr;
    const varve::Result<std::string_view> name = vc::read_text(account, "account");
    if (!name.ok()) return name.status();
    const varve::Result<varve::ListOptions> read = vc::read_list_options(options);
    if (!read.ok()) return read.status();
    varve::Result<varve::QueuePage> page = held.store->list_queues(*name, *read);
    if (!page.ok()) return page.status();
    return vc::give_handle(std::make_unique<vc::ListObject>(page->queues, std::move(page->continuation)), list);
  });
}

varve_status* varve_container_list(varve_store* store, varve_text account, const varve_list_options* options,
                                   varve_list** list) {
  return vc::call_on<vc::StoreObject>(store, [&](const vc::StoreObject& held) -> varve::Status {
    if (list == nullptr) return vc::null_pointer("list");
    *list = nullptr;
    const varve::Result<std::string_view> name = vc::read_text(account, "account");
    if (!name.ok()) return name.status();
    const varve::Result<varve::ListOptions> read = vc::read_list_options(options);
    if (!read.ok()) return read.status();
    varve::Result<varve::ContainerPage> page = held.store->list_containers(*name, *read);
    if (!page.ok()) return page.status();
    return vc::give_handle(std::make_unique<vc::ListObject>(page->containers, std::move(page->continuation)), list);
  });
}

varve_status* varve_list_read(const varve_list* list, varve_list_view* view) {
  return vc::call_on<vc::ListObject>(list,
                                     [&](const vc::ListObject& held) { return vc::write_sized(held.view(), view); });
}

varve_status* varve_plan_read(const varve_plan* plan, varve_plan_view* view) {
  return vc::call_on<vc::PlanObject>(plan,
                                     [&](const vc::PlanObject& held) { return vc::write_sized(held.view(), view); });
}

varve_status* varve_report_read(const varve_report* report, varve_report_view* view) {
  return vc::call_on<vc::ReportObject>(
      report, [&](const vc::ReportObject& held) { return vc::write_sized(held.view(), view); });
}

void varve_list_free(varve_list* list) {
  vc::free_handle(list, vc::Kind::kList);
}

void varve_plan_free(varve_plan* plan) {
  vc::free_handle(plan, vc::Kind::kPlan);
}

void varve_report_free(varve_report* report) {
  vc::free_handle(report, vc::Kind::kReport);
}

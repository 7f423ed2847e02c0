/* Goal: indexes, changes by filter, patches in transactions, conditions of writes and bounds of scans from C do what those
   of C++ do. Builds and changes can be stopped.
   Method: a small table is indexed, and changed by filter, and read back. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

static bool count_builds(uint64_t entities, uint64_t entries, void* context) {
  *(int*)context += entities >= entries ? 1 : 100;
  return true;
}

static bool stop_build(uint64_t entities, uint64_t entries, void* context) {
  (void)entities, (void)entries, (void)context;
  return false;
}

static void indexes_are_built_listed_and_dropped(varve_store* store) {
  varve_table* const table = new_table(store, "Indexed");
  fill(table, "p", 5);
  const varve_index_component components[] = {{text("N"), true}, {text("RowKey"), false}};
  const varve_text carried[] = {text("Other")};
  varve_index_definition by_n = {.size = sizeof by_n,
                                 .name = text("ByN"),
                                 .components = components,
                                 .component_count = 2,
                                 .carried = carried,
                                 .carried_count = 1};
  CHECK_FAILS(varve_index_create(store, text("acct"), text("Indexed"), &by_n, stop_build, NULL), VARVE_CANCELLED, "");
  varve_indexes* indexes = NULL;
  const varve_index* all = NULL;
  size_t count = 0;
  CHECK_OK(varve_index_list(store, text("acct"), text("Indexed"), &indexes));
  CHECK_OK(varve_indexes_read(indexes, &all, &count));
  CHECK(count == 1 && all[0].state == VARVE_INDEX_BUILDING);
  varve_indexes_free(indexes);
  int calls = 0;
  CHECK_OK(varve_index_create(store, text("acct"), text("Indexed"), &by_n, count_builds, &calls));
  CHECK(calls > 0 && calls < 100);
  CHECK_OK(varve_index_create(store, text("acct"), text("Indexed"), &by_n, NULL, NULL));

  CHECK_OK(varve_index_list(store, text("acct"), text("Indexed"), &indexes));
  CHECK_OK(varve_indexes_read(indexes, &all, &count));
  if (CHECK(count == 1)) {
    CHECK(same_text(all[0].name, "ByN") && all[0].state == VARVE_INDEX_READY && all[0].failure.size == 0);
    CHECK(all[0].component_count == 2 && same_text(all[0].components[0].property, "N"));
    CHECK(all[0].components[0].is_descending && !all[0].components[1].is_descending);
    CHECK(same_text(all[0].components[1].property, "RowKey") && !all[0].is_unique);
    CHECK(all[0].carried_count == 1 && same_text(all[0].carried[0], "Other"));
  }
  CHECK_FAILS(varve_indexes_read(indexes, NULL, &count), VARVE_INVALID_ARGUMENT, "");
  varve_indexes_free(indexes);

  const varve_scan of_n = {.size = sizeof of_n, .filter = text("N ge 1"), .order_by = text("N")};
  varve_plan* plan = NULL;
  CHECK_OK(varve_table_explain(table, &of_n, &plan));
  varve_plan_view explained = {.size = sizeof explained};
  CHECK_OK(varve_plan_read(plan, &explained));
  CHECK(same_text(explained.order_index, "ByN") && explained.order_components == 1);
  if (CHECK(explained.index_count == 1)) {
    const varve_index_candidate* const candidate = explained.indexes;
    CHECK(same_text(candidate->name, "ByN") && candidate->equal_components == 0 && candidate->has_range);
    CHECK(candidate->has_entities && candidate->entities > 0 && candidate->is_taken);
  }
  varve_plan_free(plan);

  const varve_index_component timed[] = {{text("N"), false}, {text("Timestamp"), false}};
  const varve_index_definition with_time = {
      .size = sizeof with_time, .name = text("Timed"), .components = timed, .component_count = 2};
  CHECK_OK(varve_index_create(store, text("acct"), text("Indexed"), &with_time, NULL, NULL));
  const varve_text selected[] = {text("N")};
  const varve_scan shown = {.size = sizeof shown, .filter = text("N eq 1"), .select = selected, .select_count = 1};
  CHECK_OK(varve_table_explain(table, &shown, &plan));
  CHECK_OK(varve_plan_read(plan, &explained));
  if (CHECK(explained.index_count >= 1)) {
    CHECK(same_text(explained.indexes[0].name, "Timed") && explained.indexes[0].answers_pages);
  }
  CHECK(explained.order_index.size == 0 && explained.order_components == 0);
  varve_plan_free(plan);
  const varve_scan by_both = {.size = sizeof by_both, .filter = text("N ge 1"), .order_by = text("N,Timestamp")};
  CHECK_OK(varve_table_explain(table, &by_both, &plan));
  CHECK_OK(varve_plan_read(plan, &explained));
  CHECK(same_text(explained.order_index, "Timed") && explained.order_components == 2);
  varve_plan_free(plan);
  varve_page* page = NULL;
  CHECK_OK(varve_table_scan(table, &shown, &page));
  varve_page_view found = {.size = sizeof found};
  CHECK_OK(varve_page_read(page, &found));
  CHECK(found.count == 1 && found.cost.index_parts == 1);
  CHECK(found.cost.first_part_entities == 1 && found.cost.last_part_entities == 1);
  varve_page_free(page);
  CHECK_OK(varve_index_drop(store, text("acct"), text("Indexed"), text("Timed")));

  by_n.component_count = 1;
  CHECK_FAILS(varve_index_create(store, text("acct"), text("Indexed"), &by_n, NULL, NULL), VARVE_EXISTS,
              "ResourceAlreadyExists");
  by_n.name = text("One");
  by_n.is_unique = true;
  CHECK_OK(varve_index_create(store, text("acct"), text("Indexed"), &by_n, NULL, NULL));
  CHECK_OK(varve_index_list(store, text("acct"), text("Indexed"), &indexes));
  CHECK_OK(varve_indexes_read(indexes, &all, &count));
  CHECK(count == 2 && all[1].is_unique);
  varve_indexes_free(indexes);
  const varve_property three = int32_property("N", 3);
  const varve_entity second = entity_of("q", "second", &three, 1);
  varve_status* const refused = varve_table_insert(table, &second, NULL, NULL);
  const varve_taken_value taken = varve_status_taken_value(refused);
  CHECK(varve_status_code(refused) == VARVE_EXISTS && same_text(taken.index, "One") && taken.has_keys);
  CHECK(same_text(taken.partition_key, "p") && same_text(taken.row_key, "000003"));
  varve_status_free(refused);
  varve_status* const absent = varve_table_remove(table, text("q"), text("second"), VARVE_ETAG_ANY, NULL);
  CHECK(absent != NULL && varve_status_taken_value(absent).index.data == NULL);
  varve_status_free(absent);
  CHECK(varve_status_taken_value(NULL).index.data == NULL);
  CHECK_OK(varve_index_drop(store, text("acct"), text("Indexed"), text("One")));
  CHECK_FAILS(varve_index_create(store, text("acct"), text("Indexed"), NULL, NULL, NULL), VARVE_INVALID_ARGUMENT, "");
  CHECK_OK(varve_index_drop(store, text("acct"), text("Indexed"), text("ByN")));
  CHECK_FAILS(varve_index_drop(store, text("acct"), text("Indexed"), text("ByN")), VARVE_NOT_FOUND, "ResourceNotFound");
  CHECK_FAILS(varve_index_list(store, text("acct"), text("Never"), &indexes), VARVE_NOT_FOUND, "TableNotFound");
  CHECK(indexes == NULL);
  varve_table_free(table);
}

static void a_load_shows_the_index_that_it_has_not_built(varve_store* store) {
  varve_table_free(new_table(store, "LoadedWithIndex"));
  const varve_index_component component = {text("N"), false};
  const varve_index_definition by_n = {
      .size = sizeof by_n, .name = text("ByN"), .components = &component, .component_count = 1};
  CHECK_OK(varve_index_create(store, text("acct"), text("LoadedWithIndex"), &by_n, NULL, NULL));
  varve_loader* loader = NULL;
  CHECK_OK(varve_loader_open(store, text("acct"), text("LoadedWithIndex"), &loader));
  const varve_property number = int32_property("N", 1);
  const varve_entity entity = entity_of("p", "r", &number, 1);
  CHECK_OK(varve_loader_add(loader, &entity));
  varve_text name = text("not set");
  varve_status* reason = NULL;
  CHECK_FAILS(varve_loader_unbuilt_index(loader, 0, &name, &reason), VARVE_NOT_FOUND, "");
  CHECK(name.size == 0 && reason == NULL);
  varve_etag etag = VARVE_ETAG_NONE;
  CHECK_OK(varve_loader_finish_with(loader, stop_build, NULL, &etag));
  CHECK(etag != VARVE_ETAG_NONE);
  CHECK_OK(varve_loader_unbuilt_index(loader, 0, &name, &reason));
  CHECK(same_text(name, "ByN"));
  CHECK_FAILS(reason, VARVE_CANCELLED, "");
  CHECK_FAILS(varve_loader_unbuilt_index(loader, 1, &name, &reason), VARVE_NOT_FOUND, "");
  CHECK_FAILS(varve_loader_unbuilt_index(loader, 0, NULL, &reason), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_loader_unbuilt_index(loader, 0, &name, NULL), VARVE_INVALID_ARGUMENT, "");
  varve_loader_free(loader);
  CHECK_OK(varve_index_create(store, text("acct"), text("LoadedWithIndex"), &by_n, NULL, NULL));
}

static bool stop_after_batch(const varve_where_progress* progress, void* context) {
  *(uint64_t*)context = progress->changed;
  return false;
}

static uint64_t left_in(varve_table* table) {
  uint64_t count = 0;
  CHECK_OK(varve_table_count(table, NULL, &count, NULL));
  return count;
}

static void entities_are_changed_by_filter(varve_store* store) {
  varve_table* const table = new_table(store, "Where");
  fill(table, "p", 10);
  const varve_scan below_six = {.size = sizeof below_six, .filter = text("N lt 6")};
  varve_where where = {.size = sizeof where, .scan = &below_six, .dry_run = true};
  varve_where_progress figures;
  CHECK_OK(varve_table_delete_where(table, &where, &figures, NULL));
  CHECK(figures.matched == 6 && figures.changed == 0 && left_in(table) == 10);

  const varve_property set[] = {string_property("Seen", "yes")};
  const varve_text removed[] = {text("N")};
  const varve_scan of_one = {.size = sizeof of_one, .filter = text("N eq 9")};
  const varve_where update = {
      .size = sizeof update, .scan = &of_one, .set = set, .set_count = 1, .removed = removed, .removed_count = 1};
  CHECK_OK(varve_table_update_where(table, &update, &figures, NULL));
  CHECK(figures.matched == 1 && figures.changed == 1 && figures.left == 0);
  varve_page* page = NULL;
  varve_page_view view = {.size = sizeof view};
  CHECK_OK(varve_table_get(table, text("p"), text("000009"), NULL, &page));
  CHECK_OK(varve_page_read(page, &view));
  CHECK(view.count == 1 && view.entities[0].property_count == 1);
  CHECK(same_text(varve_entity_find(&view.entities[0], text("Seen"))->as.text, "yes"));
  varve_page_free(page);

  uint64_t seen = 0;
  where.dry_run = false;
  where.batch_entities_max = 2;
  where.progress = stop_after_batch;
  where.context = &seen;
  CHECK_OK(varve_table_delete_where(table, &where, &figures, &page));
  CHECK(figures.changed == 2 && seen == 2 && left_in(table) == 8);
  view.size = sizeof view;
  CHECK_OK(varve_page_read(page, &view));
  CHECK(view.count == 0 && view.continuation.size > 0);
  varve_scan rest = below_six;
  rest.continuation = view.continuation;
  where.scan = &rest;
  where.progress = NULL;
  varve_page* end = NULL;
  CHECK_OK(varve_table_delete_where(table, &where, &figures, &end));
  CHECK(figures.changed == 4 && left_in(table) == 4);
  varve_page_free(page);
  view.size = sizeof view;
  CHECK_OK(varve_page_read(end, &view));
  CHECK(view.continuation.size == 0);
  varve_page_free(end);

  const varve_scan first = {.size = sizeof first, .filter = text("N lt 9"), .has_take = true, .take = 1};
  const varve_where limited = {.size = sizeof limited, .scan = &first};
  CHECK_FAILS(varve_table_delete_where(table, &limited, NULL, NULL), VARVE_INVALID_ARGUMENT, "");
  CHECK(left_in(table) == 4);
  const varve_where none = {.size = sizeof none};
  CHECK_FAILS(varve_table_delete_where(table, &none, NULL, NULL), VARVE_INVALID_ARGUMENT, "InvalidInput");
  CHECK_FAILS(varve_table_update_where(table, &where, NULL, NULL), VARVE_INVALID_ARGUMENT, "InvalidInput");
  CHECK_FAILS(varve_table_delete_where(table, NULL, NULL, NULL), VARVE_INVALID_ARGUMENT, "");
  const varve_where whole = {.size = sizeof whole, .all = true};
  CHECK_OK(varve_table_delete_where(table, &whole, NULL, NULL));
  CHECK(left_in(table) == 0);
  varve_table_free(table);
}

static void patches_are_executed_beside_operations(varve_store* store) {
  varve_table* const table = new_table(store, "Patches");
  fill(table, "p", 2);
  const varve_operation insert = {.kind = VARVE_INSERT, .entity = entity_of("p", "new", NULL, 0)};
  const varve_property one = int32_property("N", 1);
  const varve_patch patches[] = {{.size = sizeof *patches,
                                  .entity = entity_of("p", "000001", NULL, 0),
                                  .increments = &one,
                                  .increment_count = 1,
                                  .if_match = VARVE_ETAG_ANY},
                                 {.size = sizeof *patches,
                                  .entity = entity_of("p", "made", NULL, 0),
                                  .increments = &one,
                                  .increment_count = 1,
                                  .may_insert = true}};
  varve_etag etag = VARVE_ETAG_NONE;
  varve_page* page = NULL;
  CHECK_OK(varve_table_execute_patches(table, &insert, 1, patches, 2, NULL, &etag, &page));
  varve_page_view view = {.size = sizeof view};
  CHECK_OK(varve_page_read(page, &view));
  if (CHECK(view.count == 2) && CHECK(etag != VARVE_ETAG_NONE)) {
    CHECK(varve_entity_find(&view.entities[0], text("N"))->as.int32 == 2 && view.entities[0].etag == etag);
    CHECK(varve_entity_find(&view.entities[1], text("N"))->as.int32 == 1);
  }
  varve_page_free(page);
  CHECK(left_in(table) == 4);
  struct {
    varve_patch patch;
    uint64_t field_of_a_later_header;
  } later[2];
  memset(later, 0, sizeof later);
  for (size_t i = 0; i < 2; ++i) {
    later[i].patch = patches[i];
    later[i].patch.size = sizeof later[i];
  }
  CHECK_OK(varve_table_execute_patches(table, NULL, 0, &later[0].patch, 2, NULL, NULL, &page));
  view.size = sizeof view;
  CHECK_OK(varve_page_read(page, &view));
  if (CHECK(view.count == 2)) {
    CHECK(varve_entity_find(&view.entities[0], text("N"))->as.int32 == 3);
    CHECK(varve_entity_find(&view.entities[1], text("N"))->as.int32 == 2);
  }
  varve_page_free(page);
  later[1].field_of_a_later_header = 1;
  varve_status* const unknown = varve_table_execute_patches(table, &insert, 1, &later[0].patch, 2, NULL, NULL, &page);
  CHECK(varve_status_operation_index(unknown) == 2);
  CHECK_FAILS(unknown, VARVE_UNSUPPORTED, "");
  varve_status* const failed = varve_table_execute_patches(table, &insert, 1, patches, 1, NULL, NULL, &page);
  CHECK(varve_status_operation_index(failed) == 0 && page == NULL);
  CHECK_FAILS(failed, VARVE_EXISTS, "EntityAlreadyExists");
  CHECK_FAILS(varve_table_execute_patches(table, NULL, 0, NULL, 1, NULL, NULL, NULL), VARVE_INVALID_ARGUMENT, "");
  varve_table_free(table);
}

static int32_t number_of(varve_table* table, const char* row_key) {
  varve_page* page = NULL;
  varve_page_view view = {.size = sizeof view};
  CHECK_OK(varve_table_get(table, text("p"), text(row_key), NULL, &page));
  CHECK_OK(varve_page_read(page, &view));
  const varve_value* const number = view.count == 1 ? varve_entity_find(&view.entities[0], text("N")) : NULL;
  const int32_t found = number != NULL ? number->as.int32 : -1;
  varve_page_free(page);
  return found;
}

static void writes_have_conditions(varve_store* store) {
  varve_table* const table = new_table(store, "OnlyIf");
  fill(table, "p", 3);
  const varve_property seven = int32_property("N", 7);
  varve_operation operation = {
      .kind = VARVE_REPLACE, .entity = entity_of("p", "000001", &seven, 1), .if_match = VARVE_ETAG_ANY};
  varve_etag etag = VARVE_ETAG_NONE;
  for (int32_t kind = VARVE_REPLACE; kind <= VARVE_MERGE; ++kind) {
    operation.kind = kind;
    CHECK_FAILS(varve_table_write_if(table, &operation, text("N eq 3"), NULL, &etag), VARVE_PRECONDITION_FAILED,
                "ConditionNotMet");
    CHECK(etag == VARVE_ETAG_NONE && number_of(table, "000001") == (kind == VARVE_REPLACE ? 1 : 7));
    CHECK_OK(varve_table_write_if(table, &operation, text("N ne 3"), NULL, &etag));
    CHECK(etag != VARVE_ETAG_NONE && number_of(table, "000001") == 7);
  }
  operation.kind = VARVE_REMOVE;
  CHECK_FAILS(varve_table_write_if(table, &operation, text("N lt 7"), NULL, NULL), VARVE_PRECONDITION_FAILED,
              "ConditionNotMet");
  CHECK_FAILS(varve_table_write_if(table, &operation, text("N lt"), NULL, NULL), VARVE_INVALID_ARGUMENT,
              "InvalidInput");
  const varve_text broken = {NULL, 1};
  CHECK_FAILS(varve_table_write_if(table, &operation, broken, NULL, NULL), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_table_write_if(table, NULL, text("N eq 7"), NULL, NULL), VARVE_INVALID_ARGUMENT, "");
  CHECK(number_of(table, "000001") == 7);
  CHECK_OK(varve_table_write_if(table, &operation, text("N eq 7"), NULL, &etag));
  CHECK(etag == VARVE_ETAG_NONE && number_of(table, "000001") == -1);
  for (int32_t kind = VARVE_INSERT; kind <= VARVE_INSERT_OR_MERGE; ++kind) {
    if (kind == VARVE_REPLACE || kind == VARVE_MERGE) continue;
    operation.kind = kind;
    CHECK_FAILS(varve_table_write_if(table, &operation, text("true"), NULL, NULL), VARVE_INVALID_ARGUMENT,
                "InvalidInput");
  }
  operation.kind = VARVE_INSERT;
  CHECK_OK(varve_table_write_if(table, &operation, text(""), NULL, NULL));

  const varve_operation group[] = {
      {.kind = VARVE_MERGE, .entity = entity_of("p", "000000", &seven, 1), .if_match = VARVE_ETAG_ANY},
      {.kind = VARVE_REMOVE, .entity = entity_of("p", "000002", NULL, 0), .if_match = VARVE_ETAG_ANY}};
  varve_text conditions[] = {{NULL, 0}, text("N gt 2")};
  const varve_patch patch = {.size = sizeof patch,
                             .entity = entity_of("p", "000001", NULL, 0),
                             .increments = &seven,
                             .increment_count = 1,
                             .condition = text("N eq 7"),
                             .if_match = VARVE_ETAG_ANY};
  varve_group_writes writes = {.size = sizeof writes,
                               .operations = group,
                               .operation_count = 2,
                               .conditions = conditions,
                               .patches = &patch,
                               .patch_count = 1};
  varve_page* page = NULL;
  varve_status* const failed = varve_table_execute_with(table, &writes, NULL, &etag, &page);
  CHECK(varve_status_operation_index(failed) == 1 && page == NULL);
  CHECK_FAILS(failed, VARVE_PRECONDITION_FAILED, "ConditionNotMet");
  CHECK(number_of(table, "000000") == 0 && number_of(table, "000002") == 2);
  conditions[1] = text("N eq 2");
  CHECK_OK(varve_table_execute_with(table, &writes, NULL, &etag, &page));
  varve_page_view view = {.size = sizeof view};
  CHECK_OK(varve_page_read(page, &view));
  CHECK(view.count == 1 && view.entities[0].etag == etag);
  varve_page_free(page);
  CHECK(number_of(table, "000000") == 7 && number_of(table, "000001") == 14 && number_of(table, "000002") == -1);
  writes.conditions = NULL;
  writes.operation_count = 1;
  writes.patch_count = 0;
  CHECK_OK(varve_table_execute_with(table, &writes, NULL, NULL, NULL));
  writes.size = 0;
  CHECK_FAILS(varve_table_execute_with(table, &writes, NULL, NULL, NULL), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_table_execute_with(table, NULL, NULL, NULL, NULL), VARVE_INVALID_ARGUMENT, "");

  operation = group[0];
  operation.kind = VARVE_REMOVE;
  for (int is_met = 0; is_met < 2; ++is_met) {
    varve_transaction* transaction = NULL;
    CHECK_OK(varve_transaction_begin(store, &transaction));
    CHECK_OK(varve_transaction_add_if(transaction, table, &operation, text(is_met != 0 ? "N eq 7" : "N eq 8")));
    varve_status* const committed = varve_transaction_commit(transaction, NULL, NULL);
    CHECK(varve_status_operation_index(committed) == (is_met != 0 ? -1 : 0));
    if (is_met != 0) {
      CHECK_OK(committed);
    } else {
      CHECK_FAILS(committed, VARVE_PRECONDITION_FAILED, "ConditionNotMet");
    }
    varve_transaction_free(transaction);
    CHECK(number_of(table, "000000") == (is_met != 0 ? -1 : 7));
  }
  varve_table_free(table);
}

static void an_order_has_a_time(varve_store* store) {
  varve_loader* loader = NULL;
  CHECK_OK(varve_loader_open(store, text("acct"), text("Ordered"), &loader));
  for (int i = 0; i < 20000; ++i) {
    char row_key[16];
    snprintf(row_key, sizeof row_key, "%06d", i);
    const varve_property number = int32_property("N", i);
    const varve_entity entity = entity_of("p", row_key, &number, 1);
    CHECK_OK(varve_loader_add(loader, &entity));
  }
  CHECK_OK(varve_loader_finish(loader, NULL));
  varve_loader_free(loader);
  varve_table* table = NULL;
  CHECK_OK(varve_table_open(store, text("acct"), text("Ordered"), &table));
  varve_scan scan = {.size = sizeof scan, .order_by = text("N desc"), .page_entities_max = 1, .order_time_max_ms = 1};
  varve_page* page = NULL;
  CHECK_FAILS(varve_table_scan(table, &scan, &page), VARVE_TOO_LARGE, "InvalidInput");
  CHECK(page == NULL);
  scan.order_time_max_ms = 3600000;
  CHECK_OK(varve_table_scan(table, &scan, &page));
  varve_page_free(page);
  scan.order_time_max_ms = UINT64_MAX;
  CHECK_OK(varve_table_scan(table, &scan, &page));
  varve_page_free(page);
  scan.order_time_max_ms = 1;
  scan.size = offsetof(varve_scan, order_time_max_ms);  // of an earlier header
  CHECK_OK(varve_table_scan(table, &scan, &page));
  varve_page_view view = {.size = sizeof view};
  CHECK_OK(varve_page_read(page, &view));
  CHECK(view.count == 1 && same_text(view.entities[0].row_key, "019999"));
  varve_page_free(page);
  scan.size = sizeof scan;
  scan.order_by = text("");
  const varve_where where = {.size = sizeof where, .scan = &scan, .all = true, .dry_run = true};
  CHECK_FAILS(varve_table_delete_where(table, &where, NULL, NULL), VARVE_INVALID_ARGUMENT, "");
  varve_table_free(table);
}

static void a_scan_may_refuse_what_the_service_lacks(varve_store* store) {
  varve_table* const table = new_table(store, "Strict");
  fill(table, "p", 3);
  varve_scan scan = {.size = sizeof scan};
  static const char* const extensions[] = {"exists(N)", "N eq N", "N in (1, 2)"};
  for (size_t i = 0; i < 3; ++i) {
    scan.filter = text(extensions[i]);
    scan.no_filter_extensions = false;
    uint64_t count = 0;
    CHECK_OK(varve_table_count(table, &scan, &count, NULL));
    CHECK(count == (i == 2 ? 2 : 3));
    scan.no_filter_extensions = true;
    varve_page* page = NULL;
    CHECK_FAILS(varve_table_scan(table, &scan, &page), i == 2 ? VARVE_INVALID_ARGUMENT : VARVE_UNSUPPORTED,
                i == 2 ? "InvalidInput" : "NotImplemented");
    CHECK(page == NULL);
    const varve_where where = {.size = sizeof where, .scan = &scan};
    CHECK_FAILS(varve_table_delete_where(table, &where, NULL, NULL), VARVE_INVALID_ARGUMENT, "");
  }
  scan.filter = text("N ge 1 and not (N eq 2)");
  uint64_t count = 0;
  CHECK_OK(varve_table_count(table, &scan, &count, NULL));
  CHECK(count == 1);
  varve_table_free(table);
}

static void a_table_is_created_with_a_rule(varve_store* store) {
  const varve_table_expiry by_property = {.size = sizeof by_property, .property = text("Until")};
  varve_table_options options = {.size = sizeof options, .expiry = &by_property};
  CHECK_OK(varve_table_create_with(store, text("acct"), text("Ruled"), &options, NULL));
  char property[16];
  size_t bytes = 0;
  uint64_t age_ms = 1;
  CHECK_OK(varve_table_show_expiry(store, text("acct"), text("Ruled"), property, sizeof property, &bytes, &age_ms));
  CHECK(bytes == 5 && memcmp(property, "Until", 5) == 0 && age_ms == 0);
  const varve_table_expiry neither = {.size = sizeof neither};
  options.expiry = &neither;
  CHECK_FAILS(varve_table_create_with(store, text("acct"), text("Other"), &options, NULL), VARVE_INVALID_ARGUMENT,
              "InvalidInput");
  options.size = offsetof(varve_table_options, expiry);  // of an earlier header
  CHECK_OK(varve_table_create_with(store, text("acct"), text("Plain"), &options, NULL));
  CHECK_OK(varve_table_show_expiry(store, text("acct"), text("Plain"), property, sizeof property, &bytes, &age_ms));
  CHECK(bytes == 0 && age_ms == 0);
}

void index_suite(void) {
  varve_store* const store = new_store(new_directory());
  indexes_are_built_listed_and_dropped(store);
  a_load_shows_the_index_that_it_has_not_built(store);
  a_table_is_created_with_a_rule(store);
  entities_are_changed_by_filter(store);
  patches_are_executed_beside_operations(store);
  writes_have_conditions(store);
  an_order_has_a_time(store);
  a_scan_may_refuse_what_the_service_lacks(store);
  CHECK_OK(varve_store_close(store));
}

/* Goal: every verb of the C interface does what the C++ verb of its name does.
   Method: each verb is called once on a small store, and its result is read back. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static varve_page_view view_of(const varve_page* page) {
  varve_page_view view = {.size = sizeof view};
  CHECK_OK(varve_page_read(page, &view));
  return view;
}

static void values_come_back_as_they_were_written(varve_store* store) {
  varve_table* const table = new_table(store, "Values");
  varve_property properties[8];
  memset(properties, 0, sizeof properties);
  properties[0] = string_property("Text", "a\xC3\xA4");
  properties[1] = int32_property("Small", INT32_MIN);
  properties[2].name = text("Large");
  properties[2].value.type = VARVE_INT64;
  properties[2].value.as.int64 = INT64_MAX;
  properties[3].name = text("Number");
  properties[3].value.type = VARVE_DOUBLE;
  properties[3].value.as.number = 12.5;
  properties[4].name = text("Flag");
  properties[4].value.type = VARVE_BOOLEAN;
  properties[4].value.as.boolean = 7;
  properties[5].name = text("Bytes");
  properties[5].value.type = VARVE_BINARY;
  properties[5].value.as.text = (varve_text){"\0\1\2", 3};
  properties[6].name = text("When");
  properties[6].value.type = VARVE_DATETIME;
  CHECK_OK(varve_datetime_parse(text("2026-03-03T10:20:30.1234567Z"), &properties[6].value.as.datetime));
  properties[7].name = text("Id");
  properties[7].value.type = VARVE_GUID;
  CHECK_OK(varve_guid_parse(text("01234567-89ab-cdef-0123-456789abcdef"), &properties[7].value.as.guid));

  const varve_entity entity = entity_of("p", "r", properties, 8);
  varve_etag etag = VARVE_ETAG_NONE;
  CHECK_OK(varve_table_insert(table, &entity, NULL, &etag));
  CHECK(etag != VARVE_ETAG_NONE);

  varve_page* page = NULL;
  CHECK_OK(varve_table_get(table, text("p"), text("r"), NULL, &page));
  const varve_page_view view = view_of(page);
  if (CHECK(view.count == 1) && CHECK(view.entities[0].property_count == 8)) {
    const varve_entity* const found = &view.entities[0];
    CHECK(same_text(found->partition_key, "p") && same_text(found->row_key, "r"));
    CHECK(found->etag == etag);
    CHECK(same_text(varve_entity_find(found, text("Text"))->as.text, "a\xC3\xA4"));
    CHECK(varve_entity_find(found, text("Text"))->as.text.data[3] == '\0');
    CHECK(varve_entity_find(found, text("Small"))->as.int32 == INT32_MIN);
    CHECK(varve_entity_find(found, text("Large"))->as.int64 == INT64_MAX);
    CHECK(varve_entity_find(found, text("Number"))->as.number == 12.5);
    CHECK(varve_entity_find(found, text("Flag"))->as.boolean == 1);
    CHECK(varve_entity_find(found, text("Bytes"))->as.text.size == 3);
    CHECK(memcmp(varve_entity_find(found, text("Bytes"))->as.text.data, "\0\1\2", 3) == 0);
    CHECK(varve_entity_find(found, text("When"))->as.datetime == properties[6].value.as.datetime);
    CHECK(memcmp(&varve_entity_find(found, text("Id"))->as.guid, &properties[7].value.as.guid, 16) == 0);
    CHECK(varve_entity_find(found, text("id")) == NULL);
  }
  varve_page_free(page);

  const varve_text small = text("Small");
  const varve_read_options options = {.size = sizeof options, .select = &small, .select_count = 1};
  CHECK_OK(varve_table_get(table, text("p"), text("r"), &options, &page));
  CHECK(view_of(page).entities[0].property_count == 1);
  varve_page_free(page);
  CHECK_OK(varve_table_get(table, text("p"), text("none"), NULL, &page));
  CHECK(view_of(page).count == 0);
  varve_page_free(page);
  varve_table_free(table);
}

static void writes_follow_their_conditions(varve_store* store) {
  varve_table* const table = new_table(store, "Writes");
  const varve_property one = int32_property("N", 1);
  const varve_property other = int32_property("M", 2);
  const varve_entity first = entity_of("p", "r", &one, 1);
  const varve_entity second = entity_of("p", "r", &other, 1);
  varve_etag old = 0, etag = 0;
  CHECK_FAILS(varve_table_replace(table, &first, VARVE_ETAG_ANY, NULL, NULL), VARVE_NOT_FOUND, "ResourceNotFound");
  CHECK_OK(varve_table_insert_or_replace(table, &first, NULL, &old));
  CHECK_FAILS(varve_table_insert(table, &first, NULL, &etag), VARVE_EXISTS, "EntityAlreadyExists");
  CHECK(etag == VARVE_ETAG_NONE);
  CHECK_OK(varve_table_merge(table, &second, old, NULL, &etag));
  CHECK(etag > old);
  CHECK_FAILS(varve_table_merge(table, &second, old, NULL, NULL), VARVE_PRECONDITION_FAILED,
              "UpdateConditionNotSatisfied");
  varve_page* page = NULL;
  CHECK_OK(varve_table_get(table, text("p"), text("r"), NULL, &page));
  CHECK(view_of(page).entities[0].property_count == 2);
  varve_page_free(page);
  CHECK_OK(varve_table_replace(table, &second, etag, NULL, &etag));
  CHECK_OK(varve_table_insert_or_merge(table, &first, NULL, &etag));
  CHECK_FAILS(varve_table_remove(table, text("p"), text("r"), old, NULL), VARVE_PRECONDITION_FAILED,
              "UpdateConditionNotSatisfied");
  const varve_write_options tagged = {.size = sizeof tagged,
                                      .durability = VARVE_BUFFERED,
                                      .has_wait_max = true,
                                      .wait_max_ms = 1000,
                                      .tag = text("mark")};
  CHECK_OK(varve_table_remove(table, text("p"), text("r"), etag, &tagged));
  char tag[1024];
  size_t bytes = 0;
  bool found = false;
  CHECK_OK(varve_store_last_tag(store, tag, sizeof tag, &bytes, &found));
  CHECK(found && bytes == 4 && memcmp(tag, "mark", 4) == 0);
  CHECK_FAILS(varve_store_last_tag(store, tag, 3, &bytes, &found), VARVE_TOO_LARGE, "");
  varve_table_free(table);
}

/* Returns the Int32 of the only entity of the page, and frees the page. */
static int32_t number_in(varve_page* page, const char* name) {
  int32_t number = -1;
  if (CHECK(page != NULL && view_of(page).count == 1)) {
    const varve_value* const value = varve_entity_find(&view_of(page).entities[0], text(name));
    if (CHECK(value != NULL && value->type == VARVE_INT32)) number = value->as.int32;
  }
  varve_page_free(page);
  return number;
}

static void patches_change_single_properties(varve_store* store) {
  varve_table* const table = new_table(store, "Stock");
  const varve_property stored[] = {int32_property("Quantity", 7), string_property("Note", "old")};
  const varve_entity item = entity_of("p", "r", stored, 2);
  CHECK_OK(varve_table_insert(table, &item, NULL, NULL));
  const varve_property set = string_property("State", "sold");
  const varve_property taken = int32_property("Quantity", -5);
  const varve_text note = text("Note");
  varve_patch sale = {.size = sizeof sale,
                      .entity = entity_of("p", "r", &set, 1),
                      .removed = &note,
                      .removed_count = 1,
                      .increments = &taken,
                      .increment_count = 1,
                      .condition = text("Quantity ge 5"),
                      .if_match = VARVE_ETAG_ANY};
  varve_page* page = NULL;
  CHECK_OK(varve_table_patch(table, &sale, NULL, &page));
  CHECK(page != NULL && view_of(page).entities[0].property_count == 2);
  CHECK(page != NULL && view_of(page).entities[0].etag != VARVE_ETAG_NONE);
  CHECK(number_in(page, "Quantity") == 2);
  CHECK_FAILS(varve_table_patch(table, &sale, NULL, &page), VARVE_PRECONDITION_FAILED, "ConditionNotMet");
  CHECK(page == NULL);
  sale.condition = text("");
  sale.if_match = VARVE_ETAG_NONE;
  CHECK_FAILS(varve_table_patch(table, &sale, NULL, NULL), VARVE_INVALID_ARGUMENT, "InvalidInput");
  sale.entity = entity_of("p", "new", NULL, 0);
  sale.may_insert = true;
  CHECK_OK(varve_table_patch(table, &sale, NULL, NULL));
  const varve_property wrong = int32_property("State", 1);
  const varve_patch mistyped = {.size = sizeof mistyped,
                                .entity = entity_of("p", "r", NULL, 0),
                                .increments = &wrong,
                                .increment_count = 1,
                                .if_match = VARVE_ETAG_ANY};
  CHECK_FAILS(varve_table_patch(table, &mistyped, NULL, NULL), VARVE_INVALID_ARGUMENT, "PropertyTypeMismatch");

  varve_transaction* transaction = NULL;
  CHECK_OK(varve_transaction_begin(store, &transaction));
  CHECK_OK(varve_transaction_patch(transaction, table, &sale));
  CHECK_OK(varve_transaction_patched(transaction, &page));
  CHECK(view_of(page).count == 0);
  varve_page_free(page);
  CHECK_OK(varve_transaction_commit(transaction, NULL, NULL));
  CHECK_OK(varve_transaction_patched(transaction, &page));
  CHECK(number_in(page, "Quantity") == -10);
  varve_transaction_free(transaction);

  const varve_patch without_names = {.size = sizeof without_names, .removed_count = 1};
  CHECK_FAILS(varve_table_patch(table, &without_names, NULL, NULL), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_table_patch(table, NULL, NULL, NULL), VARVE_INVALID_ARGUMENT, "");
  varve_table_free(table);
}

static void a_table_expires(varve_store* store) {
  varve_table* const table = new_table(store, "Sessions");
  char property[1024];
  size_t bytes = 1;
  uint64_t age_ms = 1;
  CHECK_OK(varve_table_show_expiry(store, text("acct"), text("Sessions"), property, sizeof property, &bytes, &age_ms));
  CHECK(bytes == 0 && age_ms == 0);
  const varve_table_expiry by_age = {.size = sizeof by_age, .age_ms = 60000};
  CHECK_OK(varve_table_set_expiry(store, text("acct"), text("Sessions"), &by_age));
  CHECK_OK(varve_table_show_expiry(store, text("acct"), text("Sessions"), NULL, 0, &bytes, &age_ms));
  CHECK(bytes == 0 && age_ms == 60000);
  const varve_table_expiry by_property = {.size = sizeof by_property, .property = text("Until")};
  CHECK_OK(varve_table_set_expiry(store, text("acct"), text("Sessions"), &by_property));
  CHECK_FAILS(varve_table_show_expiry(store, text("acct"), text("Sessions"), property, 4, &bytes, &age_ms),
              VARVE_TOO_LARGE, "");
  CHECK_OK(varve_table_show_expiry(store, text("acct"), text("Sessions"), property, sizeof property, &bytes, &age_ms));
  CHECK(bytes == 5 && memcmp(property, "Until", 5) == 0 && age_ms == 0);
  const varve_table_expiry neither = {.size = sizeof neither};
  CHECK_FAILS(varve_table_set_expiry(store, text("acct"), text("Sessions"), &neither), VARVE_INVALID_ARGUMENT,
              "InvalidInput");
  CHECK_OK(varve_table_set_expiry(store, text("acct"), text("Sessions"), NULL));
  CHECK_FAILS(varve_table_set_expiry(store, text("acct"), text("Nothing"), &by_age), VARVE_NOT_FOUND, "TableNotFound");
  varve_table_free(table);
}

static void group_transactions_name_the_operation_that_failed(varve_store* store) {
  varve_table* const table = new_table(store, "Groups");
  const varve_property one = int32_property("N", 1);
  varve_operation operations[3] = {{VARVE_INSERT, entity_of("p", "a", &one, 1), 0},
                                   {VARVE_INSERT_OR_MERGE, entity_of("p", "b", &one, 1), 0},
                                   {VARVE_REMOVE, entity_of("p", "c", NULL, 0), VARVE_ETAG_ANY}};
  varve_status* const failed = varve_table_execute(table, operations, 3, NULL, NULL);
  CHECK(varve_status_operation_index(failed) == 2);
  CHECK_FAILS(failed, VARVE_NOT_FOUND, "ResourceNotFound");
  varve_etag etag = 0;
  CHECK_OK(varve_table_execute(table, operations, 2, NULL, &etag));
  CHECK(etag != VARVE_ETAG_NONE);
  const varve_key keys[3] = {{text("p"), text("b")}, {text("p"), text("c")}, {text("p"), text("a")}};
  varve_page* page = NULL;
  CHECK_OK(varve_table_get_many(table, keys, 3, NULL, &page));
  const varve_page_view view = view_of(page);
  CHECK(view.count == 3 && view.entities[0].etag == etag && view.entities[1].etag == VARVE_ETAG_NONE);
  CHECK(same_text(view.entities[1].row_key, "c") && same_text(view.entities[2].row_key, "a"));
  varve_page_free(page);
  varve_table_free(table);
}

static void count_entity(const varve_entity* entity, void* context) {
  const varve_value* const number = varve_entity_find(entity, varve_text_of("N"));
  if (number != NULL && number->type == VARVE_INT32) *(int64_t*)context += number->as.int32;
}

static void scans_return_every_page(varve_store* store) {
  varve_table* const table = new_table(store, "Scans");
  fill(table, "p", 25);
  fill(table, "q", 5);
  const varve_scan scan = {
      .size = sizeof scan, .range = VARVE_RANGE_PARTITION, .partition_key = text("p"), .page_entities_max = 10};
  varve_cursor* cursor = NULL;
  CHECK_OK(varve_cursor_open(table, &scan, &cursor));
  size_t pages = 0, entities = 0;
  for (varve_page* page = NULL;;) {
    CHECK_OK(varve_cursor_next(cursor, &page));
    if (page == NULL) break;
    const varve_page_view view = view_of(page);
    for (size_t i = 0; i < view.count; ++i) {
      CHECK(varve_entity_find(&view.entities[i], text("N"))->as.int32 == (int32_t)(entities + i));
    }
    ++pages;
    entities += view.count;
    varve_page_free(page);
  }
  CHECK(pages == 3 && entities == 25);
  varve_page* none = NULL;
  CHECK_OK(varve_cursor_next(cursor, &none));
  CHECK(none == NULL);
  varve_cursor_free(cursor);

  varve_page* page = NULL;
  varve_scan backward = {.size = sizeof backward, .backward = true, .has_take = true, .take = 2};
  backward.filter = text("N ge 3 and PartitionKey eq 'q'");
  CHECK_OK(varve_table_scan(table, &backward, &page));
  varve_page_view view = view_of(page);
  CHECK(view.count == 2 && same_text(view.entities[0].row_key, "000004") && view.continuation.data == NULL);
  CHECK(view.cost.entities_examined >= 2);
  varve_page_free(page);

  varve_scan ordered = {.size = sizeof ordered, .page_entities_max = 1, .order_by = text("N desc, RowKey")};
  CHECK_OK(varve_table_scan(table, &ordered, &page));
  view = view_of(page);
  CHECK(view.count == 1 && view.continuation.data != NULL && view.cost.entities_examined == 30);
  varve_page_free(page);
  ordered.order_by = text("N up");
  CHECK_FAILS(varve_table_scan(table, &ordered, &page), VARVE_INVALID_ARGUMENT, "InvalidInput");

  int64_t sum = 0;
  CHECK_OK(varve_table_scan_in_place(table, &scan, count_entity, &sum, &page));
  view = view_of(page);
  CHECK(sum == 45 && view.count == 0 && view.continuation.data != NULL);
  varve_scan next = scan;
  next.continuation = view.continuation;
  varve_page* second = NULL;
  CHECK_OK(varve_table_scan(table, &next, &second));
  CHECK(same_text(view_of(second).entities[0].row_key, "000010"));
  varve_page_free(second);
  varve_page_free(page);

  uint64_t count = 0;
  CHECK_OK(varve_table_count(table, NULL, &count, NULL));
  CHECK(count == 30);
  varve_scan broken = {.size = sizeof broken, .filter = text("N ge")};
  CHECK_FAILS(varve_table_scan(table, &broken, &page), VARVE_INVALID_ARGUMENT, "InvalidInput");
  CHECK(page == NULL);

  varve_plan* plan = NULL;
  CHECK_OK(varve_table_explain(table, &backward, &plan));
  varve_plan_view explained = {.size = sizeof explained};
  CHECK_OK(varve_plan_read(plan, &explained));
  CHECK(same_text(explained.path_name, "partition") && explained.range_count == 1 && explained.residual.size > 0);
  varve_plan_free(plan);
  varve_table_free(table);
}

static void figures_are_computed_by_groups(varve_store* store) {
  varve_table* const table = new_table(store, "Figures");
  fill(table, "p", 5);
  fill(table, "q", 10);
  const varve_aggregate figures[] = {{.kind = VARVE_AGGREGATE_COUNT},
                                     {.kind = VARVE_AGGREGATE_MAX, .property = text("RowKey")},
                                     {.kind = VARVE_AGGREGATE_SUM, .property = text("Missing")}};
  const varve_group_by group = {.property = text("PartitionKey")};
  const varve_scan of_q = {.size = sizeof of_q, .filter = text("PartitionKey eq 'q'")};
  varve_page* rows = NULL;
  CHECK_OK(varve_table_aggregate(table, &of_q, figures, 3, &group, 1, &rows));
  const varve_page_view row = view_of(rows);
  CHECK(row.count == 1 && row.entities[0].partition_key.size == 0 && row.entities[0].property_count == 3);
  CHECK(row.entities[0].etag == VARVE_ETAG_ANY);
  CHECK(row.cost.entities_examined >= 10 && row.continuation.data == NULL);
  const varve_property* const values = row.entities[0].properties;
  CHECK(same_text(values[0].name, "g0") && same_text(values[0].value.as.text, "q"));
  CHECK(same_text(values[1].name, "f0") && values[1].value.type == VARVE_INT64 && values[1].value.as.int64 == 10);
  CHECK(same_text(values[2].name, "f1") && values[2].value.type == VARVE_STRING);
  varve_page_free(rows);
  CHECK_FAILS(varve_table_aggregate(table, NULL, figures + 1, 1, NULL, 1, &rows), VARVE_INVALID_ARGUMENT, "");
  const varve_aggregate unknown = {.kind = 6};
  CHECK_FAILS(varve_table_aggregate(table, NULL, &unknown, 1, NULL, 0, &rows), VARVE_INVALID_ARGUMENT, "");
  CHECK(rows == NULL);
  varve_table_free(table);
}

static void snapshots_keep_a_version(varve_store* store) {
  varve_table* const table = new_table(store, "Snapshots");
  fill(table, "p", 1);
  varve_snapshot* snapshot = NULL;
  CHECK_OK(varve_store_snapshot(store, &snapshot));
  fill(table, "q", 1);
  const varve_scan scan = {.size = sizeof scan, .snapshot = snapshot};
  uint64_t count = 0;
  CHECK_OK(varve_table_count(table, &scan, &count, NULL));
  CHECK(count == 1);
  varve_datetime version = 0;
  CHECK_OK(varve_snapshot_version(snapshot, &version));
  CHECK(version > VARVE_DATETIME_UNIX_EPOCH);
  varve_snapshot_free(snapshot);
  CHECK_FAILS(varve_table_count(table, &scan, &count, NULL), VARVE_CLOSED, "");
  varve_table_free(table);
}

struct counter {
  varve_table* table;
  int calls;
};

static varve_status* increment(varve_transaction* transaction, void* context) {
  struct counter* const counter = context;
  ++counter->calls;
  const varve_key key = {varve_text_of("p"), varve_text_of("000000")};
  varve_page* page = NULL;
  varve_status* failed = varve_transaction_get_many(transaction, counter->table, &key, 1, NULL, &page);
  if (failed != NULL) return failed;
  const varve_page_view view = view_of(page);
  const varve_property number =
      int32_property("N", varve_entity_find(&view.entities[0], varve_text_of("N"))->as.int32 + 1);
  const varve_operation write = {VARVE_REPLACE, entity_of("p", "000000", &number, 1), view.entities[0].etag};
  if (counter->calls == 1) { /* another writer comes between the read and the commit */
    const varve_entity entity = entity_of("p", "000000", &number, 1);
    CHECK_OK(varve_table_replace(counter->table, &entity, VARVE_ETAG_ANY, NULL, NULL));
  }
  varve_page_free(page);
  return varve_transaction_add(transaction, counter->table, &write);
}

static varve_status* refuse(varve_transaction* transaction, void* context) {
  (void)transaction;
  (void)context;
  return varve_status_create(VARVE_CANCELLED, "not today");
}

static void store_transactions_repeat_after_a_conflict(varve_store* store) {
  struct counter counter = {new_table(store, "Counters"), 0};
  fill(counter.table, "p", 1);
  varve_etag etag = 0;
  CHECK_OK(varve_store_transact(store, increment, &counter, 0, NULL, &etag));
  CHECK(counter.calls == 2);
  varve_page* page = NULL;
  CHECK_OK(varve_table_get(counter.table, text("p"), text("000000"), NULL, &page));
  const varve_page_view view = view_of(page);
  CHECK(view.entities[0].etag == etag && varve_entity_find(&view.entities[0], text("N"))->as.int32 == 2);
  varve_page_free(page);
  CHECK_FAILS(varve_store_transact(store, refuse, NULL, 0, NULL, NULL), VARVE_CANCELLED, "");

  varve_transaction* transaction = NULL;
  CHECK_OK(varve_transaction_begin(store, &transaction));
  CHECK_OK(varve_transaction_scan(transaction, counter.table, NULL, &page));
  CHECK(view_of(page).count == 1);
  varve_page_free(page);
  CHECK_FAILS(varve_transaction_scan_checked(transaction, counter.table, NULL, &page), VARVE_INVALID_ARGUMENT,
              "InvalidInput");
  const varve_operation remove = {VARVE_REMOVE, entity_of("p", "none", NULL, 0), VARVE_ETAG_ANY};
  CHECK_OK(varve_transaction_add(transaction, counter.table, &remove));
  varve_status* const failed = varve_transaction_commit(transaction, NULL, NULL);
  CHECK(varve_status_operation_index(failed) == 0);
  CHECK_FAILS(failed, VARVE_NOT_FOUND, "ResourceNotFound");
  CHECK_FAILS(varve_transaction_commit(transaction, NULL, NULL), VARVE_INVALID_ARGUMENT, "InvalidInput");
  varve_transaction_free(transaction);
  varve_table_free(counter.table);
}

static void restricted_handles_may_do_less(varve_store* store) {
  varve_table* const table = new_table(store, "Restricted");
  fill(table, "p", 3);
  const varve_access access = {.size = sizeof access,
                               .permissions = VARVE_MAY_QUERY,
                               .from_partition_key = text("p"),
                               .from_row_key = text("000001")};
  varve_table* restricted = NULL;
  CHECK_OK(varve_table_restrict(table, &access, &restricted));
  uint64_t count = 0;
  CHECK_OK(varve_table_count(restricted, NULL, &count, NULL));
  CHECK(count == 2);
  const varve_entity entity = entity_of("p", "x", NULL, 0);
  CHECK_FAILS(varve_table_insert(restricted, &entity, NULL, NULL), VARVE_FORBIDDEN, "AuthorizationPermissionMismatch");
  varve_page* page = NULL;
  CHECK_FAILS(varve_table_get(restricted, text("p"), text("000000"), NULL, &page), VARVE_FORBIDDEN,
              "AuthorizationFailure");
  varve_table_free(restricted);
  varve_table_free(table);
}

static void names_are_listed_in_pages(varve_store* store) {
  CHECK_OK(varve_account_create(store, text("listed")));
  const char* const names[] = {"Alpha", "Beta", "Gamma"};
  for (size_t i = 0; i < 3; ++i) CHECK_OK(varve_table_create(store, text("listed"), text(names[i]), NULL));
  CHECK_FAILS(varve_table_create(store, text("listed"), text("ALPHA"), NULL), VARVE_EXISTS, "TableAlreadyExists");
  varve_list_options options = {.size = sizeof options, .page_names_max = 2};
  varve_list* list = NULL;
  CHECK_OK(varve_table_list(store, text("listed"), &options, &list));
  varve_list_view view = {.size = sizeof view};
  CHECK_OK(varve_list_read(list, &view));
  CHECK(view.count == 2 && same_text(view.names[1].name, "Beta") && view.names[0].created > 0);
  options.continuation = view.continuation;
  varve_list* rest = NULL;
  CHECK_OK(varve_table_list(store, text("listed"), &options, &rest));
  CHECK_OK(varve_list_read(rest, &view));
  CHECK(view.count == 1 && same_text(view.names[0].name, "Gamma") && view.continuation.data == NULL);
  varve_list_free(rest);
  varve_list_free(list);
  CHECK_OK(varve_table_drop(store, text("listed"), text("beta")));
  varve_table* table = NULL;
  CHECK_FAILS(varve_table_open(store, text("listed"), text("Beta"), &table), VARVE_NOT_FOUND, "TableNotFound");
  CHECK_OK(varve_account_drop(store, text("listed")));
  CHECK_OK(varve_account_list(store, NULL, &list));
  CHECK_OK(varve_list_read(list, &view));
  CHECK(view.count == 1 && same_text(view.names[0].name, "acct"));
  varve_list_free(list);
}

static void loads_fill_a_table(varve_store* store) {
  varve_loader* loader = NULL;
  CHECK_OK(varve_loader_open(store, text("acct"), text("Loaded"), &loader));
  for (int i = 0; i < 1000; ++i) {
    char row[16];
    snprintf(row, sizeof row, "%06d", i);
    const varve_property number = int32_property("N", i);
    const varve_entity entity = entity_of("p", row, &number, 1);
    CHECK_OK(varve_loader_add(loader, &entity));
  }
  varve_load_progress progress = {.size = sizeof progress};
  CHECK_OK(varve_loader_progress(loader, &progress));
  CHECK(progress.entities == 1000);
  varve_etag etag = 0;
  CHECK_OK(varve_loader_finish(loader, &etag));
  CHECK(etag != VARVE_ETAG_NONE);
  varve_loader_free(loader);
  varve_table* table = NULL;
  CHECK_OK(varve_table_open(store, text("acct"), text("Loaded"), &table));
  uint64_t count = 0;
  CHECK_OK(varve_table_count(table, NULL, &count, NULL));
  CHECK(count == 1000);
  varve_table_free(table);
}

static void note_progress(uint64_t entities, uint64_t bytes, void* context) {
  (void)bytes;
  *(uint64_t*)context = entities;
}

static void a_store_is_kept_up_checked_and_repaired(varve_store* store, const char* directory) {
  CHECK_OK(varve_store_sync(store));
  CHECK_OK(varve_store_compact(store));
  varve_statistics statistics = {.size = sizeof statistics};
  CHECK_OK(varve_store_statistics(store, &statistics));
  CHECK(statistics.commits > 0 && statistics.health == VARVE_HEALTHY && statistics.table_entries > 0);
  CHECK(statistics.log_writes_in_flight_max > 0);

  char copy[128], repaired[128];
  snprintf(copy, sizeof copy, "%s/copy", directory);
  snprintf(repaired, sizeof repaired, "%s/repaired", directory);
  varve_checkpoint_figures made = {.size = sizeof made};
  CHECK_OK(varve_store_checkpoint(store, text(copy), &made));
  CHECK(made.files_linked + made.files_copied > 0);
  CHECK_FAILS(varve_store_checkpoint(store, text(copy), NULL), VARVE_EXISTS, "");

  varve_verify_figures verified = {.size = sizeof verified};
  varve_report* report = NULL;
  uint64_t seen = 0;
  CHECK_OK(varve_verify(text(copy), note_progress, &seen, &verified, &report));
  CHECK(verified.finding_count == 0 && verified.entities > 1000);
  varve_report_view view = {.size = sizeof view};
  CHECK_OK(varve_report_read(report, &view));
  CHECK(view.finding_count == 0);
  varve_report_free(report);

  varve_repair_figures saved = {.size = sizeof saved};
  CHECK_OK(varve_repair(text(copy), text(repaired), NULL, NULL, &saved, &report));
  CHECK(saved.entities == verified.entities && saved.loss_count == 0);
  varve_report_free(report);
}

static void texts_become_values(void) {
  char room[VARVE_FORMAT_BYTES];
  varve_etag etag = 0, again = 0;
  CHECK_OK(varve_etag_parse(text("*"), &etag));
  CHECK(etag == VARVE_ETAG_ANY);
  CHECK_OK(varve_etag_parse(text("W/\"datetime'2026-03-03T10%3A20%3A30.4767Z'\""), &etag));
  CHECK_OK(varve_etag_format(etag, room));
  CHECK(strcmp(room, "W/\"datetime'2026-03-03T10%3A20%3A30.4767Z'\"") == 0);
  CHECK_OK(varve_etag_parse(text("W/\"other\""), &etag));
  CHECK_OK(varve_etag_format(etag, room));
  CHECK_OK(varve_etag_parse(text(room), &again));
  CHECK(again == etag && strncmp(room, "W/\"foreign-", 11) == 0);
  CHECK_FAILS(varve_etag_parse(text("other"), &etag), VARVE_INVALID_ARGUMENT, "InvalidInput");
  varve_datetime time = 0;
  CHECK_OK(varve_datetime_parse(text("1970-01-01T00:00:00Z"), &time));
  CHECK(time == VARVE_DATETIME_UNIX_EPOCH);
  CHECK_OK(varve_datetime_format(time + 5, room));
  CHECK(strcmp(room, "1970-01-01T00:00:00.0000005Z") == 0);
  varve_guid guid;
  CHECK_OK(varve_guid_parse(text("0123456789ABCDEF0123456789ABCDEF"), &guid));
  CHECK_OK(varve_guid_format(guid, room));
  CHECK(strcmp(room, "01234567-89ab-cdef-0123-456789abcdef") == 0);
  CHECK(strcmp(varve_type_name(VARVE_INT64), "Edm.Int64") == 0 && strcmp(varve_type_name(10), "?") == 0);
  CHECK(strcmp(varve_type_name(VARVE_LARGE_VALUE), "LargeValue") == 0);
  CHECK(strcmp(varve_code_name(VARVE_CONFLICT), "Conflict") == 0 && strcmp(varve_code_name(-1), "?") == 0);
  CHECK(strlen(varve_version()) >= 5);
}

static void stores_share_memory_and_keep_their_options(void) {
  const char* const directory = new_directory();
  char first_path[128];
  snprintf(first_path, sizeof first_path, "%s/limited", directory);
  const varve_resource_options small = {
      .size = sizeof small, .write_buffer_bytes = 16u << 20, .without_block_cache = true};
  varve_resources* resources = NULL;
  CHECK_OK(varve_resources_create(&small, &resources));
  const varve_limits limits = {.size = sizeof limits, .string_code_units_max = 100000};
  varve_store_options options = {.size = sizeof options,
                                 .create_if_absent = true,
                                 .default_durability = VARVE_BUFFERED,
                                 .limits = &limits,
                                 .resources = resources};
  varve_store* store = NULL;
  CHECK_OK(varve_store_open(text(first_path), &options, &store));
  varve_resources_free(resources);
  varve_statistics statistics = {.size = sizeof statistics};
  CHECK_OK(varve_store_statistics(store, &statistics));
  CHECK(statistics.memtable_bytes_max == 16u << 20 && statistics.cache_bytes_max == 0);
  CHECK(statistics.default_durability == VARVE_BUFFERED);
  CHECK_OK(varve_store_close(store));
  options.resources = NULL;
  options.default_durability = VARVE_SYNC;
  CHECK_FAILS(varve_store_open(text(first_path), &options, &store), VARVE_INVALID_ARGUMENT, "");
  CHECK(store == NULL);
}

void verbs_suite(void) {
  const char* const directory = new_directory();
  varve_store* const store = new_store(directory);
  values_come_back_as_they_were_written(store);
  writes_follow_their_conditions(store);
  patches_change_single_properties(store);
  a_table_expires(store);
  group_transactions_name_the_operation_that_failed(store);
  scans_return_every_page(store);
  figures_are_computed_by_groups(store);
  snapshots_keep_a_version(store);
  store_transactions_repeat_after_a_conflict(store);
  restricted_handles_may_do_less(store);
  names_are_listed_in_pages(store);
  loads_fill_a_table(store);
  a_store_is_kept_up_checked_and_repaired(store, directory);
  texts_become_values();
  stores_share_memory_and_keep_their_options();
  CHECK_OK(varve_store_close(store));
}

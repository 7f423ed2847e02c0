// SPDX-License-Identifier: Apache-2.0
// Owns: a list of orders, as a program in C99 keeps it in a store.
// Must never: need more than an installed Varve and the C library.
//
// Usage: orders_in_c STORE add REGION NUMBER CUSTOMER TOTAL
//        orders_in_c STORE list REGION [LOWEST-TOTAL]
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <varve/c.h>

enum { DONE = 0, FAILED = 1, USAGE = 2, CONFLICT = 3, UNKNOWN = 4 };

// Prints a failure, frees it, and returns the exit code.
static int end_with(varve_status* failed) {
  if (failed == NULL) return DONE;
  const varve_code code = varve_status_code(failed);
  fprintf(stderr, "orders_in_c: %s\n", varve_status_text(failed));
  varve_status_free(failed);
  if (code == VARVE_UNKNOWN) return UNKNOWN;
  return code == VARVE_EXISTS || code == VARVE_PRECONDITION_FAILED || code == VARVE_CONFLICT ? CONFLICT : FAILED;
}

// Accepts "it exists already".
static varve_status* unless_exists(varve_status* status) {
  if (varve_status_code(status) != VARVE_EXISTS) return status;
  varve_status_free(status);
  return NULL;
}

static varve_status* open_orders(const char* path, varve_store** store, varve_table** orders) {
  const varve_store_options options = {.size = sizeof options, .create_if_absent = true};
  varve_status* failed = varve_store_open(varve_text_of(path), &options, store);
  if (failed == NULL) failed = unless_exists(varve_account_create(*store, varve_text_of("shop")));
  if (failed == NULL)
    failed = unless_exists(varve_table_create(*store, varve_text_of("shop"), varve_text_of("Orders"), NULL));
  if (failed == NULL) failed = varve_table_open(*store, varve_text_of("shop"), varve_text_of("Orders"), orders);
  return failed;
}

static varve_status* add(varve_table* orders, char** argument) {
  varve_property properties[2] = {{varve_text_of("Customer"), {.type = VARVE_STRING}},
                                  {varve_text_of("Total"), {.type = VARVE_DOUBLE}}};
  properties[0].value.as.text = varve_text_of(argument[2]);
  properties[1].value.as.number = strtod(argument[3], NULL);
  const varve_entity order = {.partition_key = varve_text_of(argument[0]),
                              .row_key = varve_text_of(argument[1]),
                              .properties = properties,
                              .property_count = 2};
  varve_status* const failed = varve_table_insert(orders, &order, NULL, NULL);
  if (failed == NULL) printf("added %s\n", argument[1]);
  return failed;
}

static varve_status* list(varve_table* orders, const char* region, const char* lowest) {
  char filter[64];
  snprintf(filter, sizeof filter, "Total ge %.17e", strtod(lowest, NULL));
  const varve_scan scan = {.size = sizeof scan,
                           .range = VARVE_RANGE_PARTITION,
                           .partition_key = varve_text_of(region),
                           .filter = varve_text_of(filter)};
  varve_cursor* cursor = NULL;
  varve_status* failed = varve_cursor_open(orders, &scan, &cursor);
  while (failed == NULL) {
    varve_page* page = NULL;
    failed = varve_cursor_next(cursor, &page);
    if (page == NULL) break;
    varve_page_view view = {.size = sizeof view};
    failed = varve_page_read(page, &view);
    for (size_t i = 0; failed == NULL && i < view.count; ++i) {
      const varve_value* const customer = varve_entity_find(&view.entities[i], varve_text_of("Customer"));
      const varve_value* const total = varve_entity_find(&view.entities[i], varve_text_of("Total"));
      if (customer == NULL || customer->type != VARVE_STRING || total == NULL || total->type != VARVE_DOUBLE) continue;
      printf("%s %s %.2f\n", view.entities[i].row_key.data, customer->as.text.data, total->as.number);
    }
    varve_page_free(page);
  }
  varve_cursor_free(cursor);
  return failed;
}

int main(int argc, char** argv) {
  const bool adds = argc == 7 && strcmp(argv[2], "add") == 0;
  const bool lists = (argc == 4 || argc == 5) && strcmp(argv[2], "list") == 0;
  if (!adds && !lists) {
    fprintf(stderr, "usage: orders_in_c STORE add REGION NUMBER CUSTOMER TOTAL | list REGION [LOWEST-TOTAL]\n");
    return USAGE;
  }
  varve_store* store = NULL;
  varve_table* orders = NULL;
  varve_status* failed = open_orders(argv[1], &store, &orders);
  if (failed == NULL) failed = adds ? add(orders, argv + 3) : list(orders, argv[3], argc == 5 ? argv[4] : "0");
  varve_table_free(orders);
  const int code = end_with(failed);
  if (store == NULL) return code;
  const int closed = end_with(varve_store_close(store));
  return code != DONE ? code : closed;
}

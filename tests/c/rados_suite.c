/* Goal: a program in C opens a store at an address on Ceph, and learns why if it cannot.
   Method: errors come before there is a cluster. With VARVE_CEPH_POOL (and CEPH_CONF), a store of that pool is opened. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "varve/c_rados.h"

static void check_errors(void) {
  CHECK(varve_rados_is_address(text("rados:tables/shop")));
  CHECK(!varve_rados_is_address(text("/var/lib/rados:tables")));
  CHECK(!varve_rados_is_address((varve_text){NULL, 0}));
  CHECK(!varve_rados_is_address((varve_text){NULL, 7}));

  varve_store* store = NULL;
  CHECK_FAILS(varve_rados_store_open(text("rados:tables/shop"), NULL, NULL, NULL), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_rados_store_open((varve_text){NULL, 0}, NULL, NULL, &store), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_rados_store_open(text("rados:tables"), NULL, NULL, &store), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_rados_store_open(text("/var/lib/shop"), NULL, NULL, &store), VARVE_INVALID_ARGUMENT, "");
  varve_rados_options options = {.size = 1};
  CHECK_FAILS(varve_rados_store_open(text("rados:tables/shop"), &options, NULL, &store), VARVE_INVALID_ARGUMENT, "");
  const struct {
    varve_rados_options known;
    uint64_t later;
  } newer = {{.size = sizeof newer}, 1};
  CHECK_FAILS(varve_rados_store_open(text("rados:tables/shop"), &newer.known, NULL, &store), VARVE_UNSUPPORTED, "");
  options = (varve_rados_options){.size = sizeof options, .local_cache_bytes = 1 << 22};
  CHECK_FAILS(varve_rados_store_open(text("rados:tables/shop"), &options, NULL, &store), VARVE_INVALID_ARGUMENT, "");
  CHECK(store == NULL);

  /* An address is no path, whatever may be created. */
  const varve_store_options creating = {.size = sizeof creating, .create_if_absent = true};
  varve_status* const refused = varve_store_open(text("rados:tables/shop"), &creating, &store);
  CHECK(varve_status_code(refused) == VARVE_UNSUPPORTED && store == NULL);
  CHECK(strstr(varve_status_hint(refused), "./rados:tables/shop") != NULL);
  varve_status_free(refused);
  CHECK(strcmp(varve_status_hint(NULL), "") == 0);
}

#ifndef VARVE_SANITIZED /* A sanitizer would see the library of Ceph, too. */
/* That library may be absent here, which is found out first. */
static void check_that_a_configuration_is_needed(void) {
  setenv("CEPH_CONF", "/nowhere/ceph.conf", 1);
  varve_store* store = NULL;
  varve_status* const failed = varve_rados_store_open(text("rados:tables/shop"), NULL, NULL, &store);
  CHECK(varve_status_code(failed) == VARVE_INVALID_ARGUMENT || varve_status_code(failed) == VARVE_UNSUPPORTED);
  varve_status_free(failed);
  CHECK(store == NULL);
}
#endif

/* What was made from the store outlives it, and its connection. */
static void check_a_round_trip(const char* pool) {
  char address[128];
  snprintf(address, sizeof address, "rados:%s/c-%lld", pool, (long long)time(NULL));
  const varve_store_options creating = {.size = sizeof creating, .create_if_absent = true};
  const varve_rados_options verified = {.size = sizeof verified, .verified_reads = true, .read_patience_ms = 30000};
  varve_store* store = NULL;
  if (!CHECK_OK(varve_rados_store_open(text(address), &verified, &creating, &store))) return;
  varve_store* second = NULL;
  CHECK_FAILS(varve_rados_store_open(text(address), NULL, NULL, &second), VARVE_LOCKED, "");
  CHECK_OK(varve_account_create(store, text("acct")));
  varve_table* table = NULL;
  CHECK_OK(varve_table_create(store, text("acct"), text("Orders"), &table));
  fill(table, "eu", 100);
  varve_snapshot* snapshot = NULL;
  CHECK_OK(varve_store_snapshot(store, &snapshot));
  varve_statistics figures = {.size = sizeof figures};
  CHECK_OK(varve_store_statistics(store, &figures));
  CHECK(figures.buffered_dies_with_process);
  CHECK_OK(varve_store_close(store));
  varve_page* page = NULL;
  CHECK_FAILS(varve_table_scan(table, NULL, &page), VARVE_CLOSED, "");

  CHECK_OK(varve_rados_store_open(text(address), NULL, NULL, &store));
  varve_table* again = NULL;
  CHECK_OK(varve_table_open(store, text("acct"), text("Orders"), &again));
  CHECK_OK(varve_table_scan(again, NULL, &page));
  varve_page_view view = {.size = sizeof view};
  CHECK_OK(varve_page_read(page, &view));
  CHECK(view.count == 100);
  varve_page_free(page);
  varve_table_free(again);
  CHECK_OK(varve_store_close(store));
  varve_table_free(table);
  varve_snapshot_free(snapshot);
}

void rados_suite(void) {
  const char* const pool = getenv("VARVE_CEPH_POOL");
  check_errors();
  if (pool != NULL) check_a_round_trip(pool);
#ifndef VARVE_SANITIZED
  check_that_a_configuration_is_needed();
#endif
}

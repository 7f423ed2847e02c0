/* Owns: what the C tests share: checks that report and go on, and a store in a new directory. */
#ifndef VARVE_TESTS_C_CHECK_H
#define VARVE_TESTS_C_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "varve/c.h"

/* Counts a failure if `condition` is false, prints it, and goes on. */
#define CHECK(condition) check_that((condition), #condition, __FILE__, __LINE__)
/* Expects success. Frees the status. Returns whether it was success. */
#define CHECK_OK(call) check_status((call), VARVE_OK, "", #call, __FILE__, __LINE__)
/* Expects a failure with this code and this error of the table service. Frees the status. */
#define CHECK_FAILS(call, code, service_error) check_status((call), (code), (service_error), #call, __FILE__, __LINE__)

bool check_that(bool condition, const char* text, const char* file, int line);
bool check_status(varve_status* status, varve_code code, const char* service_error, const char* text, const char* file,
                  int line);
/* The failures so far. */
int check_failures(void);

/* Returns the path of a new empty directory, which the program removes at its end. */
const char* new_directory(void);
/* Opens a new store in `directory`/store with the account "acct". */
varve_store* new_store(const char* directory);
varve_store* reopen_store(const char* directory, bool read_only);
/* Creates a table of the account. */
varve_table* new_table(varve_store* store, const char* name);
varve_text text(const char* zero_terminated);
bool same_text(varve_text found, const char* expected);
varve_property int32_property(const char* name, int32_t value);
varve_property string_property(const char* name, const char* value);
/* An entity with these keys. The properties must outlive it. */
varve_entity entity_of(const char* partition_key, const char* row_key, const varve_property* properties, size_t count);
/* Inserts `count` entities with RowKeys 000000, 000001 and so on, each with an Int32 N. */
void fill(varve_table* table, const char* partition_key, int count);

void verbs_suite(void);
void misuse_suite(void);
void fork_suite(void);
void queue_suite(void);
void blob_suite(void);
void large_value_suite(void);
void lease_suite(void);
void blob_transaction_suite(void);
void index_suite(void);
void rados_suite(void);
void access_suite(void);
void conformance_suite(void);

#endif

/* Goal: leases of blobs and containers in the C interface do what the C++ verbs do (BE-01 to BE-04, BB-16), and bad
   requests change nothing.
   Method: each action is called on a blob and on a container of a small store, and the state is read back. */
#include <string.h>

#include "check.h"

static const varve_guid kFirst = {{1}};
static const varve_guid kSecond = {{2}};

static varve_container* new_container(varve_store* store, const char* name) {
  varve_container* container = NULL;
  CHECK_OK(varve_container_create(store, text("acct"), text(name), NULL, &container));
  return container;
}

static varve_lease_request request_of(int32_t action, varve_guid id) {
  const varve_lease_request request = {.size = sizeof request, .action = action, .id = id};
  return request;
}

static varve_lease_request acquire_of(varve_guid proposed, int32_t duration_s) {
  const varve_lease_request request = {.size = sizeof request,
                                       .action = VARVE_LEASE_ACQUIRE,
                                       .duration_s = duration_s,
                                       .has_proposed = true,
                                       .proposed = proposed};
  return request;
}

static bool same_guid(varve_guid left, varve_guid right) {
  return memcmp(left.bytes, right.bytes, sizeof left.bytes) == 0;
}

static varve_blob_view blob_in(const varve_container* container, const char* blob) {
  varve_blobs* state = NULL;
  varve_blob_view view = {.size = sizeof view};
  CHECK_OK(varve_blob_state(container, text(blob), NULL, &state));
  CHECK_OK(varve_blobs_read(state, 0, &view));
  varve_blobs_free(state);
  return view; /* its texts are gone, its numbers are not */
}

static void a_lease_of_a_blob_is_changed(varve_store* store) {
  varve_container* const container = new_container(store, "leases");
  CHECK_OK(varve_blob_put(container, text("a"), text("x"), NULL, NULL));
  varve_lease_answer answer = {.size = sizeof answer};
  varve_lease_request request = acquire_of(kFirst, 60);
  CHECK_OK(varve_blob_lease(container, text("a"), &request, NULL, &answer));
  CHECK(same_guid(answer.id, kFirst) && answer.left_s == 0);
  varve_blob_view state = blob_in(container, "a");
  CHECK(state.lease_state == VARVE_LEASE_LEASED && !state.lease_is_infinite);
  request = acquire_of(kSecond, 15);
  CHECK_FAILS(varve_blob_lease(container, text("a"), &request, NULL, &answer), VARVE_CONFLICT, "LeaseAlreadyPresent");
  request = request_of(VARVE_LEASE_RENEW, kFirst);
  CHECK_OK(varve_blob_lease(container, text("a"), &request, NULL, NULL));
  request = request_of(VARVE_LEASE_CHANGE, kFirst);
  CHECK_FAILS(varve_blob_lease(container, text("a"), &request, NULL, NULL), VARVE_INVALID_ARGUMENT,
              "MissingRequiredHeader");
  request.has_proposed = true;
  request.proposed = kSecond;
  CHECK_OK(varve_blob_lease(container, text("a"), &request, NULL, &answer));
  CHECK(same_guid(answer.id, kSecond));
  request = request_of(VARVE_LEASE_RELEASE, kFirst);
  CHECK_FAILS(varve_blob_lease(container, text("a"), &request, NULL, NULL), VARVE_CONFLICT,
              "LeaseIdMismatchWithLeaseOperation");
  request = request_of(VARVE_LEASE_BREAK, kFirst);
  request.has_break = true;
  request.break_s = 10;
  CHECK_OK(varve_blob_lease(container, text("a"), &request, NULL, &answer));
  CHECK(answer.left_s > 0 && answer.left_s <= 10);
  CHECK(blob_in(container, "a").lease_state == VARVE_LEASE_BREAKING);
  request.break_s = 0;
  CHECK_OK(varve_blob_lease(container, text("a"), &request, NULL, &answer));
  CHECK(answer.left_s == 0 && blob_in(container, "a").lease_state == VARVE_LEASE_BROKEN);
  request = request_of(VARVE_LEASE_RELEASE, kSecond);
  CHECK_OK(varve_blob_lease(container, text("a"), &request, NULL, NULL));
  state = blob_in(container, "a");
  CHECK(state.lease_state == VARVE_LEASE_AVAILABLE);

  /* Without a proposed id, a new id is made. Zero is a lease without an end. */
  request = request_of(VARVE_LEASE_ACQUIRE, kFirst);
  CHECK_FAILS(varve_blob_lease(container, text("a"), &request, NULL, NULL), VARVE_INVALID_ARGUMENT, "");
  CHECK(blob_in(container, "a").lease_state == VARVE_LEASE_AVAILABLE);
  CHECK_OK(varve_blob_lease(container, text("a"), &request, NULL, &answer));
  CHECK(!same_guid(answer.id, kFirst));
  CHECK(blob_in(container, "a").lease_is_infinite && blob_in(container, "a").etag == state.etag);
  varve_container_free(container);
}

static void a_write_needs_the_id_of_the_lease(varve_store* store) {
  varve_container* const container = new_container(store, "guarded");
  CHECK_OK(varve_blob_put(container, text("a"), text("x"), NULL, NULL));
  const varve_lease_request request = acquire_of(kFirst, VARVE_LEASE_INFINITE);
  CHECK_OK(varve_blob_lease(container, text("a"), &request, NULL, NULL));
  varve_blob_conditions conditions = {.size = sizeof conditions, .has_lease = true, .lease = kSecond};
  const varve_blob_write_options write = {.size = sizeof write, .conditions = &conditions};
  const varve_blob_change_options change = {.size = sizeof change, .conditions = &conditions};
  CHECK_FAILS(varve_blob_put(container, text("a"), text("y"), NULL, NULL), VARVE_PRECONDITION_FAILED, "LeaseIdMissing");
  CHECK_FAILS(varve_blob_put(container, text("a"), text("y"), &write, NULL), VARVE_PRECONDITION_FAILED,
              "LeaseIdMismatchWithBlobOperation");
  conditions.lease = kFirst;
  CHECK_OK(varve_blob_put(container, text("a"), text("y"), &write, NULL));
  CHECK(blob_in(container, "a").lease_state == VARVE_LEASE_LEASED);
  CHECK_FAILS(varve_blob_remove(container, text("a"), NULL), VARVE_PRECONDITION_FAILED, "LeaseIdMissing");
  CHECK_OK(varve_blob_remove(container, text("a"), &change));
  varve_container_free(container);
}

static void a_lease_of_a_container_guards_its_delete(varve_store* store) {
  varve_container* const container = new_container(store, "held");
  varve_lease_answer answer = {.size = sizeof answer};
  varve_lease_request request = acquire_of(kFirst, 0);
  CHECK_OK(varve_container_lease(container, &request, NULL, &answer));
  CHECK(same_guid(answer.id, kFirst));
  varve_container_view view = {.size = sizeof view};
  CHECK_OK(varve_container_state(container, &view));
  CHECK(view.lease_state == VARVE_LEASE_LEASED && view.lease_is_infinite);
  varve_blob_conditions conditions = {.size = sizeof conditions, .has_lease = true, .lease = kSecond};
  CHECK_FAILS(varve_container_drop(store, text("acct"), text("held")), VARVE_PRECONDITION_FAILED, "LeaseIdMissing");
  CHECK_FAILS(varve_container_drop_if(store, text("acct"), text("held"), &conditions), VARVE_PRECONDITION_FAILED,
              "LeaseIdMismatchWithContainerOperation");
  CHECK_FAILS(varve_container_set_metadata_if(container, NULL, 0, &conditions), VARVE_PRECONDITION_FAILED,
              "LeaseIdMismatchWithContainerOperation");
  CHECK_FAILS(varve_container_state_if(container, &conditions, &view), VARVE_PRECONDITION_FAILED,
              "LeaseIdMismatchWithContainerOperation");
  conditions.lease = kFirst;
  CHECK_OK(varve_container_state_if(container, &conditions, &view));
  CHECK_OK(varve_container_set_metadata_if(container, NULL, 0, &conditions));
  request = request_of(VARVE_LEASE_BREAK, kFirst);
  CHECK_OK(varve_container_lease(container, &request, NULL, &answer));
  CHECK(answer.left_s == 0); /* a lease without an end is broken at once */
  request = acquire_of(kSecond, 60);
  CHECK_OK(varve_container_lease(container, &request, NULL, NULL));
  conditions.lease = kSecond;
  CHECK_OK(varve_container_drop_if(store, text("acct"), text("held"), &conditions));
  varve_container_free(container);
}

static void bad_requests_change_nothing(varve_store* store) {
  varve_container* const container = new_container(store, "refused");
  CHECK_OK(varve_blob_put(container, text("a"), text("x"), NULL, NULL));
  varve_lease_answer answer = {.size = sizeof answer};
  CHECK_FAILS(varve_blob_lease(container, text("a"), NULL, NULL, &answer), VARVE_INVALID_ARGUMENT, "");
  varve_lease_request request = acquire_of(kFirst, 14);
  CHECK_FAILS(varve_blob_lease(container, text("a"), &request, NULL, &answer), VARVE_INVALID_ARGUMENT,
              "InvalidHeaderValue");
  request.duration_s = 61;
  CHECK_FAILS(varve_blob_lease(container, text("a"), &request, NULL, &answer), VARVE_INVALID_ARGUMENT,
              "InvalidHeaderValue");
  request.duration_s = 15;
  CHECK_FAILS(varve_blob_lease(container, text("none"), &request, NULL, &answer), VARVE_NOT_FOUND, "BlobNotFound");
  request.action = 5;
  CHECK_FAILS(varve_blob_lease(container, text("a"), &request, NULL, &answer), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_container_lease(container, &request, NULL, &answer), VARVE_INVALID_ARGUMENT, "");
  request.action = VARVE_LEASE_ACQUIRE;
  varve_lease_answer unset = {.size = 0};
  CHECK_FAILS(varve_blob_lease(container, text("a"), &request, NULL, &unset), VARVE_INVALID_ARGUMENT, "");
  request.size = 0;
  CHECK_FAILS(varve_blob_lease(container, text("a"), &request, NULL, &answer), VARVE_INVALID_ARGUMENT, "");
  const varve_blob_conditions other = {.size = sizeof other, .if_match = 1};
  const varve_blob_change_options change = {.size = sizeof change, .conditions = &other};
  request = acquire_of(kFirst, 15);
  CHECK_FAILS(varve_blob_lease(container, text("a"), &request, &change, &answer), VARVE_PRECONDITION_FAILED,
              "ConditionNotMet");
  CHECK(blob_in(container, "a").lease_state == VARVE_LEASE_AVAILABLE);
  varve_container_view view = {.size = sizeof view};
  CHECK_OK(varve_container_state(container, &view));
  CHECK(view.lease_state == VARVE_LEASE_AVAILABLE);
  varve_container_free(container);
}

void lease_suite(void) {
  varve_store* const store = new_store(new_directory());
  a_lease_of_a_blob_is_changed(store);
  a_write_needs_the_id_of_the_lease(store);
  a_lease_of_a_container_guards_its_delete(store);
  bad_requests_change_nothing(store);
  CHECK_OK(varve_store_close(store));
}

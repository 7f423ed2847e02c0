/* Goal: access policies of tables, queues and containers and the properties of services are in the C interface what they
   are in C++, and bad input changes nothing (S-41, QB-09, BB-14, P-03, QP-01).
   Method: they are set on a small store and read back, also what a call returned is given to the next one. */
#include <string.h>

#include "check.h"

/* 2026-01-01T00:00:00Z in ticks. */
static const varve_datetime kStart = UINT64_C(639028224000000000);

static varve_policies_view shown(const varve_policies* policies) {
  varve_policies_view view = {.size = sizeof view};
  CHECK_OK(varve_policies_read(policies, &view));
  return view;
}

/* One policy with all its parts, and one with its id alone. */
static void expect_two(varve_policies* policies, const char* permissions) {
  const varve_policies_view view = shown(policies);
  if (CHECK(view.count == 2)) {
    CHECK(same_text(view.policies[0].id, "all") && same_text(view.policies[0].permissions, permissions));
    CHECK(view.policies[0].has_start && view.policies[0].start == kStart);
    CHECK(view.policies[0].has_expiry && view.policies[0].expiry == kStart + 1);
    CHECK(same_text(view.policies[1].id, "id alone") && view.policies[1].permissions.data == NULL);
    CHECK(!view.policies[1].has_start && !view.policies[1].has_expiry);
  }
  varve_policies_free(policies);
}

static varve_access_policy whole_policy(const char* permissions) {
  const varve_access_policy policy = {.id = text("all"),
                                      .has_start = true,
                                      .has_expiry = true,
                                      .start = kStart,
                                      .expiry = kStart + 1,
                                      .permissions = text(permissions)};
  return policy;
}

static void policies_of_tables(varve_store* store) {
  varve_table* const table = new_table(store, "Orders");
  varve_table_free(table);
  const varve_access_policy both[2] = {whole_policy("rd"), {.id = text("id alone")}};
  CHECK_OK(varve_table_set_policies(store, text("acct"), text("Orders"), both, 2));
  varve_policies* policies = NULL;
  CHECK_OK(varve_table_policies(store, text("acct"), text("Orders"), &policies));
  expect_two(policies, "rd");
  const varve_access_policy process = whole_policy("p");
  CHECK_FAILS(varve_table_set_policies(store, text("acct"), text("Orders"), &process, 1), VARVE_INVALID_ARGUMENT,
              "InvalidXmlNodeValue");
  CHECK_FAILS(varve_table_set_policies(store, text("acct"), text("Absent"), both, 2), VARVE_NOT_FOUND, "TableNotFound");
  CHECK_FAILS(varve_table_policies(store, text("acct"), text("Absent"), &policies), VARVE_NOT_FOUND, "TableNotFound");
  CHECK(policies == NULL);
  CHECK_OK(varve_table_set_policies(store, text("acct"), text("Orders"), NULL, 0));
  CHECK_OK(varve_table_policies(store, text("acct"), text("Orders"), &policies));
  CHECK(shown(policies).count == 0);
  varve_policies_free(policies);
}

static void policies_of_queues(varve_store* store) {
  varve_queue* queue = NULL;
  CHECK_OK(varve_queue_create(store, text("acct"), text("orders"), NULL, &queue));
  const varve_access_policy both[2] = {whole_policy("pr"), {.id = text("id alone")}};
  CHECK_OK(varve_queue_set_policies(queue, both, 2));
  varve_policies* policies = NULL;
  CHECK_OK(varve_queue_policies(queue, &policies));
  expect_two(policies, "rp");
  const varve_access_policy none = {.id = text("none"), .permissions = {"", 0}};
  CHECK_OK(varve_queue_set_policies(queue, &none, 1));
  CHECK_OK(varve_queue_policies(queue, &policies));
  CHECK(shown(policies).count == 1 && shown(policies).policies[0].permissions.data != NULL);
  CHECK(shown(policies).policies[0].permissions.size == 0);
  varve_policies_free(policies);

  const varve_access_policy removal = whole_policy("d");
  CHECK_FAILS(varve_queue_set_policies(queue, &removal, 1), VARVE_INVALID_ARGUMENT, "InvalidXmlNodeValue");
  const varve_access_policy twice[2] = {none, none};
  CHECK_FAILS(varve_queue_set_policies(queue, twice, 2), VARVE_INVALID_ARGUMENT, "InvalidXmlDocument");
  const varve_access_policy nameless = {.id = {NULL, 0}};
  CHECK_FAILS(varve_queue_set_policies(queue, &nameless, 1), VARVE_INVALID_ARGUMENT, "InvalidXmlDocument");
  const varve_access_policy broken = {.id = {NULL, 1}};
  CHECK_FAILS(varve_queue_set_policies(queue, &broken, 1), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_queue_set_policies(queue, NULL, 1), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_queue_policies(queue, NULL), VARVE_INVALID_ARGUMENT, "");
  CHECK_OK(varve_queue_policies(queue, &policies));
  CHECK(shown(policies).count == 1); /* none of these changed it */
  varve_policies_view unset = {.size = 0};
  CHECK_FAILS(varve_policies_read(policies, &unset), VARVE_INVALID_ARGUMENT, "");
  varve_policies_free(policies);
  varve_queue_free(queue);
}

static void access_of_containers(varve_store* store) {
  varve_container* container = NULL;
  CHECK_OK(varve_container_create(store, text("acct"), text("photos"), NULL, &container));
  const varve_access_policy both[2] = {whole_policy("racwdlt"), {.id = text("id alone")}};
  CHECK_OK(varve_container_set_access(container, both, 2, VARVE_PUBLIC_CONTAINER, NULL));
  varve_policies* policies = NULL;
  CHECK_OK(varve_container_policies(container, &policies));
  expect_two(policies, "racwdlt");
  varve_container_view state = {.size = sizeof state};
  CHECK_OK(varve_container_state(container, &state));
  CHECK(state.public_access == VARVE_PUBLIC_CONTAINER);

  CHECK_FAILS(varve_container_set_access(container, NULL, 0, 3, NULL), VARVE_INVALID_ARGUMENT, "");
  const varve_blob_conditions later = {.size = sizeof later, .if_unmodified_since = kStart};
  CHECK_FAILS(varve_container_set_access(container, NULL, 0, VARVE_PUBLIC_NONE, &later), VARVE_PRECONDITION_FAILED,
              "ConditionNotMet");
  CHECK_OK(varve_container_policies(container, &policies));
  CHECK(shown(policies).count == 2); /* none of these changed it */
  varve_policies_free(policies);
  CHECK_OK(varve_container_set_access(container, NULL, 0, VARVE_PUBLIC_NONE, NULL));
  CHECK_OK(varve_container_state(container, &state));
  CHECK(state.public_access == VARVE_PUBLIC_NONE);
  CHECK_OK(varve_container_policies(container, &policies));
  CHECK(shown(policies).count == 0);
  varve_policies_free(policies);
  varve_container_free(container);
}

/* Returns a view of the properties of a service, which `properties` owns and the caller frees. */
static varve_service_properties read_properties(varve_store* store, int32_t service, varve_properties** properties) {
  varve_service_properties view = {.size = sizeof view};
  CHECK_OK(varve_service_properties_of(store, text("acct"), service, properties));
  CHECK_OK(varve_properties_read(*properties, &view));
  return view;
}

static void expect_defaults(varve_store* store, int32_t service) {
  varve_properties* properties = NULL;
  const varve_service_properties view = read_properties(store, service, &properties);
  CHECK(!view.logging->read && !view.hour_metrics->enabled && !view.minute_metrics->enabled);
  CHECK(view.has_cors_rules && view.cors_rule_count == 0 && view.default_version.size == 0);
  varve_properties_free(properties);
}

static void properties_of_services(varve_store* store) {
  const varve_text origins[2] = {text("https://shop.example"), text("https://mail.example")};
  const varve_text method = text("PUT");
  const varve_text header = text("x-ms-*");
  const varve_cors_rule rule = {origins, 2, &method, 1, &header, 1, NULL, 0, 60};
  const varve_logging logging = {.remove = true, .retention_days = 7};
  const varve_metrics metrics = {.enabled = true, .include_apis = true, .retention_days = 3};
  varve_service_properties change = {.size = sizeof change,
                                     .logging = &logging,
                                     .hour_metrics = &metrics,
                                     .has_cors_rules = true,
                                     .cors_rules = &rule,
                                     .cors_rule_count = 1,
                                     .default_version = text("2021-12-02")};
  CHECK_OK(varve_service_set_properties(store, text("acct"), VARVE_SERVICE_BLOBS, &change));
  expect_defaults(store, VARVE_SERVICE_TABLES);
  expect_defaults(store, VARVE_SERVICE_QUEUES);

  /* A change keeps what it leaves out. */
  const varve_metrics minute = {.enabled = true};
  change = (varve_service_properties){.size = sizeof change, .minute_metrics = &minute};
  CHECK_OK(varve_service_set_properties(store, text("acct"), VARVE_SERVICE_BLOBS, &change));
  varve_properties* properties = NULL;
  const varve_service_properties view = read_properties(store, VARVE_SERVICE_BLOBS, &properties);
  CHECK(!view.logging->read && !view.logging->write && view.logging->remove && view.logging->retention_days == 7);
  CHECK(view.hour_metrics->enabled && view.hour_metrics->include_apis && view.hour_metrics->retention_days == 3);
  CHECK(view.minute_metrics->enabled && !view.minute_metrics->include_apis && view.minute_metrics->retention_days == 0);
  CHECK(same_text(view.default_version, "2021-12-02"));
  if (CHECK(view.cors_rule_count == 1)) {
    const varve_cors_rule* const found = view.cors_rules;
    CHECK(found->allowed_origin_count == 2 && same_text(found->allowed_origins[1], "https://mail.example"));
    CHECK(found->allowed_method_count == 1 && same_text(found->allowed_methods[0], "PUT"));
    CHECK(found->exposed_header_count == 1 && same_text(found->exposed_headers[0], "x-ms-*"));
    CHECK(found->allowed_header_count == 0 && found->max_age_s == 60);
  }

  /* What a call returned is a change of another service. */
  CHECK_OK(varve_service_set_properties(store, text("acct"), VARVE_SERVICE_QUEUES, &view));
  varve_properties* copied = NULL;
  const varve_service_properties copy = read_properties(store, VARVE_SERVICE_QUEUES, &copied);
  CHECK(copy.logging->remove && copy.cors_rule_count == 1 && copy.cors_rules[0].max_age_s == 60);
  varve_properties_free(copied);
  varve_properties_free(properties);
}

static void bad_properties_change_nothing(varve_store* store) {
  const varve_metrics apis_alone = {.include_apis = true};
  varve_service_properties change = {.size = sizeof change, .hour_metrics = &apis_alone};
  CHECK_FAILS(varve_service_set_properties(store, text("acct"), VARVE_SERVICE_TABLES, &change), VARVE_INVALID_ARGUMENT,
              "InvalidXmlDocument");
  change = (varve_service_properties){.size = sizeof change, .cors_rule_count = 1};
  CHECK_FAILS(varve_service_set_properties(store, text("acct"), VARVE_SERVICE_TABLES, &change), VARVE_INVALID_ARGUMENT,
              "");
  change.has_cors_rules = true;
  CHECK_FAILS(varve_service_set_properties(store, text("acct"), VARVE_SERVICE_TABLES, &change), VARVE_INVALID_ARGUMENT,
              "");
  const varve_cors_rule nothing = {.max_age_s = 1};
  change.cors_rules = &nothing;
  CHECK_FAILS(varve_service_set_properties(store, text("acct"), VARVE_SERVICE_TABLES, &change), VARVE_INVALID_ARGUMENT,
              "InvalidXmlNodeValue");
  CHECK_FAILS(varve_service_set_properties(store, text("acct"), VARVE_SERVICE_TABLES, NULL), VARVE_INVALID_ARGUMENT,
              "");
  change = (varve_service_properties){.size = sizeof change};
  CHECK_FAILS(varve_service_set_properties(store, text("acct"), 3, &change), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_service_set_properties(store, text("none"), 0, &change), VARVE_NOT_FOUND, "ResourceNotFound");
  varve_properties* properties = NULL;
  CHECK_FAILS(varve_service_properties_of(store, text("acct"), -1, &properties), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_service_properties_of(store, text("none"), 0, &properties), VARVE_NOT_FOUND, "ResourceNotFound");
  CHECK_FAILS(varve_service_properties_of(store, text("acct"), 0, NULL), VARVE_INVALID_ARGUMENT, "");
  CHECK(properties == NULL);
  expect_defaults(store, VARVE_SERVICE_TABLES);
}

void access_suite(void) {
  varve_store* const store = new_store(new_directory());
  policies_of_tables(store);
  policies_of_queues(store);
  access_of_containers(store);
  properties_of_services(store);
  bad_properties_change_nothing(store);
  CHECK_OK(varve_store_close(store));
}

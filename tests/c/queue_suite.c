/* Goal: every verb of queues in the C interface does what the C++ verb of its name does, and refuses bad input.
   Method: each verb is called on a small store and its result is read back. Waits are ended by other threads. */
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

static varve_queue* new_queue(varve_store* store, const char* name) {
  varve_queue* queue = NULL;
  CHECK_OK(varve_queue_create(store, text("acct"), text(name), NULL, &queue));
  return queue;
}

static varve_messages_view shown(const varve_messages* messages) {
  varve_messages_view view = {.size = sizeof view};
  CHECK_OK(varve_messages_read(messages, &view));
  return view;
}

static uint64_t messages_in(const varve_queue* queue) {
  varve_queue_figures figures = {.size = sizeof figures};
  CHECK_OK(varve_queue_statistics(queue, &figures));
  return figures.messages;
}

static bool same_receipt(varve_receipt left, varve_receipt right) {
  return left.sequence == right.sequence && left.version == right.version && left.check == right.check;
}

static void queues_are_created_listed_and_dropped(varve_store* store) {
  const varve_metadata_pair pairs[2] = {{text("Owner"), text("Ann")}, {text("note"), {NULL, 0}}};
  varve_queue_options options = {.size = sizeof options, .metadata = pairs, .metadata_count = 2};
  varve_queue* queue = NULL;
  CHECK_OK(varve_queue_create(store, text("acct"), text("created"), &options, &queue));
  varve_metadata* metadata = NULL;
  CHECK_OK(varve_queue_metadata(queue, &metadata));
  varve_metadata_view view = {.size = sizeof view};
  CHECK_OK(varve_metadata_read(metadata, &view));
  CHECK(view.count == 2 && same_text(view.pairs[0].name, "Owner") && same_text(view.pairs[0].value, "Ann"));
  CHECK(same_text(view.pairs[1].name, "note") && view.pairs[1].value.size == 0);
  varve_metadata_free(metadata);
  CHECK_OK(varve_queue_set_metadata(queue, NULL, 0));
  CHECK_OK(varve_queue_metadata(queue, &metadata));
  CHECK_OK(varve_metadata_read(metadata, &view));
  CHECK(view.count == 0);
  varve_metadata_free(metadata);

  CHECK_FAILS(varve_queue_create(store, text("acct"), text("created"), NULL, NULL), VARVE_EXISTS, "QueueAlreadyExists");
  CHECK_OK(varve_queue_create(store, text("acct"), text("creation"), NULL, NULL));
  varve_list* list = NULL;
  varve_list_options prefix = {.size = sizeof prefix, .prefix = text("creat"), .page_names_max = 1};
  CHECK_OK(varve_queue_list(store, text("acct"), &prefix, &list));
  varve_list_view names = {.size = sizeof names};
  CHECK_OK(varve_list_read(list, &names));
  CHECK(names.count == 1 && same_text(names.names[0].name, "created") && names.names[0].created != 0);
  prefix.continuation = names.continuation;
  varve_list* rest = NULL;
  CHECK_OK(varve_queue_list(store, text("acct"), &prefix, &rest));
  CHECK_OK(varve_list_read(rest, &names));
  CHECK(names.count == 1 && same_text(names.names[0].name, "creation") && names.continuation.data == NULL);
  varve_list_free(rest);
  varve_list_free(list);

  CHECK_OK(varve_queue_drop(store, text("acct"), text("created")));
  CHECK_FAILS(varve_queue_put(queue, text("late"), NULL, NULL), VARVE_NOT_FOUND, "QueueNotFound");
  CHECK_FAILS(varve_queue_drop(store, text("acct"), text("created")), VARVE_NOT_FOUND, "QueueNotFound");
  varve_queue_free(queue);
  CHECK_FAILS(varve_queue_open(store, text("acct"), text("created"), &queue), VARVE_NOT_FOUND, "QueueNotFound");
  CHECK(queue == NULL);
}

static void messages_are_put_held_and_deleted(varve_store* store) {
  varve_queue* const queue = new_queue(store, "verbs");
  varve_sent_message sent = {.size = sizeof sent};
  CHECK_OK(varve_queue_put(queue, text("first \xC3\xA4"), NULL, &sent));
  CHECK(sent.size == sizeof sent && sent.inserted != 0 && !sent.is_duplicate);
  CHECK(sent.expires - sent.inserted == UINT64_C(7) * 24 * 3600 * 10000000);
  const varve_put_options forever = {.size = sizeof forever, .ttl_ms = VARVE_NEVER, .deduplication_key = text("k")};
  CHECK_OK(varve_queue_put(queue, text("second"), &forever, NULL));
  CHECK_OK(varve_queue_put(queue, text("again"), &forever, &sent));
  CHECK(sent.is_duplicate && messages_in(queue) == 2);
  const varve_put_options delayed = {.size = sizeof delayed, .delay_ms = 3600000};
  CHECK_OK(varve_queue_put(queue, text("hidden"), &delayed, &sent));
  CHECK(sent.visible - sent.inserted == UINT64_C(3600) * 10000000);

  varve_messages* messages = NULL;
  CHECK_OK(varve_queue_peek(queue, 32, &messages));
  varve_messages_view view = shown(messages);
  if (CHECK(view.count == 2)) {
    CHECK(same_text(view.messages[0].text, "first \xC3\xA4") &&
          view.messages[0].text.data[view.messages[0].text.size] == 0);
    CHECK(view.messages[0].deliveries == 0 && view.messages[0].visible == 0 && view.messages[0].receipt.check == 0);
    CHECK(same_text(view.messages[1].text, "second") && view.messages[0].origin.size == 0);
  }
  varve_messages_free(messages);

  const varve_get_options both = {.size = sizeof both, .count = 5, .hold_ms = 3600000};
  CHECK_OK(varve_queue_get(queue, &both, &messages));
  view = shown(messages);
  if (!CHECK(view.count == 2)) return;
  const varve_message first = view.messages[0];
  const varve_message second = view.messages[1];
  CHECK(first.deliveries == 1 && first.visible > first.inserted && first.receipt.version != 0);
  varve_messages* none = NULL;
  CHECK_OK(varve_queue_get(queue, NULL, &none));
  CHECK(shown(none).count == 0);
  varve_messages_free(none);

  varve_updated_message updated = {.size = sizeof updated};
  CHECK_OK(varve_queue_update(queue, first.id, first.receipt, 0, text("changed"), NULL, &updated));
  CHECK(!same_receipt(updated.receipt, first.receipt));
  CHECK_FAILS(varve_queue_remove(queue, first.id, first.receipt, NULL), VARVE_NOT_FOUND, "MessageNotFound");
  CHECK_OK(varve_queue_peek(queue, 1, &none));
  CHECK(shown(none).count == 1 && same_text(shown(none).messages[0].text, "changed"));
  CHECK(shown(none).messages[0].deliveries == 1);
  varve_messages_free(none);
  CHECK_OK(varve_queue_update(queue, first.id, updated.receipt, 1000, (varve_text){NULL, 0}, NULL, &updated));
  CHECK_OK(varve_queue_remove(queue, first.id, updated.receipt, NULL));

  /* A receipt travels as text. */
  char receipt[VARVE_FORMAT_BYTES];
  varve_receipt parsed = {0, 0, 0};
  CHECK_OK(varve_receipt_format(second.receipt, receipt));
  CHECK_OK(varve_receipt_parse(text(receipt), &parsed));
  CHECK(strlen(receipt) == 32 && same_receipt(parsed, second.receipt));
  CHECK_OK(varve_queue_remove(queue, second.id, parsed, NULL));
  CHECK(same_text(second.text, "second")); /* the messages own their memory */
  varve_messages_free(messages);

  CHECK(messages_in(queue) == 1);
  CHECK_OK(varve_queue_clear(queue));
  CHECK(messages_in(queue) == 0);
  varve_queue_free(queue);
}

static void poison_goes_to_the_dead_letters(varve_store* store) {
  varve_queue* const queue = new_queue(store, "poisoned");
  varve_queue* const dead = new_queue(store, "dead-letters");
  CHECK_OK(varve_queue_put(queue, text("poison"), NULL, NULL));
  varve_messages* messages = NULL;
  CHECK_OK(varve_queue_get(queue, NULL, &messages));
  const varve_message got = shown(messages).messages[0];
  CHECK_OK(varve_queue_update(queue, got.id, got.receipt, 0, (varve_text){NULL, 0}, NULL, NULL));
  varve_messages_free(messages);
  varve_get_options bury = {.size = sizeof bury, .deliveries_max = 1};
  CHECK_FAILS(varve_queue_get(queue, &bury, &messages), VARVE_INVALID_ARGUMENT, "InvalidInput");
  CHECK(messages == NULL);
  bury.dead_letter = dead;
  CHECK_OK(varve_queue_get(queue, &bury, &messages));
  CHECK(shown(messages).count == 0);
  varve_messages_free(messages);
  CHECK_OK(varve_queue_peek(dead, 1, &messages));
  CHECK(shown(messages).count == 1 && same_text(shown(messages).messages[0].origin, "poisoned"));
  varve_messages_free(messages);
  varve_queue_free(dead);
  varve_queue_free(queue);
}

static void messages_commit_with_entities(varve_store* store) {
  varve_queue* const queue = new_queue(store, "outbox");
  varve_table* const table = new_table(store, "Outbox");
  CHECK_OK(varve_queue_put(queue, text("in"), NULL, NULL));
  varve_messages* messages = NULL;
  CHECK_OK(varve_queue_get(queue, NULL, &messages));
  const varve_message got = shown(messages).messages[0];

  varve_transaction* transaction = NULL;
  CHECK_OK(varve_transaction_begin(store, &transaction));
  const varve_property one = int32_property("N", 1);
  const varve_operation insert = {VARVE_INSERT, entity_of("p", "r", &one, 1), 0};
  CHECK_OK(varve_transaction_add(transaction, table, &insert));
  CHECK_OK(varve_transaction_put_message(transaction, queue, text("out"), NULL));
  CHECK_OK(varve_transaction_remove_message(transaction, queue, got.id, got.receipt));
  varve_sent_message sent = {.size = sizeof sent};
  CHECK_FAILS(varve_transaction_sent_message(transaction, 0, &sent), VARVE_NOT_FOUND, "");
  varve_etag etag = 0;
  CHECK_OK(varve_transaction_commit(transaction, NULL, &etag));
  CHECK_OK(varve_transaction_sent_message(transaction, 0, &sent));
  CHECK(sent.receipt.version != 0 && etag != VARVE_ETAG_NONE);
  CHECK_FAILS(varve_transaction_sent_message(transaction, 1, &sent), VARVE_NOT_FOUND, "");
  varve_transaction_free(transaction);
  CHECK(messages_in(queue) == 1);

  CHECK_OK(varve_transaction_begin(store, &transaction));
  CHECK_OK(varve_transaction_put_message(transaction, queue, text("never"), NULL));
  CHECK_OK(varve_transaction_update_message(transaction, queue, got.id, got.receipt, 1000, text("x")));
  CHECK_FAILS(varve_transaction_commit(transaction, NULL, NULL), VARVE_CONFLICT, "MessageNotFound");
  CHECK_FAILS(varve_transaction_sent_message(transaction, 0, &sent), VARVE_NOT_FOUND, "");
  varve_transaction_free(transaction);
  CHECK(messages_in(queue) == 1);
  /* The receipt of the put deletes the message: it came from the first commit. */
  CHECK_OK(varve_transaction_begin(store, &transaction));
  CHECK_OK(varve_transaction_put_message(transaction, queue, text("short"), NULL));
  CHECK_OK(varve_transaction_commit(transaction, NULL, NULL));
  CHECK_OK(varve_transaction_sent_message(transaction, 0, &sent));
  varve_transaction_free(transaction);
  CHECK_OK(varve_queue_remove(queue, sent.id, sent.receipt, NULL));
  CHECK(messages_in(queue) == 1);
  varve_messages_free(messages);
  varve_table_free(table);
  varve_queue_free(queue);
}

struct waiter {
  varve_queue* queue;
  varve_stop* stop;
  uint64_t wait_ms;
  varve_code code;
  size_t count;
  bool begun;
};

static void* wait_for_a_message(void* argument) {
  struct waiter* const waiter = argument;
  const varve_get_options options = {.size = sizeof options, .wait_ms = waiter->wait_ms, .stop = waiter->stop};
  varve_messages* messages = NULL;
  __atomic_store_n(&waiter->begun, true, __ATOMIC_RELEASE);
  varve_status* const status = varve_queue_get(waiter->queue, &options, &messages);
  waiter->code = varve_status_code(status);
  if (status == NULL) waiter->count = shown(messages).count;
  varve_status_free(status);
  varve_messages_free(messages);
  return NULL;
}

static pthread_t begin_waiting(struct waiter* waiter) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, wait_for_a_message, waiter) == 0);
  while (!__atomic_load_n(&waiter->begun, __ATOMIC_ACQUIRE)) sched_yield();
  return thread;
}

static void waits_end_by_a_message_a_stop_a_deadline_and_a_close(void) {
  varve_store* const store = new_store(new_directory());
  varve_queue* const queue = new_queue(store, "waits");
  varve_stop* stop = NULL;
  CHECK_OK(varve_stop_create(&stop));

  struct waiter by_message = {.queue = queue, .stop = stop, .wait_ms = 3600000, .code = VARVE_UNKNOWN};
  pthread_t thread = begin_waiting(&by_message);
  CHECK_OK(varve_queue_put(queue, text("wake"), NULL, NULL));
  CHECK(pthread_join(thread, NULL) == 0 && by_message.code == VARVE_OK && by_message.count == 1);

  struct waiter by_stop = {.queue = queue, .stop = stop, .wait_ms = UINT64_MAX, .code = VARVE_UNKNOWN};
  thread = begin_waiting(&by_stop);
  CHECK_OK(varve_stop_request(stop));
  CHECK(pthread_join(thread, NULL) == 0 && by_stop.code == VARVE_OK && by_stop.count == 0);
  varve_stop_free(stop);
  CHECK_FAILS(varve_stop_request(stop), VARVE_CLOSED, "");

  struct waiter by_deadline = {.queue = queue, .wait_ms = 1, .code = VARVE_UNKNOWN};
  wait_for_a_message(&by_deadline);
  CHECK(by_deadline.code == VARVE_OK && by_deadline.count == 0);

  struct waiter by_close = {.queue = queue, .wait_ms = 3600000, .code = VARVE_UNKNOWN};
  thread = begin_waiting(&by_close);
  CHECK_OK(varve_store_close(store));
  CHECK(pthread_join(thread, NULL) == 0 && by_close.code == VARVE_CLOSED);
  varve_queue_free(queue);
}

static void bad_input_changes_nothing(varve_store* store) {
  varve_queue* queue = NULL;
  CHECK_FAILS(varve_queue_create(store, text("acct"), text("ab"), NULL, &queue), VARVE_INVALID_ARGUMENT,
              "OutOfRangeInput");
  CHECK_FAILS(varve_queue_create(store, text("acct"), text("Upper"), NULL, &queue), VARVE_INVALID_ARGUMENT,
              "InvalidResourceName");
  CHECK_FAILS(varve_queue_create(store, text("none"), text("orders"), NULL, &queue), VARVE_NOT_FOUND,
              "ResourceNotFound");
  const varve_metadata_pair pair = {text("1"), text("v")};
  varve_queue_options options = {.size = sizeof options, .metadata = &pair, .metadata_count = 1};
  CHECK_FAILS(varve_queue_create(store, text("acct"), text("orders"), &options, &queue), VARVE_INVALID_ARGUMENT,
              "InvalidMetadata");
  options.metadata = NULL;
  CHECK_FAILS(varve_queue_create(store, text("acct"), text("orders"), &options, &queue), VARVE_INVALID_ARGUMENT, "");
  CHECK(queue == NULL);
  options = (varve_queue_options){.size = sizeof options, .message_bytes_max = 4};
  CHECK_OK(varve_queue_create(store, text("acct"), text("refusing"), &options, &queue));

  CHECK_FAILS(varve_queue_put(queue, text("12345"), NULL, NULL), VARVE_TOO_LARGE, "RequestBodyTooLarge");
  CHECK_FAILS(varve_queue_put(queue, text("\x01"), NULL, NULL), VARVE_INVALID_ARGUMENT, "InvalidXmlDocument");
  CHECK_FAILS(varve_queue_put(queue, (varve_text){NULL, 1}, NULL, NULL), VARVE_INVALID_ARGUMENT, "");
  varve_sent_message sent = {.size = 0};
  CHECK_FAILS(varve_queue_put(queue, text("1234"), NULL, &sent), VARVE_INVALID_ARGUMENT, "");
  varve_put_options put = {.size = sizeof put, .delay_ms = UINT64_MAX};
  CHECK_FAILS(varve_queue_put(queue, text("1"), &put, NULL), VARVE_INVALID_ARGUMENT, "OutOfRangeQueryParameterValue");
  put = (varve_put_options){.size = sizeof put, .durability = 7};
  CHECK_FAILS(varve_queue_put(queue, text("1"), &put, NULL), VARVE_INVALID_ARGUMENT, "");
  put = (varve_put_options){0};
  CHECK_FAILS(varve_queue_put(queue, text("1"), &put, NULL), VARVE_INVALID_ARGUMENT, "");
  CHECK(messages_in(queue) == 0);

  CHECK_OK(varve_queue_put(queue, text("1"), NULL, NULL));
  varve_messages* messages = NULL;
  varve_get_options get = {.size = sizeof get, .count = 33};
  CHECK_FAILS(varve_queue_get(queue, &get, &messages), VARVE_INVALID_ARGUMENT, "OutOfRangeQueryParameterValue");
  get = (varve_get_options){.size = sizeof get, .hold_ms = UINT64_MAX};
  CHECK_FAILS(varve_queue_get(queue, &get, &messages), VARVE_INVALID_ARGUMENT, "OutOfRangeQueryParameterValue");
  get = (varve_get_options){.size = sizeof get, .durability = -1};
  CHECK_FAILS(varve_queue_get(queue, &get, &messages), VARVE_INVALID_ARGUMENT, "");
  get = (varve_get_options){.size = sizeof get, .stop = (varve_stop*)queue};
  CHECK_FAILS(varve_queue_get(queue, &get, &messages), VARVE_INVALID_ARGUMENT, "");
  get = (varve_get_options){.size = sizeof get, .deliveries_max = 1, .dead_letter = (varve_queue*)store};
  CHECK_FAILS(varve_queue_get(queue, &get, &messages), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_queue_get(queue, NULL, NULL), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_queue_peek(queue, 0, &messages), VARVE_INVALID_ARGUMENT, "OutOfRangeQueryParameterValue");
  CHECK_FAILS(varve_queue_peek(queue, 33, &messages), VARVE_INVALID_ARGUMENT, "OutOfRangeQueryParameterValue");
  CHECK(messages == NULL);
  CHECK_OK(varve_queue_get(queue, NULL, &messages)); /* none of these took the message */
  const varve_message got = shown(messages).messages[0];
  CHECK(got.deliveries == 1);

  varve_receipt other = got.receipt;
  other.check ^= 1;
  CHECK_FAILS(varve_queue_remove(queue, got.id, other, NULL), VARVE_INVALID_ARGUMENT, "InvalidQueryParameterValue");
  CHECK_FAILS(varve_queue_update(queue, got.id, got.receipt, UINT64_MAX, text("x"), NULL, NULL), VARVE_INVALID_ARGUMENT,
              "OutOfRangeQueryParameterValue");
  varve_updated_message updated = {.size = 3};
  CHECK_FAILS(varve_queue_update(queue, got.id, got.receipt, 0, text("x"), NULL, &updated), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_receipt_parse(text("none"), &other), VARVE_INVALID_ARGUMENT, "InvalidQueryParameterValue");
  CHECK_FAILS(varve_receipt_parse(text(""), NULL), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_receipt_format(other, NULL), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_queue_set_metadata(queue, NULL, 1), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_queue_set_metadata(queue, &pair, 1), VARVE_INVALID_ARGUMENT, "InvalidMetadata");
  CHECK_FAILS(varve_queue_metadata(queue, NULL), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_queue_statistics(queue, NULL), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_stop_create(NULL), VARVE_INVALID_ARGUMENT, "");
  CHECK_OK(varve_queue_remove(queue, got.id, got.receipt, NULL)); /* none of these changed it */
  varve_messages_free(messages);
  varve_queue_free(queue);
}

static void an_open_releases_held_messages(void) {
  const char* const directory = new_directory();
  varve_store* store = new_store(directory);
  const varve_queue_options releasing = {.size = sizeof releasing, .release_on_open = true};
  varve_queue_options earlier = releasing;
  earlier.size = offsetof(varve_queue_options, unused); /* of an earlier header */
  const struct {
    const char* name;
    const varve_queue_options* options;
    size_t visible;
  } queues[2] = {{"released", &releasing, 1}, {"held", &earlier, 0}};
  for (size_t i = 0; i < 2; ++i) {
    varve_queue* queue = NULL;
    CHECK_OK(varve_queue_create(store, text("acct"), text(queues[i].name), queues[i].options, &queue));
    CHECK_OK(varve_queue_put(queue, text("x"), NULL, NULL));
    const varve_get_options hold = {.size = sizeof hold, .hold_ms = 3600000};
    varve_messages* messages = NULL;
    CHECK_OK(varve_queue_get(queue, &hold, &messages));
    CHECK(shown(messages).count == 1);
    varve_messages_free(messages);
    varve_queue_free(queue);
  }
  CHECK_OK(varve_store_close(store));
  store = reopen_store(directory, false);
  for (size_t i = 0; i < 2; ++i) {
    varve_queue* queue = NULL;
    varve_messages* messages = NULL;
    CHECK_OK(varve_queue_open(store, text("acct"), text(queues[i].name), &queue));
    CHECK_OK(varve_queue_peek(queue, 1, &messages));
    CHECK(shown(messages).count == queues[i].visible);
    varve_messages_free(messages);
    varve_queue_free(queue);
  }
  CHECK_OK(varve_store_close(store));
}

static void a_verification_counts_messages(const char* directory) {
  char path[128];
  snprintf(path, sizeof path, "%s/store", directory);
  varve_verify_figures figures = {.size = sizeof figures};
  CHECK_OK(varve_verify(text(path), NULL, NULL, &figures, NULL));
  CHECK(figures.finding_count == 0 && figures.queues == 6 && figures.messages == 2);
}

void queue_suite(void) {
  const char* const directory = new_directory();
  varve_store* const store = new_store(directory);
  queues_are_created_listed_and_dropped(store);
  messages_are_put_held_and_deleted(store);
  poison_goes_to_the_dead_letters(store);
  messages_commit_with_entities(store);
  waits_end_by_a_message_a_stop_a_deadline_and_a_close();
  bad_input_changes_nothing(store);
  CHECK_OK(varve_store_close(store));
  a_verification_counts_messages(directory);
  an_open_releases_held_messages();
}

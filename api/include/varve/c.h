// SPDX-License-Identifier: Apache-2.0
// Owns: the library for programs in C, and for bindings of other languages. It needs C99 or any C++.
// Must never: let an exception out, or read memory through a handle that is null, closed or of another kind.
//
//   varve_store *store = NULL;
//   varve_store_options options = {.size = sizeof options};
//   options.create_if_absent = true;
//   varve_status *failed = varve_store_open(varve_text_of("/var/lib/orders"), &options, &store);
//   if (failed != NULL) {
//     fprintf(stderr, "%s\n", varve_status_text(failed));
//     varve_status_free(failed);
//   }
//
// Errors    A function that can fail returns a varve_status. NULL means success. Any other status belongs to the
//           caller, which reads it with varve_status_code() and its neighbours and then calls varve_status_free(). After
//           an error, outputs are NULL or zero.
// Handles   A handle is a number in the form of a pointer, never an address. If a handle is NULL or of another kind,
//           a call returns VARVE_INVALID_ARGUMENT. If the handle was closed or freed, a call returns VARVE_CLOSED. A
//           free function ignores NULL and freed handles.
// Lifetime  Handles are freed in any order. Tables, queues, containers, snapshots, cursors, transactions, loaders,
//           writers and readers may outlive their store; their calls then return VARVE_CLOSED. Pages, messages, blobs,
//           blocks, metadata, policies, properties, lists, plans and reports own their memory: what they show is valid
//           until they are freed, whether the store is open or not.
// Inputs    The library copies what it keeps. Texts are UTF-8 with a size, and need no zero at the end. An absent
//           optional text has `data` NULL.
// Growth    A struct whose first field is `size` may get more fields. Set `size` to sizeof the struct, and all other
//           fields to zero or to their value: `varve_scan scan = {.size = sizeof scan};`. Zero always means the default.
//           In an array of such structs, all have one size. A NULL in place of an options struct means defaults. A library
//           that does not know a field which is set returns VARVE_UNSUPPORTED. A new field begins at a multiple of 8 bytes, so
//           it never takes the padding after a last bool. Other structs never change.
// Threads   Every thread may use all handles at the same time, except cursors, transactions, loaders and writers: one
//           thread at a time may use these, and a second thread gets VARVE_INVALID_ARGUMENT. varve_store_close() waits for the
//           calls that run on the store, and refuses later ones. It ends the waits of varve_queue_get() and
//           varve_blob_tail().
// Forks     After fork(), the child must not use the parent's stores: each call returns VARVE_LOCKED. The child may free
//           handles and close the store; that only releases what the child inherited. It may open other stores.
// Callbacks A callback must not throw or jump out of the library, and must not close a store.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A declaration with this mark is a symbol of libvarve.so.
#define VARVE_API __attribute__((visibility("default")))

// NOLINTBEGIN(modernize-use-using,readability-identifier-naming): names and types are those of C.
#ifdef __cplusplus
extern "C" {
#endif

// -- Errors ---------------------------------------------------------------------------------------------------------

/// The kind of a failure. The numbers are those of varve::Code, and stable; a new code is added at the end. status.h
/// explains each.
typedef int32_t varve_code;
/// The values of a varve_code.
enum {
  VARVE_OK = 0,
  VARVE_NOT_FOUND = 1,
  VARVE_EXISTS = 2,
  VARVE_PRECONDITION_FAILED = 3,
  VARVE_INVALID_ARGUMENT = 4,
  VARVE_TOO_LARGE = 5,
  VARVE_BUSY = 6,
  VARVE_NO_SPACE = 7,
  VARVE_CORRUPTION = 8,
  VARVE_IO_ERROR = 9,
  VARVE_UNKNOWN = 10,
  VARVE_POISONED = 11,
  VARVE_LOCKED = 12,
  VARVE_READ_ONLY = 13,
  VARVE_OUT_OF_MEMORY = 14,
  VARVE_TOO_MANY_FILES = 15,
  VARVE_UNSUPPORTED = 16,
  VARVE_CLOSED = 17,
  VARVE_FENCED = 18,
  VARVE_CONFLICT = 19,
  VARVE_FORBIDDEN = 20,
  VARVE_CANCELLED = 21
};

/// A failure, which the caller frees.
typedef struct varve_status varve_status;

/// The file of a store where a failure happened.
typedef struct varve_place {
  /// 0 no file, 1 CURRENT, 2 MANIFEST-*, 3 *.wal, 4 *.buf, 5 *.sst, 6 *.val.
  int32_t kind;
  /// True if `offset` is known.
  bool has_offset;
  /// The number in the file's name; zero if it has none.
  uint64_t number;
  /// Bytes from the start of the file.
  uint64_t offset;
} varve_place;

/// Returns the code; VARVE_OK for NULL.
VARVE_API varve_code varve_status_code(const varve_status* status);
/// Returns the message for people, without the code. It is empty for NULL.
VARVE_API const char* varve_status_message(const varve_status* status);
/// Returns code, service error and message in one line: "Exists (EntityAlreadyExists): ...". It is "Ok" for NULL.
VARVE_API const char* varve_status_text(const varve_status* status);
/// Returns what the person can do instead, for example "make it: ceph osd pool create tables replicated". It is empty if
/// nothing is known.
VARVE_API const char* varve_status_hint(const varve_status* status);
/// Returns the error string of the table service, for example "EntityAlreadyExists". It is empty if there is none.
VARVE_API const char* varve_status_service_error(const varve_status* status);
/// Returns the zero-based index of the operation that failed, or -1.
VARVE_API int64_t varve_status_operation_index(const varve_status* status);
/// Returns the errno of the system call that failed, or 0.
VARVE_API int32_t varve_status_os_error(const varve_status* status);
/// Returns the file that could not be read, written or understood.
VARVE_API varve_place varve_status_place(const varve_status* status);
/// Makes a status, which a callback returns. `message` may be NULL. A code out of range becomes VARVE_INVALID_ARGUMENT.
/// VARVE_OK returns NULL.
VARVE_API varve_status* varve_status_create(varve_code code, const char* message);
/// Frees a status. NULL is ignored.
VARVE_API void varve_status_free(varve_status* status);
/// Returns the name of a code, for example "NotFound"; "?" for another number.
VARVE_API const char* varve_code_name(varve_code code);

// -- Values ---------------------------------------------------------------------------------------------------------

/// A text in UTF-8, or bytes.
typedef struct varve_text {
  /// The first byte. NULL is an empty text, or an absent one where a text is optional.
  const char* data;
  /// Bytes without a zero at the end.
  size_t size;
} varve_text;

/// Returns a view of a text that ends with a zero; an absent text for NULL.
VARVE_API varve_text varve_text_of(const char* zero_terminated);

/// The type of a property.
typedef int32_t varve_type;
/// The values of a varve_type, as varve::PropertyType.
enum {
  VARVE_BINARY = 1,
  VARVE_BOOLEAN = 2,
  VARVE_DATETIME = 3,
  VARVE_DOUBLE = 4,
  VARVE_GUID = 5,
  VARVE_INT32 = 6,
  VARVE_INT64 = 7,
  VARVE_STRING = 8,
  /// A content of any length that the entity owns. varve_large_value_writer_open() begins to write one.
  VARVE_LARGE_VALUE = 9
};
/// Returns the name of a type, for example "Edm.Int32"; "?" for another number.
VARVE_API const char* varve_type_name(varve_type type);

/// A time in UTC: ticks of 100 ns since 0001-01-01T00:00:00Z.
typedef uint64_t varve_datetime;
/// Ticks of 1970-01-01T00:00:00Z.
#define VARVE_DATETIME_UNIX_EPOCH UINT64_C(621355968000000000)

/// Identifies one state of an entity. The value of a stored state is its Timestamp in ticks.
typedef uint64_t varve_etag;
/// No ETag: that of an entity that was not read from a store.
#define VARVE_ETAG_NONE UINT64_C(0)
/// Matches any state of an existing entity.
#define VARVE_ETAG_ANY UINT64_MAX

/// 16 bytes in the order of the text: the first byte is the first two digits.
typedef struct varve_guid {
  uint8_t bytes[16];
} varve_guid;

/// A content of the store that an entity owns, as varve::LargeValue. It comes from varve_large_value_writer_finish(), or
/// from an entity that was read, and may be given to other entities of the account. They share the content.
typedef struct varve_large_value {
  /// The number of the content in its account.
  uint64_t id;
  /// Bytes of the content.
  uint64_t length;
} varve_large_value;

/// A property value.
typedef struct varve_value {
  /// Says which member of `as` is set.
  varve_type type;
  union {
    /// VARVE_BOOLEAN: zero is false, any other number is true. The library returns 0 and 1.
    uint8_t boolean;
    /// VARVE_INT32.
    int32_t int32;
    /// VARVE_INT64.
    int64_t int64;
    /// VARVE_DOUBLE.
    double number;
    /// VARVE_DATETIME.
    varve_datetime datetime;
    /// VARVE_GUID.
    varve_guid guid;
    /// VARVE_STRING, and the bytes of VARVE_BINARY.
    varve_text text;
    /// VARVE_LARGE_VALUE.
    varve_large_value large;
  } as;
} varve_value;

/// A named value.
typedef struct varve_property {
  varve_text name;
  varve_value value;
} varve_property;

/// An entity: what a caller writes, and what a page shows. The texts of a page end with a zero after their size.
typedef struct varve_entity {
  varve_text partition_key;
  varve_text row_key;
  const varve_property* properties;
  size_t property_count;
  /// In a page: the ETag and the Timestamp, or VARVE_ETAG_NONE for an entity that does not exist. Writes ignore it.
  varve_etag etag;
} varve_entity;

/// The key of an entity.
typedef struct varve_key {
  varve_text partition_key;
  varve_text row_key;
} varve_key;

/// Bytes that hold every text of varve_etag_format(), varve_datetime_format() and varve_guid_format(), and its zero.
#define VARVE_FORMAT_BYTES 64

/// Parses `*` or `W/"..."`. Errors: VARVE_INVALID_ARGUMENT.
VARVE_API varve_status* varve_etag_parse(varve_text text, varve_etag* etag);
/// Writes an ETag as text. No ETag gives an empty text.
VARVE_API varve_status* varve_etag_format(varve_etag etag, char text[VARVE_FORMAT_BYTES]);
/// Parses a time as varve::DateTime::parse() does. Errors: VARVE_INVALID_ARGUMENT.
VARVE_API varve_status* varve_datetime_parse(varve_text text, varve_datetime* time);
/// Writes a time as text, for example 2026-03-03T10:20:30.5Z. Errors: VARVE_INVALID_ARGUMENT (after the year 9999).
VARVE_API varve_status* varve_datetime_format(varve_datetime time, char text[VARVE_FORMAT_BYTES]);
/// Parses 32 hexadecimal digits with or without hyphens. Errors: VARVE_INVALID_ARGUMENT.
VARVE_API varve_status* varve_guid_parse(varve_text text, varve_guid* guid);
/// Writes a guid in lower case with hyphens.
VARVE_API varve_status* varve_guid_format(varve_guid guid, char text[VARVE_FORMAT_BYTES]);

/// Returns the version of the library, for example "0.1.0".
VARVE_API const char* varve_version(void);
/// Returns how many handles are not freed yet, for tests that look for leaks.
VARVE_API size_t varve_handle_count(void);

// -- Handles --------------------------------------------------------------------------------------------------------

/// Memory that several stores share.
typedef struct varve_resources varve_resources;
/// An open store.
typedef struct varve_store varve_store;
/// A table of a store, by its name.
typedef struct varve_table varve_table;
/// A version of a store that stays readable.
typedef struct varve_snapshot varve_snapshot;
/// Entities that a call returned.
typedef struct varve_page varve_page;
/// The pages of a scan, one after the other.
typedef struct varve_cursor varve_cursor;
/// A transaction over any tables and partitions of a store.
typedef struct varve_transaction varve_transaction;
/// A bulk load of a table.
typedef struct varve_loader varve_loader;
/// Names that a call returned.
typedef struct varve_list varve_list;
/// What a scan will read.
typedef struct varve_plan varve_plan;
/// The findings of a verification or a repair.
typedef struct varve_report varve_report;
/// A queue of a store, by its name.
typedef struct varve_queue varve_queue;
/// Messages that a call returned.
typedef struct varve_messages varve_messages;
/// The metadata of a queue or a container that a call returned.
typedef struct varve_metadata varve_metadata;
/// Ends the waits of varve_queue_get() and varve_blob_tail() early.
typedef struct varve_stop varve_stop;
/// A container of a store, by its name.
typedef struct varve_container varve_container;
/// The states of blobs that a call returned.
typedef struct varve_blobs varve_blobs;
/// A content that is being written.
typedef struct varve_blob_writer varve_blob_writer;
/// One state of a blob that stays readable.
typedef struct varve_blob_reader varve_blob_reader;
/// The blocks of a blob that a call returned.
typedef struct varve_blocks varve_blocks;
/// A large value that is being written.
typedef struct varve_large_value_writer varve_large_value_writer;
/// A large value that stays readable.
typedef struct varve_large_value_reader varve_large_value_reader;
/// The indexes of a table.
typedef struct varve_indexes varve_indexes;
/// The access policies that a call returned.
typedef struct varve_policies varve_policies;
/// The properties of a service that a call returned.
typedef struct varve_properties varve_properties;

/// Frees a handle. NULL and a freed handle are ignored. A call of another thread that runs on the handle finishes first.
/// @{
VARVE_API void varve_resources_free(varve_resources* resources);
VARVE_API void varve_table_free(varve_table* table);
VARVE_API void varve_snapshot_free(varve_snapshot* snapshot);
VARVE_API void varve_page_free(varve_page* page);
VARVE_API void varve_cursor_free(varve_cursor* cursor);
VARVE_API void varve_transaction_free(varve_transaction* transaction);
VARVE_API void varve_loader_free(varve_loader* loader);
VARVE_API void varve_list_free(varve_list* list);
VARVE_API void varve_plan_free(varve_plan* plan);
VARVE_API void varve_report_free(varve_report* report);
VARVE_API void varve_queue_free(varve_queue* queue);
VARVE_API void varve_messages_free(varve_messages* messages);
VARVE_API void varve_metadata_free(varve_metadata* metadata);
VARVE_API void varve_stop_free(varve_stop* stop);
VARVE_API void varve_container_free(varve_container* container);
VARVE_API void varve_blobs_free(varve_blobs* blobs);
VARVE_API void varve_blob_writer_free(varve_blob_writer* writer);
VARVE_API void varve_blob_reader_free(varve_blob_reader* reader);
VARVE_API void varve_blocks_free(varve_blocks* blocks);
VARVE_API void varve_large_value_writer_free(varve_large_value_writer* writer);
VARVE_API void varve_large_value_reader_free(varve_large_value_reader* reader);
VARVE_API void varve_indexes_free(varve_indexes* indexes);
VARVE_API void varve_policies_free(varve_policies* policies);
VARVE_API void varve_properties_free(varve_properties* properties);
/// @}

// -- Stores ---------------------------------------------------------------------------------------------------------

/// The durability of writes.
enum {
  /// The default: what the store was created with.
  VARVE_DURABILITY_DEFAULT = 0,
  /// On stable storage before the call returns.
  VARVE_SYNC = 1,
  /// Survives the death of the process. A power cut can lose about the last 10 ms.
  VARVE_BUFFERED = 2
};

/// Whether a store accepts writes.
enum { VARVE_HEALTHY = 0, VARVE_WRITE_PAUSED = 1, VARVE_HEALTH_POISONED = 2 };

/// Options of varve_resources_create().
typedef struct varve_resource_options {
  size_t size;
  /// Maximum memory for entities that are not yet in table files, in bytes. Zero: 256 MiB.
  uint64_t write_buffer_bytes;
  /// Maximum memory for cached blocks, in bytes. Zero: 256 MiB.
  uint64_t block_cache_bytes;
  /// If true, there is no cache.
  bool without_block_cache;
  /// Receives log lines, on any thread of a store. It must return soon and must not call the library. May be NULL.
  void (*log)(varve_text store_path, varve_text line, void* context);
  /// Receives changes of health, by the same rules. `cause` is valid during the call, and NULL for VARVE_HEALTHY.
  void (*health)(varve_text store_path, int32_t health, const varve_status* cause, void* context);
  /// Passed to `log` and `health`.
  void* context;
} varve_resource_options;

/// Creates memory that several stores share. Stores keep it, so it may be freed before them.
VARVE_API varve_status* varve_resources_create(const varve_resource_options* options, varve_resources** resources);

/// The limits of a store, as varve::StoreLimits. Zero means the limit of the table service.
typedef struct varve_limits {
  size_t size;
  uint32_t key_code_units_max;
  uint32_t custom_properties_max;
  uint32_t string_code_units_max;
  uint32_t binary_bytes_max;
  uint32_t entity_bytes_max;
  uint32_t transaction_operations_max;
  uint32_t transaction_bytes_max;
  uint32_t page_entities_max;
  uint32_t filter_comparisons_max;
  /// Has 64 bits, because the 32 after filter_comparisons_max were padding.
  uint64_t blob_appends_max;
} varve_limits;

/// Options of varve_store_open(), as varve::StoreOptions.
typedef struct varve_store_options {
  size_t size;
  /// Creates the store and its directory if they do not exist.
  bool create_if_absent;
  /// Opens for reading only; several processes may.
  bool read_only;
  /// Ends pages after a few entities, to test clients.
  bool short_pages;
  /// The durability of writes that do not choose one. It is stored when the store is created.
  int32_t default_durability;
  /// Milliseconds for which the name of a dropped table is blocked.
  uint64_t recreation_delay_ms;
  /// Limits, which are stored when the store is created. NULL: the stored ones.
  const varve_limits* limits;
  /// Memory shared with other stores. NULL: 256 MiB each for the write buffer and the cache.
  const varve_resources* resources;
  /// Milliseconds for which a reader of a blob or a large value keeps its content without a read. Zero: an hour.
  uint64_t reader_idle_max_ms;
  /// Milliseconds for which the staged blocks of a blob are kept after the last one. Zero: 7 days.
  uint64_t staged_blocks_age_max_ms;
} varve_store_options;

/// Opens or creates the store in a directory. Errors: as varve::Store::open().
VARVE_API varve_status* varve_store_open(varve_text path, const varve_store_options* options, varve_store** store);
/// Waits for running calls, makes everything durable, and frees the handle, also after an error. Errors: those of
/// closing; VARVE_INVALID_ARGUMENT (called in a callback; the handle stays).
VARVE_API varve_status* varve_store_close(varve_store* store);
/// Makes every acknowledged write durable.
VARVE_API varve_status* varve_store_sync(varve_store* store);
/// Flushes and compacts everything, and waits for it.
VARVE_API varve_status* varve_store_compact(varve_store* store);

/// The files of a checkpoint, as varve::CheckpointStatistics.
typedef struct varve_checkpoint_figures {
  size_t size;
  varve_datetime version;
  uint64_t files_linked;
  uint64_t linked_bytes;
  uint64_t files_copied;
  uint64_t copied_bytes;
} varve_checkpoint_figures;

/// Creates a second store in the directory `path`. `figures` may be NULL.
VARVE_API varve_status* varve_store_checkpoint(varve_store* store, varve_text path, varve_checkpoint_figures* figures);

/// Keeps the newest state readable until the snapshot is freed.
VARVE_API varve_status* varve_store_snapshot(varve_store* store, varve_snapshot** snapshot);
/// Returns the version of the last commit that the snapshot sees.
VARVE_API varve_status* varve_snapshot_version(const varve_snapshot* snapshot, varve_datetime* version);

/// Creates an account. Errors: as varve::Store::create_account().
VARVE_API varve_status* varve_account_create(varve_store* store, varve_text account);
/// Drops an account with all its tables, queues and containers.
VARVE_API varve_status* varve_account_drop(varve_store* store, varve_text account);
/// Creates a table. `opened` receives its handle, and may be NULL.
VARVE_API varve_status* varve_table_create(varve_store* store, varve_text account, varve_text table,
                                           varve_table** opened);

/// The rule by which the entities of a table end, as varve::TableExpiry. One of the two fields is set.
typedef struct varve_table_expiry {
  size_t size;
  /// The name of a DateTime property. An entity ends at its value.
  varve_text property;
  /// An entity ends this many milliseconds after its Timestamp.
  uint64_t age_ms;
} varve_table_expiry;

/// Options of varve_table_create_with(), as varve::TableOptions. has_large_values stays as it is as long as the table exists.
typedef struct varve_table_options {
  size_t size;
  /// Properties of the table's entities may be large values. Each replace, merge and delete of an entity then reads the
  /// entity first, and varve_loader_open() refuses the table once it exists. Other tables refuse a VARVE_LARGE_VALUE.
  bool has_large_values;
  /// When the entities of the table end. NULL: never. varve_table_set_expiry() changes the rule.
  const varve_table_expiry* expiry;
} varve_table_options;
/// Creates a table with these options, as varve_table_create(). Errors: as varve::Store::create_table().
VARVE_API varve_status* varve_table_create_with(varve_store* store, varve_text account, varve_text table,
                                                const varve_table_options* options, varve_table** opened);
/// Opens a table that exists.
VARVE_API varve_status* varve_table_open(varve_store* store, varve_text account, varve_text table,
                                         varve_table** opened);
/// Drops a table with all its entities.
VARVE_API varve_status* varve_table_drop(varve_store* store, varve_text account, varve_text table);

/// Sets the rule of a table, for the writes that begin afterwards. NULL removes it. Errors: as
/// varve::Store::set_table_expiry().
VARVE_API varve_status* varve_table_set_expiry(varve_store* store, varve_text account, varve_text table,
                                               const varve_table_expiry* expiry);
/// Copies the rule of a table. `capacity` is the size of `property`. `bytes` receives the size of the property's name, and
/// `age_ms` the age; each is zero if it is not the rule. Errors: VARVE_TOO_LARGE (a buffer of 1024 bytes always suffices).
VARVE_API varve_status* varve_table_show_expiry(varve_store* store, varve_text account, varve_text table,
                                                char* property, size_t capacity, size_t* bytes, uint64_t* age_ms);

/// One component of an index, as varve::IndexComponent.
typedef struct varve_index_component {
  /// The name of a property, or "PartitionKey", "RowKey" or "Timestamp".
  varve_text property;
  bool is_descending;
} varve_index_component;

/// The definition of a secondary index, as varve::IndexDefinition.
typedef struct varve_index_definition {
  size_t size;
  varve_text name;
  /// One to four.
  const varve_index_component* components;
  size_t component_count;
  /// Names of the properties that an entry repeats.
  const varve_text* carried;
  size_t carried_count;
  /// No two entities may have the same value of all components (varve/table_index.h).
  bool is_unique;
} varve_index_definition;

/// The states of an index, as varve::IndexState.
enum { VARVE_INDEX_BUILDING = 1, VARVE_INDEX_READY = 2, VARVE_INDEX_FAILED = 3 };

/// One index of a table. Its memory is that of the list.
typedef struct varve_index {
  varve_text name;
  const varve_index_component* components;
  size_t component_count;
  const varve_text* carried;
  size_t carried_count;
  /// VARVE_INDEX_BUILDING, VARVE_INDEX_READY or VARVE_INDEX_FAILED.
  int32_t state;
  bool is_unique;
  /// Why the build failed; empty otherwise.
  varve_text failure;
} varve_index;

/// Receives the entities that a build has read and the entries that it has written, on the calling thread. Returns false to
/// stop the build; the call then returns VARVE_CANCELLED.
typedef bool (*varve_index_progress)(uint64_t entities, uint64_t entries, void* context);

/// Declares an index and builds it, or goes on with a build of the same definition. `progress` may be NULL. Errors: as
/// varve::Store::create_index().
VARVE_API varve_status* varve_index_create(varve_store* store, varve_text account, varve_text table,
                                           const varve_index_definition* definition, varve_index_progress progress,
                                           void* context);
/// Drops an index. Errors: as varve::Store::drop_index().
VARVE_API varve_status* varve_index_drop(varve_store* store, varve_text account, varve_text table, varve_text index);
/// Lists the indexes of a table. Errors: as varve::Store::indexes().
VARVE_API varve_status* varve_index_list(varve_store* store, varve_text account, varve_text table,
                                         varve_indexes** indexes);
/// Shows the indexes of a list. The memory stays until the list is freed. Both pointers must not be NULL.
VARVE_API varve_status* varve_indexes_read(const varve_indexes* indexes, const varve_index** all, size_t* count);

/// The value of a unique index that a write would have given to a second entity, as varve::TakenValue.
typedef struct varve_taken_value {
  /// The name of the index. Absent: the call failed for another reason.
  varve_text index;
  /// Whether the keys below are known. They are not shown to a handle that may not read every entity of the table.
  bool has_keys;
  /// The keys of the entity that has the value.
  varve_text partition_key;
  varve_text row_key;
} varve_taken_value;
/// Returns the value that a unique index refused, from the status of a write or of varve_index_create(). The texts stay until
/// the status is freed.
VARVE_API varve_taken_value varve_status_taken_value(const varve_status* status);

/// Options of the listings.
typedef struct varve_list_options {
  size_t size;
  /// Only names that begin with this.
  varve_text prefix;
  /// The continuation of the page before.
  varve_text continuation;
  /// Names in a page. Zero: 1000.
  uint32_t page_names_max;
  /// Lists the names of this version. NULL: those of now.
  const varve_snapshot* snapshot;
} varve_list_options;

/// One name of a listing.
typedef struct varve_name {
  varve_text name;
  /// The time of the commit that created it. For a container: the time of its last change.
  varve_datetime created;
} varve_name;

/// What a varve_list holds.
typedef struct varve_list_view {
  size_t size;
  const varve_name* names;
  size_t count;
  /// The token for the next page; absent at the end.
  varve_text continuation;
} varve_list_view;

/// Lists accounts.
VARVE_API varve_status* varve_account_list(varve_store* store, const varve_list_options* options, varve_list** list);
/// Lists the tables of an account.
VARVE_API varve_status* varve_table_list(varve_store* store, varve_text account, const varve_list_options* options,
                                         varve_list** list);
/// Shows a list. The caller sets `view->size`.
VARVE_API varve_status* varve_list_read(const varve_list* list, varve_list_view* view);

// -- Reads ----------------------------------------------------------------------------------------------------------

/// Options of a read.
typedef struct varve_read_options {
  size_t size;
  /// Names of the properties to return. No names: all properties.
  const varve_text* select;
  size_t select_count;
  /// The version to read. NULL: the newest.
  const varve_snapshot* snapshot;
} varve_read_options;

/// The cost of a page, as varve::PageCost.
typedef struct varve_cost {
  uint64_t key_ranges;
  uint64_t entities_examined;
  uint64_t blocks_read;
  uint64_t blocks_from_cache;
  uint64_t blocks_skipped;
  /// Parts in which an index gave the entities, and the entities to which the first and the last part led.
  uint64_t index_parts;
  uint64_t first_part_entities;
  uint64_t last_part_entities;
} varve_cost;

/// What a varve_page holds. Nothing is copied: the view points into the page.
typedef struct varve_page_view {
  size_t size;
  const varve_entity* entities;
  size_t count;
  /// The token for the next page; absent at the end.
  varve_text continuation;
  varve_cost cost;
} varve_page_view;

/// Shows a page. The caller sets `view->size`.
VARVE_API varve_status* varve_page_read(const varve_page* page, varve_page_view* view);
/// Returns the first property with this name, or NULL. Compares names; reads only the entity.
VARVE_API const varve_value* varve_entity_find(const varve_entity* entity, varve_text name);

/// Reads one entity. `page` receives a page of one entity; if the entity does not exist, of none.
VARVE_API varve_status* varve_table_get(const varve_table* table, varve_text partition_key, varve_text row_key,
                                        const varve_read_options* options, varve_page** page);
/// Reads many entities at one version. The page has one entity for each key, in their order; an entity that does not
/// exist has its keys and VARVE_ETAG_NONE.
VARVE_API varve_status* varve_table_get_many(const varve_table* table, const varve_key* keys, size_t count,
                                             const varve_read_options* options, varve_page** page);

/// The keys of a scan.
enum {
  /// All keys.
  VARVE_RANGE_TABLE = 0,
  /// All RowKeys of `partition_key`.
  VARVE_RANGE_PARTITION = 1,
  /// RowKeys of `partition_key` between `from` (inclusive) and `to` (exclusive).
  VARVE_RANGE_ROWS = 2,
  /// RowKeys of `partition_key` that begin with `from`.
  VARVE_RANGE_ROW_PREFIX = 3,
  /// Partitions between `from` (inclusive) and `to` (exclusive).
  VARVE_RANGE_PARTITIONS = 4
};

/// The request of a page, as varve::Scan.
typedef struct varve_scan {
  size_t size;
  int32_t range;
  /// Scans from the greatest key to the smallest.
  bool backward;
  /// If true, all pages together return at most `take` entities.
  bool has_take;
  /// Entities in a page. Zero: 1000, or less if the store's limit is lower.
  uint32_t page_entities_max;
  varve_text partition_key;
  varve_text from;
  /// Absent: no upper bound.
  varve_text to;
  /// A filter of the table service, for example `Total gt 100.0 and not Paid`. It may also have the further conditions
  /// of Scan::filter, for example `startswith(Name,'A')`.
  varve_text filter;
  /// The continuation of the page before.
  varve_text continuation;
  /// Names of the properties to return. No names: all properties.
  const varve_text* select;
  size_t select_count;
  /// The version to read. NULL: the newest.
  const varve_snapshot* snapshot;
  uint64_t take;
  /// Maximum size of a page in bytes. Zero: no maximum.
  uint64_t page_bytes_max;
  /// Milliseconds after which a page ends. Zero: 5000.
  uint64_t time_max_ms;
  /// The order of the entities, for example `Price desc, Name`, as varve::Scan::order_by. Without an index that has
  /// the order, each page reads the whole range. Absent or empty: the order of keys.
  varve_text order_by;
  /// Milliseconds that a page with an order may take, as varve::Scan::order_time_max. Zero: not bounded.
  uint64_t order_time_max_ms;
  /// If true, the filter may only have the grammar of the table service, as varve::Scan::filter_extensions.
  bool no_filter_extensions;
} varve_scan;

/// Reads one page. `scan` may be NULL for all entities. Errors: as varve::Table::scan().
VARVE_API varve_status* varve_table_scan(const varve_table* table, const varve_scan* scan, varve_page** page);
/// Receives one entity, which is valid during the call.
typedef void (*varve_visitor)(const varve_entity* entity, void* context);
/// Reads one page, and shows each entity in the store's own memory instead of copying it. `page` receives a page without
/// entities, for its continuation and cost; it may be NULL. If the call fails, discard what `visitor` received.
VARVE_API varve_status* varve_table_scan_in_place(const varve_table* table, const varve_scan* scan,
                                                  varve_visitor visitor, void* context, varve_page** page);
/// Counts the entities of a scan. The call ends after the time of one page: if `page` then has a continuation, call
/// again with it and add. `page` may be NULL if the scan is short.
VARVE_API varve_status* varve_table_count(const varve_table* table, const varve_scan* scan, uint64_t* count,
                                          varve_page** page);

/// The kinds of figures over entities, as varve::Aggregate::Kind.
enum {
  VARVE_AGGREGATE_COUNT = 0,
  VARVE_AGGREGATE_SUM = 1,
  VARVE_AGGREGATE_MIN = 2,
  VARVE_AGGREGATE_MAX = 3,
  VARVE_AGGREGATE_AVERAGE = 4,
  VARVE_AGGREGATE_DISTINCT = 5
};
/// One figure of each group, as varve::Aggregate.
typedef struct varve_aggregate {
  int32_t kind;
  /// Empty only for VARVE_AGGREGATE_COUNT: counts all entities.
  varve_text property;
} varve_aggregate;
/// What the entities of a group have in common, as varve::GroupBy.
typedef struct varve_group_by {
  varve_text property;
  /// Above zero: the first characters of a key alone.
  uint32_t characters;
  /// Not empty: the beginning of a key alone, up to and with the first delimiter.
  varve_text delimiter;
} varve_group_by;

/// Computes figures over the entities of a scan, as varve::Table::aggregate(), in as many pages as it takes. They show one
/// state if the scan has a snapshot. `rows` receives one entity for each group, in the order of the groups, with empty keys
/// and VARVE_ETAG_ANY. Its properties are named by their places: `g0` and `g1` are the group's values, and `f0`, `f1` and so on
/// the figures. A value that does not exist is left out. The cost of `rows` is that of all pages. Errors: as
/// varve::Aggregation::create(), varve::Table::aggregate() and varve::Aggregation::rows().
VARVE_API varve_status* varve_table_aggregate(const varve_table* table, const varve_scan* scan,
                                              const varve_aggregate* figures, size_t figure_count,
                                              const varve_group_by* groups, size_t group_count, varve_page** rows);

/// Makes a cursor over all pages of a scan. It reads nothing yet. The table may be freed before the cursor.
VARVE_API varve_status* varve_cursor_open(const varve_table* table, const varve_scan* scan, varve_cursor** cursor);
/// Reads the next page. `page` receives NULL after the last page. After an error the cursor reads the same page again.
VARVE_API varve_status* varve_cursor_next(varve_cursor* cursor, varve_page** page);

/// An index that could serve the filter of a scan, as varve::IndexCandidate.
typedef struct varve_index_candidate {
  varve_text name;
  /// The first components that the filter compares with `eq`.
  size_t equal_components;
  /// The filter bounds the next component, as varve::IndexCandidate::has_range.
  bool has_range;
  /// `entities` is the number of entities of the scan's ranges to which the index leads. Otherwise the index has more entries
  /// than a scan reads of one at once.
  bool has_entities;
  uint64_t entities;
  /// The scan reads these entities alone, in place of its ranges.
  bool is_taken;
  /// A count of the scan reads no entity, as varve::IndexCandidate::answers_counts.
  bool answers_counts;
  /// A page of the scan reads no entity, as varve::IndexCandidate::answers_pages.
  bool answers_pages;
} varve_index_candidate;

/// What a scan will read.
typedef struct varve_plan_view {
  size_t size;
  /// The number of varve::AccessPath, and its name: "point", "row range" and so on.
  int32_t path;
  varve_text path_name;
  /// The ranges of keys, in words, in the order in which the scan reads them.
  const varve_text* ranges;
  size_t range_count;
  /// The part of the filter that the scan evaluates for each entity. Empty if the ranges alone decide.
  varve_text residual;
  /// The ready indexes that could serve the filter, best first.
  const varve_index_candidate* indexes;
  size_t index_count;
  /// The index that has the order of the scan, as varve::ScanPlan::order_index. Empty if there is none.
  varve_text order_index;
  /// How many components of the order that index has, as varve::ScanPlan::order_components. Zero if there is none.
  size_t order_components;
} varve_plan_view;

/// Explains a scan without reading an entity. It reads entries of indexes.
VARVE_API varve_status* varve_table_explain(const varve_table* table, const varve_scan* scan, varve_plan** plan);
/// Shows a plan. The caller sets `view->size`.
VARVE_API varve_status* varve_plan_read(const varve_plan* plan, varve_plan_view* view);

// -- Writes ---------------------------------------------------------------------------------------------------------

/// Options of a write, as varve::WriteOptions.
typedef struct varve_write_options {
  size_t size;
  /// VARVE_SYNC, VARVE_BUFFERED or zero for the store's default.
  int32_t durability;
  /// If true, the write waits at most `wait_max_ms` milliseconds for other writers of its partition.
  bool has_wait_max;
  uint64_t wait_max_ms;
  /// At most 1024 bytes that are committed with the write; see varve_store_last_tag().
  varve_text tag;
} varve_write_options;

/// Writes one entity, with the errors of the verb of the same name in varve/table.h. `etag` receives the new ETag, and
/// may be NULL. `if_match` is the ETag that the stored entity must have, or VARVE_ETAG_ANY.
/// @{
VARVE_API varve_status* varve_table_insert(const varve_table* table, const varve_entity* entity,
                                           const varve_write_options* options, varve_etag* etag);
VARVE_API varve_status* varve_table_replace(const varve_table* table, const varve_entity* entity, varve_etag if_match,
                                            const varve_write_options* options, varve_etag* etag);
VARVE_API varve_status* varve_table_merge(const varve_table* table, const varve_entity* entity, varve_etag if_match,
                                          const varve_write_options* options, varve_etag* etag);
VARVE_API varve_status* varve_table_insert_or_replace(const varve_table* table, const varve_entity* entity,
                                                      const varve_write_options* options, varve_etag* etag);
VARVE_API varve_status* varve_table_insert_or_merge(const varve_table* table, const varve_entity* entity,
                                                    const varve_write_options* options, varve_etag* etag);
VARVE_API varve_status* varve_table_remove(const varve_table* table, varve_text partition_key, varve_text row_key,
                                           varve_etag if_match, const varve_write_options* options);
/// @}

/// Changes of single properties of one entity, as varve::Patch.
typedef struct varve_patch {
  size_t size;
  /// The keys, and the properties to set.
  varve_entity entity;
  /// Names of the properties to remove.
  const varve_text* removed;
  size_t removed_count;
  /// The properties to increment, with the numbers to add: Int32, Int64 or Double.
  const varve_property* increments;
  size_t increment_count;
  /// A filter that the stored entity must meet. Empty: none.
  varve_text condition;
  /// The ETag that the stored entity must have, or VARVE_ETAG_ANY.
  varve_etag if_match;
  /// If true, an absent entity is inserted, as varve::Table::insert_or_patch(). Then `condition` must be empty, and
  /// `if_match` is not used.
  bool may_insert;
} varve_patch;

/// Patches one entity, with the errors of varve::Table::patch(). `page` receives the entity after the patch, and may be
/// NULL. A further error: VARVE_UNKNOWN (the patch is committed, but there was no memory for the page).
VARVE_API varve_status* varve_table_patch(const varve_table* table, const varve_patch* patch,
                                          const varve_write_options* options, varve_page** page);

/// How far a change by filter is, as varve::WhereProgress.
typedef struct varve_where_progress {
  uint64_t matched;
  uint64_t changed;
  uint64_t left;
  /// The token to go on with, valid during the call. Empty: the change looked at the whole range.
  varve_text continuation;
} varve_where_progress;
/// Receives the progress after each batch, on the calling thread. Returns false to end the change after this batch.
typedef bool (*varve_where_visitor)(const varve_where_progress* progress, void* context);

/// A change by filter, as varve::Where, varve::PropertyChanges and varve::WhereOptions.
typedef struct varve_where {
  size_t size;
  /// The range and the filter: varve_scan's `range`, its keys, `filter` and `continuation`. The limits of a page are
  /// not used, and the other fields must not be set. NULL: the whole table.
  const varve_scan* scan;
  /// True: all entities of the range. Then the filter must be absent.
  bool all;
  /// True: only counts the entities that meet the filter.
  bool dry_run;
  /// Entities of a batch. Zero: 100, the maximum.
  uint32_t batch_entities_max;
  /// For varve_table_update_where(): properties to set, and names of properties to remove.
  const varve_property* set;
  size_t set_count;
  const varve_text* removed;
  size_t removed_count;
  /// The options of each transaction, or NULL.
  const varve_write_options* write;
  /// May be NULL.
  varve_where_visitor progress;
  void* context;
} varve_where;

/// Deletes or changes the entities that meet a filter, in batches. The call is not atomic: after an error, the finished
/// batches stay. `figures` receives the three counts, and `page` a page without entities that has the continuation, if
/// `progress` ended the change. Both may be NULL. Errors: as varve::Table::delete_where() and update_where(). VARVE_UNKNOWN:
/// also if the change ended, but there was no memory for the page.
/// @{
VARVE_API varve_status* varve_table_delete_where(const varve_table* table, const varve_where* where,
                                                 varve_where_progress* figures, varve_page** page);
VARVE_API varve_status* varve_table_update_where(const varve_table* table, const varve_where* where,
                                                 varve_where_progress* figures, varve_page** page);
/// @}

/// The verb of an operation.
enum {
  VARVE_INSERT = 0,
  VARVE_REPLACE = 1,
  VARVE_MERGE = 2,
  VARVE_INSERT_OR_REPLACE = 3,
  VARVE_INSERT_OR_MERGE = 4,
  VARVE_REMOVE = 5
};
/// One operation of a transaction.
typedef struct varve_operation {
  int32_t kind;
  /// VARVE_REMOVE uses only its keys.
  varve_entity entity;
  /// The condition of replace, merge and remove.
  varve_etag if_match;
} varve_operation;

/// Executes all operations or none, on one partition, as varve::Table::execute(). varve_status_operation_index() of an
/// error is the operation that failed. All written entities get the same `etag`, which may be NULL.
VARVE_API varve_status* varve_table_execute(const varve_table* table, const varve_operation* operations, size_t count,
                                            const varve_write_options* options, varve_etag* etag);

/// Does varve_table_execute(), and after the operations the patches, all in one commit on one partition. The index of a
/// patch is its index after all operations. `page` receives the entity after each patch, and may be NULL. Errors: those of
/// varve_table_execute(), and VARVE_UNKNOWN (as varve_table_patch()).
VARVE_API varve_status* varve_table_execute_patches(const varve_table* table, const varve_operation* operations,
                                                    size_t count, const varve_patch* patches, size_t patch_count,
                                                    const varve_write_options* options, varve_etag* etag,
                                                    varve_page** page);

/// Does one operation, as varve::WriteOperation::only_if(): the stored entity must have the ETag, and meet the filter
/// `condition`. VARVE_REPLACE, VARVE_MERGE and VARVE_REMOVE may have a condition. An absent or empty one is none. `etag`
/// receives the new ETag, or VARVE_ETAG_NONE for a remove, and may be NULL. Errors: those of the operation and of a filter,
/// VARVE_PRECONDITION_FAILED (ConditionNotMet: the entity does not meet the condition), and VARVE_INVALID_ARGUMENT
/// (InvalidInput: another operation has a condition).
VARVE_API varve_status* varve_table_write_if(const varve_table* table, const varve_operation* operation,
                                             varve_text condition, const varve_write_options* options,
                                             varve_etag* etag);

/// The writes of varve_table_execute_with().
typedef struct varve_group_writes {
  size_t size;
  const varve_operation* operations;
  size_t operation_count;
  /// A condition for each operation, as varve_table_write_if() takes it. NULL: no operation has one.
  const varve_text* conditions;
  /// The patches come after the operations, and count after them in varve_status_operation_index().
  const varve_patch* patches;
  size_t patch_count;
} varve_group_writes;
/// Does varve_table_execute_patches() with these writes. Errors: those of varve_table_execute_patches() and of
/// varve_table_write_if().
VARVE_API varve_status* varve_table_execute_with(const varve_table* table, const varve_group_writes* writes,
                                                 const varve_write_options* options, varve_etag* etag,
                                                 varve_page** page);

/// The permissions of a restricted handle.
enum { VARVE_MAY_QUERY = 1, VARVE_MAY_ADD = 2, VARVE_MAY_UPDATE = 4, VARVE_MAY_DELETE = 8 };
/// A restriction of a table handle.
typedef struct varve_access {
  size_t size;
  /// The sum of VARVE_MAY_*.
  uint32_t permissions;
  /// The interval of keys, with its bounds. An absent PartitionKey leaves a side open. An absent RowKey covers the whole
  /// partition.
  varve_text from_partition_key;
  varve_text from_row_key;
  varve_text to_partition_key;
  varve_text to_row_key;
} varve_access;
/// Makes a handle that may do less, as varve::Table::restricted_to().
VARVE_API varve_status* varve_table_restrict(const varve_table* table, const varve_access* access,
                                             varve_table** restricted);

// -- Store transactions ---------------------------------------------------------------------------------------------

/// Begins a transaction over any tables and partitions, as varve::StoreTransaction.
VARVE_API varve_status* varve_transaction_begin(varve_store* store, varve_transaction** transaction);
/// Reads entities as varve_table_get_many(). The commit fails if another writer changed one of them.
VARVE_API varve_status* varve_transaction_get_many(varve_transaction* transaction, const varve_table* table,
                                                   const varve_key* keys, size_t count,
                                                   const varve_read_options* options, varve_page** page);
/// Reads one page as varve_table_scan(). The commit does not check it again.
VARVE_API varve_status* varve_transaction_scan(varve_transaction* transaction, const varve_table* table,
                                               const varve_scan* scan, varve_page** page);
/// Reads one page of single partitions. The commit fails if another writer inserted, changed or deleted an entity in the
/// part of the range that the page covers. Errors: as varve::StoreTransaction::scan_checked().
VARVE_API varve_status* varve_transaction_scan_checked(varve_transaction* transaction, const varve_table* table,
                                                       const varve_scan* scan, varve_page** page);
/// Appends a write.
VARVE_API varve_status* varve_transaction_add(varve_transaction* transaction, const varve_table* table,
                                              const varve_operation* operation);
/// Appends a write with a condition, as varve_table_write_if() takes it. varve_transaction_commit() judges the condition by
/// the state before the transaction.
VARVE_API varve_status* varve_transaction_add_if(varve_transaction* transaction, const varve_table* table,
                                                 const varve_operation* operation, varve_text condition);
/// Appends a patch.
VARVE_API varve_status* varve_transaction_patch(varve_transaction* transaction, const varve_table* table,
                                                const varve_patch* patch);
/// Returns the entities after the patches, in the order of the calls. Without a commit that succeeded, there are none.
VARVE_API varve_status* varve_transaction_patched(const varve_transaction* transaction, varve_page** page);
/// Commits all writes or none, and ends the transaction, also after an error. VARVE_CONFLICT: begin again. All written
/// entities get the same `etag`, which may be NULL.
VARVE_API varve_status* varve_transaction_commit(varve_transaction* transaction, const varve_write_options* options,
                                                 varve_etag* etag);

/// Reads and writes in a transaction. NULL commits; a status ends the attempt without a commit and is returned.
typedef varve_status* (*varve_transaction_body)(varve_transaction* transaction, void* context);
/// Runs `body` and commits. After a conflict it begins again, at most `attempts_max` times; zero means 16. The
/// transaction is freed afterwards.
VARVE_API varve_status* varve_store_transact(varve_store* store, varve_transaction_body body, void* context,
                                             uint32_t attempts_max, const varve_write_options* options,
                                             varve_etag* etag);
/// Copies the tag of the last commit that had one. `capacity` is the size of `buffer`; `bytes` receives the size of the
/// tag; `found` whether there is one. Errors: VARVE_TOO_LARGE (a buffer of 1024 bytes always suffices).
VARVE_API varve_status* varve_store_last_tag(varve_store* store, char* buffer, size_t capacity, size_t* bytes,
                                             bool* found);

// -- Large values ---------------------------------------------------------------------------------------------------

/// Begins to write a content, which entities of the table's account can then have as a VARVE_LARGE_VALUE. The content is
/// removed when the writer is freed, unless an entity names it by then: free the writer after the commit that names the
/// content. Errors: as varve::Table::write_large_value(); VARVE_INVALID_ARGUMENT (InvalidInput: the table was created
/// without varve_table_options.has_large_values).
VARVE_API varve_status* varve_large_value_writer_open(const varve_table* table, varve_large_value_writer** writer);
/// Adds bytes at the end. Needs about 3 MiB of memory at most. Errors: as varve::LargeValueWriter::append();
/// VARVE_INVALID_ARGUMENT (InvalidInput: the content is finished). After any other error the writer cannot be used any
/// more.
VARVE_API varve_status* varve_large_value_writer_append(varve_large_value_writer* writer, varve_text bytes);
/// Ends the content. `value` receives the value that names it, for a property of the type VARVE_LARGE_VALUE. A second
/// call returns the same value. Errors: as varve::LargeValueWriter::finish().
VARVE_API varve_status* varve_large_value_writer_finish(varve_large_value_writer* writer, varve_large_value* value);

/// Opens the content of a property for reading. The reader reads it to its end, also if the entity is changed or deleted.
/// The snapshot of the options counts. Errors: those of varve_table_get(); VARVE_NOT_FOUND (ResourceNotFound: the entity
/// does not exist; without a service error: it has no such property), VARVE_INVALID_ARGUMENT (the property has another
/// type).
VARVE_API varve_status* varve_large_value_reader_open(const varve_table* table, varve_text partition_key,
                                                      varve_text row_key, varve_text property,
                                                      const varve_read_options* options,
                                                      varve_large_value_reader** reader);
/// Opens the content with this number, varve_large_value.id, for reading. Errors: VARVE_NOT_FOUND (LargeValueNotFound: no
/// entity owns such a content; ResourceNotFound: the account does not exist).
VARVE_API varve_status* varve_large_value_reader_open_id(varve_store* store, varve_text account, uint64_t id,
                                                         varve_large_value_reader** reader);
/// Returns the value that is read: the number and the length of the content.
VARVE_API varve_status* varve_large_value_reader_value(const varve_large_value_reader* reader,
                                                       varve_large_value* value);
/// Reads up to `size` bytes from `offset` on. `count` receives their number, which is less than `size` only at the end of
/// the content. Errors: VARVE_CORRUPTION (bytes do not match their hash; none is returned), and others of
/// varve::LargeValueReader::read().
VARVE_API varve_status* varve_large_value_reader_read(const varve_large_value_reader* reader, uint64_t offset,
                                                      void* buffer, size_t size, size_t* count);
/// Returns the CRC-64 of the whole content, which the writer computed. Errors: as varve_large_value_reader_read().
VARVE_API varve_status* varve_large_value_reader_crc64(const varve_large_value_reader* reader, uint64_t* crc64);

/// Reads one entity as varve_table_get(), and opens the large values of `count` properties at the same state of the store.
/// `readers` is an array of `count` handles of the caller. Each receives a reader, which the caller frees, or NULL if the
/// entity has no such property or the property has another type. If options select properties, these are selected too.
/// After an error, `page` and all readers are NULL. Errors: as varve::Table::get_opened(); VARVE_INVALID_ARGUMENT
/// (InvalidInput: more than 255 properties).
VARVE_API varve_status* varve_table_get_opened(const varve_table* table, varve_text partition_key, varve_text row_key,
                                               const varve_read_options* options, const varve_text* properties,
                                               size_t count, varve_page** page, varve_large_value_reader** readers);

/// Reads an entity and opens its large values as varve_table_get_opened(), of the state that the transaction reads. The
/// commit fails with VARVE_CONFLICT if another writer changed the entity.
VARVE_API varve_status* varve_transaction_get_opened(varve_transaction* transaction, const varve_table* table,
                                                     const varve_key* key, const varve_read_options* options,
                                                     const varve_text* properties, size_t count, varve_page** page,
                                                     varve_large_value_reader** readers);

// -- Queues ---------------------------------------------------------------------------------------------------------

/// Proof that its holder may delete or update a message, as varve::PopReceipt. All zero is no receipt.
typedef struct varve_receipt {
  uint64_t sequence;
  uint64_t version;
  uint64_t check;
} varve_receipt;
/// Parses the text of a receipt. Errors: VARVE_INVALID_ARGUMENT (InvalidQueryParameterValue).
VARVE_API varve_status* varve_receipt_parse(varve_text text, varve_receipt* receipt);
/// Writes a receipt as 32 characters of base64.
VARVE_API varve_status* varve_receipt_format(varve_receipt receipt, char text[VARVE_FORMAT_BYTES]);

/// One name and value that a user keeps with a queue, a container or a blob, as varve::MetadataPair.
typedef struct varve_metadata_pair {
  varve_text name;
  varve_text value;
} varve_metadata_pair;

/// Options of varve_queue_create(), as varve::QueueOptions.
typedef struct varve_queue_options {
  size_t size;
  const varve_metadata_pair* metadata;
  size_t metadata_count;
  /// Limit of a message's text in bytes. Zero: 65536.
  uint32_t message_bytes_max;
  /// Not read.
  uint32_t unused;
  /// Each open of the store makes the messages visible at once that consumers held before. It is stored.
  bool release_on_open;
} varve_queue_options;

/// Creates a queue. `opened` receives its handle, and may be NULL. Errors: as varve::Store::create_queue().
VARVE_API varve_status* varve_queue_create(varve_store* store, varve_text account, varve_text queue,
                                           const varve_queue_options* options, varve_queue** opened);
/// Opens a queue that exists.
VARVE_API varve_status* varve_queue_open(varve_store* store, varve_text account, varve_text queue,
                                         varve_queue** opened);
/// Drops a queue with all its messages.
VARVE_API varve_status* varve_queue_drop(varve_store* store, varve_text account, varve_text queue);
/// Lists the queues of an account. varve_list_read() shows the list.
VARVE_API varve_status* varve_queue_list(varve_store* store, varve_text account, const varve_list_options* options,
                                         varve_list** list);

/// The figures of a queue, as varve::QueueFigures.
typedef struct varve_queue_figures {
  size_t size;
  /// Messages that have not expired, visible or not.
  uint64_t messages;
  /// Bytes of their texts.
  uint64_t text_bytes;
} varve_queue_figures;
/// Returns the figures of a queue. The caller sets `figures->size`.
VARVE_API varve_status* varve_queue_statistics(const varve_queue* queue, varve_queue_figures* figures);

/// What a varve_metadata holds, in the order in which it was set.
typedef struct varve_metadata_view {
  size_t size;
  const varve_metadata_pair* pairs;
  size_t count;
} varve_metadata_view;
/// Returns the metadata of a queue.
VARVE_API varve_status* varve_queue_metadata(const varve_queue* queue, varve_metadata** metadata);
/// Shows metadata. The caller sets `view->size`.
VARVE_API varve_status* varve_metadata_read(const varve_metadata* metadata, varve_metadata_view* view);
/// Replaces all metadata of a queue. No pairs clear it.
VARVE_API varve_status* varve_queue_set_metadata(const varve_queue* queue, const varve_metadata_pair* pairs,
                                                 size_t count);

/// The time to live of a message that never expires.
#define VARVE_NEVER UINT64_MAX

/// Options of a put, as varve::PutOptions.
typedef struct varve_put_options {
  size_t size;
  /// VARVE_SYNC, VARVE_BUFFERED or zero for the store's default. A transaction has one durability and ignores this.
  int32_t durability;
  /// Milliseconds for which the message stays hidden.
  uint64_t delay_ms;
  /// Milliseconds after which the message expires, or VARVE_NEVER. Zero: 7 days.
  uint64_t ttl_ms;
  /// If it is not empty, a second put with the same key within the window stores nothing.
  varve_text deduplication_key;
  /// Milliseconds for which the key is remembered. Zero: 10 minutes.
  uint64_t deduplication_window_ms;
} varve_put_options;

/// What a put returns, as varve::SentMessage.
typedef struct varve_sent_message {
  size_t size;
  varve_guid id;
  varve_receipt receipt;
  varve_datetime inserted;
  varve_datetime expires;
  varve_datetime visible;
  /// An earlier put had the same deduplication key: nothing was stored. The other fields are that put's.
  bool is_duplicate;
} varve_sent_message;

/// Appends a message. The caller sets `sent->size`; `sent` may be NULL. Errors: as varve::Queue::put().
VARVE_API varve_status* varve_queue_put(const varve_queue* queue, varve_text text, const varve_put_options* options,
                                        varve_sent_message* sent);

/// A message that varve_queue_get() or varve_queue_peek() returned. Its texts end with a zero after their size.
typedef struct varve_message {
  varve_guid id;
  /// Permits to delete or update the message. A peeked message has none.
  varve_receipt receipt;
  varve_datetime inserted;
  varve_datetime expires;
  /// From when the message is visible to others again. Zero for a peeked message.
  varve_datetime visible;
  /// Number of times that a get returned it, this time included.
  uint32_t deliveries;
  varve_text text;
  /// For a dead letter: the name of the queue that it comes from. Otherwise empty.
  varve_text origin;
} varve_message;

/// What a varve_messages holds.
typedef struct varve_messages_view {
  size_t size;
  const varve_message* messages;
  size_t count;
} varve_messages_view;
/// Shows messages. The caller sets `view->size`.
VARVE_API varve_status* varve_messages_read(const varve_messages* messages, varve_messages_view* view);

/// Makes a stop, which any number of gets and tails may have in their options.
VARVE_API varve_status* varve_stop_create(varve_stop** stop);
/// Ends the running waits of the calls that have this stop, and all their later waits. A get then returns no message, and a
/// tail no bytes.
VARVE_API varve_status* varve_stop_request(const varve_stop* stop);

/// Options of varve_queue_get(), as varve::GetOptions.
typedef struct varve_get_options {
  size_t size;
  /// Largest number of messages, 1 to 32. Zero: 1.
  uint32_t count;
  /// VARVE_SYNC or VARVE_BUFFERED for the hold. Zero: VARVE_BUFFERED; a power cut may then end the hold.
  int32_t durability;
  /// Milliseconds for which the messages are hidden from others. Zero: 30 seconds.
  uint64_t hold_ms;
  /// If no message is visible, the milliseconds to wait for one. Zero does not wait.
  uint64_t wait_ms;
  /// Ends the wait early. May be NULL, and may be freed during the wait.
  const varve_stop* stop;
  /// If not zero, a message that was delivered this often is moved to `dead_letter` instead of being returned.
  uint32_t deliveries_max;
  /// A queue of the same store. Needed if `deliveries_max` is not zero.
  const varve_queue* dead_letter;
} varve_get_options;

/// Returns visible messages and hides them for the hold. `messages` receives a handle also if there is none; free it.
/// Errors: as varve::Queue::get().
VARVE_API varve_status* varve_queue_get(const varve_queue* queue, const varve_get_options* options,
                                        varve_messages** messages);
/// Returns up to `count` visible messages, and changes nothing.
VARVE_API varve_status* varve_queue_peek(const varve_queue* queue, uint32_t count, varve_messages** messages);
/// Deletes a message. Errors: as varve::Queue::remove().
VARVE_API varve_status* varve_queue_remove(const varve_queue* queue, varve_guid id, varve_receipt receipt,
                                           const varve_write_options* options);

/// What an update returns, as varve::UpdatedMessage.
typedef struct varve_updated_message {
  size_t size;
  /// Replaces all earlier receipts of the message.
  varve_receipt receipt;
  /// From when the message is visible to others.
  varve_datetime visible;
} varve_updated_message;
/// Hides a message for `hold_ms` milliseconds from now on, and replaces its text unless `text` is absent. The caller
/// sets `updated->size`; `updated` may be NULL. Errors: as varve::Queue::update().
VARVE_API varve_status* varve_queue_update(const varve_queue* queue, varve_guid id, varve_receipt receipt,
                                           uint64_t hold_ms, varve_text text, const varve_write_options* options,
                                           varve_updated_message* updated);
/// Deletes all messages, held ones too.
VARVE_API varve_status* varve_queue_clear(const varve_queue* queue);

/// Appends a change of a message to a transaction, which commits it with the entities or not at all. If a receipt is no
/// longer the last one of its message, the commit returns VARVE_CONFLICT (MessageNotFound).
/// @{
VARVE_API varve_status* varve_transaction_put_message(varve_transaction* transaction, const varve_queue* queue,
                                                      varve_text text, const varve_put_options* options);
VARVE_API varve_status* varve_transaction_remove_message(varve_transaction* transaction, const varve_queue* queue,
                                                         varve_guid id, varve_receipt receipt);
VARVE_API varve_status* varve_transaction_update_message(varve_transaction* transaction, const varve_queue* queue,
                                                         varve_guid id, varve_receipt receipt, uint64_t hold_ms,
                                                         varve_text text);
/// @}
/// Returns what a put of a message returned, after the commit. `index` counts the puts of messages alone. The caller
/// sets `sent->size`. Errors: VARVE_NOT_FOUND (no put has this index, or the transaction has not committed).
VARVE_API varve_status* varve_transaction_sent_message(const varve_transaction* transaction, size_t index,
                                                       varve_sent_message* sent);

// -- Containers and blobs ---------------------------------------------------------------------------------------------

/// The reads that need no key over HTTP, as varve::PublicAccess.
enum { VARVE_PUBLIC_NONE = 0, VARVE_PUBLIC_BLOBS = 1, VARVE_PUBLIC_CONTAINER = 2 };

/// Options of varve_container_create(), as varve::ContainerOptions.
typedef struct varve_container_options {
  size_t size;
  const varve_metadata_pair* metadata;
  size_t metadata_count;
  /// VARVE_PUBLIC_NONE, VARVE_PUBLIC_BLOBS or VARVE_PUBLIC_CONTAINER.
  int32_t public_access;
} varve_container_options;

/// Creates a container. `opened` receives its handle, and may be NULL. Errors: as varve::Store::create_container().
VARVE_API varve_status* varve_container_create(varve_store* store, varve_text account, varve_text container,
                                               const varve_container_options* options, varve_container** opened);
/// Opens a container that exists.
VARVE_API varve_status* varve_container_open(varve_store* store, varve_text account, varve_text container,
                                             varve_container** opened);
/// Drops a container with all its blobs.
VARVE_API varve_status* varve_container_drop(varve_store* store, varve_text account, varve_text container);
/// Lists the containers of an account. varve_list_read() shows the list.
VARVE_API varve_status* varve_container_list(varve_store* store, varve_text account, const varve_list_options* options,
                                             varve_list** list);

/// State of a lease, as varve::LeaseState.
enum {
  VARVE_LEASE_AVAILABLE = 0,
  VARVE_LEASE_LEASED = 1,
  VARVE_LEASE_EXPIRED = 2,
  VARVE_LEASE_BREAKING = 3,
  VARVE_LEASE_BROKEN = 4
};

/// The state of a container, as varve::ContainerState.
typedef struct varve_container_view {
  size_t size;
  varve_etag etag;
  varve_datetime modified;
  int32_t public_access;
  int32_t lease_state;
  bool lease_is_infinite;
} varve_container_view;
/// Returns the state of a container. The caller sets `view->size`.
VARVE_API varve_status* varve_container_state(const varve_container* container, varve_container_view* view);
/// Returns the metadata of a container.
VARVE_API varve_status* varve_container_metadata(const varve_container* container, varve_metadata** metadata);
/// Replaces all metadata of a container. No pairs clear it.
VARVE_API varve_status* varve_container_set_metadata(const varve_container* container, const varve_metadata_pair* pairs,
                                                     size_t count);

/// How the content of a blob changes, as varve::BlobKind.
enum { VARVE_BLOCK_BLOB = 0, VARVE_APPEND_BLOB = 1 };

/// Where a blob would be kept in a service with several stores, as varve::BlobTier.
enum { VARVE_TIER_DEFAULT = 0, VARVE_TIER_HOT = 1, VARVE_TIER_COOL = 2, VARVE_TIER_COLD = 3, VARVE_TIER_ARCHIVE = 4 };

/// Conditions on the state of a blob, as varve::BlobConditions. Zero is no condition.
typedef struct varve_blob_conditions {
  size_t size;
  /// The blob has this ETag; VARVE_ETAG_ANY asks that it exists.
  varve_etag if_match;
  /// The blob has not this ETag; VARVE_ETAG_ANY asks that it does not exist.
  varve_etag if_none_match;
  varve_datetime if_modified_since;
  varve_datetime if_unmodified_since;
  /// If true, `lease` is the id of the caller's lease.
  bool has_lease;
  varve_guid lease;
} varve_blob_conditions;

/// The calls on a container above, under conditions. Of the conditions, the dates and the lease count; NULL is no
/// condition. Errors: VARVE_PRECONDITION_FAILED (ConditionNotMet, LeaseIdMissing,
/// LeaseIdMismatchWithContainerOperation, LeaseNotPresentWithContainerOperation, LeaseLost), and those of the call above.
/// @{
VARVE_API varve_status* varve_container_drop_if(varve_store* store, varve_text account, varve_text container,
                                                const varve_blob_conditions* conditions);
VARVE_API varve_status* varve_container_state_if(const varve_container* container,
                                                 const varve_blob_conditions* conditions, varve_container_view* view);
VARVE_API varve_status* varve_container_set_metadata_if(const varve_container* container,
                                                        const varve_metadata_pair* pairs, size_t count,
                                                        const varve_blob_conditions* conditions);
/// @}

/// Texts that a user keeps with a blob, as varve::BlobProperties. An absent text is not set.
typedef struct varve_blob_properties {
  size_t size;
  varve_text content_type;
  varve_text content_encoding;
  varve_text content_language;
  varve_text content_disposition;
  varve_text cache_control;
  /// If true, `content_md5` is kept with the blob. The store does not compare it.
  bool has_content_md5;
  uint8_t content_md5[16];
} varve_blob_properties;

/// What a writer gives a blob besides its content, as varve::BlobWriteOptions.
typedef struct varve_blob_write_options {
  size_t size;
  /// May be NULL, like `conditions`.
  const varve_blob_properties* properties;
  const varve_metadata_pair* metadata;
  size_t metadata_count;
  const varve_metadata_pair* tags;
  size_t tag_count;
  int32_t tier;
  /// VARVE_SYNC, VARVE_BUFFERED or zero for the store's default.
  int32_t durability;
  const varve_blob_conditions* conditions;
  /// Compresses each part of 1 MiB that shrinks by an eighth or more, unless the first part does not, or the properties have
  /// a content_encoding. A writer then needs about 3 MiB more.
  bool compresses;
} varve_blob_write_options;

/// Options of a change that writes no content, as varve::BlobChangeOptions.
typedef struct varve_blob_change_options {
  size_t size;
  int32_t durability;
  /// May be NULL.
  const varve_blob_conditions* conditions;
} varve_blob_change_options;

/// Options of a read, as varve::BlobReadOptions.
typedef struct varve_blob_read_options {
  size_t size;
  /// May be NULL.
  const varve_blob_conditions* conditions;
  /// The state that is read; NULL for the newest one.
  const varve_snapshot* snapshot;
} varve_blob_read_options;

/// One blob of a varve_blobs, as varve::BlobState. Its texts end with a zero after their size.
typedef struct varve_blob_view {
  size_t size;
  /// Empty for a prefix of a listing.
  varve_text name;
  /// The common prefix of several blobs, in a listing with a delimiter. Otherwise absent, and the other fields count.
  varve_text prefix;
  int32_t kind;
  int32_t tier;
  varve_etag etag;
  varve_datetime modified;
  varve_datetime created;
  /// Bytes of the content.
  uint64_t length;
  /// CRC-64 of the content, if it is known.
  bool has_crc64;
  uint64_t crc64;
  varve_text content_type;
  varve_text content_encoding;
  varve_text content_language;
  varve_text content_disposition;
  varve_text cache_control;
  bool has_content_md5;
  uint8_t content_md5[16];
  const varve_metadata_pair* metadata;
  size_t metadata_count;
  const varve_metadata_pair* tags;
  size_t tag_count;
  /// Zero if the tier was not changed after the blob was written.
  varve_datetime tier_changed;
  int32_t lease_state;
  bool lease_is_infinite;
  /// Blocks that an append blob was made of.
  uint32_t append_count;
  /// The source and the time of the copy that made the blob. Absent and zero for other blobs.
  varve_text copy_source;
  bool has_copy_id;
  varve_guid copy_id;
  varve_datetime copied;
  /// Nothing was published yet under the name: there are staged blocks alone.
  bool is_uncommitted;
} varve_blob_view;

/// Returns the number of blobs and prefixes. A call on one blob returns one.
VARVE_API varve_status* varve_blobs_count(const varve_blobs* blobs, size_t* count);
/// Shows a blob. The caller sets `view->size`. Errors: VARVE_NOT_FOUND (no blob has this index).
VARVE_API varve_status* varve_blobs_read(const varve_blobs* blobs, size_t index, varve_blob_view* view);
/// Returns the token for the next page of a listing; it is absent at the end.
VARVE_API varve_status* varve_blobs_continuation(const varve_blobs* blobs, varve_text* continuation);

/// Writes a block blob from memory. `written` receives its new state, and may be NULL, as in all calls below that have
/// it. Errors: as varve::Container::put().
VARVE_API varve_status* varve_blob_put(const varve_container* container, varve_text blob, varve_text content,
                                       const varve_blob_write_options* options, varve_blobs** written);
/// Reads a part of a blob: up to `size` bytes from `offset` on. `count` receives their number, which is less than `size`
/// only at the end of the content. `length` receives the length of the whole content, and may be NULL. To read a blob in
/// several calls, use a varve_blob_reader: it reads one state. Errors: as varve::Container::read().
VARVE_API varve_status* varve_blob_get(const varve_container* container, varve_text blob,
                                       const varve_blob_read_options* options, uint64_t offset, void* buffer,
                                       size_t size, size_t* count, uint64_t* length);
/// Returns the state of a blob.
VARVE_API varve_status* varve_blob_state(const varve_container* container, varve_text blob,
                                         const varve_blob_read_options* options, varve_blobs** state);
/// Deletes a blob, and the blocks that are staged under its name.
VARVE_API varve_status* varve_blob_remove(const varve_container* container, varve_text blob,
                                          const varve_blob_change_options* options);

/// Options of varve_blob_list(), as varve::BlobListing.
typedef struct varve_blob_list_options {
  size_t size;
  varve_text prefix;
  /// If it is not empty, names that have this text after the prefix are folded into a prefix.
  varve_text delimiter;
  /// The token of the page before. Absent begins with the first name.
  varve_text continuation;
  /// Blobs and prefixes in a page, 1 to 5000. Zero: 5000.
  uint32_t page_max;
  /// Also names that have staged blocks alone.
  bool with_uncommitted;
  /// The state that is listed; NULL for the newest one.
  const varve_snapshot* snapshot;
} varve_blob_list_options;
/// Returns a page of blobs in the order of their names.
VARVE_API varve_status* varve_blob_list(const varve_container* container, const varve_blob_list_options* options,
                                        varve_blobs** blobs);

/// Replace a part of a blob's state. NULL properties clear them, and no pairs clear metadata and tags. Errors: as the
/// functions of varve::Container.
/// @{
VARVE_API varve_status* varve_blob_set_properties(const varve_container* container, varve_text blob,
                                                  const varve_blob_properties* properties,
                                                  const varve_blob_change_options* options, varve_blobs** written);
VARVE_API varve_status* varve_blob_set_metadata(const varve_container* container, varve_text blob,
                                                const varve_metadata_pair* pairs, size_t count,
                                                const varve_blob_change_options* options, varve_blobs** written);
VARVE_API varve_status* varve_blob_set_tags(const varve_container* container, varve_text blob,
                                            const varve_metadata_pair* pairs, size_t count,
                                            const varve_blob_change_options* options, varve_blobs** written);
VARVE_API varve_status* varve_blob_set_tier(const varve_container* container, varve_text blob, int32_t tier,
                                            const varve_blob_change_options* options, varve_blobs** written);
/// @}

/// Options of varve_blob_copy(), as varve::BlobCopyOptions.
typedef struct varve_blob_copy_options {
  size_t size;
  /// On the destination. May be NULL, like the next two.
  const varve_blob_conditions* conditions;
  const varve_blob_conditions* source_conditions;
  /// If NULL, the destination has the source's.
  const varve_blob_properties* properties;
  /// If true, the destination has `metadata` instead of the source's.
  bool has_metadata;
  const varve_metadata_pair* metadata;
  size_t metadata_count;
  /// The destination's tags. The source's are not copied.
  const varve_metadata_pair* tags;
  size_t tag_count;
  int32_t tier;
  int32_t durability;
  varve_text source_address;
} varve_blob_copy_options;
/// Makes `blob` a copy of a blob of the same store and account. Both share the content.
VARVE_API varve_status* varve_blob_copy(const varve_container* container, varve_text blob,
                                        const varve_container* source, varve_text source_blob,
                                        const varve_blob_copy_options* options, varve_blobs** written);

/// Begins to write a block blob as a stream. Freeing a writer that was not published leaves nothing of the content.
VARVE_API varve_status* varve_blob_writer_open(const varve_container* container, varve_text blob,
                                               const varve_blob_write_options* options, varve_blob_writer** writer);
/// Begins to write a block with this id as a stream. varve_blob_writer_publish() stages it; `written` then has the length
/// alone. Of the options, the lease and the durability count.
VARVE_API varve_status* varve_blob_writer_stage(const varve_container* container, varve_text blob, varve_text id,
                                                const varve_blob_write_options* options, varve_blob_writer** writer);
/// Adds bytes at the end. After an error the writer cannot be used any more.
VARVE_API varve_status* varve_blob_writer_append(varve_blob_writer* writer, varve_text bytes);
/// Replaces the properties that the blob will have, for example when its MD5 is known.
VARVE_API varve_status* varve_blob_writer_set_properties(varve_blob_writer* writer,
                                                         const varve_blob_properties* properties);
/// Makes the content that of the blob. The writer cannot be used afterwards, and is still to be freed.
VARVE_API varve_status* varve_blob_writer_publish(varve_blob_writer* writer, varve_blobs** written);

/// Opens a blob for reading. The reader reads this state, also after the blob was changed or deleted.
VARVE_API varve_status* varve_blob_reader_open(const varve_container* container, varve_text blob,
                                               const varve_blob_read_options* options, varve_blob_reader** reader);
/// Returns the state that is read.
VARVE_API varve_status* varve_blob_reader_state(const varve_blob_reader* reader, varve_blobs** state);
/// Reads up to `size` bytes from `offset` on. `count` receives their number, which is less than `size` only at the end of
/// the content. Errors: VARVE_CORRUPTION (bytes do not match their hash).
VARVE_API varve_status* varve_blob_reader_read(const varve_blob_reader* reader, uint64_t offset, void* buffer,
                                               size_t size, size_t* count);

/// Which block of an id a list means, as varve::BlockChoice.
enum { VARVE_BLOCK_LATEST = 0, VARVE_BLOCK_STAGED = 1, VARVE_BLOCK_COMMITTED = 2 };
/// One block of a list.
typedef struct varve_block_choice {
  /// 1 to 64 bytes. All ids of a blob have the same length.
  varve_text id;
  int32_t from;
} varve_block_choice;
/// Makes a content of blocks, and publishes it. Errors: as varve::Container::commit_blocks().
VARVE_API varve_status* varve_blob_commit_blocks(const varve_container* container, varve_text blob,
                                                 const varve_block_choice* blocks, size_t count,
                                                 const varve_blob_write_options* options, varve_blobs** written);

/// One block of a blob.
typedef struct varve_block {
  varve_text id;
  uint64_t length;
} varve_block;
/// What a varve_blocks holds, as varve::BlockLists.
typedef struct varve_blocks_view {
  size_t size;
  /// In the order of the content.
  const varve_block* committed;
  size_t committed_count;
  /// In the order of their ids.
  const varve_block* staged;
  size_t staged_count;
} varve_blocks_view;
/// Returns the blocks of a block blob.
VARVE_API varve_status* varve_blob_blocks(const varve_container* container, varve_text blob,
                                          const varve_blob_read_options* options, varve_blocks** blocks);
/// Shows blocks. The caller sets `view->size`.
VARVE_API varve_status* varve_blocks_read(const varve_blocks* blocks, varve_blocks_view* view);

/// Creates an append blob without content, or replaces a blob by one.
VARVE_API varve_status* varve_blob_create_append(const varve_container* container, varve_text blob,
                                                 const varve_blob_write_options* options, varve_blobs** written);

/// Options of varve_blob_append(), as varve::AppendOptions.
typedef struct varve_append_options {
  size_t size;
  /// May be NULL.
  const varve_blob_conditions* conditions;
  /// If true, the blob must have the length `position`.
  bool has_position;
  uint64_t position;
  /// If true, the blob may not be longer than `length_max` afterwards.
  bool has_length_max;
  uint64_t length_max;
  int32_t durability;
} varve_append_options;
/// What an append returns, as varve::AppendedBlock.
typedef struct varve_appended_block {
  size_t size;
  /// Where the appended bytes begin.
  uint64_t offset;
  varve_etag etag;
  uint32_t append_count;
} varve_appended_block;
/// Adds 1 byte to 4 MiB at the end of an append blob, whole or not at all. The caller sets `appended->size`; `appended` may
/// be NULL. Errors: as varve::Container::append().
VARVE_API varve_status* varve_blob_append(const varve_container* container, varve_text blob, varve_text bytes,
                                          const varve_append_options* options, varve_appended_block* appended);

/// Options of varve_blob_tail(), as varve::BlobTailOptions.
typedef struct varve_tail_options {
  size_t size;
  /// If the blob ends at the offset, the milliseconds to wait for more bytes. Zero does not wait.
  uint64_t wait_ms;
  /// Ends the wait early. May be NULL, and may be freed during the wait.
  const varve_stop* stop;
  /// If not zero, the blob must be the one that was created at this time.
  varve_datetime created;
} varve_tail_options;
/// What a tail returns besides bytes, as varve::BlobTail.
typedef struct varve_tail {
  size_t size;
  /// Bytes that the buffer received. Zero if there was none until the end of the wait.
  size_t count;
  /// Bytes of the blob.
  uint64_t length;
  varve_etag etag;
  /// When the blob was created, for the options of the next tail.
  varve_datetime created;
} varve_tail;
/// Fills the buffer with bytes of an append blob from `offset` on, or waits for an append. At most 4 MiB are returned. The
/// caller sets `tail->size`. Errors: as varve::Container::tail().
VARVE_API varve_status* varve_blob_tail(const varve_container* container, varve_text blob, uint64_t offset,
                                        const varve_tail_options* options, void* buffer, size_t buffer_size,
                                        varve_tail* tail);

/// Begins an append of any length to an append blob as a stream. varve_blob_writer_publish() adds the bytes; `written` then
/// has the blob's state. Errors: as varve::Container::write_append().
VARVE_API varve_status* varve_blob_writer_open_append(const varve_container* container, varve_text blob,
                                                      const varve_append_options* options, varve_blob_writer** writer);

/// Appends a change of a blob to a transaction, which commits it with the entities and messages or not at all. A blob is
/// judged by its state before the transaction. The durability of the options does not count. Errors of the change itself
/// come from varve_transaction_commit(): as varve::StoreTransaction::commit().
/// @{
/// Publishes the content of a writer, which the transaction takes: the writer can then only be freed.
VARVE_API varve_status* varve_transaction_publish_blob(varve_transaction* transaction, varve_blob_writer* writer);
VARVE_API varve_status* varve_transaction_put_blob(varve_transaction* transaction, const varve_container* container,
                                                   varve_text blob, varve_text content,
                                                   const varve_blob_write_options* options);
VARVE_API varve_status* varve_transaction_remove_blob(varve_transaction* transaction, const varve_container* container,
                                                      varve_text blob, const varve_blob_change_options* options);
VARVE_API varve_status* varve_transaction_copy_blob(varve_transaction* transaction, const varve_container* container,
                                                    varve_text blob, const varve_container* source,
                                                    varve_text source_blob, const varve_blob_copy_options* options);
/// @}
/// Opens a blob of the state that the transaction reads. The commit fails with VARVE_CONFLICT if another writer changed the
/// blob. `conditions` may be NULL. Errors: as varve::StoreTransaction::read().
VARVE_API varve_status* varve_transaction_read_blob(varve_transaction* transaction, const varve_container* container,
                                                    varve_text blob, const varve_blob_conditions* conditions,
                                                    varve_blob_reader** reader);
/// Returns the state of a blob that the transaction published, put or copied, after the commit. `index` counts these calls.
/// Errors: VARVE_NOT_FOUND (no call has this index, or the transaction has not committed).
VARVE_API varve_status* varve_transaction_written_blob(const varve_transaction* transaction, size_t index,
                                                       varve_blobs** written);

// -- Leases ---------------------------------------------------------------------------------------------------------

/// A duration of a lease without an end.
#define VARVE_LEASE_INFINITE (-1)

/// What a change of a lease does, as varve::LeaseRequest::Action.
enum {
  VARVE_LEASE_ACQUIRE = 0,
  VARVE_LEASE_RENEW = 1,
  VARVE_LEASE_CHANGE = 2,
  VARVE_LEASE_RELEASE = 3,
  VARVE_LEASE_BREAK = 4
};

/// A change of a lease, as varve::LeaseRequest. A lease is a right to write for one holder, who names it by its id.
typedef struct varve_lease_request {
  size_t size;
  /// A VARVE_LEASE number, from VARVE_LEASE_ACQUIRE to VARVE_LEASE_BREAK.
  int32_t action;
  /// For an acquire: seconds, 15 to 60, or VARVE_LEASE_INFINITE. Zero: VARVE_LEASE_INFINITE.
  int32_t duration_s;
  /// The id of the present lease, for a renew, a change and a release.
  varve_guid id;
  /// If true, `proposed` is the id of the new lease. A change needs it. For an acquire without it, a new id is made.
  bool has_proposed;
  varve_guid proposed;
  /// For a break. If true, the lease ends after `break_s` seconds, 0 to 60, or at its end if that is earlier. If false, it
  /// ends at its end, and one without an end is broken at once.
  bool has_break;
  uint32_t break_s;
} varve_lease_request;

/// What a change of a lease returns, as varve::LeaseAnswer.
typedef struct varve_lease_answer {
  size_t size;
  /// The id of the lease. It has no meaning after a release and a break.
  varve_guid id;
  /// After a break: the seconds until the lease ends. Otherwise zero.
  uint32_t left_s;
} varve_lease_answer;

/// Changes the lease of a blob. The caller sets `answer->size`; `answer` may be NULL, except for an acquire without a
/// proposed id. Errors: VARVE_CONFLICT (LeaseAlreadyPresent, LeaseIdMismatchWithLeaseOperation and the others of
/// varve::Container::lease()), VARVE_INVALID_ARGUMENT (InvalidHeaderValue: a time).
VARVE_API varve_status* varve_blob_lease(const varve_container* container, varve_text blob,
                                         const varve_lease_request* request, const varve_blob_change_options* options,
                                         varve_lease_answer* answer);
/// Changes the lease of a container, which guards its delete. `conditions` may be NULL. Errors: as varve_blob_lease().
VARVE_API varve_status* varve_container_lease(const varve_container* container, const varve_lease_request* request,
                                              const varve_blob_conditions* conditions, varve_lease_answer* answer);

// -- Access policies ------------------------------------------------------------------------------------------------

/// A policy that is stored under an id, as varve::AccessPolicy. A signature names the id, and supplies what the policy leaves
/// out. In a varve_policies, the texts end with a zero after their size.
typedef struct varve_access_policy {
  varve_text id;
  /// If true, a signature permits nothing before `start`.
  bool has_start;
  /// If true, a signature permits nothing from `expiry` on.
  bool has_expiry;
  varve_datetime start;
  varve_datetime expiry;
  /// Letters of what a signature permits: of `raud` in that order for a table, of `raup` for a queue, of `racwdlt` for a
  /// container. An absent text leaves the permissions to the signature; an empty one permits nothing.
  varve_text permissions;
} varve_access_policy;

/// What a varve_policies holds, in the order in which it was set.
typedef struct varve_policies_view {
  size_t size;
  const varve_access_policy* policies;
  size_t count;
} varve_policies_view;
/// Shows policies. The caller sets `view->size`.
VARVE_API varve_status* varve_policies_read(const varve_policies* policies, varve_policies_view* view);

/// Return the access policies of a table, a queue or a container.
/// @{
VARVE_API varve_status* varve_table_policies(varve_store* store, varve_text account, varve_text table,
                                             varve_policies** policies);
VARVE_API varve_status* varve_queue_policies(const varve_queue* queue, varve_policies** policies);
VARVE_API varve_status* varve_container_policies(const varve_container* container, varve_policies** policies);
/// @}
/// Replace all access policies; no policies remove them. They are on stable storage when the call returns. Errors: as
/// varve::Store::set_access_policies() and varve::Queue::set_access_policies().
/// @{
VARVE_API varve_status* varve_table_set_policies(varve_store* store, varve_text account, varve_text table,
                                                 const varve_access_policy* policies, size_t count);
VARVE_API varve_status* varve_queue_set_policies(const varve_queue* queue, const varve_access_policy* policies,
                                                 size_t count);
/// @}
/// Replaces all access policies and the public access of a container. `public_access` is VARVE_PUBLIC_NONE,
/// VARVE_PUBLIC_BLOBS or VARVE_PUBLIC_CONTAINER. Of the conditions, the dates and the lease count; NULL is no condition.
/// Errors: as varve::Container::set_access().
VARVE_API varve_status* varve_container_set_access(const varve_container* container,
                                                   const varve_access_policy* policies, size_t count,
                                                   int32_t public_access, const varve_blob_conditions* conditions);

// -- Service properties ---------------------------------------------------------------------------------------------

/// The services of an account, as varve::StorageService.
enum { VARVE_SERVICE_TABLES = 0, VARVE_SERVICE_QUEUES = 1, VARVE_SERVICE_BLOBS = 2 };

/// Which requests `varve serve` logs, as varve::LoggingProperties.
typedef struct varve_logging {
  bool read;
  bool write;
  bool remove;
  /// Days to keep the logs, 1 to 365. Zero: they are kept.
  uint32_t retention_days;
} varve_logging;

/// Which requests `varve serve` counts, as varve::MetricsProperties.
typedef struct varve_metrics {
  bool enabled;
  /// May be true only if `enabled` is true.
  bool include_apis;
  /// Days to keep the figures, 1 to 365. Zero: they are kept.
  uint32_t retention_days;
} varve_metrics;

/// What pages from other origins may do, as varve::CorsRule.
typedef struct varve_cors_rule {
  const varve_text* allowed_origins;
  size_t allowed_origin_count;
  const varve_text* allowed_methods;
  size_t allowed_method_count;
  const varve_text* exposed_headers;
  size_t exposed_header_count;
  const varve_text* allowed_headers;
  size_t allowed_header_count;
  /// Seconds for which a browser may keep the answer to a preflight request.
  uint32_t max_age_s;
} varve_cors_rule;

/// The properties of one service of an account. In a change, a NULL or absent property keeps its value. A view of
/// varve_properties_read() has every property, and may be given back as a change.
typedef struct varve_service_properties {
  size_t size;
  const varve_logging* logging;
  const varve_metrics* hour_metrics;
  const varve_metrics* minute_metrics;
  /// If true, `cors_rules` are all rules; none remove them.
  bool has_cors_rules;
  const varve_cors_rule* cors_rules;
  size_t cors_rule_count;
  /// The protocol version of anonymous requests to the blob service that name none, YYYY-MM-DD. Empty: the newest one.
  varve_text default_version;
} varve_service_properties;

/// Returns all properties of a service. `service` is a VARVE_SERVICE number.
VARVE_API varve_status* varve_service_properties_of(varve_store* store, varve_text account, int32_t service,
                                                    varve_properties** properties);
/// Shows properties. The caller sets `view->size`.
VARVE_API varve_status* varve_properties_read(const varve_properties* properties, varve_service_properties* view);
/// Replaces the properties of a service that the change has. Errors: as varve::Store::set_service_properties().
VARVE_API varve_status* varve_service_set_properties(varve_store* store, varve_text account, int32_t service,
                                                     const varve_service_properties* change);

// -- Bulk loads -----------------------------------------------------------------------------------------------------

/// Begins to load a new or empty table, as varve::Loader. Errors: as varve::Store::load_table(); VARVE_INVALID_ARGUMENT
/// (InvalidInput: the table exists and may have large values).
VARVE_API varve_status* varve_loader_open(varve_store* store, varve_text account, varve_text table,
                                          varve_loader** loader);
/// Adds an entity.
VARVE_API varve_status* varve_loader_add(varve_loader* loader, const varve_entity* entity);
/// Makes the entities the content of the table. Freeing a loader without this leaves nothing of the load.
VARVE_API varve_status* varve_loader_finish(varve_loader* loader, varve_etag* etag);
/// Does varve_loader_finish(), and calls `progress` between the parts of each build of an index. If it returns false, the build
/// stops; the load has succeeded all the same. `progress` may be NULL.
VARVE_API varve_status* varve_loader_finish_with(varve_loader* loader, varve_index_progress progress, void* context,
                                                 varve_etag* etag);
/// Shows an index that varve_loader_finish() has not built though it succeeded, as varve::Loader::unbuilt_indexes(). `name` has
/// the memory of the loader. The caller frees `reason`. Errors: VARVE_NOT_FOUND (there are not so many).
VARVE_API varve_status* varve_loader_unbuilt_index(const varve_loader* loader, size_t index, varve_text* name,
                                                   varve_status** reason);

/// What a load has done so far.
typedef struct varve_load_progress {
  size_t size;
  uint64_t entities;
  uint64_t bytes;
  uint64_t sorted_entities;
  uint64_t written_bytes;
} varve_load_progress;
/// Returns the figures of a load. The caller sets `progress->size`.
VARVE_API varve_status* varve_loader_progress(const varve_loader* loader, varve_load_progress* progress);

// -- Figures, verification and repair ---------------------------------------------------------------------------------

/// The figures of a store, as varve::Statistics explains them.
typedef struct varve_statistics {
  size_t size;
  /// VARVE_HEALTHY, VARVE_WRITE_PAUSED or VARVE_HEALTH_POISONED.
  int32_t health;
  int32_t default_durability;
  bool read_only;
  bool direct_io;
  bool clock_jump_ignored;
  bool recovery_clean;
  varve_datetime visible_version;
  uint64_t commits;
  uint64_t commits_refused;
  uint64_t groups;
  uint64_t log_writes;
  uint64_t batch_bytes;
  uint64_t log_bytes;
  uint64_t fill_bytes;
  uint64_t log_segments;
  uint64_t live_log_bytes;
  uint64_t manifest_bytes;
  uint64_t memtable_entries;
  uint64_t memtable_bytes;
  uint64_t memtable_bytes_max;
  /// Files, bytes, entries and deletions of all levels together.
  uint64_t table_files;
  uint64_t table_bytes;
  uint64_t table_entries;
  uint64_t table_deletions;
  uint64_t value_files;
  uint64_t value_file_bytes;
  uint64_t value_file_live_bytes;
  uint64_t cache_bytes;
  uint64_t cache_bytes_max;
  uint64_t cache_blocks;
  uint64_t cache_hits;
  uint64_t cache_misses;
  uint64_t block_reads;
  uint64_t block_read_bytes;
  uint64_t flushes;
  uint64_t flushed_bytes;
  uint64_t compactions;
  uint64_t compaction_read_bytes;
  uint64_t compaction_written_bytes;
  uint64_t compaction_debt_bytes;
  uint64_t dead_log_bytes;
  uint64_t dead_table_bytes;
  uint64_t dead_value_bytes;
  uint64_t write_wait_ns;
  uint64_t loads;
  uint64_t loaded_entities;
  uint64_t retired_ids;
  uint64_t open_snapshots;
  uint64_t partition_waits;
  uint64_t recovery_log_records;
  uint64_t recovery_commits;
  uint64_t recovery_torn_bytes;
  /// True if a killed process loses the buffered commits of its last 10 ms; see varve/statistics.h.
  bool buffered_dies_with_process;
  uint64_t log_writes_in_flight_max;
} varve_statistics;
/// Returns the figures of a store. The caller sets `statistics->size`.
VARVE_API varve_status* varve_store_statistics(varve_store* store, varve_statistics* statistics);

/// Receives the entities and bytes read so far, from time to time, on the calling thread.
typedef void (*varve_progress)(uint64_t entities, uint64_t bytes, void* context);

/// The counts of a verification, as varve::VerifyReport.
typedef struct varve_verify_figures {
  size_t size;
  uint64_t accounts;
  uint64_t tables;
  uint64_t entities;
  uint64_t properties;
  uint64_t value_bytes;
  uint64_t table_files;
  uint64_t table_file_bytes;
  /// All problems. Zero: the store is sound.
  uint64_t finding_count;
  uint64_t queues;
  /// Messages of all queues, hidden and expired ones too.
  uint64_t messages;
  /// Indexes that are ready, and their entries. They were compared with the entities.
  uint64_t indexes;
  uint64_t index_entries;
} varve_verify_figures;
/// Reads and checks everything in a store that no process has open for writing. `progress`, `figures` and `report` may
/// be NULL.
VARVE_API varve_status* varve_verify(varve_text path, varve_progress progress, void* context,
                                     varve_verify_figures* figures, varve_report** report);

/// The counts of a repair, as varve::RepairReport.
typedef struct varve_repair_figures {
  size_t size;
  uint64_t accounts;
  uint64_t tables;
  uint64_t entities;
  uint64_t value_bytes;
  uint64_t log_records;
  uint64_t commits;
  uint64_t read_bytes;
  uint64_t written_bytes;
  uint64_t entities_possibly_stale;
  uint64_t entities_left_out;
  uint64_t finding_count;
  uint64_t loss_count;
  bool files_are_certain;
  bool options_are_known;
  uint64_t queues;
  /// Indexes that were built from the saved entities.
  uint64_t indexes;
} varve_repair_figures;
/// Writes everything of a damaged store that still verifies to a new store in the directory `target`. `progress`,
/// `figures` and `report` may be NULL.
VARVE_API varve_status* varve_repair(varve_text path, varve_text target, varve_progress progress, void* context,
                                     varve_repair_figures* figures, varve_report** report);

/// A part of a file that is missing or does not verify.
typedef struct varve_loss {
  /// Name of the file.
  varve_text file;
  /// The fault, in words for people.
  varve_text what;
  uint64_t offset;
  /// Zero if it is not known.
  uint64_t bytes;
  uint64_t entries_max;
  uint64_t entities_possibly_stale;
} varve_loss;
/// What a varve_report holds.
typedef struct varve_report_view {
  size_t size;
  /// One line for each problem, for people.
  const varve_text* findings;
  size_t finding_count;
  /// The lost parts; a verification has none.
  const varve_loss* losses;
  size_t loss_count;
} varve_report_view;
/// Shows a report. The caller sets `view->size`.
VARVE_API varve_status* varve_report_read(const varve_report* report, varve_report_view* view);

#ifdef __cplusplus
}
#endif
// NOLINTEND(modernize-use-using,readability-identifier-naming)

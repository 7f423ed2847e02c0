// SPDX-License-Identifier: Apache-2.0
// Owns: all limits of the table model, with their sources.
// Must never: contain a limit of the machine or of one process. Such limits are options.
//
// The rule ids name the behaviour of the table service that this store follows. A "code unit" is one UTF-16 code unit;
// a character outside the basic plane counts as two.
#pragma once

#if __cplusplus < 202002L
#error "Varve needs C++20: compile with -std=c++20 or a later standard"
#endif

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace varve::limits {

/// Characters of an account name, all of them `[a-z0-9]` (D-03).
/// @{
inline constexpr std::size_t kAccountNameCharactersMin = 3;
inline constexpr std::size_t kAccountNameCharactersMax = 24;
/// @}

/// Characters of a table name: a letter, then letters and digits (D-04).
/// @{
inline constexpr std::size_t kTableNameCharactersMin = 3;
inline constexpr std::size_t kTableNameCharactersMax = 63;
/// @}

/// Code units of a PartitionKey or a RowKey, each. The empty key is allowed (D-10, D-12).
inline constexpr std::size_t kKeyCodeUnitsMax = 1024;

/// Code units of a property name (D-20).
inline constexpr std::size_t kPropertyNameCodeUnitsMax = 255;

/// Properties of an entity after the operation, without PartitionKey, RowKey and Timestamp (D-22).
inline constexpr std::size_t kCustomPropertiesMax = 252;

/// Code units of a String value: 64 KiB as UTF-16 (D-38).
inline constexpr std::size_t kStringCodeUnitsMax = 32'768;
/// Bytes of a Binary value (D-38).
inline constexpr std::size_t kBinaryBytesMax = 65'536;

/// Bytes of an entity by the service's accounting; see accounted_size_bytes() in types.h (D-60, D-62).
inline constexpr std::size_t kEntityBytesMax = 1'048'576;

/// Operations of one entity group transaction (T-01).
inline constexpr std::size_t kTransactionOperationsMax = 100;
/// Bytes of all operations of one entity group transaction, as encoded: keys, names, values, and the overhead of the
/// format (T-09, X-20). The limit is half a MiB above the 4 MiB that an HTTP request may have. The largest batch has
/// 25,200 properties, and their encoding takes at most 400,000 bytes more than their JSON. So the server never refuses
/// a batch after it has accepted the body.
inline constexpr std::size_t kTransactionBytesMax = 4 * 1'048'576 + 524'288;

/// Writes of one StoreTransaction. The limits of a StoreTransaction are limits of this store, which holds a whole
/// commit in memory.
inline constexpr std::size_t kStoreTransactionOperationsMax = 10'000;
/// Entities that one StoreTransaction reads by key.
inline constexpr std::size_t kStoreTransactionReadsMax = 10'000;
/// Ranges that the checked scans of one StoreTransaction read. Pages that adjoin are one range.
inline constexpr std::size_t kStoreTransactionRangesMax = 1'000;
/// Entities in all these ranges together.
inline constexpr std::size_t kStoreTransactionRangeEntitiesMax = 10'000;
/// Bytes of all writes of one StoreTransaction, as encoded.
inline constexpr std::size_t kStoreTransactionBytesMax = 16 * 1'048'576;

/// Entities, tables or accounts of one page (Q-41, B-06).
inline constexpr std::uint32_t kPageEntitiesMax = 1000;
/// Time that one page may take.
inline constexpr std::chrono::milliseconds kPageTimeMax{5000};
/// Entities of one page of a scan with an order, and bytes of their keys and properties, as they are stored. The store keeps
/// them in memory while it finds the first ones.
/// @{
inline constexpr std::uint32_t kOrderedPageEntitiesMax = 10'000;
inline constexpr std::uint64_t kOrderedPageBytesMax = std::uint64_t{16} << 20;
/// @}
/// Property names in a projection.
inline constexpr std::size_t kSelectedNamesMax = 255;

/// Bytes of a filter. This is a limit of the store: the service limits the request line instead.
inline constexpr std::size_t kFilterBytesMax = 32'768;
/// Comparisons of a filter, for stores that follow the service's reference literally. Other stores accept any number
///
inline constexpr std::uint32_t kStrictFilterComparisonsMax = 15;

/// Figures of one aggregation. The limits of aggregations are limits of the store.
inline constexpr std::size_t kAggregateFiguresMax = 16;
/// Properties or keys by which one aggregation groups.
inline constexpr std::size_t kAggregateGroupingsMax = 2;
/// Groups of one aggregation.
inline constexpr std::size_t kAggregateGroupsMax = 100'000;
/// Different values that all exact distinct counts of one aggregation keep together.
inline constexpr std::size_t kAggregateDistinctMax = 1'000'000;
/// Bytes of memory for the groups and values of one aggregation.
inline constexpr std::size_t kAggregateBytesMax = std::size_t{128} << 20;

/// Stored access policies of a table (S-41).
inline constexpr std::size_t kAccessPoliciesMax = 5;
/// Code units of the id of a stored access policy (S-41).
inline constexpr std::size_t kAccessPolicyIdCodeUnitsMax = 64;

/// Days for which logs and metrics can be kept (P-03).
inline constexpr std::uint32_t kRetentionDaysMax = 365;
/// CORS rules of an account (P-10).
inline constexpr std::size_t kCorsRulesMax = 5;
/// Bytes of all values in the CORS rules of an account together (P-10).
inline constexpr std::size_t kCorsBytesMax = 2048;
/// Origins of one CORS rule (P-10).
inline constexpr std::size_t kCorsOriginsMax = 64;
/// Characters of an origin or of a header name in a CORS rule (P-10).
inline constexpr std::size_t kCorsWordCharactersMax = 256;
/// Full header names in each list of headers of a CORS rule (P-10).
inline constexpr std::size_t kCorsHeadersMax = 64;
/// Header prefixes in each list of headers of a CORS rule (P-10).
inline constexpr std::size_t kCorsHeaderPrefixesMax = 2;

/// Bytes of the tag that a commit may carry. This is a limit of the store, not of the service.
inline constexpr std::size_t kTagBytesMax = 1024;

/// Range of DateTime values: 1601-01-01T00:00:00Z to 9999-12-31T23:59:59.9999999Z, in ticks of 100 ns since
/// 0001-01-01T00:00:00Z (D-34).
/// @{
inline constexpr std::uint64_t kDateTimeTicksMin = 504'911'232'000'000'000;
inline constexpr std::uint64_t kDateTimeTicksMax = 3'155'378'975'999'999'999;
/// @}

/// Characters of a queue's name (QN-01).
/// @{
inline constexpr std::size_t kQueueNameCharactersMin = 3;
inline constexpr std::size_t kQueueNameCharactersMax = 63;
/// @}
/// Bytes of all names and values of a queue's metadata (QB-05).
inline constexpr std::size_t kMetadataBytesMax = 8192;
/// Messages that one get or peek returns (QM-10).
inline constexpr std::uint32_t kMessagesMax = 32;
/// The largest limit of message bytes that a queue may have (QX-04).
inline constexpr std::uint32_t kMessageBytesMaxLimit = 1'048'576;
/// The longest delay and hold of a message (QM-02, QM-10).
inline constexpr std::chrono::hours kMessageHoldMax{24 * 7};
/// Bytes of a deduplication key (QX-13).
inline constexpr std::size_t kDeduplicationKeyBytesMax = 128;

/// Characters of a blob's name (BN-02).
inline constexpr std::size_t kBlobNameCharactersMax = 1024;
/// Bytes of a block id (BB-06).
inline constexpr std::size_t kBlockIdBytesMax = 64;
/// Blocks of one list (BB-07).
inline constexpr std::uint32_t kBlocksMax = 50'000;
/// Blocks that may be staged under one name (BB-06).
inline constexpr std::uint32_t kStagedBlocksMax = 100'000;
/// Blocks that an append blob may be made of, unless StoreLimits::blob_appends_max says otherwise (BA-04).
inline constexpr std::uint32_t kAppendsMax = 50'000;
/// Bytes of one append. This is a limit of the store.
inline constexpr std::size_t kAppendBytesMax = std::size_t{4} << 20;
/// Bytes of a blob's content: 50,000 blocks of 4,000 MiB (BB-06).
inline constexpr std::uint64_t kBlobBytesMax = std::uint64_t{50'000} * 4'000 << 20;
/// Blobs and prefixes in a page of a listing (BL-01).
inline constexpr std::uint32_t kBlobPageMax = 5'000;
/// Tags of a blob, and characters of their names and values (BT-10).
/// @{
inline constexpr std::size_t kBlobTagsMax = 10;
inline constexpr std::size_t kBlobTagNameCharactersMax = 128;
inline constexpr std::size_t kBlobTagValueCharactersMax = 256;
/// @}

}  // namespace varve::limits

// SPDX-License-Identifier: Apache-2.0
// Owns: every limit of the table model, with its source.
// Must never: hold a limit of the machine or of one process; those are options.
//
// The rule ids are those of the table service's behaviour that this store follows. A "code unit" is one UTF-16 code
// unit: a character outside the basic plane counts as two.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#pragma GCC visibility push(default)

namespace varve::limits {

/// Account names, `[a-z0-9]` only (D-03).
inline constexpr std::size_t kAccountNameCharactersMin = 3;
inline constexpr std::size_t kAccountNameCharactersMax = 24;

/// Table names, a letter and then letters and digits (D-04).
inline constexpr std::size_t kTableNameCharactersMin = 3;
inline constexpr std::size_t kTableNameCharactersMax = 63;

/// PartitionKey and RowKey, each; the empty key is allowed (D-10, D-12).
inline constexpr std::size_t kKeyCodeUnitsMax = 1024;

/// Property names (D-20).
inline constexpr std::size_t kPropertyNameCodeUnitsMax = 255;

/// Properties besides PartitionKey, RowKey and Timestamp, after the operation (D-22).
inline constexpr std::size_t kCustomPropertiesMax = 252;

/// String values: 64 KiB as UTF-16 (D-38).
inline constexpr std::size_t kStringCodeUnitsMax = 32'768;
/// Binary values (D-38).
inline constexpr std::size_t kBinaryBytesMax = 65'536;

/// An entity by the service's accounting, see accounted_size_bytes() in types.h (D-60, D-62).
inline constexpr std::size_t kEntityBytesMax = 1'048'576;

/// Operations of one entity group transaction (T-01).
inline constexpr std::size_t kTransactionOperationsMax = 100;
/// All operations of one entity group transaction together, as they are encoded: keys, names, values, and what the
/// format adds (T-09, X-20). Half a MiB above the 4 MiB that a request over HTTP may have: the 25,200 properties of the
/// largest batch take at most 400,000 bytes more encoded than in JSON. So the server never refuses a batch whose body
/// it took.
inline constexpr std::size_t kTransactionBytesMax = 4 * 1'048'576 + 524'288;

/// Writes of one transaction over several partitions and tables, entities it may read, and bytes it may write as they
/// are encoded; limits of the store, whose commits are held in memory whole.
inline constexpr std::size_t kStoreTransactionOperationsMax = 10'000;
inline constexpr std::size_t kStoreTransactionReadsMax = 10'000;
inline constexpr std::size_t kStoreTransactionBytesMax = 16 * 1'048'576;

/// Entities, tables or accounts of one page (Q-41, B-06).
inline constexpr std::uint32_t kPageSizeMax = 1000;
/// Time of one page.
inline constexpr std::chrono::milliseconds kPageTimeMax{5000};
/// Names in a projection.
inline constexpr std::size_t kSelectedNamesMax = 255;

/// Bytes of a filter; a limit of the store: the service bounds the request line instead.
inline constexpr std::size_t kFilterBytesMax = 32'768;
/// Comparisons of a filter, of a store that takes the reference by its word; others take any number.
inline constexpr std::uint32_t kStrictFilterComparisonsMax = 15;

/// Stored access policies of a table, and the id of one (S-41).
inline constexpr std::size_t kAccessPoliciesMax = 5;
inline constexpr std::size_t kAccessPolicyIdCodeUnitsMax = 64;

/// Days for which logs and metrics can be kept (P-03).
inline constexpr std::uint32_t kRetentionDaysMax = 365;
/// CORS rules of an account, and the bytes of all their values (P-10).
inline constexpr std::size_t kCorsRulesMax = 5;
inline constexpr std::size_t kCorsBytesMax = 2048;
/// Of one rule: origins, characters of one of them or of a header, and in each list of headers names and prefixes.
inline constexpr std::size_t kCorsOriginsMax = 64;
inline constexpr std::size_t kCorsWordCharactersMax = 256;
inline constexpr std::size_t kCorsHeadersMax = 64;
inline constexpr std::size_t kCorsHeaderPrefixesMax = 2;

/// Bytes of the tag that a commit may carry; a limit of the store, not of the service.
inline constexpr std::size_t kTagBytesMax = 1024;

/// Values of DateTime: 1601-01-01T00:00:00Z to 9999-12-31T23:59:59.9999999Z, in ticks of 100 ns since
/// 0001-01-01T00:00:00Z (D-34).
inline constexpr std::uint64_t kDateTimeTicksMin = 504'911'232'000'000'000;
inline constexpr std::uint64_t kDateTimeTicksMax = 3'155'378'975'999'999'999;

}  // namespace varve::limits

#pragma GCC visibility pop

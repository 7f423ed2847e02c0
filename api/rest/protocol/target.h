// Owns: parsing a request's address into account, resource, table and keys.
// Must never: decode anything twice, or check whether the named resource exists.
//
// The path is decoded once and then split, because clients differ in the characters that they encode (H-03). The
// account is parsed first, because authentication needs it. The resource is parsed after that (O-07).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "varve/result.h"
#include "varve/service_properties.h"

namespace varve::serve {

/// The account of an address, and the rest of the path. Source: H-01.
struct Address {
  std::string account;
  /// Whether the address is that of the read-only secondary.
  bool is_secondary = false;
  /// Whether the path names the account, rather than the host.
  bool is_path_style = false;
  /// The service that the host names after the account, as `shop.queue.example.net` does. Source: QN-03, BN-03.
  std::optional<StorageService> service{};
  /// The beginning of absolute URLs in the answer: scheme, host and, in path style, the account. It has no `/` at its
  /// end.
  std::string root;
  /// The path after the root, decoded, without the leading `/`.
  std::string resource;
};

/// Parses an address. `host` is the request's host, perhaps with a port.
/// - Host style: the host's first label is a known account. But if the path begins with that account and has a further
///   segment, the address is path style.
/// - Path style: every other address, even if the account is unknown.
///
/// Errors: kInvalidArgument (InvalidUri: the path is badly encoded, or names no account; HostInformationNotPresent).
Result<Address> parse_address(std::string_view path, std::string_view host, std::string_view scheme,
                              const std::function<bool(std::string_view account)>& is_known);

/// Parses the address of a batch's part, which must belong to the batch's account. `host` is the host of an absolute
/// URL, or empty. `batch_host` is the host of the batch's own request. In path style the account may be left out of a
/// path. It may also be left out of a URL on the batch's host, or on a host that cannot name an account. Source: H-51,
///
/// Errors: kInvalidArgument (InvalidUri: the path is badly encoded; InvalidInput: another account).
Result<Address> parse_part_address(std::string_view path, std::string_view host, const Address& batch,
                                   std::string_view batch_host);

enum class Resource : std::uint8_t {
  kService,    // the account itself
  kTables,     // Tables
  kTable,      // Tables('Orders')
  kEntities,   // Orders or Orders()
  kPartition,  // Orders(PartitionKey='eu')
  kEntity,     // Orders(PartitionKey='eu',RowKey='1')
  kBatch,      // $batch
};

struct Target {
  Resource resource = Resource::kService;
  /// The table's name as the address spells it.
  std::string table{};
  std::string partition_key{};
  std::string row_key{};
};

/// Parses the resource part of a decoded path. Errors: kInvalidArgument (InvalidInput: keys are not written as
/// required; InvalidResourceName: no table can have this name), kNotFound (TableNotFound: a name with `$` that no
/// metrics table has, D-06). Source: H-02, H-03, O-16, X-10.
Result<Target> parse_resource(std::string_view decoded);

/// Returns the reference to an entity: `Orders(PartitionKey='O''B%20n',RowKey='1')`. Source: H-22, H-44.
std::string entity_reference(std::string_view table, std::string_view partition_key, std::string_view row_key);
/// Returns the reference to a table: `Tables('Orders')`.
std::string table_reference(std::string_view table);

}  // namespace varve::serve

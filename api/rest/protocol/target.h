// Owns: what a request's address names: account, resource, table and keys.
// Must never: decode anything twice, or look whether what is named is there.
//
// The path is decoded once, and taken apart after that, since clients differ in what they encode (H-03). The host's
// part comes first (the account is needed to authenticate), the resource's part after that (O-07).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "varve/result.h"

namespace varve::serve {

/// Where an account lives, and what of the path is left. Source: H-01.
struct Address {
  std::string account;
  /// Of the read-only secondary.
  bool is_secondary = false;
  /// Whether the path names the account, rather than the host.
  bool is_path_style = false;
  /// What absolute URLs of the answer begin with: scheme, host and, in path style, the account; no `/` at its end.
  std::string root;
  /// The path behind the root, decoded, without the `/` at its front.
  std::string resource;
};

/// `host` is as the request has it, perhaps with a port. Host style if the host's first label is a known account,
/// unless the path begins with the same account and has a further segment; else path style, whether or not
/// anybody knows that account. Errors: kInvalidArgument (InvalidUri: the path is badly encoded, or names no account;
/// HostInformationNotPresent).
Result<Address> parse_address(std::string_view path, std::string_view host, std::string_view scheme,
                              const std::function<bool(std::string_view account)>& is_known);

/// The address of a part of a batch, which must be of the batch's account. In path style the account may be left out of
/// a path, and of a URL on the batch's own host or on one that cannot name an account. Source: H-51, X-17.
/// `host` is that of an absolute URL, or empty. `batch_host` is the one that the batch was sent to.
/// Errors: kInvalidArgument (InvalidUri: the path is badly encoded; InvalidInput: of another account).
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
  /// As it is spelt here.
  std::string table{};
  std::string partition_key{};
  std::string row_key{};
};

/// Source: H-02, H-03, O-16, X-10. Errors: kInvalidArgument (InvalidInput: keys that are not written as they must be;
/// InvalidResourceName: no table can be called so), kNotFound (TableNotFound: a table of the service's own, D-06).
Result<Target> parse_resource(std::string_view decoded);

/// `Orders(PartitionKey='O''B%20n',RowKey='1')`. Source: H-22, H-44.
std::string entity_reference(std::string_view table, std::string_view partition_key, std::string_view row_key);
/// `Tables('Orders')`.
std::string table_reference(std::string_view table);

}  // namespace varve::serve

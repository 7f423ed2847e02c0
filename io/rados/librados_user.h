// Owns: the words of CEPH_ARGS that name a user, a cluster and a configuration file.
// Must never: read other words. The client library reads those itself.
#pragma once

#include <string>
#include <string_view>

namespace varve::io {

/// Whom to connect as, and by what file.
struct RadosUser {
  std::string name = "client.admin";
  std::string cluster = "ceph";
  std::string configuration;  // empty: the client library looks for the file
};

/// Parses words like those of the command `ceph`: --id, --name, --cluster, --conf, and their short forms. The last one of
/// a kind counts.
RadosUser parse_rados_user(std::string_view arguments);

}  // namespace varve::io

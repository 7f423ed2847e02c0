// Owns: the calls of varve/c_rados.h.
// Must never: do what varve/rados.h does not.
#include "varve/c_rados.h"

#include <chrono>
#include <memory>
#include <string_view>
#include <utility>

#include "api/c/call.h"
#include "api/c/objects.h"
#include "api/c/sized.h"
#include "api/c/values.h"
#include "varve/rados.h"

namespace vc = varve::c;

bool varve_rados_is_address(varve_text path) {
  const varve::Result<std::string_view> read = vc::read_text(path, "path");
  return read.ok() && varve::is_rados_address(*read);
}

varve_status* varve_rados_store_open(varve_text address, const varve_rados_options* rados,
                                     const varve_store_options* options, varve_store** store) {
  return vc::guarded_call([&]() -> varve::Status {
    if (store == nullptr) return vc::null_pointer("store");
    *store = nullptr;
    const varve::Result<std::string_view> path = vc::read_text(address, "address");
    if (!path.ok()) return path.status();
    const varve::Result<varve_rados_options> chosen = vc::read_sized(rados);
    if (!chosen.ok()) return chosen.status();
    const varve::Result<std::string_view> cache = vc::read_text(chosen->local_cache_directory, "local_cache_directory");
    if (!cache.ok()) return cache.status();
    if (cache->empty() && chosen->local_cache_bytes != 0) {
      return varve::Status::invalid_argument("local_cache_bytes is set without a local_cache_directory");
    }
    varve::RadosConnectionOptions read;
    read.verified_reads = chosen->verified_reads;
    read.owner_wait = vc::to_milliseconds(chosen->owner_wait_ms);
    varve::Result<std::unique_ptr<varve::RadosConnection>> opened = varve::RadosConnection::open(*path, read);
    if (!opened.ok()) return opened.status();
    const std::shared_ptr<varve::RadosConnection> connection(*std::move(opened));
    if (!cache->empty()) {
      if (varve::Status set = connection->set_local_cache(*cache, chosen->local_cache_bytes); !set.ok()) return set;
    }
    if (varve::Status open = vc::open_store(*path, options, {connection->env(), connection}, store); !open.ok()) {
      return open;
    }
    connection->set_read_patience(vc::to_milliseconds(chosen->read_patience_ms));
    return varve::Status();
  });
}

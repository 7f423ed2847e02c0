#include "tools/varve/reach/reach.h"

#include <utility>

#include "tools/varve/reach/cluster_notice.h"
#include "tools/varve/reach/holder.h"

namespace varve::tool {

namespace {

/// Returns the scheme and the host of an address, without a port.
std::string_view scheme_and_host(std::string_view address) noexcept {
  const std::size_t mark = address.find("://");
  if (mark == std::string_view::npos) return address;
  const std::size_t begin = mark + 3;
  const std::string_view host = address.substr(0, address.find_first_of("/?#", begin));
  const std::size_t colon =
      host.find(':', host.find(']', begin) == std::string_view::npos ? begin : host.find(']', begin));
  return host.substr(0, colon);
}

}  // namespace

bool have_same_host(std::string_view one, std::string_view other) noexcept {
  return scheme_and_host(one) == scheme_and_host(other);
}

Status locked_by_holder(const Status& locked, const std::string& store) {
  if (is_rados_address(store)) return locked;  // Only the cluster knows the process, by a number.
  const std::optional<Holder> holder = find_holder(store);
  if (!holder) return locked;
  std::string text = "process " + std::to_string((*holder).process);
  if (!(*holder).program.empty()) text += " (" + (*holder).program + ")";
  text += " has the store open";
  return Status(Code::kLocked, text).in_file(store);
}

bool is_address(const std::string& store) noexcept {
  return store.starts_with("http://") || store.starts_with("https://");
}

namespace {

/// A connection, with the word to the user if its opening, its operations or its end wait.
struct WatchedCluster {
  ~WatchedCluster() { notice.watch(nullptr); }

  ClusterNotice notice;
  std::unique_ptr<RadosConnection> connection;  // ends first
};

}  // namespace

Result<std::shared_ptr<RadosConnection>> cluster_of(const std::string& store) {
  if (!is_rados_address(store)) return std::shared_ptr<RadosConnection>();
  auto cluster = std::make_shared<WatchedCluster>();
  Result<std::unique_ptr<RadosConnection>> opened = RadosConnection::open(store);
  if (!opened.ok()) return opened.status();
  cluster->connection = *std::move(opened);
  RadosConnection* const connection = cluster->connection.get();
  cluster->notice.watch(connection);
  return std::shared_ptr<RadosConnection>(std::move(cluster), connection);
}

Status check_is_directory(const std::string& store, const std::string& remedy) {
  if (!is_rados_address(store)) return Status();
  return Status(Code::kUnsupported, "this verb needs a directory, but " + store + " is a store on Ceph")
      .with_hint(remedy);
}

Status check_same_kind(const std::string& store, const std::string& target) {
  const auto pool_of = [](const std::string& place) {
    return is_rados_address(place) ? place.substr(0, place.find('/')) : std::string();
  };
  if (pool_of(store) == pool_of(target)) return Status();
  const std::string wanted = is_rados_address(store) ? "an address of the same pool" : "a directory";
  const std::string refusal = "the files of " + store + " can be copied to " + wanted + " alone, not to " + target;
  return Status(Code::kUnsupported, refusal).with_hint("`varve push FROM TO` copies tables, wherever both stores are");
}

Result<OpenedStore> open_here(const std::string& store, const StoreOptions& options) {
  if (is_address(store)) {
    return Status::invalid_argument(
        "this verb concerns the whole store, so it needs the directory of the store, or its address on Ceph, instead "
        "of " +
        store);
  }
  Result<std::shared_ptr<RadosConnection>> cluster = cluster_of(store);
  if (!cluster.ok()) return cluster.status();
  StoreOptions chosen = options;
  if (*cluster != nullptr) chosen.env = (**cluster).env();
  Result<std::unique_ptr<Store>> opened = Store::open(store, chosen);
  if (opened.ok()) return OpenedStore(*std::move(opened), *std::move(cluster));
  if (opened.code() != Code::kLocked) return opened.status();
  return locked_by_holder(opened.status(), store);
}

Result<OpenedStore> open_state(const std::string& store, const StoreOptions& options) {
  Result<ServedCheckpoint> checkpoint = checkpoint_by_server_of(store);
  if (!checkpoint.ok()) return checkpoint.status();
  if ((*checkpoint).path.empty()) return open_here(store, options);
  Result<std::unique_ptr<Store>> state = Store::open((*checkpoint).path, options);
  if (!state.ok()) return state.status();
  return OpenedStore(*std::move(state), std::move((*checkpoint).kept));
}

}  // namespace varve::tool

// Owns: the steps from an address to a connection, and what to do about each that fails (librados_connection.h).
// Must never: wait without end for a cluster that is not there.
#include "io/rados/librados_connection.h"

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "io/os_error.h"
#include "io/rados/librados_user.h"

namespace varve::io {

namespace {

/// Bounds of what asks the monitors, in seconds. Operations on objects have none: one that was given up might still
/// happen.
constexpr const char* kConnectSeconds = "15";
constexpr const char* kMonitorSeconds = "10";

std::string text_of_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

bool is_right_missing(int error) noexcept {
  return error == EACCES || error == EPERM;
}

Status unreachable(int error, const std::string& path, std::string_view remedy) {
  const Status failure = os_error(error, {"connect to the cluster of", path});
  return Status(failure).with_hint(std::string(remedy));
}

}  // namespace

Status lacks_right(std::string_view user, std::string_view pool, std::string_view what) {
  std::string text(user);
  text.append(" may not ").append(what).append(" in the pool ").append(pool);
  const std::string remedy =
      "ceph auth caps " + std::string(user) +
      " mon 'profile simple-rados-client-with-blocklist' osd 'allow rwx pool=" + std::string(pool) +
      "' gives the rights that a store needs";
  return Status(Code::kForbidden, text).with_hint(remedy);
}

Result<std::unique_ptr<LibradosConnection>> LibradosConnection::open(std::string_view pool) {
  const Result<LibradosCalls> calls = load_librados();
  if (!calls.ok()) return calls.status();
  return open(*calls, pool);
}

Result<std::unique_ptr<LibradosConnection>> LibradosConnection::open(const LibradosCalls& calls,
                                                                     std::string_view pool) {
  auto connection = std::make_unique<LibradosConnection>(calls, pool);
  if (Status found = connection->find_cluster(); !found.ok()) return found;
  if (Status reached = connection->reach_cluster(); !reached.ok()) return reached;
  return connection;
}

LibradosConnection::~LibradosConnection() {
  if (!owner_.is_this_process()) {
    if (reader_ != nullptr) reader_->leave_to_parent();
    return;
  }
  reader_.reset();
  if (cluster_ != nullptr) calls_.shutdown(cluster_);
}

/// Reads the configuration as the command `ceph` does.
Status LibradosConnection::find_cluster() {
  const RadosUser user = parse_rados_user(text_of_environment("CEPH_ARGS"));
  user_ = user.name;
  const std::string path = "the pool " + pool_;
  if (const int made = calls_.create2(&cluster_, user.cluster.c_str(), user.name.c_str(), 0); made < 0) {
    cluster_ = nullptr;
    if (made == -EINVAL) {
      return Status::invalid_argument("CEPH_ARGS names a user " + user.name + "; expected one like client.admin");
    }
    return os_error(-made, {"prepare the client of", path});
  }
  const char* const file = user.configuration.empty() ? nullptr : user.configuration.c_str();
  const int read = calls_.conf_read_file(cluster_, file);
  if (read < 0 && read != -ENOENT) return os_error(-read, {"read the configuration of Ceph for", path});
  (void)calls_.conf_parse_env(cluster_, nullptr);
  char hosts[2] = "";
  const int got = calls_.conf_get(cluster_, "mon_host", hosts, sizeof hosts);  // too long for the buffer is enough
  if (read == -ENOENT && (got == 0 && hosts[0] == '\0')) {
    return Status::invalid_argument("no configuration of Ceph was found, so " + path + " has no cluster")
        .with_hint("set CEPH_CONF to the ceph.conf of the cluster, or install it as /etc/ceph/ceph.conf");
  }
  for (const auto& [option, value] : {std::pair{"rados_osd_op_timeout", "0"},
                                      {"rados_mon_op_timeout", kMonitorSeconds},
                                      {"client_mount_timeout", kConnectSeconds}}) {
    if (const int set = calls_.conf_set(cluster_, option, value); set < 0) {
      return os_error(-set, {"set an option of the client of", path});
    }
  }
  return Status();
}

Status LibradosConnection::reach_cluster() {
  const std::string path = "the pool " + pool_;
  if (const int connected = calls_.connect(cluster_); connected < 0) {
    const int error = -connected;
    if (is_right_missing(error) || error == EOPNOTSUPP || error == ENOENT) {
      return Status(Code::kForbidden, "the cluster does not know " + user_ + ", or there is no keyring with its key")
          .with_hint("set CEPH_ARGS='--id USER --keyring FILE', or install /etc/ceph/ceph." + user_ + ".keyring");
    }
    return unreachable(error, path, "check with 'ceph -s' that the monitors of the configuration answer");
  }
  Result<std::shared_ptr<PoolContext>> reader = make_handle();
  if (!reader.ok()) return reader.status();
  reader_ = *std::move(reader);
  char* addresses = nullptr;
  if (calls_.getaddrs(cluster_, &addresses) == 0 && addresses != nullptr) client_ = addresses;
  if (addresses != nullptr) calls_.buffer_free(addresses);
  return Status();
}

Result<std::shared_ptr<PoolContext>> LibradosConnection::make_handle() const {
  RadosContext context = nullptr;
  if (const int made = calls_.ioctx_create(cluster_, pool_.c_str(), &context); made < 0) {
    if (made == -ENOENT) {
      return Status::not_found("the cluster has no pool " + pool_)
          .with_service_error("PoolNotFound")  // An absent store has no such name, and is often made.
          .with_hint("make it: ceph osd pool create " + pool_ + " replicated");
    }
    return os_error(-made, {"open", "the pool " + pool_});
  }
  auto handle = std::make_shared<PoolContext>(calls_, context);
  calls_.ioctx_set_namespace(context, kRadosNamespace);
  return handle;
}

Result<std::shared_ptr<PoolContext>> LibradosConnection::make_context(std::uint64_t epoch) const {
  Result<std::shared_ptr<PoolContext>> handle = make_handle();
  if (!handle.ok()) return handle;
  const int set = calls_.ioctx_selfmanaged_snap_set_write_ctx((*handle)->get(), epoch, nullptr, 0);
  if (set < 0) return os_error(-set, {"set the epoch of a handle of", "the pool " + pool_});
  return handle;
}

Result<std::string> LibradosConnection::ask_monitors(const std::string& command) const {
  const char* text = command.c_str();
  char* output = nullptr;
  std::size_t output_size = 0;
  char* state = nullptr;
  std::size_t state_size = 0;
  const int asked = calls_.mon_command(cluster_, &text, 1, nullptr, 0, &output, &output_size, &state, &state_size);
  std::string answer = output == nullptr ? std::string() : std::string(output, output_size);
  if (output != nullptr) calls_.buffer_free(output);
  if (state != nullptr) calls_.buffer_free(state);
  if (asked >= 0) return answer;
  if (is_right_missing(-asked)) return lacks_right(user_, pool_, "ask the monitors");
  return os_error(-asked, {"ask the monitors about", "the pool " + pool_});
}

int LibradosConnection::begin_own_snapshots() const noexcept {
  std::uint64_t ignored = 0;
  return calls_.ioctx_selfmanaged_snap_create(reader_->get(), &ignored);
}

}  // namespace varve::io

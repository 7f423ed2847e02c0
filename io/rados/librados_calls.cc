// Owns: loading Ceph's client library and finding its functions by name.
// Must never: return a set of functions that lacks one.
#include "io/rados/librados_calls.h"

#include <string>

#include <dlfcn.h>

namespace varve::io {

namespace {

constexpr const char* kInstall = "on Debian and Ubuntu: apt install librados2; on Fedora: dnf install librados2";

/// Finds functions one after the other, and remembers the first that is missing.
class Finder {
 public:
  explicit Finder(void* library) noexcept : library_(library) {}

  template <typename Function>
  void find(Function*& function, const char* name) noexcept {
    // A pointer to a function and one to an object have one size on every system that has dlsym().
    function = reinterpret_cast<Function*>(::dlsym(library_, name));
    if (function == nullptr && missing_ == nullptr) missing_ = name;
  }

  const char* missing() const noexcept { return missing_; }

 private:
  void* const library_;
  const char* missing_ = nullptr;
};

void find_connection(Finder& finder, LibradosCalls& calls) noexcept {
  finder.find(calls.create2, "rados_create2");
  finder.find(calls.conf_read_file, "rados_conf_read_file");
  finder.find(calls.conf_parse_env, "rados_conf_parse_env");
  finder.find(calls.conf_set, "rados_conf_set");
  finder.find(calls.conf_get, "rados_conf_get");
  finder.find(calls.connect, "rados_connect");
  finder.find(calls.shutdown, "rados_shutdown");
  finder.find(calls.getaddrs, "rados_getaddrs");
  finder.find(calls.mon_command, "rados_mon_command");
  finder.find(calls.buffer_free, "rados_buffer_free");
  finder.find(calls.blocklist_add, "rados_blocklist_add");
  finder.find(calls.ioctx_create, "rados_ioctx_create");
  finder.find(calls.ioctx_destroy, "rados_ioctx_destroy");
  finder.find(calls.ioctx_set_namespace, "rados_ioctx_set_namespace");
  finder.find(calls.ioctx_selfmanaged_snap_create, "rados_ioctx_selfmanaged_snap_create");
  finder.find(calls.ioctx_selfmanaged_snap_set_write_ctx, "rados_ioctx_selfmanaged_snap_set_write_ctx");
}

void find_operations(Finder& finder, LibradosCalls& calls) noexcept {
  finder.find(calls.create_write_op, "rados_create_write_op");
  finder.find(calls.release_write_op, "rados_release_write_op");
  finder.find(calls.write_op_assert_exists, "rados_write_op_assert_exists");
  finder.find(calls.write_op_create, "rados_write_op_create");
  finder.find(calls.write_op_cmpxattr, "rados_write_op_cmpxattr");
  finder.find(calls.write_op_setxattr, "rados_write_op_setxattr");
  finder.find(calls.write_op_write, "rados_write_op_write");
  finder.find(calls.write_op_set_alloc_hint2, "rados_write_op_set_alloc_hint2");
  finder.find(calls.write_op_remove, "rados_write_op_remove");
  finder.find(calls.write_op_omap_set, "rados_write_op_omap_set");
  finder.find(calls.write_op_omap_rm_keys, "rados_write_op_omap_rm_keys");
  finder.find(calls.write_op_operate, "rados_write_op_operate");
  finder.find(calls.aio_write_op_operate, "rados_aio_write_op_operate");
  finder.find(calls.create_read_op, "rados_create_read_op");
  finder.find(calls.release_read_op, "rados_release_read_op");
  finder.find(calls.read_op_stat, "rados_read_op_stat");
  finder.find(calls.read_op_getxattrs, "rados_read_op_getxattrs");
  finder.find(calls.read_op_omap_get_vals2, "rados_read_op_omap_get_vals2");
  finder.find(calls.read_op_operate, "rados_read_op_operate");
  finder.find(calls.getxattrs_next, "rados_getxattrs_next");
  finder.find(calls.getxattrs_end, "rados_getxattrs_end");
  finder.find(calls.omap_get_next2, "rados_omap_get_next2");
  finder.find(calls.omap_get_end, "rados_omap_get_end");
  finder.find(calls.read, "rados_read");
  finder.find(calls.aio_create_completion2, "rados_aio_create_completion2");
  finder.find(calls.aio_get_return_value, "rados_aio_get_return_value");
  finder.find(calls.aio_release, "rados_aio_release");
  finder.find(calls.aio_read, "rados_aio_read");
  finder.find(calls.aio_cancel, "rados_aio_cancel");
}

}  // namespace

Result<LibradosCalls> load_librados(const char* file) {
  void* const library = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = ::dlerror();
    return Status::unsupported("a store on Ceph needs Ceph's client library, which could not be loaded (" +
                               std::string(reason == nullptr ? file : reason) +
                               "); install it: the package is librados2 on Debian, Ubuntu and Fedora")
        .with_hint(kInstall);
  }
  Finder finder(library);
  LibradosCalls calls{};
  find_connection(finder, calls);
  find_operations(finder, calls);
  // The library stays loaded: its threads may run until the process ends.
  if (finder.missing() == nullptr) return calls;
  return Status::unsupported("the client library of Ceph here, " + std::string(file) + ", has no function " +
                             finder.missing() + "; install that of Ceph 16 or later")
      .with_hint(kInstall);
}

}  // namespace varve::io

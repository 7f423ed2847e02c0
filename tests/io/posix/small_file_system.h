// Owns: a small or read-only file system (tmpfs) for one forked child, if the kernel lets it mount one.
// Must never: be used outside of a child: only the child sees the mount, and it ends with the child.
#pragma once

#include <string>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

namespace varve::io {

namespace small_file_system {

inline bool write_to(const char* path, const std::string& text) {
  const int descriptor = ::open(path, O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool written = ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(descriptor);
  return written;
}

// Enters a user namespace in which this user may mount. Without the id maps, mounted files would have no owner.
inline bool become_root_of_a_namespace() {
  const std::string user = std::to_string(::geteuid());
  const std::string group = std::to_string(::getegid());
  return ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && write_to("/proc/self/setgroups", "deny") &&
         write_to("/proc/self/uid_map", "0 " + user + " 1") && write_to("/proc/self/gid_map", "0 " + group + " 1");
}

}  // namespace small_file_system

/// Mounts a tmpfs on `path` for this process alone. Returns false if it is not permitted (no privilege and no user
/// namespaces, as in many containers).
inline bool mount_small(const std::string& path, const std::string& options) {
  if (::unshare(CLONE_NEWNS) != 0 && !small_file_system::become_root_of_a_namespace()) return false;
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  return ::mount("none", path.c_str(), "tmpfs", 0, options.c_str()) == 0;
}

/// Makes the mount of mount_small() read-only.
inline bool make_read_only(const std::string& path) {
  return ::mount("none", path.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) == 0;
}

}  // namespace varve::io

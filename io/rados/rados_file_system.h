// Owns: the file system whose directories are stores in one pool of RADOS.
// Must never: name a library of Ceph. The door does that.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "io/file_system.h"
#include "io/rados/object_door.h"
#include "io/rados/rados_process.h"

namespace varve::io {

/// Directories have addresses: "rados:POOL/NAME". A directory has no directories in it. Any thread may use it; handles
/// may outlive it, and use the referenced objects.
class RadosFileSystem final : public FileSystem {
 public:
  /// `door` leads to the objects of `pool`. The referenced objects must outlive this one and its handles.
  RadosFileSystem(std::string_view pool, ObjectDoor& door, Clock& clock, RandomSource& random, Scheduler& scheduler,
                  RadosOptions options = RadosOptions());

  std::string_view name() const noexcept override { return "rados"; }
  /// Errors also: kInvalidArgument (the path is no address of this pool).
  Result<std::unique_ptr<Directory>> open_directory(std::string_view path) override;
  Status create_directory(std::string_view path, SyncPoint point) override;
  Result<std::unique_ptr<ReadQueue>> make_read_queue(Scheduler& scheduler, std::size_t depth) override;
  /// A read costs the cluster about as much processor time as 300 KiB of its bytes.
  std::size_t good_read_bytes() const noexcept override { return std::size_t{1} << 20; }

  /// The lease of this process, and what its stores share.
  RadosProcess& process() noexcept { return *process_; }

 private:
  Result<std::string> name_in(std::string_view path) const;

  const std::string pool_;
  const std::shared_ptr<RadosProcess> process_;
};

}  // namespace varve::io

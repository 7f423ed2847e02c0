// Owns: the public connection over the door of io/rados (varve/rados.h).
// Must never: hold a store.
#include "varve/rados.h"

#include <new>
#include <utility>

#include "io/env.h"
#include "io/rados/librados_door.h"
#include "io/rados/rados_file_system.h"
#include "io/rados/rados_names.h"

namespace varve {

struct RadosConnection::Parts {
  Parts(std::string_view pool, std::unique_ptr<io::ObjectDoor> opened)
      : door(std::move(opened)), files(pool, *door, machine.clock, machine.random, machine.scheduler) {}

  const io::Env& machine = io::system_env();
  std::unique_ptr<io::ObjectDoor> door;
  io::RadosFileSystem files;
  const io::Env env{files, machine.clock, machine.random, machine.scheduler};
};

bool is_rados_address(std::string_view path) noexcept {
  return io::is_rados_address(path);
}

RadosConnection::RadosConnection(std::unique_ptr<Parts> parts) noexcept : parts_(std::move(parts)) {}

RadosConnection::~RadosConnection() = default;

Result<std::unique_ptr<RadosConnection>> RadosConnection::open(std::string_view address) try {
  const Result<io::RadosAddress> parsed = io::parse_rados_address(address);
  if (!parsed.ok()) return parsed.status();
  Result<std::unique_ptr<io::ObjectDoor>> door = io::connect_to_pool(parsed->pool);
  if (!door.ok()) return door.status();
  auto parts = std::make_unique<Parts>(parsed->pool, *std::move(door));
  return std::unique_ptr<RadosConnection>(new RadosConnection(std::move(parts)));
} catch (const std::bad_alloc&) {
  return Status(Code::kOutOfMemory, "there is not enough memory to connect to a cluster");
}

const io::Env* RadosConnection::env() const noexcept {
  return &parts_->env;
}

}  // namespace varve

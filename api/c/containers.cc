// Owns: the calls of the C interface on containers.
#include <memory>
#include <utility>

#include "api/c/blobs.h"
#include "api/c/call.h"
#include "api/c/objects.h"
#include "api/c/queues.h"
#include "api/c/sized.h"

namespace vc = varve::c;

namespace varve::c {
namespace {

Result<ContainerOptions> read_container_options(const varve_container_options* options) {
  const Result<varve_container_options> given = read_sized(options);
  if (!given.ok()) return given.status();
  Result<std::vector<MetadataPair>> metadata = read_metadata(given->metadata, given->metadata_count);
  if (!metadata.ok()) return metadata.status();
  const Result<PublicAccess> access = read_public_access(given->public_access);
  if (!access.ok()) return access.status();
  ContainerOptions read;
  read.metadata = *std::move(metadata);
  read.public_access = *access;
  return read;
}

Status give_container(const StoreObject& store, Result<Container> container, varve_container** opened) {
  if (!container.ok()) return container.status();
  if (opened == nullptr) return Status();
  return give_handle(std::make_unique<ContainerObject>(*std::move(container), store.gate()), opened);
}

}  // namespace
}  // namespace varve::c

varve_status* varve_container_create(varve_store* store, varve_text account, varve_text container,
                                     const varve_container_options* options, varve_container** opened) {
  if (opened != nullptr) *opened = nullptr;
  return vc::call_on<vc::StoreObject>(store, [&](const vc::StoreObject& held) -> varve::Status {
    const varve::Result<varve::ContainerOptions> read = vc::read_container_options(options);
    if (!read.ok()) return read.status();
    return vc::with_names(account, container, "container", [&](auto owner, auto name) {
      return vc::give_container(held, held.store->create_container(owner, name, *read), opened);
    });
  });
}

varve_status* varve_container_open(varve_store* store, varve_text account, varve_text container,
                                   varve_container** opened) {
  if (opened != nullptr) *opened = nullptr;
  return vc::call_on<vc::StoreObject>(store, [&](const vc::StoreObject& held) -> varve::Status {
    if (opened == nullptr) return vc::null_pointer("opened");
    return vc::with_names(account, container, "container", [&](auto owner, auto name) {
      return vc::give_container(held, held.store->open_container(owner, name), opened);
    });
  });
}

varve_status* varve_container_drop(varve_store* store, varve_text account, varve_text container) {
  return varve_container_drop_if(store, account, container, nullptr);
}

varve_status* varve_container_drop_if(varve_store* store, varve_text account, varve_text container,
                                      const varve_blob_conditions* conditions) {
  return vc::call_on<vc::StoreObject>(store, [&](const vc::StoreObject& held) -> varve::Status {
    const varve::Result<varve::BlobConditions> read = vc::read_conditions(conditions);
    if (!read.ok()) return read.status();
    return vc::with_names(account, container, "container",
                          [&](auto owner, auto name) { return held.store->drop_container(owner, name, *read); });
  });
}

varve_status* varve_container_state(const varve_container* container, varve_container_view* view) {
  return varve_container_state_if(container, nullptr, view);
}

varve_status* varve_container_state_if(const varve_container* container, const varve_blob_conditions* conditions,
                                       varve_container_view* view) {
  return vc::call_on<vc::ContainerObject>(container, [&](const vc::ContainerObject& held) -> varve::Status {
    const varve::Result<varve::BlobConditions> read = vc::read_conditions(conditions);
    if (!read.ok()) return read.status();
    const varve::Result<varve::ContainerState> found = held.container.container_state(*read);
    if (!found.ok()) return found.status();
    return vc::write_sized(varve_container_view{0, vc::from_etag(found->etag), found->modified.ticks,
                                                static_cast<int32_t>(found->public_access),
                                                static_cast<int32_t>(found->lease.state), found->lease.is_infinite},
                           view);
  });
}

varve_status* varve_container_metadata(const varve_container* container, varve_metadata** metadata) {
  if (metadata != nullptr) *metadata = nullptr;
  return vc::call_on<vc::ContainerObject>(container, [&](const vc::ContainerObject& held) -> varve::Status {
    if (metadata == nullptr) return vc::null_pointer("metadata");
    varve::Result<varve::ContainerState> found = held.container.container_state();
    if (!found.ok()) return found.status();
    return vc::give_handle(std::make_unique<vc::MetadataObject>(std::move(found->metadata)), metadata);
  });
}

varve_status* varve_container_set_metadata(const varve_container* container, const varve_metadata_pair* pairs,
                                           size_t count) {
  return varve_container_set_metadata_if(container, pairs, count, nullptr);
}

varve_status* varve_container_set_metadata_if(const varve_container* container, const varve_metadata_pair* pairs,
                                              size_t count, const varve_blob_conditions* conditions) {
  return vc::call_on<vc::ContainerObject>(container, [&](vc::ContainerObject& held) -> varve::Status {
    const varve::Result<std::vector<varve::MetadataPair>> read = vc::read_metadata(pairs, count);
    if (!read.ok()) return read.status();
    const varve::Result<varve::BlobConditions> read_if = vc::read_conditions(conditions);
    if (!read_if.ok()) return read_if.status();
    return held.container.set_container_metadata(*read, *read_if).status();
  });
}

void varve_container_free(varve_container* container) {
  vc::free_handle(container, vc::Kind::kContainer);
}

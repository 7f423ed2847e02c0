// Owns: the verbs of a store for containers (store.h).
// Must never: do the work itself. The catalog does.
#include <utility>

#include "api/blob/blob_conditions.h"
#include "api/catalog/lease.h"
#include "api/core/container_state.h"
#include "api/model/guarded.h"
#include "api/read/listing.h"
#include "varve/names.h"
#include "varve/store.h"

namespace varve {
namespace {

Status check_owner_name(std::string_view account) {
  return check_account_name(account).ok() ? Status() : no_such_account(account);
}

TableName container_name(std::string_view account, std::string_view container) {
  return TableName{std::string(account), std::string(container), std::string(container)};
}

}  // namespace

Result<Container> Store::create_container(std::string_view account, std::string_view container,
                                          const ContainerOptions& options) {
  return guarded([&]() -> Result<Container> {
    if (Status writable = core_->check_writable(); !writable.ok()) return writable;
    if (Status named = check_container_name(container); !named.ok()) return named;
    if (Status metadata = check_metadata(options.metadata); !metadata.ok()) return metadata;
    if (Status legal = check_owner_name(account); !legal.ok()) return legal;
    std::shared_ptr<Container::State> state = Container::State::named(core_, container_name(account, container));
    if (Status created = core_->catalog().create_container(state->name, options); !created.ok()) return created;
    return Container(std::move(state));
  });
}

Result<Container> Store::open_container(std::string_view account, std::string_view container) const {
  return guarded([&]() -> Result<Container> {
    if (Status open = core_->check_open(); !open.ok()) return open;
    if (Status legal = check_owner_name(account); !legal.ok()) return legal;
    if (!check_container_name(container).ok()) return no_such_container(account, container);
    std::shared_ptr<Container::State> state = Container::State::named(core_, container_name(account, container));
    const Result<ResolvedTable> found = state->resolve();
    if (found.ok()) return Container(std::move(state));
    if (found.code() != Code::kNotFound) return found.status();
    const Result<std::optional<AccountRow>> owner = Catalog::find_account(core_->backend().view(), account);
    if (!owner.ok()) return owner.status();
    return *owner ? found.status() : no_such_account(account);
  });
}

Status Store::drop_container(std::string_view account, std::string_view container, const BlobConditions& conditions) {
  return guarded([&]() -> Status {
    if (Status writable = core_->check_writable(); !writable.ok()) return writable;
    if (Status legal = check_owner_name(account); !legal.ok()) return legal;
    if (!check_container_name(container).ok()) return no_such_container(account, container);
    const Ticks now = core_->backend().time();
    core_->keep_blobs();
    const Result<format::TableId> dropped =
        core_->catalog().drop_container(container_name(account, container), [&](ContainerRow& row) -> Status {
          const Status admitted = admit_write(row.lease, conditions.lease, now, Leased::kContainer);
          return admitted.ok() ? judge_write(conditions, row.changed, Creates::kNo) : admitted;
        });
    if (!dropped.ok()) return dropped.status();
    core_->followers().wake_all_in(*dropped);
    core_->wake_blob_keeper();
    return Status();
  });
}

Result<ContainerPage> Store::list_containers(std::string_view account, const ListOptions& options) const {
  return guarded([&]() -> Result<ContainerPage> {
    if (Status open = core_->check_open(); !open.ok()) return open;
    if (Status legal = check_owner_name(account); !legal.ok()) return legal;
    const Result<engine::ReadView> view = core_->view(options.snapshot);
    if (!view.ok()) return view.status();
    return list_container_page(*view, account, options, core_->backend().time());
  });
}

}  // namespace varve

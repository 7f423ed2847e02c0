// Owns: the verbs of a container as a whole (blob.h).
// Must never: read or write a blob.
#include <utility>

#include "api/blob/blob_conditions.h"
#include "api/catalog/lease.h"
#include "api/core/container_state.h"
#include "api/model/guarded.h"
#include "api/write/blob_checks.h"
#include "varve/blob.h"

namespace varve {
namespace {

/// Allocates nothing, because it may follow a commit.
ContainerState shown_container(std::string&& name, ContainerRow&& row, Ticks now) noexcept {
  const DateTime modified{row.changed};
  return ContainerState{std::move(name),   ETag::of_timestamp(modified), modified, std::move(row.metadata),
                        row.public_access, row.lease.info(now)};
}

/// Judges a change of the container. The lease counts if its id is given (BB-16).
Status admit_container_change(const ContainerRow& row, const BlobConditions& conditions, Ticks now) {
  if (Status leased = admit_read(row.lease, conditions.lease, now, Leased::kContainer); !leased.ok()) return leased;
  return judge_write(conditions, row.changed, Creates::kNo);
}

template <typename Change>
Result<ContainerState> change_state_of(const Container::State& container, const BlobConditions& conditions,
                                       const std::optional<std::span<const AccessPolicy>>& policies, Change change) {
  StoreCore& core = *container.core;
  if (Status writable = core.check_writable(); !writable.ok()) return writable;
  const Ticks now = core.backend().time();
  std::string name(container.name.spelling);  // made before the commit: after it nothing may fail
  Result<ContainerRow> row = core.catalog().change_container(
      container.name,
      [&](ContainerRow& changed) -> Status {
        if (Status admitted = admit_container_change(changed, conditions, now); !admitted.ok()) return admitted;
        change(changed);
        changed.changed = 0;
        return Status();
      },
      policies);
  if (!row.ok()) return row.status();
  return shown_container(std::move(name), *std::move(row), now);
}

}  // namespace

Container::Container(std::shared_ptr<const State> state) noexcept : state_(std::move(state)) {}

std::string_view Container::account() const& noexcept {
  return state_->name.account;
}

std::string_view Container::name() const& noexcept {
  return state_->name.spelling;
}

Result<ContainerState> Container::container_state(const BlobConditions& conditions) const {
  return guarded([&]() -> Result<ContainerState> {
    StoreCore& core = *state_->core;
    if (Status open = core.check_open(); !open.ok()) return open;
    const engine::ReadView view = core.backend().view();
    Result<std::optional<ContainerRow>> row = Catalog::find_container(view, state_->name);
    if (!row.ok()) return row.status();
    if (!*row) return core.catalog().missing_container(view, state_->name);
    const Ticks now = core.backend().time();
    const Status leased = admit_read((*row)->lease, conditions.lease, now, Leased::kContainer);
    if (!leased.ok()) return leased;
    if (Status judged = judge_read(conditions, (*row)->changed); !judged.ok()) return judged;
    return shown_container(std::string(state_->name.spelling), **std::move(row), now);
  });
}

Result<ContainerState> Container::set_container_metadata(const std::vector<MetadataPair>& metadata,
                                                         const BlobConditions& conditions) {
  return guarded([&]() -> Result<ContainerState> {
    if (Status checked = check_metadata(metadata); !checked.ok()) return checked;
    return change_state_of(*state_, conditions, std::nullopt, [&](ContainerRow& row) { row.metadata = metadata; });
  });
}

Result<ContainerState> Container::set_access(std::span<const AccessPolicy> policies, PublicAccess public_access,
                                             const BlobConditions& conditions) {
  return guarded([&]() -> Result<ContainerState> {
    if (Status checked = check_container_access_policies(policies); !checked.ok()) return checked;
    return change_state_of(*state_, conditions, policies,
                           [&](ContainerRow& row) { row.public_access = public_access; });
  });
}

Result<std::vector<AccessPolicy>> Container::access_policies() const {
  return guarded([&]() -> Result<std::vector<AccessPolicy>> {
    if (Status open = state_->core->check_open(); !open.ok()) return open;
    return state_->core->catalog().find_container_policies(state_->core->backend().view(), state_->name);
  });
}

Result<LeaseAnswer> Container::lease_container(const LeaseRequest& request, const BlobConditions& conditions) {
  return guarded([&]() -> Result<LeaseAnswer> {
    StoreCore& core = *state_->core;
    if (Status writable = core.check_writable(); !writable.ok()) return writable;
    const Ticks now = core.backend().time();
    const Guid random = Guid::random();
    LeaseAnswer answer;
    const Result<ContainerRow> row =
        core.catalog().change_container(state_->name, [&](ContainerRow& changed) -> Status {
          if (Status judged = judge_write(conditions, changed.changed, Creates::kNo); !judged.ok()) return judged;
          const Result<LeaseAnswer> done = change_lease(changed.lease, request, now, random);
          if (!done.ok()) return done.status();
          answer = *done;
          return Status();
        });
    if (!row.ok()) return row.status();
    return answer;
  });
}

}  // namespace varve

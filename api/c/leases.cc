// Owns: the calls of the C interface that change leases of blobs and containers.
#include <chrono>
#include <cstring>

#include "api/c/blobs.h"
#include "api/c/queues.h"
#include "api/c/sized.h"

namespace vc = varve::c;

namespace varve::c {
namespace {

Result<LeaseRequest> read_lease_request(const varve_lease_request* request) {
  if (request == nullptr) return null_pointer("request");
  const Result<varve_lease_request> given = read_sized(request);
  if (!given.ok()) return given.status();
  if (given->action < VARVE_LEASE_ACQUIRE || given->action > VARVE_LEASE_BREAK) {
    return Status::invalid_argument("the action of a lease is " + std::to_string(given->action) +
                                    "; VARVE_LEASE_ACQUIRE (0) to VARVE_LEASE_BREAK (4) are allowed");
  }
  LeaseRequest read;
  read.action = static_cast<LeaseRequest::Action>(given->action);
  read.id = to_guid(given->id);
  if (given->has_proposed) read.proposed = to_guid(given->proposed);
  if (given->duration_s != 0) read.duration = std::chrono::seconds(given->duration_s);
  if (given->has_break) read.break_period = std::chrono::seconds(given->break_s);
  return read;
}

/// Checks the caller's place for the answer, before anything is changed.
Status check_answer(const LeaseRequest& request, varve_lease_answer* answer) {
  if (answer != nullptr) return write_sized(varve_lease_answer{}, answer);
  const bool makes_id = request.action == LeaseRequest::Action::kAcquire && !request.proposed;
  return makes_id ? null_pointer("answer") : Status();
}

/// Carries out `change` with the request, and shows its answer.
template <typename Change>
Status change_lease(const varve_lease_request* request, varve_lease_answer* answer, const Change& change) {
  const Result<LeaseRequest> read = read_lease_request(request);
  if (!read.ok()) return read.status();
  if (Status checked = check_answer(*read, answer); !checked.ok()) return checked;
  const Result<LeaseAnswer> changed = change(*read);
  if (!changed.ok() || answer == nullptr) return changed.status();
  varve_lease_answer shown{};
  std::memcpy(shown.id.bytes, changed->id.bytes.data(), changed->id.bytes.size());
  shown.left_s = static_cast<std::uint32_t>(changed->left.count());
  return write_sized(shown, answer);
}

}  // namespace
}  // namespace varve::c

varve_status* varve_blob_lease(const varve_container* container, varve_text blob, const varve_lease_request* request,
                               const varve_blob_change_options* options, varve_lease_answer* answer) {
  return vc::call_on_blob(container, blob, [&](vc::ContainerObject& held, auto name) -> varve::Status {
    const varve::Result<varve::BlobChangeOptions> chosen = vc::read_blob_change_options(options);
    if (!chosen.ok()) return chosen.status();
    return vc::change_lease(request, answer,
                            [&](const auto& read) { return held.container.lease(name, read, *chosen); });
  });
}

varve_status* varve_container_lease(const varve_container* container, const varve_lease_request* request,
                                    const varve_blob_conditions* conditions, varve_lease_answer* answer) {
  return vc::call_on<vc::ContainerObject>(container, [&](vc::ContainerObject& held) -> varve::Status {
    const varve::Result<varve::BlobConditions> read_if = vc::read_conditions(conditions);
    if (!read_if.ok()) return read_if.status();
    return vc::change_lease(request, answer,
                            [&](const auto& read) { return held.container.lease_container(read, *read_if); });
  });
}

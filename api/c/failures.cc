// Owns: failures as the C interface shows them.
#include <memory>
#include <new>
#include <string>

#include "api/c/call.h"

/// Keeps the texts with a zero at their end.
struct varve_status {
  varve::Status status;
  std::string message;
  std::string text;
  std::string service_error;
};

namespace varve::c {
namespace {

/// The failure for which there is no memory. It is never destroyed.
varve_status* without_memory() noexcept {
  alignas(varve_status) static unsigned char room[sizeof(varve_status)];
  static varve_status* const made =
      new (room) varve_status{Status::out_of_memory(), "", "OutOfMemory", ""};  // short texts need no memory
  return made;
}

}  // namespace

varve_status* to_c(const Status& status) noexcept {
  if (status.ok()) return nullptr;
  if (status.code() == Code::kOutOfMemory && status.message().empty()) return without_memory();
  try {
    return new varve_status{status, std::string(status.message()), status.to_string(),
                            std::string(status.service_error())};
  } catch (const std::bad_alloc&) {
    return without_memory();
  }
}

Status take_status(varve_status* status) noexcept {
  if (status == nullptr) return Status();
  Status taken = status->status;
  varve_status_free(status);
  return taken;
}

}  // namespace varve::c

varve_code varve_status_code(const varve_status* status) {
  return status == nullptr ? VARVE_OK : static_cast<varve_code>(status->status.code());
}

const char* varve_status_message(const varve_status* status) {
  return status == nullptr ? "" : status->message.c_str();
}

const char* varve_status_text(const varve_status* status) {
  return status == nullptr ? "Ok" : status->text.c_str();
}

const char* varve_status_service_error(const varve_status* status) {
  return status == nullptr ? "" : status->service_error.c_str();
}

int64_t varve_status_operation_index(const varve_status* status) {
  if (status == nullptr) return -1;
  const std::optional<std::uint32_t> index = status->status.operation_index();
  return index ? int64_t{*index} : -1;
}

int32_t varve_status_os_error(const varve_status* status) {
  return status == nullptr ? 0 : status->status.os_error();
}

varve_place varve_status_place(const varve_status* status) {
  if (status == nullptr) return {};
  const varve::StoredPlace place = status->status.place();
  return {static_cast<int32_t>(place.kind), place.offset.has_value(), place.number, place.offset.value_or(0)};
}

varve_status* varve_status_create(varve_code code, const char* message) {
  if (code == VARVE_OK) return nullptr;
  const bool is_known = code > 0 && code <= VARVE_CANCELLED;
  const varve::Code known = is_known ? static_cast<varve::Code>(code) : varve::Code::kInvalidArgument;
  return varve::c::to_c(varve::Status(known, message == nullptr ? "" : message));
}

void varve_status_free(varve_status* status) {
  if (status != nullptr && status != varve::c::without_memory()) delete status;
}

const char* varve_code_name(varve_code code) {
  if (code < 0 || code > VARVE_CANCELLED) return "?";
  return varve::code_name(static_cast<varve::Code>(code)).data();  // a literal, so a zero follows it
}

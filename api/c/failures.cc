// Owns: failures as the C interface shows them.
#include <cstddef>
#include <functional>
#include <new>
#include <string>

#include "api/c/call.h"
#include "api/c/values.h"

/// A failure and its text in one line, which is empty if there was no memory for it.
struct varve_status {
  varve::Status status;
  std::string text;
};

namespace varve::c {
namespace {

constexpr std::size_t kCodes = VARVE_CANCELLED + 1;

/// A failure of each code without a text, for the moment when memory runs out. They are never destroyed.
varve_status* without_memory(Code code) noexcept {
  alignas(varve_status) static unsigned char room[kCodes * sizeof(varve_status)];
  static varve_status* const all = [] {
    auto* const first = reinterpret_cast<varve_status*>(room);
    for (std::size_t i = 0; i < kCodes; ++i) ::new (first + i) varve_status{Status(static_cast<Code>(i)), {}};
    return first;
  }();
  return all + static_cast<std::size_t>(code);
}

bool is_without_memory(const varve_status* status) noexcept {
  return std::less_equal<>()(without_memory(Code::kOk), status) &&
         std::less_equal<>()(status, without_memory(Code::kCancelled));
}

}  // namespace

varve_status* to_c(const Status& status) noexcept {
  if (status.ok()) return nullptr;
  if (status.code() == Code::kOutOfMemory && status.message().empty()) return without_memory(Code::kOutOfMemory);
  try {
    return new varve_status{status, status.to_string()};
  } catch (const std::bad_alloc&) {
    return without_memory(status.code());  // the text is lost, not the code
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
  // The message is a part of a std::string that ends where the message ends, so a zero follows it.
  return status == nullptr || status->status.message().empty() ? "" : status->status.message().data();
}

const char* varve_status_text(const varve_status* status) {
  if (status == nullptr) return "Ok";
  return status->text.empty() ? varve_code_name(varve_status_code(status)) : status->text.c_str();
}

const char* varve_status_hint(const varve_status* status) {
  // A zero follows it, as it follows a message.
  return status == nullptr || status->status.hint().empty() ? "" : status->status.hint().data();
}

const char* varve_status_service_error(const varve_status* status) {
  // Status keeps literals, so a zero follows the string.
  return status == nullptr || status->status.service_error().empty() ? "" : status->status.service_error().data();
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

varve_taken_value varve_status_taken_value(const varve_status* status) {
  const varve::TakenValue* const taken = status == nullptr ? nullptr : status->status.taken_value();
  if (taken == nullptr) return {};
  return {varve::c::text_of(taken->index), taken->has_keys, varve::c::text_of(taken->partition_key),
          varve::c::text_of(taken->row_key)};
}

varve_status* varve_status_create(varve_code code, const char* message) {
  if (code == VARVE_OK) return nullptr;
  const bool is_known = code > 0 && code <= VARVE_CANCELLED;
  const varve::Code known = is_known ? static_cast<varve::Code>(code) : varve::Code::kInvalidArgument;
  return varve::c::to_c(varve::Status(known, message == nullptr ? "" : message));
}

void varve_status_free(varve_status* status) {
  if (status != nullptr && !varve::c::is_without_memory(status)) delete status;
}

const char* varve_code_name(varve_code code) {
  if (code < 0 || code > VARVE_CANCELLED) return "?";
  return varve::code_name(static_cast<varve::Code>(code)).data();  // a literal, so a zero follows it
}

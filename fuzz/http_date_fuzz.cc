// Owns: the fuzzer of the dates of requests, signatures and access policies.
// Must never: accept a time that does not survive being written.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "api/access_policy.h"
#include "api/security/http_date.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::optional<varve::DateTime> date = varve::security::parse_http_date(text);
  if (date && date->ticks % 10'000'000 != 0) std::abort();

  const varve::Result<varve::DateTime> time = varve::parse_access_time(text);
  if (!time.ok()) {
    if (time.status().service_error() != "InvalidXmlNodeValue") std::abort();
    return 0;
  }
  const varve::Result<varve::DateTime> again = varve::parse_access_time(varve::access_time_text(*time));
  if (!again.ok() || *again != *time) std::abort();
  return 0;
}

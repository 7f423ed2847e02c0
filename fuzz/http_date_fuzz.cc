// Owns: the fuzzer of the dates of requests, signatures and access policies.
// Must never: accept a time that changes when it is written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "api/security/http_date.h"
#include "fuzz/mutation.h"
#include "varve/access_policy.h"

/// Words of such texts.
constexpr std::string_view kWords[] = {
    "Tue",      "Mon",      "Sun",      ", ",       "03 ", "Mar ", "Feb ",   "29 ",    "31 ",   "2026",
    "2024",     "9999",     "1601",     "0001",     "-03", "-02",  "-29",    "T",      "10:20", "10:20:30",
    "10:20:60", "23:59:59", ".1234567", ".9999999", "Z",   "GMT",  "+01:00", "-14:00", " ",     ":"};

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

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t size_max,
                                               unsigned seed) {
  return varve::fuzz::mutate_words(kWords, data, size, size_max, seed);
}

// Owns: the fuzzer of the server's JSON: hostile bodies of writes.
// Must never: let an entity change when it is written and read again.
//
// Input: the body of an insert.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "api/rest/encoding/entity_reader.h"
#include "api/rest/encoding/entity_writer.h"

namespace varve::serve {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  const Result<Entity> entity = read_entity(body);
  if (!entity.ok()) {
    if (entity.code() != Code::kInvalidArgument || entity.status().service_error().empty()) std::abort();
    return 0;
  }
  for (const PayloadLevel level : {PayloadLevel::kMinimal, PayloadLevel::kFull}) {
    const WritingPlace place{level, "http://127.0.0.1/account", "account", "Orders"};
    const std::string written = write_entity(place, *entity);
    const Result<Entity> again = read_entity(written);
    // Compares the texts, because a Double that is NaN equals nothing.
    if (!again.ok() || write_entity(place, *again) != written) std::abort();
  }
  return 0;
}

}  // namespace varve::serve

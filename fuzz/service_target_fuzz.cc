// Owns: the fuzzer of the server's addresses: hostile paths and hosts.
// Must never: let a name change its meaning when it is written and read again.
//
// Input: a host, a line feed, a path.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "api/model/percent.h"
#include "api/rest/protocol/target.h"

namespace varve::serve {
namespace {

void check_written_again(const Target& target) {
  const std::string reference = entity_reference(target.table, target.partition_key, target.row_key);
  const std::optional<std::string> decoded = percent_decode(reference);
  if (!decoded) std::abort();
  const Result<Target> again = parse_resource(*decoded);
  if (!again.ok() || again->resource != Resource::kEntity || again->table != target.table) std::abort();
  if (again->partition_key != target.partition_key || again->row_key != target.row_key) std::abort();
}

void check_refusal(const Status& status) {
  if (status.code() != Code::kInvalidArgument && status.code() != Code::kNotFound) std::abort();
  if (status.service_error().empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = input.find('\n');
  if (end == std::string_view::npos) return 0;
  const Result<Address> address = parse_address(input.substr(end + 1), input.substr(0, end), "http",
                                                [](std::string_view name) { return name == "known"; });
  if (!address.ok()) {
    check_refusal(address.status());
    return 0;
  }
  const Result<Target> target = parse_resource(address->resource);
  if (!target.ok()) check_refusal(target.status());
  if (target.ok() && target->resource == Resource::kEntity) check_written_again(*target);
  return 0;
}

}  // namespace varve::serve

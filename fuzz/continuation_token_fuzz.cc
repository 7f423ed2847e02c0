// Owns: the fuzzer of continuation tokens: text from outside, by which a scan goes on.
// Must never: accept two texts for one token, or a token that stands for something that is not UTF-8.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/continuation_token.h"
#include "format/sort_key.h"

namespace {

void check_refusal(const varve::Status& status) {
  if (status.code() != varve::Code::kInvalidArgument) std::abort();
  if (status.service_error() != "InvalidInput") std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace varve;
  const std::string_view text(reinterpret_cast<const char*>(data), size);

  const Result<ScanPosition> position = decode_scan_token(text);
  if (position.ok()) {
    if (encode_scan_token(position->partition_key, position->row_key) != text) std::abort();
    if (!format::is_valid_utf8(position->partition_key) || !format::is_valid_utf8(position->row_key)) std::abort();
  } else {
    check_refusal(position.status());
  }

  const Result<std::string> key = decode_key_token(text);
  if (key.ok()) {
    if (encode_key_token(*key) != text || !format::is_valid_utf8(*key)) std::abort();
  } else {
    check_refusal(key.status());
  }

  // Any text at all, taken as a key, survives its way through a token, or is refused for not being UTF-8.
  const Result<std::string> again = decode_key_token(encode_key_token(text));
  if (again.ok() != format::is_valid_utf8(text)) std::abort();
  if (again.ok() && *again != text) std::abort();
  return 0;
}

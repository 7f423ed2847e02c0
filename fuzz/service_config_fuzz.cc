// Owns: the fuzzer of the server's configuration file: TOML from an operator.
// Must never: accept a file whose printed form means something else, print a key, or refuse a file without its line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fuzz/mutation.h"
#include "tools/serve/settings/config_text.h"
#include "tools/serve/settings/option_values.h"

namespace varve::serve {
namespace {

/// Parts of such files.
constexpr std::string_view kWords[] = {"data",
                                       "listen",
                                       "account",
                                       "tls-cert",
                                       "tls-key",
                                       "memory",
                                       "metrics",
                                       "listen-queues",
                                       "listen-blobs",
                                       "public-blobs",
                                       "dead-letter",
                                       "extensions",
                                       "status-page",
                                       "request-log",
                                       "log-format",
                                       "drain-seconds",
                                       " = ",
                                       "\n",
                                       "\"",
                                       "'",
                                       "\"\"\"",
                                       "[",
                                       "]",
                                       ", ",
                                       "{",
                                       "}",
                                       "#",
                                       "\\u0041",
                                       "\\",
                                       "127.0.0.1:10",
                                       "[::1]:10",
                                       "512MiB",
                                       "\"shop:@/k\"",
                                       "\"shop:AAEC\"",
                                       "env=X",
                                       "json",
                                       "off",
                                       "allow",
                                       "3",
                                       "3600",
                                       "1.5",
                                       "true",
                                       "1979-05-27",
                                       "0x10",
                                       ".",
                                       "\xC3\xA9"};

void check(std::string_view text) {
  const Result<Settings> read = parse_config(text, "fuzz.toml");
  if (!read.ok()) {
    const bool is_placed = read.status().message().starts_with("fuzz.toml:");
    if (read.status().code() != Code::kInvalidArgument || !is_placed) std::abort();
    return;
  }
  const Result<std::string> printed = config_text(*read);
  if (!printed.ok()) std::abort();  // a file that was read is UTF-8
  bool is_masked = false;
  for (const SettingValue& value : (*read).all(OptionId::kAccount)) {
    const std::string shown = masked_account(value.text);
    is_masked = is_masked || shown != value.text;
  }
  const Result<Settings> again = parse_config(*printed, "again.toml");
  if (again.ok() == is_masked) std::abort();
  if (is_masked) return;
  for (const OptionRule& rule : option_rules()) {
    if (!(*read).equals(*again, rule.id)) std::abort();
  }
}

}  // namespace
}  // namespace varve::serve

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  varve::serve::check({reinterpret_cast<const char*>(data), size});
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t size_max,
                                               unsigned seed) {
  return varve::fuzz::mutate_words(varve::serve::kWords, data, size, size_max, seed);
}

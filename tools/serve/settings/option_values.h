// Owns: parsing the values of options from their text.
// Must never: look at a file, the environment or the network.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "varve/result.h"

namespace varve::serve {

struct AddressPort {
  /// An IP address without brackets.
  std::string address;
  std::uint16_t port = 0;
};

/// Parses `ADDRESS:PORT`. The address is an IP address; one of version 6 is written in brackets.
/// Errors: kInvalidArgument.
Result<AddressPort> parse_address_port(const std::string& text);

/// A file that caches blocks of a cluster.
struct LocalCacheDefinition {
  std::string directory;
  std::uint64_t size_bytes = 0;
};

/// Parses `DIRECTORY:SIZE`, such as `/var/cache/varve:20G`. Errors: kInvalidArgument: another form, or less than 4 MiB.
Result<LocalCacheDefinition> parse_local_cache(const std::string& text);

/// The least and the default time from the request to end until the end of the server.
inline constexpr std::chrono::seconds kDrainMin{3};
/// Parses a whole number of seconds from 3 to 3600. Errors: kInvalidArgument.
Result<std::chrono::seconds> parse_drain_seconds(std::string_view text);

/// What happens to messages of a queue that were delivered too often.
struct DeadLetterDefinition {
  std::string account;
  std::string queue;
  std::uint32_t deliveries_max = 0;
  std::string target;
};

/// Parses `ACCOUNT/QUEUE:DELIVERIES:TARGET`, such as `shop/orders:5:orders-failed`. Errors: kInvalidArgument: another
/// form, a name that no account or queue can have, the
/// same queue twice, or a number that is not 1 to 1,000,000.
Result<DeadLetterDefinition> parse_dead_letter(const std::string& text);

enum class KeySource : std::uint8_t { kInline, kFile, kEnvironment };

/// An account as an option defines it.
struct AccountDefinition {
  std::string name;
  KeySource source = KeySource::kInline;
  /// The path, the name of the variable, or `KEY` or `KEY:KEY2`. Only the last one is secret.
  std::string where{};
};

/// Replaces keys in printed definitions.
inline constexpr std::string_view kMaskedKey = "***";

/// Parses `NAME:@FILE`, `NAME:env=VARIABLE`, `NAME:KEY` or `NAME:KEY:KEY2`. No key begins with `@`, and base64 has no
/// `=` before more text. Errors: kInvalidArgument: not such a definition, or a masked key. A message contains no key.
Result<AccountDefinition> parse_account(const std::string& text);

/// Returns the definition with its key replaced by kMaskedKey.
std::string masked_account(const std::string& text);

}  // namespace varve::serve

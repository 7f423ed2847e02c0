#include "tools/serve/settings/option_values.h"

#include <array>
#include <charconv>
#include <system_error>
#include <utility>

#include <arpa/inet.h>

#include "tools/serve/transport/memory_plan.h"
#include "varve/names.h"
#include "varve/queue.h"
#include "varve/rados.h"

namespace varve::serve {
namespace {

constexpr std::string_view kEnvironmentMark = "env=";
constexpr unsigned kDrainMaxSeconds = 3'600;

bool is_ip_address(const std::string& text) {
  std::array<unsigned char, 16> bytes{};
  const std::string plain = text.substr(0, text.find('%'));  // without the interface
  return ::inet_pton(AF_INET, plain.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, plain.c_str(), bytes.data()) == 1;
}

/// Parses a whole number that takes the whole text.
template <typename Number>
bool parse_number(std::string_view text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  return !text.empty() && error == std::errc() && stopped == end;
}

}  // namespace

Result<AddressPort> parse_address_port(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  AddressPort parsed;
  if (colon == std::string::npos || !parse_number(std::string_view(text).substr(colon + 1), parsed.port)) {
    return Status::invalid_argument("\"" + text + "\" is not ADDRESS:PORT, such as 127.0.0.1:10002");
  }
  parsed.address = text.substr(0, colon);
  if (parsed.address.starts_with('[') && parsed.address.ends_with(']')) {
    parsed.address = parsed.address.substr(1, parsed.address.size() - 2);
  }
  if (!is_ip_address(parsed.address)) {
    return Status::invalid_argument("\"" + parsed.address + "\" is not an IP address");
  }
  return parsed;
}

Result<LocalCacheDefinition> parse_local_cache(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) {
    return Status::invalid_argument("\"" + text + "\" must be DIRECTORY:SIZE");
  }
  const Result<std::uint64_t> size = parse_size(text.substr(colon + 1));
  if (!size.ok()) return size.status();
  if (*size < RadosConnection::kLocalCacheBytesMin) return Status::invalid_argument("a local cache has at least 4MiB");
  return LocalCacheDefinition{text.substr(0, colon), *size};
}

Result<std::chrono::seconds> parse_drain_seconds(std::string_view text) {
  unsigned seconds = 0;
  if (!parse_number(text, seconds) || seconds < kDrainMin.count() || seconds > kDrainMaxSeconds) {
    return Status::invalid_argument("\"" + std::string(text) + "\" is not a whole number from 3 to 3600");
  }
  return std::chrono::seconds(seconds);
}

Result<DeadLetterDefinition> parse_dead_letter(const std::string& text) {
  constexpr std::uint32_t kDeliveriesMax = 1'000'000;
  const std::size_t slash = text.find('/');
  const std::size_t first = text.find(':', slash);
  const std::size_t second = first == std::string::npos ? first : text.find(':', first + 1);
  if (slash == std::string::npos || second == std::string::npos) {
    return Status::invalid_argument("\"" + text + "\" must be ACCOUNT/QUEUE:DELIVERIES:TARGET");
  }
  DeadLetterDefinition made{text.substr(0, slash), text.substr(slash + 1, first - slash - 1), 0,
                            text.substr(second + 1)};
  if (Status named = check_account_name(made.account); !named.ok()) return named;
  for (const std::string& queue : {made.queue, made.target}) {
    if (Status named = check_queue_name(queue); !named.ok()) return named;
  }
  if (made.queue == made.target) {
    return Status::invalid_argument("queue " + made.queue +
                                    " cannot take its own messages that were delivered too often");
  }
  const std::string number = text.substr(first + 1, second - first - 1);
  if (!parse_number(number, made.deliveries_max) || made.deliveries_max < 1 || made.deliveries_max > kDeliveriesMax) {
    return Status::invalid_argument("\"" + number + "\" is not a number of deliveries from 1 to 1000000");
  }
  return made;
}

Result<AccountDefinition> parse_account(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || colon == 0) {
    return Status::invalid_argument("an account must be NAME:@FILE, NAME:env=VARIABLE, NAME:KEY or NAME:KEY:KEY2");
  }
  AccountDefinition made{text.substr(0, colon)};
  const std::string rest = text.substr(colon + 1);
  if (rest == kMaskedKey) {
    return Status::invalid_argument("the key of account " + made.name +
                                    " was masked when the configuration was printed; give NAME:@FILE instead");
  }
  if (rest.starts_with('@')) {
    made.source = KeySource::kFile;
    made.where = rest.substr(1);
  } else if (rest.starts_with(kEnvironmentMark) && rest.size() > kEnvironmentMark.size()) {
    made.source = KeySource::kEnvironment;
    made.where = rest.substr(kEnvironmentMark.size());
  } else {
    made.where = rest;
  }
  return made;
}

std::string masked_account(const std::string& text) {
  const Result<AccountDefinition> parsed = parse_account(text);
  if (parsed.ok() && (*parsed).source != KeySource::kInline) return text;
  // A text that is not a definition may be a key.
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return std::string(kMaskedKey);
  return text.substr(0, colon + 1).append(kMaskedKey);
}

}  // namespace varve::serve

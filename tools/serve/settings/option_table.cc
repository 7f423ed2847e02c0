#include "tools/serve/settings/option_table.h"

#include <algorithm>
#include <array>

#include "tools/serve/settings/option_values.h"
#include "tools/serve/transport/memory_plan.h"

namespace varve::serve {
namespace {

constexpr std::array<std::string_view, 4> kStatusPages = {"auto", "off", "figures", "explore"};
constexpr std::array<std::string_view, 2> kVerifiedReads = {"off", "on"};
constexpr std::array<std::string_view, 2> kPublicBlobs = {"off", "allow"};
constexpr std::array<std::string_view, 2> kCompressBlobs = {"off", "on"};
constexpr std::array<std::string_view, 2> kExtensions = {"deny", "allow"};
constexpr std::array<std::string_view, 3> kRequestLogs = {"off", "failures", "all"};
constexpr std::array<std::string_view, 2> kLogFormats = {"text", "json"};

Status accept(const std::string& /*text*/) {
  return Status();
}

Status check_path(const std::string& text) {
  return text.empty() ? Status::invalid_argument("the path is empty") : Status();
}

Status check_address(const std::string& text) {
  return parse_address_port(text).status();
}

Status check_memory(const std::string& text) {
  const Result<std::uint64_t> size = parse_size(text);
  if (!size.ok()) return size.status();
  return plan_memory(*size, std::nullopt).status();
}

Status check_local_cache(const std::string& text) {
  return parse_local_cache(text).status();
}

Status check_drain_seconds(const std::string& text) {
  return parse_drain_seconds(text).status();
}

Status check_dead_letter(const std::string& text) {
  return parse_dead_letter(text).status();
}

Status check_account(const std::string& text) {
  return parse_account(text).status();
}

constexpr std::array<OptionRule, kOptions> kRules = {{
    {OptionId::kData,
     "data",
     "DIRECTORY",
     ValueKind::kText,
     "",
     {},
     check_path,
     false,
     "Directory of the store, or its address rados:POOL/NAME on Ceph; created if it is absent. Required"},
    {OptionId::kLocalCache,
     "local-cache",
     "DIRECTORY:SIZE",
     ValueKind::kText,
     "",
     {},
     check_local_cache,
     false,
     "For a store on Ceph: keep blocks that were read more than once, and new ones, in local files of this size, such "
     "as /var/cache/varve:20G. After a clean end, the next server begins with them. They need memory of a 256th of "
     "their size, which is taken from the memory of the server"},
    {OptionId::kVerifiedReads, "verified-reads", "WHETHER", ValueKind::kText, "off", kVerifiedReads, accept, false,
     "For a store on Ceph: whether each read asks the cluster if this server still owns the store. off: reads rest on "
     "a "
     "lease, and so on the clock of this machine. on: they rest on no clock of this machine, and take one more answer "
     "of "
     "the cluster, which all reads of a moment share"},
    {OptionId::kListen,
     "listen",
     "ADDRESS:PORT",
     ValueKind::kText,
     "127.0.0.1:10002",
     {},
     check_address,
     false,
     "Address of the service. An address that other machines can reach needs --account, --tls-cert and --tls-key"},
    {OptionId::kListenQueues,
     "listen-queues",
     "ADDRESS:PORT",
     ValueKind::kText,
     "",
     {},
     check_address,
     false,
     "Address of the queue service, such as 127.0.0.1:10001. It has the accounts, the TLS and the limits of --listen. "
     "Default: there is no queue service"},
    {OptionId::kListenBlobs,
     "listen-blobs",
     "ADDRESS:PORT",
     ValueKind::kText,
     "",
     {},
     check_address,
     false,
     "Address of the blob service, such as 127.0.0.1:10000. It has the accounts, the TLS and the limits of --listen. "
     "Default: there is no blob service"},
    {OptionId::kPublicBlobs, "public-blobs", "WHETHER", ValueKind::kText, "off", kPublicBlobs, accept, false,
     "Whether a container may be open to everybody. off: no blob is read without a key or a signature. allow: "
     "everybody "
     "reads the blobs of containers whose owner has set public access"},
    {OptionId::kCompressBlobs, "compress-blobs", "WHETHER", ValueKind::kText, "off", kCompressBlobs, accept, false,
     "Whether contents of blobs are compressed. on: each part of 1 MiB that shrinks by an eighth is compressed, unless "
     "the first part does not shrink or the blob has a content encoding; a read of a range then reads whole parts"},
    {OptionId::kDeadLetter,
     "dead-letter",
     "ACCOUNT/QUEUE:DELIVERIES:TARGET",
     ValueKind::kTexts,
     "",
     {},
     check_dead_letter,
     false,
     "Messages of QUEUE that were delivered DELIVERIES times move to the queue TARGET of the account, instead of being "
     "delivered again; may be repeated. TARGET is created if it is absent"},
    {OptionId::kExtensions, "extensions", "WHETHER", ValueKind::kText, "deny", kExtensions, accept, true,
     "Whether requests may use what the table service lacks: conditions of filters such as startswith(P,'x') and P in "
     "(1,2), $orderby, and indexes of tables. deny: they are refused as the service refuses them. allow: every client "
     "may use them. The owner of the store always may"},
    {OptionId::kAccount,
     "account",
     "NAME:@FILE",
     ValueKind::kTexts,
     "",
     {},
     check_account,
     true,
     "An account; may be repeated. The file has KEY or KEY:KEY2 in base64, and other users must not have access to it. "
     "NAME:env=VARIABLE reads the keys from the environment. NAME:KEY and NAME:KEY:KEY2 on the command line show the "
     "keys to everyone who can see it. Default, on an address of this machine only: the development account of client "
     "libraries, whose key is public"},
    {OptionId::kTlsCert,
     "tls-cert",
     "FILE",
     ValueKind::kText,
     "",
     {},
     check_path,
     true,
     "PEM file with the certificate chain; needs --tls-key"},
    {OptionId::kTlsKey,
     "tls-key",
     "FILE",
     ValueKind::kText,
     "",
     {},
     check_path,
     true,
     "PEM file with the private key; needs --tls-cert"},
    {OptionId::kMemory,
     "memory",
     "SIZE",
     ValueKind::kText,
     "",
     {},
     check_memory,
     false,
     "Memory of the server, such as 512MiB or 2G; at least 48MiB. One quarter each goes to the block cache, to the "
     "write buffer, and to bodies and unread answers; connections and everything else use the rest. Default: 256MiB "
     "for each of the three, or a quarter of the smallest memory limit (of the control groups, the process and the "
     "machine) if that is less"},
    {OptionId::kMetrics,
     "metrics",
     "ADDRESS:PORT",
     ValueKind::kText,
     "",
     {},
     check_address,
     false,
     "Address of a separate listener for /metrics (Prometheus) and /health"},
    {OptionId::kStatusPage, "status-page", "WHO", ValueKind::kText, "auto", kStatusPages, accept, false,
     "Who may see the page at /_varve/. auto: browsers on this machine, if --listen is an address of it; tables are "
     "shown with the development account only. figures: everyone who can reach --listen, without tables. explore: as "
     "figures, and tables for browsers on this machine, without a key. off: no browser"},
    {OptionId::kRequestLog, "request-log", "REQUESTS", ValueKind::kText, "off", kRequestLogs, accept, true,
     "Requests that get a line on standard error: none (off), those answered with 4xx or 5xx (failures), or all. Lines "
     "contain no signatures"},
    {OptionId::kLogFormat, "log-format", "FORMAT", ValueKind::kText, "text", kLogFormats, accept, true,
     "Form of the lines on standard error: text, or json with one object a line"},
    {OptionId::kDrainSeconds,
     "drain-seconds",
     "SECONDS",
     ValueKind::kNumber,
     "3",
     {},
     check_drain_seconds,
     true,
     "Longest time from SIGTERM to the end of the server, from 3 to 3600. The server ends earlier if no request is "
     "left. "
     "A second signal cuts it to 3 seconds"},
}};

constexpr bool is_in_order() noexcept {
  for (std::size_t i = 0; i < kRules.size(); ++i) {
    if (kRules[i].id != static_cast<OptionId>(i)) return false;
  }
  return true;
}
static_assert(is_in_order());

}  // namespace

std::span<const OptionRule> option_rules() noexcept {
  return kRules;
}

const OptionRule& rule_of(OptionId id) noexcept {
  return kRules[static_cast<std::size_t>(id)];
}

const OptionRule* find_option(std::string_view name) noexcept {
  const auto* const found =
      std::find_if(kRules.begin(), kRules.end(), [name](const OptionRule& rule) { return rule.name == name; });
  return found == kRules.end() ? nullptr : found;
}

Status check_value(const OptionRule& rule, const std::string& text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  if (std::any_of(text.begin(), text.end(), is_control)) {
    return Status::invalid_argument("the value must not have control characters");
  }
  if (rule.choices.empty()) return rule.check(text);
  if (std::find(rule.choices.begin(), rule.choices.end(), text) != rule.choices.end()) return Status();
  std::string why = "\"" + text + "\" is not one of";
  for (const std::string_view choice : rule.choices) why.append(" ").append(choice);
  return Status::invalid_argument(why);
}

}  // namespace varve::serve

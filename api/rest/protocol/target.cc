#include "api/rest/protocol/target.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "api/model/metrics_tables.h"
#include "api/model/percent.h"
#include "api/model/service_error.h"
#include "api/rest/protocol/member_names.h"
#include "api/rest/protocol/message.h"
#include "api/rest/protocol/wire_error.h"
#include "varve/names.h"

namespace varve::serve {
namespace {

constexpr std::string_view kSecondarySuffix = "-secondary";

/// Removes `-secondary` from the name. Returns whether the suffix was there.
bool take_secondary(std::string_view& account) noexcept {
  if (!account.ends_with(kSecondarySuffix)) return false;
  account.remove_suffix(kSecondarySuffix.size());
  return true;
}

bool is_ipv4(std::string_view host) noexcept {
  return std::all_of(host.begin(), host.end(), [](char c) { return (c >= '0' && c <= '9') || c == '.' || c == ':'; });
}

/// Returns the first label of the host, if more labels follow.
std::string_view first_label(std::string_view host) noexcept {
  const std::size_t dot = host.find('.');
  return dot == std::string_view::npos || is_ipv4(host) ? std::string_view() : host.substr(0, dot);
}

/// Returns the service that the host's second label names, if a further label follows.
std::optional<StorageService> service_of(std::string_view host) noexcept {
  host.remove_prefix(std::min(host.find('.'), host.size() - 1) + 1);
  const std::size_t dot = host.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view label = host.substr(0, dot);
  if (equal_ignoring_case(label, "table")) return StorageService::kTables;
  if (equal_ignoring_case(label, "queue")) return StorageService::kQueues;
  if (equal_ignoring_case(label, "blob")) return StorageService::kBlobs;
  return std::nullopt;
}

/// Removes and returns the text up to the next slash. The slash is removed too.
std::string_view take_segment(std::string_view& path) noexcept {
  const std::string_view segment = path.substr(0, path.find('/'));
  path.remove_prefix(std::min(segment.size() + 1, path.size()));
  return segment;
}

/// Returns whether the path's first segment is the account or its secondary, and a slash follows it.
bool begins_with_account(std::string_view path, std::string_view account) noexcept {
  if (path.find('/') == std::string_view::npos) return false;
  std::string_view segment = take_segment(path);
  take_secondary(segment);
  return segment == account;
}

std::optional<std::string> decoded_path(std::string_view path) {
  std::optional<std::string> decoded = percent_decode(path);
  return decoded && decoded->starts_with('/') ? std::move(decoded) : std::nullopt;
}
Status badly_encoded_path() {
  return refused("InvalidUri", "the path is badly encoded");
}

/// Parses the keys between the parentheses of an entity's address.
class PredicateReader {
 public:
  explicit PredicateReader(std::string_view text) noexcept : rest_(text) {}

  Status read(std::optional<std::string>& partition_key, std::optional<std::string>& row_key) {
    for (;;) {
      Result<std::string_view> name = take_name();
      if (!name.ok()) return name.status();
      std::optional<std::string>* const key = *name == kPartitionKey ? &partition_key
                                              : *name == kRowKey     ? &row_key
                                                                     : nullptr;
      if (key == nullptr || key->has_value())
        return refuse("an entity address must have PartitionKey and RowKey, each once");
      Result<std::string> value = take_value();
      if (!value.ok()) return value.status();
      *key = *std::move(value);
      skip_spaces();
      if (rest_.empty()) return Status();
      rest_.remove_prefix(1);  // take_value() saw that it is a comma
    }
  }

 private:
  static Status refuse(std::string_view what) { return service_error::invalid_input(what); }
  void skip_spaces() noexcept { rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size())); }

  /// Reads `Name=` and the quote after it.
  Result<std::string_view> take_name() {
    skip_spaces();
    const std::size_t equals = rest_.find('=');
    if (equals == std::string_view::npos) return refuse("a key must have the form Name='value'");
    const std::string_view name = trimmed(rest_.substr(0, equals));
    rest_.remove_prefix(equals + 1);
    skip_spaces();
    if (!rest_.starts_with('\'')) return refuse("a key's value must be in single quotes");
    rest_.remove_prefix(1);
    return name;
  }

  /// Reads up to the quote that ends the value: a quote before a comma or at the end. Any other single quote is part of
  /// the key, since some clients do not double quotes (H-03).
  Result<std::string> take_value() {
    std::string value;
    while (!rest_.empty()) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c != '\'') {
        value.push_back(c);
      } else if (rest_.starts_with('\'')) {
        value.push_back('\'');
        rest_.remove_prefix(1);
      } else {
        const std::string_view behind = rest_.substr(std::min(rest_.find_first_not_of(' '), rest_.size()));
        if (behind.empty() || behind.front() == ',') {
          rest_ = behind;
          return value;
        }
        if (begins_key(behind)) return refuse("two keys must be separated by a comma");
        value.push_back('\'');
      }
    }
    return refuse("the closing quote of a key's value is missing");
  }

  /// Returns whether the next key begins here, although the comma is missing.
  static bool begins_key(std::string_view text) noexcept {
    const std::string_view name = text.substr(0, text.find('='));
    return name.size() < text.size() && (trimmed(name) == kPartitionKey || trimmed(name) == kRowKey);
  }

  std::string_view rest_;
};

/// Checks the name of a table. A name of a wrong length and the reserved name pass: no such table can exist, and the
/// store reports that.
Status check_name(std::string_view table) {
  if (table.starts_with('$')) {
    if (metrics_table(table)) return Status();
    return service_error::table_not_found("no table of the service's own has this name");
  }
  const auto is_letter_or_digit = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  const bool can_be_name = !table.empty() && (table.front() < '0' || table.front() > '9') &&
                           std::all_of(table.begin(), table.end(), is_letter_or_digit);
  return can_be_name
             ? Status()
             : service_error::invalid_resource_name("a table name must be a letter followed by letters and digits");
}

/// Parses the part of `Tables('Orders')` after `Tables(`.
Result<Target> parse_table(std::string_view inside) {
  inside = trimmed(inside);
  if (inside.size() < 2 || inside.front() != '\'' || inside.back() != '\'') {
    return service_error::invalid_input("a table address must have the form Tables('Name')");
  }
  return Target{Resource::kTable, std::string(inside.substr(1, inside.size() - 2))};
}

Result<Target> parse_keys(Target target, std::string_view inside) {
  std::optional<std::string> partition_key;
  std::optional<std::string> row_key;
  if (Status read = PredicateReader(inside).read(partition_key, row_key); !read.ok()) return read;
  if (!partition_key) return service_error::invalid_input("the entity address lacks PartitionKey");
  target.resource = row_key ? Resource::kEntity : Resource::kPartition;
  target.partition_key = *std::move(partition_key);
  target.row_key = std::move(row_key).value_or(std::string());
  return target;
}

/// Appends a key between quotes, percent-encoded for a URL.
void append_key(std::string& reference, std::string_view key) {
  while (!key.empty()) {
    const std::size_t quote = std::min(key.find('\''), key.size());
    reference.append(percent_encode(key.substr(0, quote)));
    key.remove_prefix(quote);
    if (key.empty()) break;
    reference.append("''");
    key.remove_prefix(1);
  }
}

}  // namespace

Result<Address> parse_address(std::string_view path, std::string_view host, std::string_view scheme,
                              const std::function<bool(std::string_view account)>& is_known) {
  if (host.empty()) return refused("HostInformationNotPresent", "the request has no Host header");
  const std::optional<std::string> decoded = decoded_path(path);
  if (!decoded) return badly_encoded_path();
  std::string_view rest = std::string_view(*decoded).substr(1);
  Address address;
  address.root.reserve(scheme.size() + host.size() + rest.size() + 4);  // with the account
  address.root.append(scheme).append("://").append(host);
  std::string_view account = first_label(host);
  const bool is_host_secondary = take_secondary(account);
  const bool is_named_by_host = !account.empty() && is_known(account);
  address.is_secondary = is_named_by_host && is_host_secondary;
  if (is_named_by_host) address.service = service_of(host);
  address.is_path_style = !is_named_by_host || begins_with_account(rest, account);
  if (address.is_path_style) {
    account = take_segment(rest);
    address.root.append("/").append(account);
    address.is_secondary = take_secondary(account) || address.is_secondary;
    if (!check_account_name(account).ok()) return refused("InvalidUri", "the URL names no account");
  }
  address.account = account;
  address.resource = rest;
  return address;
}

Result<Address> parse_part_address(std::string_view path, std::string_view host, const Address& batch,
                                   std::string_view batch_host) {
  const std::optional<std::string> decoded = decoded_path(path);
  if (!decoded) return badly_encoded_path();
  std::string_view rest = std::string_view(*decoded).substr(1);
  Address address = batch;
  if (begins_with_account(rest, batch.account)) {
    std::string_view account = take_segment(rest);
    address.is_secondary = take_secondary(account);
  } else {
    std::string_view label = first_label(host);
    const bool is_secondary = take_secondary(label);
    const bool is_own = host.empty() || equal_ignoring_case(host, batch_host);
    const bool is_left_out = is_own || (batch.is_path_style && label.empty());
    if (label == batch.account) {
      address.is_secondary = is_secondary;
    } else if (!is_left_out) {
      return service_error::invalid_input("a part of the batch is for another account than the batch");
    }
  }
  address.resource = rest;
  return address;
}

Result<Target> parse_resource(std::string_view decoded) {
  if (decoded.empty()) return Target{Resource::kService};
  if (decoded == "$batch") return Target{Resource::kBatch};
  const std::size_t open = decoded.find('(');
  const std::string_view name = decoded.substr(0, open);
  const bool is_called = open != std::string_view::npos;
  if (is_called && !decoded.ends_with(')')) return service_error::invalid_input("a parenthesis is not closed");
  const std::string_view inside = is_called ? decoded.substr(open + 1, decoded.size() - open - 2) : std::string_view();
  if (name == "Tables") return inside.empty() ? Target{Resource::kTables} : parse_table(inside);
  if (Status named = check_name(name); !named.ok()) return named;
  Target target{Resource::kEntities, std::string(name)};
  if (inside.empty()) return target;
  return parse_keys(std::move(target), inside);
}

std::string entity_reference(std::string_view table, std::string_view partition_key, std::string_view row_key) {
  std::string reference(table);
  append_key(reference.append("(PartitionKey='"), partition_key);
  append_key(reference.append("',RowKey='"), row_key);
  return reference.append("')");
}

std::string table_reference(std::string_view table) {
  return "Tables('" + std::string(table) + "')";
}

}  // namespace varve::serve

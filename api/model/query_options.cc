// Owns: the syntax of request options (query_options.h).
// Must never: accept a name in another case than the service accepts.
#include "varve/query_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include "api/model/continuation_token.h"
#include "api/model/percent.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "varve/limits.h"

namespace varve {
namespace {

constexpr std::string_view kOrderBy = "$orderby";
constexpr std::array<std::string_view, 6> kNotImplemented = {kOrderBy,       "$skip",   "$count",
                                                             "$inlinecount", "$expand", "$skiptoken"};

Result<std::string> percent_decoded(std::string_view text) {
  std::optional<std::string> decoded = percent_decode(text, PlusSign::kSpace);
  if (!decoded) return service_error::invalid_input("two hex digits must follow % in " + quoted(text));
  return *std::move(decoded);
}

/// Returns the text before the separator, or all of it if there is no separator. Removes both from `rest`.
std::string_view take_until(char separator, std::string_view& rest) noexcept {
  std::size_t end = 0;
  while (end < rest.size() && rest[end] != separator) ++end;
  const std::string_view taken = rest.substr(0, end);
  rest = rest.substr(end == rest.size() ? end : end + 1);
  return taken;
}

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// Parses the value of `$top`.
Result<std::uint32_t> parse_top(std::string_view text) {
  std::uint32_t top = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), top);
  const bool whole = !text.empty() && error == std::errc() && end == text.data() + text.size();
  if (whole && top <= limits::kPageEntitiesMax) return top;
  return service_error::invalid_input("$top is " + quoted(text) + "; 0 to 1000 are allowed");
}

/// The options in a query string, each at most once.
struct Options {
  std::optional<std::string> filter;
  std::optional<std::string> top;
  std::optional<std::string> select;
  std::optional<std::string> next_partition_key;
  std::optional<std::string> next_row_key;
  std::optional<std::string> order_by;

  std::optional<std::string>* find(std::string_view name) noexcept {
    if (name == "$filter") return &filter;
    if (name == "$top") return &top;
    if (name == "$select") return &select;
    if (name == "NextPartitionKey") return &next_partition_key;
    if (name == "NextRowKey") return &next_row_key;
    if (name == kOrderBy) return &order_by;
    return nullptr;
  }
};

Result<Options> split(std::string_view query, bool may_order) {
  Options options;
  while (!query.empty()) {
    std::string_view option = take_until('&', query);
    const Result<std::string> name = percent_decoded(take_until('=', option));
    if (!name.ok()) return name.status();
    const bool is_order = may_order && *name == kOrderBy;
    if (!is_order && std::find(kNotImplemented.begin(), kNotImplemented.end(), *name) != kNotImplemented.end()) {
      return service_error::not_implemented("the query option " + *name + " is not implemented");
    }
    std::optional<std::string>* const known = options.find(*name);
    if (known == nullptr) continue;
    if (known->has_value()) return service_error::invalid_input("the query option " + *name + " is given twice");
    Result<std::string> value = percent_decoded(option);
    if (!value.ok()) return value.status();
    *known = *std::move(value);
  }
  return options;
}

/// Returns the token of a scan with an order. It has one word.
Result<std::string> ordered_continuation(const Options& options) {
  std::string token = options.next_partition_key.value_or("");
  if (token.empty()) return service_error::invalid_input("NextPartitionKey is empty; give it as the page before does");
  if (!options.next_row_key.value_or("").empty()) {
    return service_error::invalid_input("a continuation of a query with $orderby has no NextRowKey");
  }
  return token;
}

}  // namespace

Result<std::vector<std::string>> parse_select(std::string_view text) {
  std::vector<std::string> names;
  text = trimmed(text);
  if (text.empty() || text == "*") return names;
  const bool ends_in_comma = text.back() == ',';
  while (!text.empty() || ends_in_comma) {
    const std::string_view name = trimmed(take_until(',', text));
    if (name.empty()) return service_error::invalid_input("a name in $select is empty");
    if (names.size() == limits::kSelectedNamesMax) {
      return service_error::invalid_input("$select has more than 255 names; at most 255 are allowed");
    }
    names.emplace_back(name);
  }
  return names;
}

namespace {

Result<Scan> parse_options(std::string_view query, bool may_order) {
  Result<Options> options = split(query, may_order);
  if (!options.ok()) return options.status();
  Scan scan;
  scan.filter = std::move(options->filter).value_or("");
  if (options->top) {
    const Result<std::uint32_t> top = parse_top(*options->top);
    if (!top.ok()) return top.status();
    scan.page_entities_max = *top;
  }
  if (options->select) {
    Result<std::vector<std::string>> select = parse_select(*options->select);
    if (!select.ok()) return select.status();
    scan.read.select = *std::move(select);
  }
  scan.order_by = options->order_by.value_or("");
  const bool goes_on = options->next_partition_key || options->next_row_key;
  if (goes_on && !scan.order_by.empty()) {
    Result<std::string> token = ordered_continuation(*options);
    if (!token.ok()) return token.status();
    scan.continuation = *std::move(token);
  } else if (goes_on) {
    // The service may omit the RowKey, which means the beginning of the partition.
    scan.continuation =
        key_token_of(options->next_partition_key.value_or("")) + " " + key_token_of(options->next_row_key.value_or(""));
  }
  return scan;
}

}  // namespace

Result<Scan> parse_query_options(std::string_view query) {
  return parse_options(query, false);
}

Result<Scan> parse_ordered_query_options(std::string_view query) {
  return parse_options(query, true);
}

std::string context_suffix(const std::vector<std::string>& select) {
  std::string suffix;
  for (const std::string& name : select) suffix += (suffix.empty() ? "&$select=" : ",") + name;
  return suffix;
}

}  // namespace varve

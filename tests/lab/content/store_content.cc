#include "tests/lab/content/store_content.h"

#include <cstdio>
#include <type_traits>
#include <utility>
#include <variant>

namespace varve::lab {

void append_quoted(std::string& out, std::string_view text) {
  out.push_back('"');
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (byte < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", byte);
      out += escaped;
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
}

namespace {

bool same(const AccountInfo& left, const AccountInfo& right) {
  return left.name == right.name && left.created == right.created;
}

std::string hex_of(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

/// Returns exact text that is readable if possible. A Double is also written as its bits, so that -0.0 and NaN keep
/// their bits.
std::string text_of(const Value& value) {
  return std::visit(
      [](const auto& held) -> std::string {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, Binary>) return hex_of(held.bytes);
        if constexpr (std::is_same_v<T, bool>) return held ? "true" : "false";
        if constexpr (std::is_same_v<T, DateTime>) return std::to_string(held.ticks);
        if constexpr (std::is_same_v<T, double>) {
          char text[40];
          std::snprintf(text, sizeof text, "%a", held);
          return text;
        }
        if constexpr (std::is_same_v<T, Guid>) return held.to_string();
        if constexpr (std::is_same_v<T, LargeValue>)
          return std::to_string(held.id()) + "+" + std::to_string(held.length());
        if constexpr (std::is_same_v<T, std::string>) return held;
        if constexpr (std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t>) return std::to_string(held);
      },
      value.variant());
}

std::string line_of(const AccountInfo& account) {
  std::string line = "{\"account\":";
  append_quoted(line, account.name);
  return line + ",\"created\":" + std::to_string(account.created.ticks) + "}";
}

void append_policy(std::string& line, const AccessPolicy& policy) {
  line += "{\"id\":";
  append_quoted(line, policy.id);
  if (policy.start) line += ",\"start\":" + std::to_string(policy.start->ticks);
  if (policy.expiry) line += ",\"expiry\":" + std::to_string(policy.expiry->ticks);
  if (policy.permissions) line += ",\"permissions\":\"" + policy.permissions->to_string() + "\"";
  line += "}";
}

std::string line_of(const TableContent& table) {
  std::string line = "{\"table\":";
  append_quoted(line, table.account + "/" + table.name);
  line += ",\"created\":" + std::to_string(table.created.ticks) + ",\"policies\":[";
  for (std::size_t i = 0; i < table.policies.size(); ++i) {
    if (i > 0) line += ",";
    append_policy(line, table.policies[i]);
  }
  return line + "],\"entities\":" + std::to_string(table.entities.size()) + "}";
}

std::string line_of(const Entity& entity) {
  std::string line = "{\"entity\":[";
  append_quoted(line, entity.partition_key());
  line += ",";
  append_quoted(line, entity.row_key());
  line += "],\"etag\":" + std::to_string(entity.etag().timestamp().ticks) + ",\"properties\":[";
  bool first = true;
  for (const Property& property : entity.properties()) {
    if (!std::exchange(first, false)) line += ",";
    line += "[";
    append_quoted(line, property.name);
    line += ",\"" + std::string(property_type_name(property.value.type())) + "\",";
    append_quoted(line, text_of(property.value));
    line += "]";
  }
  return line + "]}";
}

Result<std::vector<AccountInfo>> list_accounts(const Store& store) {
  std::vector<AccountInfo> all;
  ListOptions options;
  for (;;) {
    Result<AccountPage> page = store.list_accounts(options);
    if (!page.ok()) return page.status();
    all.insert(all.end(), page->accounts.begin(), page->accounts.end());
    if (!page->continuation) return all;
    options.continuation = *page->continuation;
  }
}

Result<std::vector<TableInfo>> list_tables(const Store& store, const std::string& account) {
  std::vector<TableInfo> all;
  ListOptions options;
  for (;;) {
    Result<TablePage> page = store.list_tables(account, options);
    if (!page.ok()) return page.status();
    all.insert(all.end(), page->tables.begin(), page->tables.end());
    if (!page->continuation) return all;
    options.continuation = *page->continuation;
  }
}

/// Also keeps the entities that were read before an error.
Status scan_table(const Table& table, std::vector<Entity>& entities) {
  Scan scan;
  for (;;) {
    Result<Page> page = table.scan(scan);
    if (!page.ok()) return page.status();
    for (Entity& entity : page->entities) entities.push_back(std::move(entity));
    if (!page->continuation) return Status();
    scan.continuation = *page->continuation;
  }
}

/// Compares one open store, and records wrong answers and errors.
class Comparer {
 public:
  Comparer(const Store& store, const StoreContent& expected, std::size_t get_every)
      : store_(store), expected_(expected), get_every_(get_every) {}

  Comparison run() {
    const Result<std::vector<AccountInfo>> accounts = list_accounts(store_);
    if (refused(accounts.status())) return std::move(result_);
    if (accounts->size() != expected_.accounts.size()) wrong("the number of accounts");
    for (std::size_t i = 0; i < accounts->size() && i < expected_.accounts.size(); ++i) {
      if (!same((*accounts)[i], expected_.accounts[i])) wrong("account " + (*accounts)[i].name);
      compare_names(expected_.accounts[i].name);
    }
    for (const TableContent& table : expected_.tables) compare_table(table);
    const Result<std::optional<std::string>> tag = store_.last_tag();
    if (!refused(tag.status()) && *tag != expected_.last_tag) wrong("the last commit tag");
    return std::move(result_);
  }

 private:
  bool refused(const Status& status) {
    if (status.ok()) return false;
    result_.errors.push_back(status);
    return true;
  }
  void wrong(std::string what) {
    if (result_.wrong.empty()) result_.wrong = std::move(what);
  }

  void compare_names(const std::string& account) {
    const Result<std::vector<TableInfo>> tables = list_tables(store_, account);
    if (refused(tables.status())) return;
    std::size_t at = 0;
    for (const TableContent& table : expected_.tables) {
      if (table.account != account) continue;
      const bool is_there = at < tables->size() && (*tables)[at].name == table.name;
      if (!is_there || (*tables)[at].created != table.created) return wrong("table " + account + "/" + table.name);
      ++at;
    }
    if (at != tables->size()) wrong("account " + account + " has a table too many: " + (*tables)[at].name);
  }

  void compare_table(const TableContent& expected) {
    const std::string name = expected.account + "/" + expected.name;
    const Result<Table> table = store_.open_table(expected.account, expected.name);
    if (table.code() == Code::kNotFound) return wrong("table " + name + " is not there");
    if (refused(table.status())) return;
    const Result<std::vector<AccessPolicy>> policies = table->access_policies();
    if (!refused(policies.status()) && *policies != expected.policies) wrong("policies of " + name);
    compare_scan(*table, expected, name);
    for (std::size_t i = 0; i < expected.entities.size(); i += get_every_) {
      compare_get(*table, expected.entities[i], name);
    }
  }

  void compare_scan(const Table& table, const TableContent& expected, const std::string& name) {
    std::vector<Entity> found;
    const bool is_whole = !refused(scan_table(table, found));
    result_.entities_read += found.size();
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (i < expected.entities.size() && found[i] == expected.entities[i]) continue;
      return wrong("a scan of " + name + " gave " + line_of(found[i]) + " as number " + std::to_string(i));
    }
    if (is_whole && found.size() < expected.entities.size()) {
      wrong("a scan of " + name + " ended before " + line_of(expected.entities[found.size()]));
    }
  }

  void compare_get(const Table& table, const Entity& expected, const std::string& name) {
    const Result<std::optional<Entity>> found = table.get(expected.partition_key(), expected.row_key());
    if (!refused(found.status())) {
      ++result_.entities_read;
      if (!*found) wrong("a get in " + name + " did not find " + line_of(expected));
      if (*found && **found != expected) wrong("a get in " + name + " gave " + line_of(**found));
    }
    const Result<std::optional<Entity>> absent = table.get(expected.partition_key(), expected.row_key() + " ");
    if (!refused(absent.status()) && *absent) wrong("a get in " + name + " found what was never there");
  }

  const Store& store_;
  const StoreContent& expected_;
  const std::size_t get_every_;
  Comparison result_;
};

}  // namespace

std::vector<std::string> json_lines(const StoreContent& content) {
  std::vector<std::string> lines;
  for (const AccountInfo& account : content.accounts) lines.push_back(line_of(account));
  for (const TableContent& table : content.tables) {
    lines.push_back(line_of(table));
    for (const Entity& entity : table.entities) lines.push_back(line_of(entity));
  }
  if (content.last_tag) {
    std::string line = "{\"tag\":";
    append_quoted(line, *content.last_tag);
    lines.push_back(line + "}");
  }
  return lines;
}

Result<StoreContent> read_store_content(const Store& store) {
  StoreContent content;
  Result<std::vector<AccountInfo>> accounts = list_accounts(store);
  if (!accounts.ok()) return accounts.status();
  content.accounts = *std::move(accounts);
  for (const AccountInfo& account : content.accounts) {
    const Result<std::vector<TableInfo>> tables = list_tables(store, account.name);
    if (!tables.ok()) return tables.status();
    for (const TableInfo& info : *tables) {
      const Result<Table> table = store.open_table(account.name, info.name);
      if (!table.ok()) return table.status();
      Result<std::vector<AccessPolicy>> policies = table->access_policies();
      if (!policies.ok()) return policies.status();
      TableContent& added = content.tables.emplace_back();
      added.account = account.name;
      added.name = info.name;
      added.created = info.created;
      added.policies = *std::move(policies);
      if (Status scanned = scan_table(*table, added.entities); !scanned.ok()) return scanned;
    }
  }
  Result<std::optional<std::string>> tag = store.last_tag();
  if (!tag.ok()) return tag.status();
  content.last_tag = *std::move(tag);
  return content;
}

std::string difference(const StoreContent& expected, const StoreContent& found) {
  const std::vector<std::string> left = json_lines(expected);
  const std::vector<std::string> right = json_lines(found);
  for (std::size_t i = 0; i < left.size() || i < right.size(); ++i) {
    const std::string one = i < left.size() ? left[i] : "nothing";
    const std::string other = i < right.size() ? right[i] : "nothing";
    if (one != other) return "expected " + one + ", found " + other;
  }
  return std::string();
}

Comparison compare(const Store& store, const StoreContent& expected, std::size_t get_every) {
  return Comparer(store, expected, get_every).run();
}

}  // namespace varve::lab

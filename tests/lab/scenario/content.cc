#include "tests/lab/scenario/content.h"

#include <type_traits>
#include <variant>

#include "tests/lab/scenario/object_rows.h"

namespace varve::lab {
namespace {

constexpr char kSeparator = '\x1f';  // occurs in no key of the scenarios

std::string printable(std::string_view name) {
  std::string text;
  for (const char c : name) text += c == kSeparator ? '/' : c;
  return text;
}

Status read_entities(const Table& table, std::string_view account, std::string_view name, Content& content) {
  Scan scan;
  while (true) {
    const Result<Page> page = table.scan(scan);
    if (!page.ok()) return page.status();
    for (const Entity& entity : page->entities) {
      Row& row = content[entity_name(account, name, entity.partition_key(), entity.row_key())];
      row = row_of(entity, entity.timestamp().ticks);
      if (Status read = read_large_values(table, entity, row); !read.ok()) return read;
    }
    if (!page->continuation) return {};
    scan.continuation = *page->continuation;
  }
}

Status read_tables(const Store& store, const std::string& account, Content& content) {
  ListOptions options;
  while (true) {
    const Result<TablePage> page = store.list_tables(account, options);
    if (!page.ok()) return page.status();
    for (const TableInfo& info : page->tables) {
      const Result<std::vector<AccessPolicy>> policies = store.access_policies(account, info.name);
      if (!policies.ok()) return policies.status();
      content[table_name(account, info.name)] = policies_row(*policies);
      const Result<Table> table = store.open_table(account, info.name);
      if (!table.ok()) return table.status();
      if (Status read = read_entities(*table, account, info.name, content); !read.ok()) return read;
      const Result<std::vector<IndexInfo>> indexes = store.indexes(account, info.name);
      if (!indexes.ok()) return indexes.status();
      for (const IndexInfo& index : *indexes) {
        content[index_name(account, info.name, index.definition.name)] = index_row(index.state);
      }
    }
    if (!page->continuation) return {};
    options.continuation = *page->continuation;
  }
}

std::string text_of(const Row& row) {
  std::string text = "(version " + std::to_string(row.version);
  for (const auto& [name, value] : row.properties) text += ", " + name + " " + value.substr(0, 20);
  return text + ")";
}

bool equal(const Row& expected, const Row& found) {
  return expected.properties == found.properties && (expected.version == 0 || expected.version == found.version);
}

}  // namespace

std::string account_name(std::string_view account) {
  return std::string(account);
}

std::string table_name(std::string_view account, std::string_view table) {
  return std::string(account) + kSeparator + std::string(table);
}

std::string entity_name(std::string_view account, std::string_view table, std::string_view partition_key,
                        std::string_view row_key) {
  return table_name(account, table) + kSeparator + std::string(partition_key) + kSeparator + std::string(row_key);
}

std::string index_name(std::string_view account, std::string_view table, std::string_view index) {
  return entity_name(account, table, "!index", index);  // no partition of the scenarios
}

void erase_below(Content& content, const std::string& name) {
  content.erase(name);
  const auto first = content.lower_bound(name + kSeparator);
  const auto last = content.lower_bound(name + static_cast<char>(kSeparator + 1));
  content.erase(first, last);
}

std::string text_of(const Value& value) {
  return std::visit(
      [](const auto& held) {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, Binary>) return "b:" + held.bytes;
        if constexpr (std::is_same_v<T, std::string>) return "s:" + held;
        if constexpr (std::is_same_v<T, DateTime>) return "t:" + std::to_string(held.ticks);
        if constexpr (std::is_same_v<T, Guid>) return "g:" + held.to_string();
        if constexpr (std::is_same_v<T, LargeValue>) return "c:" + std::to_string(held.id());
        if constexpr (std::is_same_v<T, bool>) return std::string(held ? "true" : "false");
        if constexpr (std::is_same_v<T, double>) return "d:" + std::to_string(held);
        if constexpr (std::is_same_v<T, std::int32_t>) return "i:" + std::to_string(held);
        if constexpr (std::is_same_v<T, std::int64_t>) return "l:" + std::to_string(held);
      },
      value.variant());
}

Row row_of(const Entity& entity, std::uint64_t version) {
  Row row;
  for (const Property& property : entity.properties()) row.properties[property.name] = text_of(property.value);
  row.version = version;
  return row;
}

Row policies_row(std::span<const AccessPolicy> policies) {
  Row row;
  for (const AccessPolicy& policy : policies) {
    row.properties["policy " + policy.id] = (policy.start ? std::to_string(policy.start->ticks) : "-") + " " +
                                            (policy.expiry ? std::to_string(policy.expiry->ticks) : "-");
  }
  return row;
}

Row index_row(IndexState state) {
  Row row;
  row.properties["state"] = std::to_string(static_cast<int>(state));
  return row;
}

Result<Content> read_content(const Store& store) {
  Content content;
  ListOptions options;
  while (true) {
    const Result<AccountPage> page = store.list_accounts(options);
    if (!page.ok()) return page.status();
    for (const AccountInfo& info : page->accounts) {
      content[account_name(info.name)] = {};
      if (Status read = read_tables(store, info.name, content); !read.ok()) return read;
      if (Status read = read_objects(store, info.name, content); !read.ok()) return read;
    }
    if (!page->continuation) break;
    options.continuation = *page->continuation;
  }
  const Result<std::optional<std::string>> tag = store.last_tag();
  if (!tag.ok()) return tag.status();
  if (*tag) content[std::string(kTagName)].properties["tag"] = **tag;
  return content;
}

std::string difference(const Content& expected, const Content& found) {
  std::string text;
  int told = 0;
  const auto tell = [&](std::string_view how, const std::string& name) {
    if (++told <= 5) text += (text.empty() ? "" : ", ") + std::string(how) + " " + printable(name);
  };
  for (const auto& [name, row] : expected) {
    const auto there = found.find(name);
    if (there == found.end()) {
      tell("lost", name);
    } else if (!equal(row, there->second)) {
      tell("wrong " + text_of(there->second) + " and not " + text_of(row) + " in", name);
    }
  }
  for (const auto& [name, row] : found) {
    if (!expected.contains(name)) tell("not expected", name);
  }
  if (told > 5) text += ", and " + std::to_string(told - 5) + " more";
  return text;
}

}  // namespace varve::lab

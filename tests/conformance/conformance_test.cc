// Goal: the C++ interface passes the cases that C and Python pass, too.
// Method: each line of tests/conformance/*.jsonl is a case; generate.py there describes the steps.
#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <stdlib.h>

#include "varve/store.h"

namespace varve::conformance_test {
namespace {

using Json = nlohmann::json;

std::string from_hexadecimal(const std::string& digits) {
  std::string bytes;
  for (std::size_t at = 0; at + 1 < digits.size(); at += 2) {
    bytes.push_back(static_cast<char>(std::stoul(digits.substr(at, 2), nullptr, 16)));
  }
  return bytes;
}

/// Expands @repeat:TEXT:COUNT and @bytes:HEX.
std::string expanded(const std::string& text) {
  if (text.starts_with("@bytes:")) return from_hexadecimal(text.substr(7));
  if (!text.starts_with("@repeat:")) return text;
  const std::size_t colon = text.find(':', 8);
  std::string made;
  for (std::size_t left = std::stoul(text.substr(colon + 1)); left > 0; --left) made += text.substr(8, colon - 8);
  return made;
}

std::string text_in(const Json& step, const char* name) {
  return step.contains(name) ? expanded(step.at(name).get<std::string>()) : std::string();
}

Value value_of(const std::string& kind, const std::string& text) {
  if (kind == "binary") return Binary{from_hexadecimal(text)};
  if (kind == "boolean") return text == "true";
  if (kind == "datetime") return *DateTime::parse(text);
  if (kind == "double") return std::strtod(text.c_str(), nullptr);
  if (kind == "guid") return *Guid::parse(text);
  if (kind == "int32") return static_cast<std::int32_t>(std::stol(text));
  if (kind == "int64") return std::int64_t{std::stoll(text)};
  return Value(text);
}

Entity entity_of(const std::string& pk, const std::string& rk, const Json& properties) {
  Entity entity(pk, rk);
  for (const Json& one : properties) {
    const std::string name = one.at(0);
    const std::string text = one.at(2);
    if (name != "@many") {
      entity.add(expanded(name), value_of(one.at(1), expanded(text)));
      continue;
    }
    for (std::int32_t i = 0; i < std::stoi(text); ++i) entity.add("P" + std::to_string(i), Value(i));
  }
  return entity;
}

Entity entity_in(const Json& step) {
  return entity_of(text_in(step, "pk"), text_in(step, "rk"), step.value("props", Json::array()));
}

bool same(const Value& found, const Value& expected) {
  const double* const number = found.get_if<double>();
  const double* const other = expected.get_if<double>();
  if (number == nullptr || other == nullptr) return found == expected;
  return std::bit_cast<std::uint64_t>(*number) == std::bit_cast<std::uint64_t>(*other) ||
         (std::isnan(*number) && std::isnan(*other));
}

/// Runs the steps of one case.
class Case {
 public:
  Case(Store& store, const std::string& table) : store_(store), full_(*store.create_table("acct", table)) {
    table_ = full_;
  }

  Status run(const Json& step) {
    const std::string verb = step.at("do");
    if (verb == "get") return get(step);
    if (verb == "get_many" || verb == "read") return get_many(step, verb == "read");
    if (verb == "scan") return scan(step);
    if (verb == "count") return count(step);
    if (verb == "execute") return execute(step);
    if (verb == "begin") {
      transaction_.emplace(*store_.begin_transaction());
      return Status();
    }
    if (verb == "check") return check(step);
    if (verb == "add") return add(step.at("operation"));
    if (verb == "commit") return transaction_->commit().status();
    if (verb == "restrict") return restrict(step);
    if (verb == "parse") return parse(step);
    const std::string name = text_in(step, "name");
    if (verb == "create_table") return store_.create_table("acct", name).status();
    if (verb == "open_table") return store_.open_table("acct", name).status();
    if (verb == "drop_table") return store_.drop_table("acct", name);
    if (verb == "create_account") return store_.create_account(name);
    if (verb == "drop_account") return store_.drop_account(name);
    return write(step, verb);
  }

 private:
  ETag match(const Json& step) const {
    const std::string name = step.value("match", "none");
    if (name == "any") return ETag::any();
    if (name == "first") return etags_.front();
    if (name == "last") return etags_.back();
    if (name == "foreign") return *ETag::parse("W/\"foreign\"");
    return ETag();
  }

  Status write(const Json& step, const std::string& verb) {
    if (step.contains("only_if")) return table_->write(operation(step, verb)).status();
    const Entity entity = entity_in(step);
    if (verb == "remove") return table_->remove(entity.partition_key(), entity.row_key(), match(step));
    const Result<ETag> written = verb == "insert"              ? table_->insert(entity)
                                 : verb == "replace"           ? table_->replace(entity, match(step))
                                 : verb == "merge"             ? table_->merge(entity, match(step))
                                 : verb == "insert_or_replace" ? table_->insert_or_replace(entity)
                                                               : table_->insert_or_merge(entity);
    if (written.ok()) etags_.push_back(*written);
    return written.status();
  }

  Status get(const Json& step) {
    ReadOptions options;
    options.select = step.value("select", std::vector<std::string>());
    const Result<std::optional<Entity>> found = table_->get(text_in(step, "pk"), text_in(step, "rk"), options);
    if (!found.ok()) return found.status();
    EXPECT_EQ(found->has_value(), !step.at("found").is_null());
    if (!found->has_value() || step.at("found").is_null()) return Status();
    const Entity expected = entity_of("", "", step.at("found"));
    EXPECT_EQ((*found)->properties().size(), expected.properties().size());
    const std::size_t count = std::min((*found)->properties().size(), expected.properties().size());
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ((*found)->properties()[i].name, expected.properties()[i].name);
      EXPECT_TRUE(same((*found)->properties()[i].value, expected.properties()[i].value))
          << expected.properties()[i].name;
    }
    return Status();
  }

  Status get_many(const Json& step, bool in_transaction) {
    std::vector<EntityKey> keys;
    for (const Json& key : step.at("keys")) keys.push_back({key.at(0), key.at(1)});
    const Result<std::vector<std::optional<Entity>>> found =
        in_transaction ? transaction_->get_many(*table_, keys) : table_->get_many(keys);
    if (!found.ok()) return found.status();
    std::vector<bool> exist;
    for (const std::optional<Entity>& one : *found) exist.push_back(one.has_value());
    EXPECT_EQ(exist, step.at("found").get<std::vector<bool>>());
    return Status();
  }

  static Scan scan_of(const Json& step) {
    const std::string range = step.value("range", "table");
    const std::string from = text_in(step, "start");
    const std::optional<std::string> to = step.contains("end") ? std::optional(text_in(step, "end")) : std::nullopt;
    Scan scan;
    if (range == "partition") scan.range = ScanRange::partition(text_in(step, "partition"));
    if (range == "rows") scan.range = ScanRange::rows(text_in(step, "partition"), from, to);
    if (range == "row_prefix") scan.range = ScanRange::rows_with_prefix(text_in(step, "partition"), from);
    if (range == "partitions") scan.range = ScanRange::partitions(from, to);
    scan.filter = text_in(step, "filter");
    scan.order_by = text_in(step, "order_by");
    scan.continuation = text_in(step, "continuation");
    scan.backward = step.value("backward", false);
    scan.page_entities_max = step.value("page_size", scan.page_entities_max);
    if (step.contains("take")) scan.take = step.at("take").get<std::uint64_t>();
    return scan;
  }

  Status scan(const Json& step) {
    std::vector<std::string> rows;
    for (Scan request = scan_of(step);;) {
      const Result<Page> page = table_->scan(request);
      if (!page.ok()) return page.status();
      for (const Entity& entity : page->entities) rows.push_back(entity.partition_key() + "/" + entity.row_key());
      if (!page->continuation) break;
      request.continuation = *page->continuation;
    }
    EXPECT_EQ(rows, step.at("rows").get<std::vector<std::string>>());
    return Status();
  }

  Status check(const Json& step) {
    const Result<Page> page = transaction_->scan_checked(*table_, scan_of(step));
    if (!page.ok()) return page.status();
    std::vector<std::string> rows;
    for (const Entity& entity : page->entities) rows.push_back(entity.partition_key() + "/" + entity.row_key());
    EXPECT_EQ(rows, step.at("rows").get<std::vector<std::string>>());
    return Status();
  }

  Status count(const Json& step) {
    const Result<Count> counted = table_->count(scan_of(step));
    if (!counted.ok()) return counted.status();
    EXPECT_EQ(counted->entities, step.at("count").get<std::uint64_t>());
    return Status();
  }

  WriteOperation operation(const Json& step, const std::string& kind) const {
    static const std::map<std::string, WriteOperation::Kind> kinds = {
        {"insert", WriteOperation::Kind::kInsert},
        {"replace", WriteOperation::Kind::kReplace},
        {"merge", WriteOperation::Kind::kMerge},
        {"insert_or_replace", WriteOperation::Kind::kInsertOrReplace},
        {"insert_or_merge", WriteOperation::Kind::kInsertOrMerge},
        {"remove", WriteOperation::Kind::kRemove}};
    return WriteOperation{kinds.at(kind), entity_in(step), match(step)}.only_if(text_in(step, "only_if"));
  }

  Status execute(const Json& step) {
    EntityGroupTransaction group;
    for (const Json& one : step.at("operations")) group.add(operation(one, one.at("kind")));
    return table_->execute(group).status();
  }

  Status add(const Json& step) {
    transaction_->add(*table_, operation(step, step.at("kind")));
    return Status();
  }

  Status restrict(const Json& step) {
    Access access;
    access.permissions = *Permissions::parse(step.at("permissions").get<std::string>());
    const auto bound = [&step](const char* side) -> std::optional<KeyBound> {
      if (!step.contains(side)) return std::nullopt;
      KeyBound made{step.at(side).at(0)};
      if (step.at(side).size() > 1) made.row_key = step.at(side).at(1);
      return made;
    };
    access.interval = {bound("start"), bound("end")};
    Result<Table> restricted = full_.restricted_to(access);
    if (!restricted.ok()) return restricted.status();
    table_ = *std::move(restricted);
    return Status();
  }

  static Status parse(const Json& step) {
    const auto compare = [&step](const auto& parsed) -> Status {
      if (parsed.ok()) {
        EXPECT_EQ(parsed->to_string(), step.value("out", ""));
      }
      return parsed.status();
    };
    const std::string text = step.at("text");
    if (step.at("what") == "etag") return compare(ETag::parse(text));
    if (step.at("what") == "datetime") return compare(DateTime::parse(text));
    return compare(Guid::parse(text));
  }

  Store& store_;
  Table full_;
  std::optional<Table> table_;
  std::optional<StoreTransaction> transaction_;
  std::vector<ETag> etags_;
};

TEST(Conformance, EveryCasePasses) {
  std::string directory = (std::filesystem::temp_directory_path() / "varve-conformance-XXXXXX").string();
  ASSERT_NE(::mkdtemp(directory.data()), nullptr);
  StoreOptions options;
  options.create_if_absent = true;
  options.default_durability = Durability::kBuffered;
  Result<std::unique_ptr<Store>> store = Store::open(directory, options);
  ASSERT_TRUE(store.ok()) << store.status().to_string();
  ASSERT_TRUE((*store)->create_account("acct").ok());
  int number = 0;
  for (const auto& file : std::filesystem::directory_iterator(VARVE_SOURCE_DIR "/tests/conformance")) {
    if (file.path().extension() != ".jsonl") continue;
    std::ifstream in(file.path());
    for (std::string line; std::getline(in, line);) {
      const Json test = Json::parse(line);
      Case current(**store, "Case" + std::to_string(++number));
      std::size_t at = 0;
      for (const Json& step : test.at("steps")) {
        SCOPED_TRACE(test.at("case").get<std::string>() + ", step " + std::to_string(at++));
        const Status status = current.run(step);
        EXPECT_EQ(code_name(status.code()), step.value("code", "Ok")) << status.to_string();
        EXPECT_EQ(status.service_error(), step.value("error", "")) << status.to_string();
        if (step.contains("index")) {
          EXPECT_EQ(status.operation_index(), step.at("index").get<std::uint32_t>());
        }
      }
    }
  }
  EXPECT_GE(number, 150);
  store->reset();
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace varve::conformance_test

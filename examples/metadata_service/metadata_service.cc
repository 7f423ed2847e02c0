// SPDX-License-Identifier: Apache-2.0
// Owns: the names of a storage product: directories and files, each under the id of its parent directory.
// Must never: hold the content of a file, or make a directory its own ancestor.
//
// One table, Names. The PartitionKey of an entry is the id of its parent, and the RowKey is its name. So a directory
// is one partition, and its names are sorted. A move changes one entry: the contents of a directory refer to its id.
#include <charconv>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <varve/if_exists.h>
#include <varve/keys.h>
#include <varve/query_builder.h>
#include <varve/store.h>

#include "entry.h"

namespace {

using namespace varve;
using names::Entry;
using names::Kind;

constexpr std::string_view kUsage =
    "usage: metadata_service DIRECTORY mkdir PATH\n"
    "       metadata_service DIRECTORY create PATH BYTES\n"
    "       metadata_service DIRECTORY list PATH [PREFIX [PAGE_SIZE [CONTINUATION]]]\n"
    "       metadata_service DIRECTORY move FROM TO\n";
constexpr std::string_view kAccount = "example";
constexpr std::string_view kRootId = "root";

/// Keys or ids, one for each part of a path.
using Path = std::vector<std::string>;

/// Splits "/a/b" into the keys of its names. The path "/" has none.
Result<Path> keys_of(const std::string& path) {
  Path keys;
  std::istringstream rest(path);
  for (std::string name; std::getline(rest, name, '/');) {
    const Result<std::string> key = escape_key(name);
    if (!key.ok()) return key.status();
    if (!name.empty()) keys.push_back(*key);
  }
  return keys;
}

/// Returns the number, or -1 if the text is no number of 0 or more.
std::int64_t number_from(std::string_view text) {
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0 ? number : -1;
}

/// Returns the entry of a name. If the entry changes before the transaction commits, the commit is refused.
Result<Entry> find(StoreTransaction& transaction, const Table& table, const std::string& parent,
                   const std::string& key) {
  const Result<std::optional<Entity>> entity = transaction.get(table, parent, key);
  if (!entity.ok()) return entity.status();
  if (!entity->has_value()) return Status::not_found("a name of the path does not exist");
  return from_entity<Entry>(**entity);
}

/// Returns the ids of the directories along the path, beginning with the root.
Result<Path> ids_along(StoreTransaction& transaction, const Table& table, const Path& path) {
  Path ids = {std::string(kRootId)};
  for (const std::string& key : path) {
    const Result<Entry> entry = find(transaction, table, ids.back(), key);
    if (!entry.ok()) return entry.status();
    if (entry->kind != Kind::kDirectory) return Status::invalid_argument("a name of the path is a file");
    ids.push_back(entry->id);
  }
  return ids;
}

/// Adds an entry. Fails with kExists if the name is taken.
Status add(const Store& store, const Table& table, Path path, Kind kind, std::int64_t bytes) {
  if (path.empty()) return Status::exists("the root exists");
  Entry entry{"", path.back(), names::new_id(), kind, bytes, ETag()};
  path.pop_back();
  const auto body = [&](StoreTransaction& transaction) -> Status {
    const Result<Path> ids = ids_along(transaction, table, path);
    if (!ids.ok()) return ids.status();
    entry.parent = ids->back();
    const Result<Entity> entity = to_entity(entry);
    if (!entity.ok()) return entity.status();
    transaction.insert(table, *entity);
    return {};
  };
  return store.transact(body).status();
}

/// Moves an entry to another name, often in another directory, which is another partition. Both names change in one
/// commit. Every directory on both paths is read by get(), so two moves cannot put two directories into each other.
Status move(const Store& store, const Table& table, Path from, Path to) {
  if (from.empty() || to.empty()) return Status::invalid_argument("the root cannot be moved or replaced");
  const std::string old_key = from.back();
  const std::string new_key = to.back();
  from.pop_back();
  to.pop_back();
  const auto body = [&](StoreTransaction& transaction) -> Status {
    const Result<Path> sources = ids_along(transaction, table, from);
    if (!sources.ok()) return sources.status();
    const Result<Path> targets = ids_along(transaction, table, to);
    if (!targets.ok()) return targets.status();
    Result<Entry> entry = find(transaction, table, sources->back(), old_key);
    if (!entry.ok()) return entry.status();
    for (const std::string& id : *targets) {
      if (id == entry->id) return Status::invalid_argument("a directory cannot be moved below itself");
    }
    transaction.remove(table, entry->parent, entry->key, entry->etag);
    entry->parent = targets->back();
    entry->key = new_key;
    const Result<Entity> entity = to_entity(*entry);
    if (!entity.ok()) return entity.status();
    transaction.insert(table, *entity);
    return {};
  };
  return store.transact(body).status();
}

/// Prints one page of names that begin with the prefix, and the token of the next page.
Status list(const Store& store, const Table& table, const Path& path, const std::vector<std::string>& arguments) {
  Result<StoreTransaction> reads = store.begin_transaction();
  if (!reads.ok()) return reads.status();
  const Result<Path> ids = ids_along(*reads, table, path);
  if (!ids.ok()) return ids.status();
  const Result<std::string> prefix = escape_key(arguments.size() > 2 ? arguments[2] : "");
  if (!prefix.ok()) return prefix.status();
  const std::int64_t size = arguments.size() > 3 ? number_from(arguments[3]) : limits::kPageEntitiesMax;
  if (size < 1 || size > limits::kPageEntitiesMax) return Status::invalid_argument("PAGE_SIZE must be 1 to 1000");
  Query<Entry> query;
  query.in(ScanRange::rows_with_prefix(ids->back(), *prefix)).page_entities(static_cast<std::uint32_t>(size));
  if (arguments.size() > 4) query.continue_from(arguments[4]);
  const Result<std::optional<Page>> page = query.pages(table).next();
  if (!page.ok()) return page.status();
  if (!page->has_value()) return {};
  for (const Entity& entity : (*page)->entities) {
    const Result<Entry> entry = from_entity<Entry>(entity);
    if (!entry.ok()) return entry.status();
    const Result<std::string> name = unescape_key(entry->key);
    if (!name.ok()) return name.status();
    std::cout << *name << (entry->kind == Kind::kDirectory ? "/" : " " + std::to_string(entry->bytes)) << "\n";
  }
  if ((*page)->continuation) std::cout << "next page: " << *(*page)->continuation << "\n";
  return {};
}

/// Returns Ok, or the reason why the command failed. `arguments` are those after DIRECTORY.
Status run(Store& store, const std::vector<std::string>& arguments) {
  if (Status made = create_account_if_absent(store, kAccount); !made.ok()) return made;
  const Result<Table> table = create_table_if_absent(store, kAccount, "Names");
  if (!table.ok()) return table.status();
  const std::string& command = arguments[0];
  const Result<Path> path = keys_of(arguments[1]);
  if (!path.ok()) return path.status();
  if (command == "list" && arguments.size() <= 5) return list(store, *table, *path, arguments);
  Status done = Status::invalid_argument("unknown command; run the program without arguments for help");
  if (command == "mkdir" && arguments.size() == 2) done = add(store, *table, *path, Kind::kDirectory, 0);
  if (command == "create" && arguments.size() == 3) {
    const std::int64_t bytes = number_from(arguments[2]);
    done = bytes < 0 ? Status::invalid_argument("BYTES must be an integer, 0 or more")
                     : add(store, *table, *path, Kind::kFile, bytes);
  }
  if (command == "move" && arguments.size() == 3) {
    const Result<Path> target = keys_of(arguments[2]);
    done = target.ok() ? move(store, *table, *path, *target) : target.status();
  }
  if (done.ok()) std::cout << command << " " << arguments[1] << ": done\n";
  return done;
}

/// Returns the exit code: 0 done, 1 failed, 2 invalid arguments, 3 no such name or it exists, 4 unknown outcome.
int report(const Status& status) {
  if (status.ok()) return 0;
  std::cerr << "metadata_service: " << status.to_string() << "\n";
  if (status.code() == Code::kInvalidArgument) return 2;
  if (status.code() == Code::kNotFound || status.code() == Code::kExists) return 3;
  return status.code() == Code::kUnknown ? 4 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() < 3) {
    std::cerr << kUsage;
    return 2;
  }
  Result<std::unique_ptr<Store>> store = Store::open(arguments[0], {.create_if_absent = true});
  if (!store.ok()) return report(store.status());
  const int code = report(run(**store, {arguments.begin() + 1, arguments.end()}));
  const int closed = report((*store)->close());
  return code != 0 ? code : closed;
}

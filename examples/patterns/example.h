// Owns: the environment of a pattern program: a store of its own that is removed at the end, and claims that are
// printed, and counted if they are false.
// Must never: do a part of a pattern: the programs show all parts.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <varve/if_exists.h>
#include <varve/keys.h>
#include <varve/large_value.h>
#include <varve/mapping.h>
#include <varve/parts.h>
#include <varve/query_builder.h>
#include <varve/store.h>
#include <varve/store_transaction.h>
#include <varve/typed_table.h>

namespace varve::patterns {

class Example {
 public:
  /// `limits` are those of the store.
  explicit Example(std::string_view title, const StoreLimits& limits = {}) {
    std::cout << title << "\n";
    std::string name = (std::filesystem::temp_directory_path() / "varve-pattern-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) fail("no temporary directory");
    directory_ = name;
    // Buffered: a power cut may lose the last milliseconds of an example.
    store_ = must(Store::open(
        name + "/store", {.create_if_absent = true, .default_durability = Durability::kBuffered, .limits = limits}));
    must(store_->create_account("examples"));
  }
  ~Example() {
    store_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  Example(const Example&) = delete;
  Example& operator=(const Example&) = delete;

  Store& store() { return *store_; }
  /// A place for other files of the example. It is removed at the end.
  std::string directory() const { return directory_.string(); }
  Table table(std::string_view name) { return must(create_table_if_absent(*store_, "examples", name)); }

  /// Returns the value, or ends the program: an example cannot continue.
  template <typename T>
  static T must(Result<T> result) {
    if (!result.ok()) fail(result.status().to_string());
    return *std::move(result);
  }
  static void must(const Status& status) {
    if (!status.ok()) fail(status.to_string());
  }
  template <typename T>
  static T must(Result<std::optional<T>> result) {
    if (!result.ok()) fail(result.status().to_string());
    if (!result->has_value()) fail("nothing was found");
    return **std::move(result);
  }

  /// Prints a claim, and records if it is false.
  void show(bool holds, std::string_view what) {
    std::cout << (holds ? "  " : "  WRONG: ") << what << "\n";
    failures_ += holds ? 0 : 1;
  }
  /// Counts entities that were read to answer the questions of the program.
  void reads(std::uint64_t entities) { reads_ += entities; }
  /// Prints the number of entities read, and returns the exit code for main().
  int end() const {
    std::cout << "  entities read: " << reads_ << "\n";
    return failures_ == 0 ? 0 : 1;
  }

 private:
  [[noreturn]] static void fail(std::string_view why) {
    std::cerr << "failed: " << why << "\n";
    std::exit(1);
  }

  std::filesystem::path directory_;
  std::unique_ptr<Store> store_;
  int failures_ = 0;
  std::uint64_t reads_ = 0;
};

}  // namespace varve::patterns

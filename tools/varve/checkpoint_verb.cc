// Owns: `checkpoint`: creating a separate store with the present content of another store.
// Must never: write to a directory that is not empty.
#include <iostream>

#include <nlohmann/json.hpp>

#include "tools/varve/session/verbs.h"
#include "tools/varve/session/words.h"
#include "tools/varve/terminal/outcome.h"
#include "tools/varve/terminal/progress.h"

namespace varve::tool {

namespace {

struct CheckpointWords {
  Place place;
  std::string directory;
  bool json = false;
};

std::string files_text(std::uint64_t count, std::uint64_t bytes) {
  return with_commas(count) + (count == 1 ? " file" : " files") + " of " + bytes_text(bytes);
}

void print(const CheckpointStatistics& made, const std::string& directory, std::chrono::nanoseconds elapsed) {
  std::cout << "checkpoint " << directory << " in " << duration_text(elapsed) << "\n"
            << "version    " << made.version.to_string() << "\n"
            << "linked     " << files_text(made.files_linked, made.linked_bytes) << "\n";
  if (made.files_copied > 0) std::cout << "copied     " << files_text(made.files_copied, made.copied_bytes) << "\n";
}

int make_checkpoint(const CheckpointWords& words) {
  if (Status possible = check_same_kind(words.place.store, words.directory); !possible.ok()) return fail(possible);
  Result<OpenedStore> store = open_state(words.place.store, StoreOptions());
  if (!store.ok()) return fail(store.status());
  const Progress progress("files", 0);
  const Result<CheckpointStatistics> made = (*store)->checkpoint(words.directory);
  const std::chrono::nanoseconds elapsed = progress.elapsed();
  if (!made.ok()) return fail(made.status());
  if (Status closed = (*store)->close(); !closed.ok()) return fail(closed);
  if (words.json) {
    std::cout << nlohmann::ordered_json{{"version", made->version.to_string()},
                                        {"files_linked", made->files_linked},
                                        {"linked_bytes", made->linked_bytes},
                                        {"files_copied", made->files_copied},
                                        {"copied_bytes", made->copied_bytes},
                                        {"seconds", std::chrono::duration<double>(elapsed).count()}}
                     .dump()
              << "\n";
  } else {
    print(*made, words.directory, elapsed);
  }
  return kSuccess;
}

}  // namespace

void add_checkpoint_verb(CLI::App& app, int& exit_code) {
  auto words = std::make_shared<CheckpointWords>();
  CLI::App* verb = app.add_subcommand("checkpoint", "Create a second store with the present content of a store");
  verb->footer(
      "DIRECTORY must be absent or empty. It becomes a store of its own: keep it as a backup, read it, or write\n"
      "to it. On the same file system this takes almost no time and space, because both stores share files that\n"
      "neither changes. Elsewhere the files are copied. If `varve serve` has the store open, it makes the\n"
      "checkpoint, and its writers continue. Any other program that has the store open calls Store::checkpoint.\n"
      "\nExamples\n"
      "  varve checkpoint ./shop ./shop-monday\n"
      "  varve checkpoint ./shop ./shop-monday --json");
  add_store_words(*verb, words->place);
  verb->add_option("DIRECTORY", words->directory,
                   "Directory of the new store; absent or empty. For a store on Ceph: an address of the same pool")
      ->required();
  add_json_words(*verb, words->json, "Print the report as JSON");
  verb->callback([words, &exit_code] { exit_code = make_checkpoint(*words); });
}

}  // namespace varve::tool

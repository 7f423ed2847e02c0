#include "tools/varve/command/store_of_environment.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "tools/varve/session/words.h"

namespace varve::tool {

namespace {

/// Returns the verb that the words begin with, and the number of its words. Null if they name none.
std::pair<CLI::App*, std::size_t> verb_of(CLI::App& app, const std::vector<std::string>& words) {
  CLI::App* verb = &app;
  std::size_t used = 0;
  for (const std::string& word : words) {
    const std::vector<CLI::App*> found =
        verb->get_subcommands([&](const CLI::App* it) { return it->get_name() == word; });
    if (found.empty()) break;
    verb = found.front();
    ++used;
  }
  return {used == 0 ? nullptr : verb, used};
}

/// Returns whether CLI11 accepts the words. No verb runs: the parse ends by an exception between the check and the verb.
bool is_complete(CLI::App& app, const std::vector<std::string>& words) {
  app.parse_complete_callback([] { throw CLI::RuntimeError(0); });
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 takes the words from the end
  } catch (const CLI::RuntimeError&) {
    return true;
  } catch (const CLI::ParseError&) {
    return false;
  }
  return false;
}

/// Returns the word of the option with this name, or an empty text.
std::string word_for(const CLI::App& verb, const std::string& name) {
  const CLI::Option* const option = verb.get_option_no_throw(name);
  if (option == nullptr || !option->get_positional() || option->results().empty()) return "";
  return option->results().front();
}

bool is_store(const std::string& directory) {
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::path(directory) / "CURRENT", ignored);
}

}  // namespace

Result<std::vector<std::string>> with_store_of_environment(std::vector<std::string> words, MakeCommandLine make) {
  const char* const store = std::getenv(kStoreVariable);
  if (store == nullptr || *store == '\0') return words;
  int ignored = 0;
  const std::unique_ptr<CLI::App> app = make(ignored);
  const auto [verb, used] = verb_of(*app, words);
  if (verb == nullptr) return words;
  const CLI::Option* const option = verb->get_option_no_throw("STORE");
  if (option == nullptr || option->get_envname().empty()) return words;
  std::vector<std::string> filled = words;
  filled.insert(filled.begin() + static_cast<std::ptrdiff_t>(used), store);
  if (!is_complete(*app, filled)) return words;
  for (const std::string name : {"TABLE", "QUEUE", "CONTAINER", "ACCOUNT"}) {
    const std::string word = word_for(*verb, name);
    if (word.empty()) continue;
    if (word.find_first_of("/.") != std::string::npos) return words;
    if (!is_store(word)) break;
    return Status::invalid_argument("'" + word + "' is a store here, and may also be a name in " + store +
                                    ", the store of " + kStoreVariable)
        .with_hint("write ./" + word + " for the store, or name both: STORE " + name);
  }
  return filled;
}

}  // namespace varve::tool

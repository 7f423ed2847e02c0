// Owns: `varve manual`: the hidden verb that writes the manual pages and the completions for a build.
// Must never: write outside of the given directory.
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>

#include "tools/varve/manual/completion.h"
#include "tools/varve/manual/man_page.h"
#include "tools/varve/session/verbs.h"
#include "tools/varve/terminal/outcome.h"

namespace varve::tool {
namespace {

/// Writes a file below `root`, with the directories that it needs.
Status write_below(const std::filesystem::path& root, const std::string& name, const std::string& text) {
  const std::filesystem::path path = root / name;
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (error) return Status::io_error("cannot make " + path.parent_path().string() + ": " + error.message());
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return file ? Status() : Status::io_error("cannot write " + path.string());
}

int write_manual(const CLI::App& app, const std::string& directory) {
  const Command program = read_commands(app);
  for (const ManPage& page : man_pages(program)) {
    if (Status written = write_below(directory, "man/" + page.file, page.text); !written.ok()) return fail(written);
  }
  const std::pair<const char*, std::string> completions[] = {
      {"bash-completion/completions/varve", bash_completion(program)},
      {"fish/vendor_completions.d/varve.fish", fish_completion(program)},
      {"zsh/vendor-completions/_varve", zsh_completion(program)}};
  for (const auto& [name, text] : completions) {
    if (Status written = write_below(directory, name, text); !written.ok()) return fail(written);
  }
  return kSuccess;
}

}  // namespace

void add_manual_verb(CLI::App& app, int& exit_code) {
  CLI::App* verb = app.add_subcommand("manual", "Write the manual pages and the completions of this program");
  verb->group("");
  const auto directory = std::make_shared<std::string>();
  verb->add_option("DIRECTORY", *directory, "Directory for them, as /usr/share")->required();
  verb->callback([&app, directory, &exit_code] { exit_code = write_manual(app, *directory); });
}

}  // namespace varve::tool

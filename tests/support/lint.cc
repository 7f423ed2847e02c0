// Owns: the lists for the rules of lint.h.
#include "tests/support/lint.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <sstream>
#include <string_view>

#include "format/bytes/checksum.h"

namespace varve::test {
namespace {

using Names = std::span<const std::string_view>;

constexpr std::size_t kLinesMax = 500;

// The interface for C is one header, whatever its length: bindings of other languages read this one file.
constexpr std::string_view kHeaderForC = "api/include/varve/c.h";

constexpr std::string_view kLicenceLine = "// SPDX-License-Identifier: Apache-2.0\n";

// Size and content hash of /usr/share/common-licenses/Apache-2.0.
constexpr std::size_t kLicenceBytes = 11358;
constexpr std::uint64_t kLicenceHash = 0x182f5cce7d7d5588;

constexpr std::string_view kPublicHeaders = "api/include/varve/";
constexpr std::array<std::string_view, 8> kLeafHeaders = {
    "varve/status.h",        "varve/result.h",     "varve/durability.h", "varve/date_time.h",
    "varve/property_type.h", "varve/statistics.h", "varve/repair.h",     "varve/version.h"};

struct Layer {
  std::string_view directory;
  std::vector<std::string_view> may_include;  // A directory ends in a slash; a single header does not.
};

const std::vector<Layer>& layers() {
  static const std::vector<Layer> all = {
      {"io/", {"io/"}},
      {"format/", {"format/"}},
      {"engine/", {"engine/", "format/", "io/"}},
      {kPublicHeaders, {}},                   // only each other, see names_a_neighbour
      {"api/security/", {"api/", "varve/"}},  // uses OpenSSL, outside of the core
      {"api/encryption/", {"api/encryption/", "varve/", "api/model/base64.h"}},
      {"api/rest/", {"api/", "varve/", "format/"}},
      {"api/testing/", {"api/testing/", "varve/", "io/"}},
      {"api/rados/", {"api/rados/", "api/c/", "varve/", "io/"}},
      {"api/",
       {"api/", "varve/", "engine/", "format/", "io/env.h", "io/parents_object.h", "io/posix/posix_process.h",
        "io/scheduler.h"}},
  };
  return all;
}

constexpr std::array<std::string_view, 22> kSystemHeaders = {
    "unistd.h", "fcntl.h",    "dirent.h", "poll.h",     "aio.h",    "sched.h", "signal.h", "csignal",
    "fstream",  "filesystem", "iostream", "liburing.h", "libaio.h", "sys",     "linux",    "asm",
    "arpa",     "netinet",    "spawn.h",  "pthread.h",  "pwd.h",    "ext"};

// A std::stop_token is allowed: it is a value by which callers cancel a request, and it starts no thread.
constexpr std::array<std::string_view, 12> kThreadHeaders = {
    "thread", "mutex", "shared_mutex", "condition_variable", "semaphore", "latch", "barrier", "future", "threads.h",
    "random", "ctime", "time.h"};

// Functions that are recognized by name. Our own classes also have functions named open, close, read and write. These
// four are recognized by `::` before them, or by a descriptor as their first argument.
constexpr std::array<std::string_view, 69> kSystemCalls = {
    "creat",   "openat",  "pread",     "pwrite",         "preadv",     "pwritev",  "preadv2",      "pwritev2",
    "readv",   "writev",  "lseek",     "fsync",          "fdatasync",  "syncfs",   "msync",        "mmap",
    "munmap",  "mremap",  "madvise",   "mlock",          "ftruncate",  "truncate", "fallocate",    "posix_fallocate",
    "fstat",   "fstatat", "lstat",     "statvfs",        "fstatvfs",   "statx",    "fcntl",        "ioctl",
    "flock",   "lockf",   "mkdirat",   "unlink",         "unlinkat",   "renameat", "renameat2",    "linkat",
    "opendir", "readdir", "closedir",  "syscall",        "getpid",     "gettid",   "fork",         "vfork",
    "execve",  "waitpid", "sigaction", "getenv",         "setenv",     "sysconf",  "memfd_create", "fopen",
    "fdopen",  "fclose",  "fread",     "fwrite",         "fflush",     "printf",   "fprintf",      "vfprintf",
    "puts",    "putchar", "perror",    "pthread_create", "sched_yield"};

constexpr std::array<std::string_view, 4> kAmbiguousCalls = {"open", "close", "read", "write"};
constexpr std::array<std::string_view, 5> kDescriptorNames = {"fd", "fd_", "descriptor", "descriptor_",
                                                              "file_descriptor"};

constexpr std::array<std::string_view, 14> kTimeAndRandomCalls = {
    "clock_gettime", "gettimeofday", "nanosleep", "clock_nanosleep", "usleep",  "sleep",  "getrandom",
    "getentropy",    "rand",         "srand",     "rand_r",          "drand48", "random", "time"};

constexpr std::array<std::string_view, 31> kStdThreadNames = {"thread",
                                                              "jthread",
                                                              "mutex",
                                                              "recursive_mutex",
                                                              "timed_mutex",
                                                              "shared_mutex",
                                                              "shared_timed_mutex",
                                                              "recursive_timed_mutex",
                                                              "condition_variable",
                                                              "condition_variable_any",
                                                              "lock_guard",
                                                              "unique_lock",
                                                              "shared_lock",
                                                              "scoped_lock",
                                                              "lock",
                                                              "call_once",
                                                              "once_flag",
                                                              "future",
                                                              "shared_future",
                                                              "promise",
                                                              "async",
                                                              "packaged_task",
                                                              "counting_semaphore",
                                                              "binary_semaphore",
                                                              "latch",
                                                              "barrier",
                                                              "stop_source",
                                                              "random_device",
                                                              "mt19937",
                                                              "mt19937_64",
                                                              "default_random_engine"};

constexpr std::array<std::string_view, 4> kClocks = {"system_clock", "steady_clock", "high_resolution_clock",
                                                     "this_thread"};

bool contains(Names names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_word(std::string_view token) {
  const char c = token.empty() ? '\0' : token.front();
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Accesses tokens by position. Positions outside are empty tokens, so that rules need no bounds checks.
class Around {
 public:
  explicit Around(const std::vector<Token>& tokens) : tokens_(tokens) {}
  std::string_view operator()(std::size_t at, int offset) const {
    const auto position = static_cast<std::ptrdiff_t>(at) + offset;
    if (position < 0 || position >= static_cast<std::ptrdiff_t>(tokens_.size())) return {};
    return tokens_[static_cast<std::size_t>(position)].text;
  }

 private:
  const std::vector<Token>& tokens_;
};

/// Returns whether the token is `::name` without a qualifier before the `::`.
bool is_global_name(const Around& token, std::size_t at) {
  if (token(at, -1) != "::") return false;
  const std::string_view owner = token(at, -2);
  return !(is_word(owner) || owner == ">") || owner == "return";
}

bool is_std_name(const Around& token, std::size_t at) {
  return token(at, -1) == "::" && token(at, -2) == "std";
}

/// Returns whether `name(` is a call of a free function: not a member, not qualified, and not a declaration.
bool is_free_call(const Around& token, std::size_t at) {
  if (token(at, 1) != "(") return false;
  const std::string_view before = token(at, -1);
  if (before == "." || before == "->") return false;
  if (before == "::") return is_global_name(token, at) || is_std_name(token, at);
  if (is_word(before)) return before == "return" || before == "else" || before == "do" || before == "co_return";
  return before != ">" && before != "&" && before != "*" && before != "~";
}

bool is_open_flag(std::string_view name) {
  return name.size() > 3 && name.starts_with("O_") &&
         std::all_of(name.begin() + 2, name.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

bool is_system_call(const Around& token, std::size_t at) {
  const std::string_view name = token(at, 0);
  if (token(at, 1) == "(" && is_global_name(token, at)) return name != "new" && name != "delete" && name != "operator";
  if (contains(kAmbiguousCalls, name)) return is_free_call(token, at) && contains(kDescriptorNames, token(at, 2));
  return (contains(kSystemCalls, name) || name.starts_with("io_uring_")) && is_free_call(token, at);
}

void forbid_headers(const SourceFile& file, const SourceTokens& source, Names headers, std::string_view why,
                    Offences* offences) {
  for (const Include& include : source.includes) {
    if (!include.angled) continue;
    const std::string_view name = std::string_view(include.name).substr(0, include.name.find('/'));
    if (contains(headers, name)) {
      offences->push_back({file.path, include.line, "<" + include.name + "> " + std::string(why)});
    }
  }
}

std::size_t count_lines(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// Returns whether a public header includes another one by its installed place: in the same folder, or one directory up
/// from a subfolder.
bool names_a_neighbour(const SourceFile& file, const Include& include) {
  if (!file.path.starts_with(kPublicHeaders)) return false;
  const bool is_below = file.path.find('/', kPublicHeaders.size()) != std::string::npos;
  std::string_view name = include.name;
  if (include.angled) {
    if (!is_below || !name.starts_with("varve/")) return false;
    name.remove_prefix(6);
  } else if (is_below && name.starts_with("../")) {
    name.remove_prefix(3);
  }
  return name.find('/') == std::string_view::npos;
}

/// Returns whether the path is in a library outside of the core, which the core must not know.
bool is_beside_the_core(std::string_view path) {
  return path.find("/security/") != std::string_view::npos || path.find("/encryption/") != std::string_view::npos ||
         path.starts_with("api/rest/") || path.starts_with("api/testing/") || path.starts_with("api/rados/");
}

}  // namespace

Offences check_layers(const SourceFile& file) {
  Offences offences;
  const auto layer = std::find_if(layers().begin(), layers().end(), [&file](const Layer& candidate) {
    return file.path.starts_with(candidate.directory);
  });
  if (layer == layers().end()) return offences;
  for (const Include& include : tokenize(file.text).includes) {
    const std::string_view name = include.name;
    const bool ours = std::any_of(layers().begin(), layers().end(),
                                  [name](const Layer& candidate) { return name.starts_with(candidate.directory); }) ||
                      name.starts_with("varve/");
    if (include.angled && !ours) continue;
    if (names_a_neighbour(file, include)) continue;
    const bool upwards = is_beside_the_core(name) && !is_beside_the_core(layer->directory);
    const bool allowed = !include.angled && !upwards && name.find("..") == std::string_view::npos &&
                         (contains(kLeafHeaders, name) ||
                          std::any_of(layer->may_include.begin(), layer->may_include.end(), [name](auto prefix) {
                            return prefix.ends_with('/') ? name.starts_with(prefix) : name == prefix;
                          }));
    if (!allowed) {
      offences.push_back({file.path, include.line,
                          "may not include \"" + include.name + "\" from " +
                              std::string(layer->directory.substr(0, layer->directory.size() - 1))});
    }
  }
  return offences;
}

Offences check_system_calls(const SourceFile& file) {
  Offences offences;
  const SourceTokens source = tokenize(file.text);
  forbid_headers(file, source, kSystemHeaders, "leads to system calls, which only io makes", &offences);
  const Around token(source.tokens);
  for (std::size_t at = 0; at < source.tokens.size(); ++at) {
    const std::string_view name = token(at, 0);
    if (!is_word(name)) continue;
    if (is_system_call(token, at) || is_open_flag(name)) {
      offences.push_back({file.path, source.tokens[at].line,
                          "system call or flag '" + std::string(name) + "'; only io makes them, go through io::Env"});
    }
  }
  return offences;
}

Offences check_threads_and_clocks(const SourceFile& file) {
  Offences offences;
  const SourceTokens source = tokenize(file.text);
  forbid_headers(file, source, kThreadHeaders, "brings threads, clocks or randomness that no seed can replay",
                 &offences);
  const Around token(source.tokens);
  for (std::size_t at = 0; at < source.tokens.size(); ++at) {
    const std::string_view name = token(at, 0);
    if (!is_word(name)) continue;
    // The C door ends the waits of its callers at a close. No seeded schedule runs it.
    if (name == "stop_source" && file.path.starts_with("api/c/")) continue;
    const bool forbidden = (is_std_name(token, at) && contains(kStdThreadNames, name)) || contains(kClocks, name) ||
                           name.starts_with("pthread_") ||
                           (contains(kTimeAndRandomCalls, name) && is_free_call(token, at)) ||
                           (name == "std" && token(at, -1) == "namespace" && token(at, -2) == "using");
    if (forbidden) {
      offences.push_back({file.path, source.tokens[at].line,
                          "'" + std::string(name) +
                              "' runs outside the seeded scheduler; use io/scheduler.h, "
                              "io::Clock or io::RandomSource"});
    }
  }
  return offences;
}

Offences check_head_and_length(const SourceFile& file) {
  Offences offences;
  std::string_view head = head_comment(file.text);
  const bool has_licence_line = head.starts_with(kLicenceLine);
  if (has_licence_line) head.remove_prefix(kLicenceLine.size());
  const std::size_t first_line = has_licence_line ? 2 : 1;
  if (!head.starts_with("// Owns: ")) {
    offences.push_back({file.path, first_line, "must begin with \"// Owns: \" and what it owns"});
  }
  if (file.path.ends_with(".h") && head.find("\n// Must never: ") == std::string_view::npos) {
    offences.push_back(
        {file.path, first_line, "must say \"Must never: \" at the start of a line of the comment at its head"});
  }
  if (file.path.ends_with(".h") && file.text.find("\n#pragma once\n") == std::string::npos) {
    offences.push_back({file.path, first_line, "must say #pragma once"});
  }
  if (const std::size_t lines = count_lines(file.text); lines > kLinesMax && file.path != kHeaderForC) {
    offences.push_back({file.path, kLinesMax + 1,
                        std::to_string(lines) + " lines; split it, a file has at most " + std::to_string(kLinesMax)});
  }
  return offences;
}

Offences check_licence_line(const SourceFile& file) {
  if (file.text.starts_with(kLicenceLine)) return {};
  return Offences{{file.path, 1,
                   "an installed header must name its licence; put the line \"" +
                       std::string(kLicenceLine.substr(0, kLicenceLine.size() - 1)) + "\" above all others"}};
}

Offences check_licence_text(const SourceFile& file) {
  if (file.text.size() == kLicenceBytes && format::content_hash(file.text) == kLicenceHash) return {};
  return Offences{
      {file.path, 1,
       "must be the Apache License 2.0, byte for byte; copy it from /usr/share/common-licenses/Apache-2.0"}};
}

Offences check_notice(const SourceFile& installer, const SourceFile& notice) {
  const auto words_of = [](std::string_view text) {
    std::vector<std::string_view> words;
    const std::string_view separators = " \t\n(),;";
    for (std::size_t at = text.find_first_not_of(separators); at != std::string_view::npos;
         at = text.find_first_not_of(separators, at)) {
      const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
      words.push_back(text.substr(at, end - at));
      at = end;
    }
    return words;
  };
  const std::vector<std::string_view> noticed = words_of(notice.text);
  Offences offences;
  for (const std::string_view word : words_of(installer.text)) {
    if (!word.ends_with("-dev") || std::find(noticed.begin(), noticed.end(), word) != noticed.end()) continue;
    const auto offset = static_cast<std::size_t>(word.data() - installer.text.data());
    offences.push_back({installer.path, 1 + count_lines(std::string_view(installer.text).substr(0, offset)),
                        "installs " + std::string(word) + ", which " + notice.path +
                            " does not name; add the library there, with its licence"});
  }
  return offences;
}

Offences check_own_header_first(const std::vector<SourceFile>& files) {
  std::set<std::string> headers;
  for (const SourceFile& file : files) {
    if (file.path.ends_with(".h")) headers.insert(file.path);
  }
  const auto own_header = [&headers](const SourceFile& file) {
    std::string beside = file.path.substr(0, file.path.size() - 2) + "h";
    const std::string name = beside.substr(beside.rfind('/') + 1);
    if (!headers.contains(beside)) beside.clear();
    for (const std::string_view folder : {"", "security/", "encryption/"}) {
      if (!beside.empty() || !file.path.starts_with("api/")) break;
      if (headers.contains(std::string(kPublicHeaders) + std::string(folder) + name)) {
        beside = "varve/" + std::string(folder) + name;
      }
    }
    return beside;
  };
  Offences offences;
  for (const SourceFile& file : files) {
    if (!file.path.ends_with(".cc")) continue;
    const std::string header = own_header(file);
    if (header.empty()) continue;
    const std::vector<Include> includes = tokenize(file.text).includes;
    if (!includes.empty() && !includes.front().angled && includes.front().name == header) continue;
    offences.push_back({file.path, includes.empty() ? 1 : includes.front().line,
                        "must include \"" + header + "\" first, which so is seen to include what it uses"});
  }
  return offences;
}

namespace {

/// Reads the tokens of one file, and tracks the namespace.
class TypeDefinitions {
 public:
  explicit TypeDefinitions(const std::vector<Token>& tokens) : tokens_(tokens) {}

  /// Returns the types that are defined directly in a named namespace, such as "varve::engine::Lookup", with their
  /// lines.
  std::vector<Token> find() {
    while (at_ < tokens_.size()) step();
    return std::move(found_);
  }

 private:
  bool is(std::size_t at, std::string_view text) const { return at < tokens_.size() && tokens_[at].text == text; }

  void step() {
    if (is(at_, "namespace")) return enter_namespace();
    const bool defines_types = is(at_, "class") || is(at_, "struct") || is(at_, "union");
    if (defines_types && !in_template_list() && opaque_depth_ == 0 && !in_unnamed()) note_type();
    if (is(at_, "{")) opaque_depth_ += 1;
    if (is(at_, "}")) leave();
    ++at_;
  }

  bool in_template_list() const { return at_ > 0 && (is(at_ - 1, "<") || is(at_ - 1, ",")); }

  bool in_unnamed() const { return std::find(namespaces_.begin(), namespaces_.end(), "") != namespaces_.end(); }

  void enter_namespace() {
    std::string name;
    std::size_t next = at_ + 1;
    for (; next < tokens_.size() && !is(next, "{") && !is(next, ";") && !is(next, "="); ++next) {
      name += tokens_[next].text;
    }
    at_ = next + 1;
    if (is(next, "{")) namespaces_.push_back(name);
  }

  void leave() {
    if (opaque_depth_ > 0) {
      --opaque_depth_;
    } else if (!namespaces_.empty()) {
      namespaces_.pop_back();
    }
  }

  /// Records `class [attributes] NAME [final] [: bases] {`. A part of another name and a specialisation are not
  /// recorded.
  void note_type() {
    std::size_t name = at_ + 1;
    while (name + 1 < tokens_.size() && is_word(tokens_[name].text) && is_word(tokens_[name + 1].text) &&
           !is(name + 1, "final")) {
      ++name;  // skips VARVE_CAPABILITY and the like; also skips `class` in `enum class X`
    }
    const std::size_t behind = is(name + 1, "final") ? name + 2 : name + 1;
    if (!is(behind, "{") && !is(behind, ":")) return;
    std::string full;
    for (const std::string& one : namespaces_) full += one + "::";
    found_.push_back({full + tokens_[name].text, tokens_[name].line});
  }

  const std::vector<Token>& tokens_;
  std::size_t at_ = 0;
  std::vector<std::string> namespaces_;
  int opaque_depth_ = 0;  // depth of braces within types and functions
  std::vector<Token> found_;
};

}  // namespace

Offences check_one_definition(const std::vector<SourceFile>& files) {
  std::map<std::string, std::string> known;  // the place of the definition
  Offences offences;
  for (const SourceFile& file : files) {
    const std::vector<Token> tokens = tokenize(file.text).tokens;
    for (const Token& type : TypeDefinitions(tokens).find()) {
      const auto [first, is_new] = known.emplace(type.text, file.path + ":" + std::to_string(type.line));
      if (is_new) continue;
      offences.push_back({file.path, type.line, type.text + " is defined at " + first->second + " too"});
    }
  }
  return offences;
}

Offences check_links(const SourceFile& file, const std::function<bool(const std::string&)>& exists) {
  Offences offences;
  const std::filesystem::path directory = std::filesystem::path(file.path).parent_path();
  std::istringstream lines(file.text);
  std::size_t number = 0;
  bool is_code = false;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with("```")) is_code = !is_code;
    for (std::size_t at = line.find("]("); !is_code && at != std::string::npos; at = line.find("](", at + 2)) {
      const std::string target = line.substr(at + 2, line.find_first_of(")#", at + 2) - at - 2);
      if (target.empty() || target.find(':') != std::string::npos) continue;  // a section of this file, or an address
      if (exists((directory / target).lexically_normal().generic_string())) continue;
      offences.push_back(
          {file.path, number, "links to " + target + ", which does not exist; correct the path or remove the link"});
    }
  }
  return offences;
}

Offences check_finished(const SourceFile& file) {
  static const std::vector<std::string> marks = {std::string("TO") + "DO", std::string("FIX") + "ME"};
  Offences offences;
  for (const std::string& mark : marks) {
    for (std::size_t at = file.text.find(mark); at != std::string::npos; at = file.text.find(mark, at + 1)) {
      offences.push_back({file.path, 1 + count_lines(std::string_view(file.text).substr(0, at)),
                          "marks unfinished work (" + mark + "); finish it or leave it out"});
    }
  }
  if (file.text.empty() || file.text.back() != '\n') {
    offences.push_back({file.path, count_lines(file.text) + 1, "must end with a newline"});
  }
  return offences;
}

}  // namespace varve::test

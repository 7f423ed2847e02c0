#include "tools/varve/terminal/outcome.h"

#include <algorithm>
#include <iostream>

#include <nlohmann/json.hpp>
#include <poll.h>
#include <unistd.h>

#include "tools/varve/terminal/colour.h"

namespace varve::tool {

namespace {

/// Returns the store's name for hints. The program works on one store, so a hint can name it wherever the failure
/// occurs.
std::string& store_of_hints() {
  static std::string store = "STORE";
  return store;
}

bool is_on_ceph() {
  return store_of_hints().starts_with("rados:");
}

/// Returns the word quoted for a shell.
std::string quoted_for_shell(const std::string& word) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("/._-+,:@%").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

constexpr const char* kKeepFiles = "keep the files as they are; ";

std::string repair_hint() {
  return "`varve repair " + store_of_hints() + " TARGET` saves the intact rest to a new store";
}

std::string damage_hint() {
  return kKeepFiles + ("`varve verify " + store_of_hints()) + "` reports what is damaged, " + repair_hint();
}

}  // namespace

void name_store_in_hints(const std::string& store) {
  store_of_hints() = quoted_for_shell(store);
}

std::string hint_of(const Status& status) {
  if (!status.hint().empty()) return std::string(status.hint());
  switch (status.code()) {
    case Code::kLocked:
      if (is_on_ceph()) {
        return "end that process; or, if it is a server, give its http:// address to a verb that reads or writes "
               "entities, messages or blobs";
      }
      return "close the program that has the store open, then try again; or let it call Store::checkpoint, and use the "
             "checkpoint. Beside `varve serve` most verbs work, but not this one";
    case Code::kCorruption: return damage_hint();
    case Code::kNoSpace:
      return is_on_ceph() ? "free space in the pool or add OSDs; a table can be dropped in a full pool too"
                          : "free space on the device, or drop a table and reopen the store";
    case Code::kUnsupported:
      return status.service_error().empty() ? "a newer version of this program wrote the store; use that version" : "";
    case Code::kNotFound:
      return status.service_error().empty()
                 ? "`varve import`, `varve put` and the `create` of tables, queues and containers create a store"
                 : "";
    default: return "";
  }
}

namespace {

bool& errors_are_json() noexcept {
  static bool are_json = false;
  return are_json;
}

std::string_view kind_of(ExitCode exit) noexcept {
  switch (exit) {
    case kUsage: return "Usage";
    case kDamaged: return code_name(Code::kCorruption);
    case kMachine: return code_name(Code::kIoError);
    default: return "Refused";
  }
}

/// Prints the failure in the form that the command line asked for.
void report(ExitCode exit, std::string_view code, const std::string& message, const std::string& hint) {
  if (errors_are_json()) {
    const nlohmann::ordered_json json{{"code", code}, {"message", message}, {"hint", hint}, {"exit", exit + 0}};
    std::cerr << json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << "\n";
    return;
  }
  std::cerr << Look::kError << "varve:" << Look::kPlain << " " << message << "\n";
  print_hint(hint);
}

}  // namespace

ExitCode exit_code_of(const Status& status) noexcept {
  switch (status.code()) {
    case Code::kOk: return kSuccess;
    case Code::kCorruption: return kDamaged;
    case Code::kNoSpace:
    case Code::kIoError:
    case Code::kUnknown:
    case Code::kPoisoned:
    case Code::kLocked:
    case Code::kReadOnly:
    case Code::kOutOfMemory:
    case Code::kTooManyFiles:
    case Code::kFenced:
    case Code::kClosed: return kMachine;
    // A busy name is the store's refusal. Without one, another writer or a cluster keeps the program waiting.
    case Code::kBusy: return status.service_error().empty() ? kMachine : kRefused;
    default: return kRefused;
  }
}

void set_errors_as_json() noexcept {
  errors_are_json() = true;
}

void print_hint(std::string_view hint) {
  if (hint.empty() || errors_are_json()) return;
  std::cerr << Look::kHint << "  hint:" << Look::kPlain << " " << hint << "\n";
}

ExitCode fail(const Status& status) {
  const ExitCode exit = exit_code_of(status);
  report(exit, code_name(status.code()), status.to_string(), hint_of(status));
  return exit;
}

ExitCode fail(ExitCode code, std::string_view what) {
  report(code, kind_of(code), std::string(what), "");
  return code;
}

ExitCode fail(ExitCode code, const Status& status) {
  report(code, kind_of(code), std::string(status.message()), std::string(status.hint()));
  return code;
}

ExitCode fail_output(std::string_view what) {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  const bool has_state = ::poll(&output, 1, 0) == 1;
  if (has_state && (output.revents & (POLLERR | POLLHUP)) != 0) return kReaderGone;
  return fail(kMachine, what);
}

ExitCode fail_verification() {
  print_hint(kKeepFiles + repair_hint());
  return kDamaged;
}

ExitCode fail_verification(const Status& status) {
  if (status.code() == Code::kIoError) {
    return fail(status.with_hint("if the device cannot read a part of a file, " + repair_hint()));
  }
  if (status.code() != Code::kCorruption) return fail(status);
  return fail(status.with_hint(kKeepFiles + repair_hint()));
}

}  // namespace varve::tool

#include "tools/varve/outcome.h"

#include <iostream>

namespace varve::tool {

namespace {

std::string_view hint_of(const Status& status) noexcept {
  switch (status.code()) {
    case Code::kLocked: return "close the program that has the store open, then try again";
    case Code::kCorruption: return "run `varve verify STORE`; keep the files as they are";
    case Code::kNoSpace: return "free space on the device, or drop a table and reopen the store";
    case Code::kUnsupported:
      return status.service_error().empty() ? "the store was written by a newer version of this program" : "";
    case Code::kNotFound:
      return status.service_error().empty() ? "`varve import`, `put` and `table create` make a store" : "";
    default: return "";
  }
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
    default: return kRefused;
  }
}

ExitCode fail(const Status& status) {
  std::cerr << "varve: " << status.to_string() << "\n";
  if (const std::string_view hint = hint_of(status); !hint.empty()) std::cerr << "  hint: " << hint << "\n";
  return exit_code_of(status);
}

ExitCode fail(ExitCode code, std::string_view what) {
  std::cerr << "varve: " << what << "\n";
  return code;
}

}  // namespace varve::tool
